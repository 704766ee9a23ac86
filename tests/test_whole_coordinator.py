"""Lines that a coordinator's log must hold and does not."""

import pytest
from facts_builder import at, facts
from kafka_builder import GROUP, client, coordinator

from mqlab.kafka.rebalances import holes, whole

WHOLE = """
    10:00:00 preparing 0 Adding new member {a1}
    10:00:03 stable 1 1
    10:00:03 assigned 1 1
    10:00:20 preparing 1 Adding new member {b1}
    10:00:23 stable 2 2
    10:00:40 preparing 2 removing member {a1} on LeaveGroup
    10:00:41 stable 3 1
    10:01:00 preparing 3 removing member {b1} on LeaveGroup
    10:01:00 empty 4
"""


def gaps(text):
    """Seconds since 10:00 of each hole."""
    return [(begin - at(0), end - at(0)) for begin, end in holes(facts(coordinator(text)), GROUP)]


def without(*numbers):
    return "\n".join(line for n, line in enumerate(WHOLE.strip().splitlines(), 1) if n not in numbers)


def test_a_whole_log_has_no_hole():
    assert gaps(WHOLE) == []


def test_the_same_log_twice_has_none():
    assert holes(facts(coordinator(WHOLE), coordinator(WHOLE)), GROUP) == ()


@pytest.mark.parametrize(
    ("missing", "hole"), [((4,), (3, 23)), ((5,), (20, 40)), ((4, 5), (3, 40)), ((2, 3), (0, 20)), ((8,), (41, 60))]
)
def test_a_generation_that_does_not_follow_the_last_one_tells_of_missing_lines(missing, hole):
    assert gaps(without(*missing)) == [hole]


@pytest.mark.parametrize("missing", [(1,), (1, 2, 3), (9,), (7, 8, 9)])
def test_a_log_that_begins_late_or_ends_early_has_no_hole_within(missing):
    assert gaps(without(*missing)) == []


def test_a_group_that_was_removed_begins_anew():
    assert gaps(f"{WHOLE}\n    10:02:00 preparing 0 Adding new member {{a2}}\n    10:02:03 stable 1 1") == []


def test_epochs_of_a_kip_848_group_are_counted_too():
    assert gaps("10:00:02 bumped 1\n10:00:10 bumped 2\n10:00:40 bumped 4") == [(10, 40)]


def test_only_what_lies_around_a_moment_matters():
    given = facts(coordinator(without(4)), client("a", "10:00:03 joined 1 {a1}"))
    assert [whole(given, GROUP, at(a), at(b)) for a, b in ((0, 3), (10, 12), (23, 60))] == [True, False, True]
