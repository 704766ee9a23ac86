"""What a way to commit costs, and what it leaves behind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.commits import (
    Fallout,
    Loop,
    Way,
    after_crash,
    commits,
    in_flight,
    loop_seconds,
    uncommitted,
)

FIELD = Loop(records=100_000, poll_records=500, poll_seconds=3.09 / 200, round_trip=(4.58 - 3.09) / 200)
LOOPS = st.builds(
    Loop,
    records=st.integers(1, 5000),
    poll_records=st.integers(1, 700),
    poll_seconds=st.integers(1, 2000),
    round_trip=st.integers(0, 500),
    interval=st.integers(50, 10_000),
)
"""Whole milliseconds, so that nothing is rounded."""
WAYS = st.sampled_from(Way)


def test_the_two_runs_of_the_field_study_take_what_was_measured():
    assert loop_seconds(FIELD, Way.SYNC) == pytest.approx(4.58)
    assert loop_seconds(FIELD, Way.ASYNC) == pytest.approx(3.09)


def test_answers_that_come_within_a_poll_leave_one_commit_on_its_way():
    assert in_flight(FIELD) == 1


def test_answers_that_take_longer_than_a_poll_fall_behind():
    loop = Loop(records=1000, poll_records=10, poll_seconds=0.01, round_trip=0.03)

    assert loop_seconds(loop, Way.ASYNC) == pytest.approx(1.0)
    assert in_flight(loop) == 67
    assert after_crash(loop, Way.ASYNC) == Fallout(680)


@pytest.mark.parametrize(
    ("way", "requests"), [(Way.SYNC, 200), (Way.ASYNC, 200), (Way.MIXED, 201), (Way.AUTO, 1)], ids=str
)
def test_polls_commit_once_each_and_intervals_when_they_have_passed(way, requests):
    assert commits(FIELD, way) == requests


def test_the_automatic_commit_counts_intervals_in_whole_polls():
    loop = Loop(records=10_000, poll_records=100, poll_seconds=0.3, round_trip=0.01, interval=1.0)

    assert commits(loop, Way.AUTO) == 100 // 4 + 1
    assert after_crash(loop, Way.AUTO) == Fallout(500)


@pytest.mark.parametrize(
    ("way", "most"), [(Way.SYNC, 500), (Way.ASYNC, 1000), (Way.MIXED, 1000), (Way.AUTO, 100_000)], ids=str
)
def test_a_crash_hands_out_again_what_was_not_known_to_be_committed_and_loses_nothing(way, most):
    assert after_crash(FIELD, way) == Fallout(most)


def test_a_crash_loses_less_than_a_stop_where_few_wait_and_an_interval_brings_more():
    loop = Loop(records=100_000, poll_records=100, poll_seconds=0.5, round_trip=0.01)

    assert after_crash(loop, Way.AUTO, waiting=300) == Fallout(800, 0, 300)
    assert after_crash(loop, Way.SYNC, waiting=300) == Fallout(0, 200, 300)


def replayed(loop, way, moment):
    """(records returned, records known to be committed) at a moment of a loop that is played commit by commit."""
    polled, known, sent, now, last, answered = 0, 0, [], 0.0, 0.0, 0.0
    for poll in range(loop.polls):
        if way is Way.AUTO and now - last >= loop.interval:
            sent.append((now + loop.round_trip, polled))
            last = now
        if now > moment:
            break
        polled = min(loop.records, (poll + 1) * loop.poll_records)
        now += loop.poll_seconds
        if way is Way.SYNC:
            now += loop.round_trip
            sent.append((now, polled))
        elif way is not Way.AUTO:
            answered = max(now, answered) + loop.round_trip if way in (Way.ASYNC, Way.MIXED) else now
            sent.append((answered, polled))
    known = max((position for at, position in sent if at <= moment), default=0)
    return polled, known


@given(LOOPS, WAYS, st.fractions(0, 1))
def test_no_moment_of_a_played_loop_has_more_than_the_most_that_is_uncommitted(loop, way, share):
    moment = share * loop_seconds(loop, way)
    polled, known = replayed(loop, way, moment)

    assert polled - known <= uncommitted(loop, way)


@given(LOOPS, WAYS)
def test_waiting_never_makes_a_loop_faster(loop, way):
    assert loop_seconds(loop, way) <= loop_seconds(loop, Way.SYNC)


@given(LOOPS, WAYS, st.integers(0, 3000))
def test_a_record_is_not_lost_and_handled_again(loop, way, waiting):
    crash = after_crash(loop, way, waiting)

    assert crash.lost_least == 0 or crash.again_most == 0
    assert 0 <= crash.again_most <= loop.records
    assert 0 <= crash.lost_least <= crash.lost_most <= max(waiting, 0)
