"""Which year a moment gets that was written without one."""

from datetime import UTC, datetime

import pytest

from mqlab.assembly.rows import Gathered
from mqlab.clocks import zones
from mqlab.sources import Envelope, Reading, Source


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


SPAN = (at("2026-12-31 20:00:00"), at("2027-01-01 06:00:00"))


@pytest.mark.parametrize(
    ("wall", "span", "modified", "expected"),
    [
        ("1972-12-31 23:59:50", SPAN, None, "2026-12-31 23:59:50"),
        ("1972-01-01 00:00:10", SPAN, None, "2027-01-01 00:00:10"),
        ("1972-12-30 10:00:00", SPAN, "2031-01-01 00:00:00", "2026-12-30 10:00:00"),
        ("1972-11-22 00:24:29", None, "2026-11-22 00:30:00", "2026-11-22 00:24:29"),
        ("1972-11-22 08:24:29", None, "2026-11-22 00:30:00", "2026-11-22 08:24:29"),
        ("1972-12-24 08:00:00", None, "2026-11-22 00:30:00", "2025-12-24 08:00:00"),
        ("1972-02-29 08:00:00", None, "2026-11-22 00:30:00", "2024-02-29 08:00:00"),
        ("1972-11-22 00:24:29", None, None, None),
    ],
    ids=[
        "before new year", "after it", "before all other material", "by the file", "in a zone ahead of the file's",
        "last year", "on a leap day", "nothing tells",
    ],
)  # fmt: skip
def test_the_year_is_that_of_the_material_or_else_of_the_file(wall, span, modified, expected):
    found = zones.placed(at(wall), span, modified and at(modified))
    assert found == (expected and at(expected))


def source(link, snapshot_at=None):
    return Source(
        "0" * 16, f"{link}.log", f"/x/{link}.log", "process-log", Reading.LOG, Envelope.SYSLOG, 9, at("2030-01-01"),
        snapshot_at=snapshot_at,
    )  # fmt: skip


def test_all_moments_of_such_a_log_are_moved_and_those_of_others_are_not():
    one, other = source("a"), source("b")
    micros = round(at("1972-11-22 00:24:29") * 1e6)
    dated = {"source": other.link, "first_minute": "2026-11-22 00:00", "last_minute": "2026-11-22 01:00"}
    rows = {
        "coverage": [
            {"source": one.link, "first_minute": "1972-11-22 00:24", "last_minute": "1972-13-22 00:25"},
            dated,
        ],
        "events": [{"source": one.link, "first_at": micros, "value_min": 3.0, "wall": None}],
        "log": [{"source": one.link, "minutes": [{"minute": "1972-11-22 00:24", "lines": 2}, {"minute": None}]}],
        "metrics": [],
    }
    moved = round(at("2026-11-22 00:24:29") * 1e6)
    found = zones.dated(rows, {s.link: s for s in (one, other)})
    assert found == {
        "coverage": [{"source": one.link, "first_minute": "2026-11-22 00:24", "last_minute": None}, dated],
        "events": [{"source": one.link, "first_at": moved, "value_min": 3.0, "wall": None}],
        "log": [{"source": one.link, "minutes": [{"minute": "2026-11-22 00:24", "lines": 2}, {"minute": None}]}],
        "metrics": [],
    }  # fmt: skip


def test_what_is_gathered_has_its_years():
    one, other = source("a"), source("b", snapshot_at=at("2026-11-22 00:00:00"))
    payload = f'{{"source": "{one.link}", "first_minute": "1972-11-22 00:24", "lines": 1, "bytes": 2, "class": "data"}}'
    gathered = Gathered.of([("coverage", payload)], [one, other])
    assert (gathered.rows["coverage"][0]["first_minute"], gathered.rows["events"]) == ("2026-11-22 00:24", [])
