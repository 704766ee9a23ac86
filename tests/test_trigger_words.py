"""Rebalances counted by what made them, in a few words."""

import pytest
from rebalance_builder import rebalance

from mqlab.kafka.groups import triggers

LATE, AGAIN, OTHER, FOLLOW = (
    ("poll timeout", "poll timeout"),
    ("join", "poll timeout"),
    ("join", "start"),
    ("cooperative follow-up", "unknown"),
)


def told(*kinds):
    rows = [rebalance(when, when, *kind) for when, kind in enumerate(kinds)]
    return triggers(rows, [row for row in rows if str(row.behind) == "poll timeout"], "poll-timeouts")


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ((), None),
        ((LATE,), "1 rebalance: 1 poll timeout"),
        ((LATE, AGAIN), "2 rebalances: 1 poll timeout, 1 join after it"),
        ((LATE, AGAIN, AGAIN), "3 rebalances: 1 poll timeout, 2 joins after it"),
        ((LATE, LATE, AGAIN, OTHER), "4 rebalances: 2 poll timeouts, 1 join after them, 1 other"),
        ((LATE, FOLLOW, OTHER, OTHER), "4 rebalances: 1 poll timeout, 1 follow-up, 2 others"),
    ],
)
def test_ends_the_joins_after_them_follow_ups_and_others_are_told_apart(kinds, words):
    assert told(*kinds) == words
