"""The simulated consumer group: what the mechanics of brokers and clients make of settings, times and arrivals."""

from __future__ import annotations

from dataclasses import replace
from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqlab.models import polling
from mqlab.models.group_course import (
    Cause,
    Course,
    Log,
    Member,
    Outcome,
    Pace,
    Settings,
    equally_likely,
    rising,
    with_pace,
    with_settings,
)
from mqlab.models.group_course import GroupProtocol as Protocol
from mqlab.models.group_simulation import simulate


def course(table: str, rate: float = 0.0, backlog: int = 0, seconds: float = 600.0, pace: float = 0.09) -> Course:
    """Members drawn as ``name started stopped records/interval``, two partitions for each; a dash says nothing."""
    members = []
    for line in table.strip().splitlines():
        name, started, stopped, limits = line.split()
        records, interval = limits.split("/")
        members.append(
            Member(
                name,
                Settings(int(records), float(interval), session=10.0),
                None if started == "-" else float(started),
                None if stopped == "-" else float(stopped),
            )
        )
    end = rising([(0.0, float(backlog)), (seconds, backlog + rate * seconds)])
    logs = tuple(Log(("t", number), 0, end) for number in range(2 * len({m.name for m in members})))
    return Course(0.0, seconds, logs, tuple(members), Pace(((0.0, pace),)))


def told(outcome: Outcome) -> list[str]:
    return [f"{one.at:g} {one.cause} {one.member}" for one in outcome.rebalances]


THREE = """
a - - 500/15
b - - 500/15
c - - 500/15
"""


def test_polls_of_45_s_against_15_s_make_a_loop_in_which_nothing_is_ever_committed() -> None:
    found = simulate(course(THREE, backlog=2000))

    assert found.longest_seconds == pytest.approx(45)
    assert found.late_polls == found.polls
    assert (found.commits, found.final_lag) == (0, 12_000)
    assert {one.cause for one in found.rebalances} == {Cause.JOIN, Cause.POLL_TIMEOUT}
    assert found.repeated > 0


def test_the_first_round_of_a_loop_is_one_rebalance_for_all_who_leave_and_joins_when_they_have_worked() -> None:
    found = simulate(replace(course("a - - 500/15\nb - - 500/15", backlog=2000), until=70.0))

    # a and b leave at 15 s: one rebalance, that ends with an empty group. At 45 s both come again; 3 s later it is
    # stable, and 15 s after that both leave.
    assert told(found) == ["15 poll timeout a", "45 join a", "63 poll timeout a"]


def test_who_comes_while_another_works_waits_until_that_one_leaves_and_joins_during_a_rebalance_add_none() -> None:
    drawn = course("a - - 500/15\nb 5 - 500/15\nc 6 - 500/15", backlog=2000)

    found = simulate(replace(drawn, until=29.0))

    # b begins a rebalance, c joins it; it is complete when a has left at 15 s; b and c leave 15 s later.
    assert told(found) == ["5 join b"]
    assert simulate(replace(drawn, until=30.0)).rebalances[-1].cause is Cause.POLL_TIMEOUT


def test_a_smaller_poll_ends_the_loop_and_the_lag_falls_where_the_members_are_fast_enough() -> None:
    found = simulate(with_settings(course(THREE, rate=4.0, backlog=500), {"records": 50}))

    assert (found.rebalances, found.late_polls, found.repeated, found.failed_commits) == ([], 0, 0, 0)
    assert found.longest_seconds == pytest.approx(4.5)
    assert found.final_lag < 100


def test_a_smaller_poll_does_not_make_the_members_faster() -> None:
    found = simulate(with_settings(course(THREE, rate=10.0), {"records": 50}))

    # 60/s come in, three members take 3 / 0.09 = 33/s.
    assert found.rebalances == []
    assert found.final_lag == pytest.approx((60 - 3 / 0.09) * 600, rel=0.02)


def test_a_member_exactly_at_the_interval_leaves_and_one_just_below_never_does() -> None:
    at = simulate(course("a - - 100/10", backlog=5000, pace=0.1))
    below = simulate(course("a - - 100/10", backlog=5000, pace=0.0999))

    assert at.failed_commits == at.late_polls > 0
    assert at.commits == 0
    assert (below.late_polls, below.rebalances, below.failed_commits) == (0, [], 0)


def test_threads_share_a_poll() -> None:
    four = simulate(with_settings(course(THREE, backlog=2000), {"threads": 4}))

    assert four.longest_seconds == pytest.approx(500 * 0.09 / 4)
    assert four.rebalances == []


def test_a_group_that_never_had_a_generation_waits_again_for_whoever_comes() -> None:
    found = simulate(course("a 1 - 50/15\nb 2 - 50/15\nc 5 - 50/15", rate=2.0))

    # a at 1 s, b within 3 s, c within the next 3 s: one generation (KIP-134).
    assert told(found) == ["1 join a"]


def test_without_the_initial_delay_everybody_who_comes_begins_a_rebalance() -> None:
    drawn = replace(course("a 1 - 50/15\nb 4 - 50/15\nc 9 - 50/15"), delay=0.0)

    assert told(simulate(drawn)) == ["1 join a", "4 join b", "9 join c"]


def test_a_stop_in_good_order_is_a_leave_and_a_crash_is_noticed_when_the_session_ends() -> None:
    drawn = course("a - - 50/15\nb - 20 50/15", rate=1.0)
    crashed = replace(drawn, members=(drawn.members[0], replace(drawn.members[1], crashed=True)))

    assert told(simulate(drawn)) == ["20 leave b"]
    assert told(simulate(crashed)) == ["30 heartbeat expiry b"]


def test_a_static_member_that_polls_late_repeats_its_poll_but_begins_no_rebalance_while_its_session_lasts() -> None:
    drawn = course("a - - 200/15", backlog=5000)
    static = replace(drawn, members=(replace(drawn.members[0], static=True),))

    short, long = simulate(static), simulate(with_settings(static, {"records": 500}))

    assert (short.rebalances, short.commits) == ([], 0)
    assert short.failed_commits == short.late_polls == short.polls - 1
    # A poll of 45 s outlasts interval and session together.
    assert told(long)[:2] == ["25 heartbeat expiry a", "45 join a"]


def test_only_the_slow_member_leaves_and_the_others_keep_theirs() -> None:
    drawn = course("a - - 500/15\nb - - 500/15", backlog=3000, pace=0.01)
    slow = replace(drawn.members[1], pace=Pace(((0.0, 0.09),)))

    found = simulate(replace(drawn, members=(drawn.members[0], slow)))

    assert {one.member for one in found.rebalances} == {"b"}
    assert found.final_lag < 6000


def test_a_late_poll_of_the_consumer_protocol_is_two_epochs_and_nobody_waits() -> None:
    drawn = replace(course("a - - 500/15\nb - - 100/15", backlog=3000), protocol=Protocol.CONSUMER, until=50.0)

    assert told(simulate(drawn)) == ["15 poll timeout a", "45 join a"]


def test_a_late_poll_of_the_consumer_protocol_is_told_with_the_next_heartbeat_or_not_at_all() -> None:
    one = course("a - - 500/16", backlog=1000, seconds=60.0)
    slow = Settings(500, 16.0, session=45.0, heartbeat=5.0)
    drawn = replace(one, protocol=Protocol.CONSUMER, members=(replace(one.members[0], settings=slow),))
    quick = replace(drawn, pace=Pace(((0.0, 0.039),)), until=50.0)

    # A poll takes 45 s; 16 s are over, and the heartbeat after that is at 20 s. One of 19.5 s is back before it.
    assert told(simulate(drawn))[:2] == ["20 poll timeout a", "45 join a"]
    assert (simulate(quick).late_polls, simulate(quick).rebalances) == (0, [])


def test_an_empty_group_of_the_consumer_protocol_takes_the_commit_of_who_has_left_and_a_classic_one_does_not() -> None:
    alone = course("a - - 500/15", backlog=1000, seconds=60.0)
    both = course("a - - 500/15\nb - - 1/15", backlog=1000, seconds=60.0)

    assert simulate(alone).commits == 0
    assert simulate(replace(alone, protocol=Protocol.CONSUMER)).final_lag == 1500
    assert simulate(replace(both, protocol=Protocol.CONSUMER)).failed_commits == 1


def test_a_member_that_stands_still_is_late_once_whatever_its_records() -> None:
    drawn = course("a - - 500/15", rate=10.0, seconds=120.0, pace=0.001)
    still = replace(drawn, members=(replace(drawn.members[0], stalls=((30.0, 31.0),)),))

    found = simulate(still)

    assert [round(one.at) for one in found.rebalances] == [45, 61]
    assert found.longest_seconds == pytest.approx(31, abs=0.1)
    assert len(simulate(with_settings(still, {"records": 1})).rebalances) == 2


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_member_without_heartbeats_is_expelled_when_its_session_ends_and_comes_when_it_can(
    protocol: Protocol,
) -> None:
    drawn = replace(course("a - - 50/15\nb - - 50/15", rate=2.0, seconds=120.0, pace=0.001), protocol=protocol)
    cut = replace(drawn, members=(drawn.members[0], replace(drawn.members[1], silences=((30.0, 52.0),))))

    found = simulate(cut)

    # The session of 10 s ends at 40 s; one of 23 s would have covered it.
    assert told(found)[:2] == ["40 heartbeat expiry b", "52 join b"]
    assert found.final_lag < 20
    assert simulate(with_settings(cut, {"session": 23.0})).rebalances == []


def test_records_of_a_poll_that_stood_still_with_its_process_are_handed_out_again() -> None:
    drawn = course("a - - 50/15\nb - - 50/15", backlog=100, seconds=120.0, pace=0.2)
    cut = replace(drawn, members=(drawn.members[0], replace(drawn.members[1], silences=((5.0, 52.0),))))

    assert simulate(drawn).repeated == 0
    assert simulate(cut).repeated == 50


def test_a_new_process_of_a_static_member_takes_the_place_of_the_old_one_while_its_session_lasts() -> None:
    drawn = course("a - - 50/15\nb - 30 50/15\nc 35 - 50/15", rate=2.0, seconds=120.0, pace=0.001)
    a, b, c = drawn.members
    same = replace(drawn, members=(a, replace(b, static=True, instance="i"), replace(c, static=True, instance="i")))
    late = replace(same, members=(a, same.members[1], replace(same.members[2], started=45.0)))
    other = replace(same, members=(a, same.members[1], replace(same.members[2], instance="j")))

    assert simulate(same).rebalances == []
    assert simulate(same).final_lag < 20
    assert told(simulate(late)) == ["40 heartbeat expiry b", "45 join c"]
    # The rebalance of another one waits for b until its session ends.
    assert told(simulate(other)) == ["35 join c"]


def test_equally_likely_courses_differ_in_when_exactly_records_come_in_but_not_in_how_many() -> None:
    drawn = course(THREE, rate=1.0, seconds=100.0)

    first, *others = equally_likely(drawn, 4)

    assert first == drawn
    assert len({log.end for one in others for log in one.logs}) == 18
    assert {floor(log.end.at(100.0)) for one in others for log in one.logs} == {100}


def test_a_cooperative_join_has_a_follow_up_when_partitions_move() -> None:
    drawn = course("a - - 50/15\nb 30 - 50/15", rate=1.0)
    cooperative = replace(drawn, protocol=Protocol.COOPERATIVE, assignor="cooperative-sticky")

    assert [one.cause for one in simulate(cooperative).rebalances] == [Cause.JOIN, Cause.FOLLOW_UP]
    assert [one.cause for one in simulate(drawn).rebalances] == [Cause.JOIN]


@pytest.mark.parametrize("protocol", list(Protocol))
def test_what_was_handled_once_is_committed_under_every_protocol(protocol: Protocol) -> None:
    drawn = course("a - - 50/15\nb 30 - 50/15\nc 60 - 50/15", rate=1.0, seconds=300.0, pace=0.01)
    assignor = "cooperative-sticky" if protocol is Protocol.COOPERATIVE else "range"

    found = simulate(replace(drawn, protocol=protocol, assignor=assignor))

    assert found.failed_commits == 0
    assert found.handled - found.repeated == pytest.approx(6 * 300, abs=20)
    assert found.final_lag < 20


def test_commits_by_time_repeat_what_was_handled_since_the_last_one() -> None:
    drawn = course("a - 300 10/15", rate=10.0, pace=0.005)
    timed = with_settings(drawn, {"commit_every": 5.0})

    assert simulate(drawn).commits > 5 * simulate(timed).commits > 0
    assert simulate(timed).repeated == 0


@settings(max_examples=40, deadline=None)
@given(
    records=st.integers(1, 600),
    milliseconds=st.integers(1, 400),
    interval=st.integers(6, 60),
    threads=st.integers(1, 4),
)
def test_polls_are_late_exactly_where_the_arithmetic_says_so(
    records: int, milliseconds: int, interval: int, threads: int
) -> None:
    seconds = milliseconds / 1000
    set_so = {"records": records, "interval": interval, "threads": threads}
    drawn = with_settings(course(THREE, backlog=20_000, pace=seconds), set_so)

    found = simulate(drawn)

    poll = polling.poll_seconds(records, seconds, threads)
    assert abs(poll - interval) < 1e-6 or (found.late_polls == 0) == (poll < interval)


def test_deviations_are_the_same_again_and_average_out() -> None:
    drawn = with_settings(course(THREE, rate=4.0, backlog=500), {"records": 50})
    noisy = replace(drawn, pace=Pace(drawn.pace.steps, deviation=0.08))

    first, again = simulate(noisy), simulate(noisy)
    phases = [simulate(one) for one in equally_likely(noisy, 5)]

    assert first == again
    assert 5.0 < first.longest_seconds < 6.5
    assert first.handled == pytest.approx(simulate(drawn).handled, rel=0.02)
    assert len({one.longest_seconds for one in phases}) > 1


def test_slower_records_make_longer_polls() -> None:
    assert simulate(with_pace(course(THREE, backlog=2000), 0.5)).longest_seconds == pytest.approx(22.5)


@pytest.mark.parametrize(("records", "late"), [(50, False), (166, False), (167, True)])
def test_polls_are_late_from_the_first_record_on_that_does_not_fit(records, late) -> None:
    found = simulate(with_settings(course(THREE, backlog=2000), {"records": records, "interval": 15.0}))

    assert (found.late_polls > 0) is late


def test_a_hundred_members_are_followed_for_an_hour() -> None:
    members = tuple(Member(f"m{number:03d}", Settings()) for number in range(100))
    logs = tuple(Log(("t", number), 0, rising([(0.0, 0.0), (3600.0, 36_000.0)])) for number in range(100))

    found = simulate(Course(0.0, 3600.0, logs, members, Pace(((0.0, 0.05),), 0.05)))

    assert (found.rebalances, found.late_polls) == ([], 0)
    assert found.handled == pytest.approx(3_600_000, rel=0.01)
