"""Moments that only a few programs write."""

import pytest

from mqlab.formats import layouts
from mqlab.formats.values import instant
from mqlab.kernel.vectors import NO_MINUTE, Lines, headers

LINES = (
    ("22.11.2026 06:43:08: Client trolley-055 disconnected.", "2026-11-22 06:43:08", None),
    ("22.11.2026 06:43:08,250: Client a disconnected 2020-01-01 00:00:00Z.", "2026-11-22 06:43:08.25", None),
    ("2026/11/22 06:53:49: biller-a 1 $share/bill/toll/#", "2026-11-22 06:53:49", None),
    ("2026-11-22T06:53:49+0000: biller-a 1 toll/#", "2026-11-22 06:53:49", 0),
    ("Nov 22, 2026 7:21:50 AM lab.Device connectionLost", "2026-11-22 07:21:50", None),
    ("Nov 2, 2026, 12:21:50\u202fAM lab.Device connectionLost", "2026-11-02 00:21:50", None),
    ("Dec 22, 2026 12:21:50 PM lab.Device connectionLost", "2026-12-22 12:21:50", None),
    ("1795330392.917 INFO connected rc=Success", "2026-11-22 06:53:12.917", 0),
    ("1795330392.917348902 INFO connected rc=Success", "2026-11-22 06:53:12.917", 0),
    ("22/Nov/2026:10:46:14 +0100: Client cat-4 disconnected.", "2026-11-22 10:46:14", 3600),
    ("2/Nov/2026 10:46:14: Client cat-4 disconnected.", "2026-11-02 10:46:14", None),
    ("22-Nov-2026 10:46:14.125 INFO connected", "2026-11-22 10:46:14.125", None),
    ("Sun, 22 Nov 2026 10:46:14 -0330: viewer 1 grid/#", "2026-11-22 10:46:14", -12600),
    ("22 November 2026 10:46:14 GMT: viewer 1 grid/#", "2026-11-22 10:46:14", 0),
    ("Nov 22 2026 10:46:14: viewer 1 2020-01-01 00:00:00Z", "2026-11-22 10:46:14", None),
    ("November 02, 2026 10:46:14Z: viewer 1 grid/#", "2026-11-02 10:46:14", 0),
    ("Sun Nov  2 10:46:14 2026: Client cat-4 disconnected.", "2026-11-02 10:46:14", None),
    ("Sun Nov 22 10:46:14 EET 2026: Client cat-4 disconnected.", "2026-11-22 10:46:14", None),
    ("18:54:07 22.11.2026: Client fan-2 disconnected.", "2026-11-22 18:54:07", None),
    ("18:54:07 2026/11/22: Client fan-2 disconnected.", "2026-11-22 18:54:07", None),
    ("18:54:07 22 Nov 2026 +09:00: Client fan-2 disconnected.", "2026-11-22 18:54:07", 32400),
    ("2026.11.22 18:54:07: Client fan-2 disconnected.", "2026-11-22 18:54:07", None),
    ("20261122 18:54:07 +0900: Client fan-2 disconnected.", "2026-11-22 18:54:07", 32400),
    ("2026-Nov-22 18:54:07: Client fan-2 disconnected.", "2026-11-22 18:54:07", None),
    ("2026-11-22 10:46:14 CET: viewer 1 grid/#", "2026-11-22 10:46:14", None),
    ("2026-11-22 10:46:14 GMT: viewer 1 grid/#", "2026-11-22 10:46:14", 0),
    ("[22/Nov/2026:10:46:14 +0100] INFO connected", "2026-11-22 10:46:14", 3600),
    ("31.02.2026 10:46:14: viewer 1 grid/#", None, None),
    ("22/Nix/2026:10:46:14 +0100: viewer 1 grid/#", None, None),
    ("18:54:07 22/11/2026: Client fan-2 disconnected.", None, None),
    ("22-11-2026 18:54:07: Client fan-2 disconnected.", None, None),
    ("fan-2 said 22.11.2026 18:54:07", None, None),
    ("22/11/2026 06:43:08: Client trolley-055 disconnected.", None, None),
    ("99.99.2026 06:43:08: Client trolley-055 disconnected.", None, None),
    ("Nix 22, 2026 7:21:50 AM lab.Device connectionLost", None, None),
)


@pytest.mark.parametrize(("line", "wall", "east"), LINES)
def test_moment_and_zone_of_a_line(line, wall, east):
    assert layouts.moment(line) == (layouts.Moment(instant(wall), east) if wall else None)


def test_minutes_of_many_lines_are_those_of_their_moments():
    found = headers(Lines.of("\n".join(line for line, _, _ in LINES).encode())).minute
    assert found.tolist() == [instant(wall) // 60_000_000 if wall else NO_MINUTE for _, wall, _ in LINES]
