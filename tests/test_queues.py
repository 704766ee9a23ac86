"""Positions by queue: one a moment, lag from what is left, names that belong together."""

import pytest
from facts_builder import at, facts, log
from group_builder import GROUP, TOPIC, queue
from hypothesis import given
from hypothesis import strategies as st

from mqlab.facts import Position
from mqlab.rows import Tally
from mqlab.shared.lag import climb, stalled
from mqlab.shared.queues import gets_on, lag, of_groups, paces, spread, totals
from mqlab.shared.reach import works_on


def position(committed, end, start=None, source="a.txt", queue="broker-a/0", when=0):
    return Position(at(when), GROUP, TOPIC, queue, committed, end, start, None, None, None, source, 2, "")


def test_what_retention_took_does_not_wait():
    assert [lag(position(10, 50)), lag(position(10, 50, 30)), lag(position(50, 10))] == [40, 20, 0]


def test_two_commands_of_one_moment_tell_one_position():
    known = of_groups(facts(position(10, 50), position(11, 52, source="b.txt"), position(None, 60), position(5, None)))
    assert [p.source for p in known[GROUP, TOPIC]["broker-a/0"]] == ["b.txt"]


def test_totals_are_of_moments_that_tell_of_every_queue():
    rows = (position(1, 5), position(1, 9, queue="broker-a/1"), position(1, 9, when=20))
    assert totals(of_groups(facts(rows))[GROUP, TOPIC]) == [(at(0), 12, 14)]


def test_a_pace_is_between_the_first_and_the_last_snapshot_inside():
    (pace,) = paces({"q": queue("broker-a/0", [(60, 3, 0)])}, at(10), at(50)).values()
    assert (pace.seconds, pace.produced, pace.consumed, pace.frozen) == (20, 60, 0, True)


def test_names_of_one_broker_stand_together():
    names = ["broker-b/0", *(f"broker-a/{n}" for n in (8, 9, 10, 2))]
    assert spread(names) == "broker-a 2, 8-10, broker-b 0"
    assert spread(["3", "4"]) == "3-4"


@given(st.sets(st.integers(0, 300), min_size=1))
def test_every_queue_is_named_once(numbers):
    named = spread(f"b/{n}" for n in numbers).removeprefix("b ")
    parts = [part.split("-") for part in named.split(", ")]
    assert {n for part in parts for n in range(int(part[0]), int(part[-1]) + 1)} == numbers


def test_a_climb_goes_from_the_last_low_to_the_peak():
    rise = climb(of_groups(facts(queue("broker-a/0", [(100, 5, 5), (100, 5, 2), (100, 5, 9)])))[GROUP, TOPIC])
    assert (rise.since, rise.until, rise.grown) == (at(100), at(200), 300)


def test_level_lag_has_no_climb():
    assert climb(of_groups(facts(queue("broker-a/0", [(100, 5, 5)])))[GROUP, TOPIC]) is None


def test_a_stall_is_a_time_in_which_messages_come_in_and_nothing_moves():
    known = of_groups(facts(queue("broker-a/0", [(40, 5, 5), (60, 5, 0), (40, 5, 5), (20, 0, 0)])))[GROUP, TOPIC]
    assert [(s.since, s.until) for s in stalled(known, 30)] == [(at(40), at(100))]
    assert list(stalled(known, 90)) == []


def test_what_two_brokers_tell_one_after_another_is_one_snapshot():
    rows = [queue("broker-a/0", [(60, 5, 0)]), queue("broker-b/0", [(60, 5, 0)], start=4)]
    known = of_groups(facts(rows))[GROUP, TOPIC]
    assert [(round(when - at(0)), waiting) for when, waiting, _ in totals(known)] == [
        (4, 0),
        (24, 200),
        (44, 400),
        (64, 600),
    ]
    assert [(s.since, s.until) for s in stalled(known, 30)] == [(at(0), at(64))]


@pytest.mark.parametrize("step", [6, 8])
def test_a_snapshot_that_lacks_a_queue_does_not_mix_those_after_it(step):
    """The first one has no committed offset of a partition yet, as a group has that has read two of three."""
    every = range(0, 10 * step, step)
    rows = [position(10 * n, 30 * n, when=when, queue=q) for n, when in enumerate(every) for q in "012"]
    known = of_groups(facts(rows[1:]))[GROUP, TOPIC]
    assert totals(known)[1:] == [(at(when), 3 * 20 * n, 3 * 30 * n) for n, when in enumerate(every) if n]


def test_a_broker_that_was_asked_too_late_once_does_not_mix_the_snapshots_after_it():
    rows = [queue("broker-a/0", [(48, 5, 0)], step=12), queue("broker-b/0", [(48, 5, 0)], step=12, start=4)]
    known = of_groups(facts(rows[0][1:], rows[1]))[GROUP, TOPIC]
    assert [(round(when - at(0)), waiting) for when, waiting, _ in totals(known)[1:]] == [
        (16, 120),
        (28, 240),
        (40, 360),
        (52, 480),
    ]


def test_quick_snapshots_of_one_queue_stay_apart():
    known = of_groups(facts(queue("broker-a/0", [(20, 5, 0)], step=5)))[GROUP, TOPIC]
    assert len(totals(known)) == 5


def test_a_broker_that_went_away_does_not_end_the_count():
    rows = [queue("broker-a/0", [(200, 5, 0)]), queue("broker-b/0", [(40, 5, 0)])]
    assert totals(of_groups(facts(rows))[GROUP, TOPIC])[-1] == (at(200), 1000, 1000)


def test_a_group_gets_on_as_long_as_it_does_in_every_queue_that_has_something():
    rows = [
        position(5, 9, queue="0"), position(5, 5, queue="1"),
        position(9, 12, queue="0", when=10), position(5, 5, queue="1", when=10),
        position(12, 15, queue="0", when=20), position(5, 8, queue="1", when=20),
    ]  # fmt: skip
    assert gets_on(facts(rows), GROUP) == at(10)
    assert gets_on(facts(rows[:2]), GROUP) is None


def test_a_program_works_on_as_long_as_the_ledger_beside_its_log_does():
    known = facts(
        log("clients/feed.log"),
        [Tally(at(when), "acked", TOPIC, "0", 5, source, 2) for when, source in (
            (100, "clients/feed-acked.csv"), (300, "clients/feed-acked.csv"), (900, "clients/feeder-acked.csv"),
        )],
    )  # fmt: skip
    assert works_on(known, {"clients/feed.log"}) == at(300)
    assert works_on(known, {"logs/server.log"}) is None
