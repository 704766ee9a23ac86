"""All moments move by whole weeks, and nothing else does."""

import pytest

from mqlab.gather.redact_moments import Shift

AT = 1795261221.0


def moved(text, weeks=-2):
    return Shift(weeks, AT, AT + 600)(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("[2026-11-21 11:44:20,114] INFO", "[2026-11-07 11:44:20,114] INFO"),
        ("2026-11-03T00:10:00.5Z", "2026-10-20T00:10:00.5Z"),
        ("get-offsets.t.20261121T114443Z.txt", "get-offsets.t.20261107T114443Z.txt"),
        ("server.log.2026-11-21-11", "server.log.2026-11-07-11"),
        ("[21/Nov/2026:11:44:20 +0000]", "[07/Nov/2026:11:44:20 +0000]"),
        ("Nov 21 11:44:20 host", "Nov  7 11:44:20 host"),
        ("Nov  9 11:44:20 host", "Oct 26 11:44:20 host"),
        ("1795261221: New client", "1794051621: New client"),
        ('[1795261221.114,"7"]', '[1794051621.114,"7"]'),
        ("1795261221041,orders,3", "1794051621041,orders,3"),
        ("offset 4211 of 2026 at 1234567890, version 2.6.1", "offset 4211 of 2026 at 1234567890, version 2.6.1"),
    ],
)
def test_a_moment_moves_in_as_many_characters(text, becomes):
    assert moved(text) == becomes


def test_nothing_moves_by_default():
    assert moved("2026-11-21 11:44:20", weeks=0) == "2026-11-21 11:44:20"
