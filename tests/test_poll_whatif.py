"""Replays of recorded groups: what the material gives to the simulation, and what the answer is worth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from facts_builder import at, facts, settings
from hypothesis import given
from hypothesis import strategies as st
from kafka_builder import BROKER, client, coordinator
from plain_reading import opened

from mqlab.facts import Position
from mqlab.models.group_course import Busy, Course, Member, Pace, Settings, rising
from mqlab.models.group_course import GroupProtocol as Protocol
from mqlab.models.group_simulation import simulate
from mqlab.rows import Batch, Tally
from mqlab.scenarios.replay import Recorded, chosen, error, replay
from mqlab.scenarios.replay_changes import KEYS, BadChangeError, changed, changes
from mqlab.scenarios.replay_inputs import NoReplayError, arrivals, average, bursts, inputs, members
from mqlab.scenarios.replay_paces import paces
from mqlab.units import Interval, epoch

CYCLES = 6
PERIOD = 48
"""Seconds from poll to poll: 45 s of work, then three in an empty group."""
FIFTY = changes(["max.poll.records=50"])


def clock(seconds):
    return f"10:{int(seconds) // 60:02}:{int(seconds) % 60:02}"


def polls(*rows, who="a"):
    """Polls drawn as (end in seconds since 10:00, records, seconds)."""
    return [
        Batch(at(end), who, "billing", 1, records, seconds, seconds, records, f"clients/{who}.log", 20 + n, "processed")
        for n, (end, records, seconds) in enumerate(rows)
    ]


def listings(lag=lambda second: 500 + 8 * second, last=300):
    """Every 10 s: two partitions, 4/s come in for each, committed so that *lag* waits in both."""
    return [
        Position(at(second), "billing", "invoices", str(queue), 250 + 4 * second - lag(second) // 2, 250 + 4 * second,
                 None, None, None, None, f"offsets/{second:03}.txt", 3 + queue, "row")
        for second in range(0, last + 1, 10)
        for queue in (0, 1)
    ]  # fmt: skip


def loop():
    """One member whose polls of 500 records take 45 s where 15 s may pass: it leaves, and comes when it is through."""
    lines, own, done = ["09:59:50 preparing 0 Adding new member {a1}", "09:59:53 stable 1 1"], [], []
    own.append("09:59:53 joined 1 {a1} range")
    for cycle in range(CYCLES):
        start, number = cycle * PERIOD, cycle + 1
        lines += [
            f"{clock(start + 15)} left {{a{number}}} consumer poll timeout has expired.",
            f"{clock(start + 15)} preparing {2 * cycle + 1} removing member {{a{number}}} on LeaveGroup",
            f"{clock(start + 15)} empty {2 * cycle + 2}",
            f"{clock(start + 45)} preparing {2 * cycle + 2} Adding new member {{a{number + 1}}}",
            f"{clock(start + 48)} stable {2 * cycle + 3} 1",
        ]
        own += [
            f"{clock(start + 15)} timeout {{a{number}}}",
            f"{clock(start + 45)} failed",
            f"{clock(start + 48)} joined {2 * cycle + 3} {{a{number + 1}}} range",
        ]
        done.append((start + 45, 500, 45.0))
    return [coordinator("\n".join(lines)), client("a", "\n".join(own)), polls(*done)]


def printed(records=500, interval=15_000, who="a"):
    return settings(
        f"""
        at        owner  key                   value
        09:59:49  {who}  max.poll.records      {records}
        09:59:49  {who}  max.poll.interval.ms  {interval}
        09:59:49  {who}  session.timeout.ms    10000
        09:59:49  {who}  enable.auto.commit    false
        """,
        f"clients/{who}.log",
        scope="consumer",
    )


LOOP = facts(loop(), printed(), listings())


def test_the_replay_of_what_was_agrees_with_the_record():
    answer = replay(LOOP)

    assert (answer.group, answer.incident, answer.since, answer.until) == ("billing", True, at(0), at(300))
    assert answer.recorded.rebalances == 2 * CYCLES
    assert answer.before.rebalances.likely == pytest.approx(2 * CYCLES, abs=1)
    assert answer.before.rebalances == Interval(11, 12, 13)
    assert answer.before.final_lag.likely == 2900
    assert answer.recorded.final_lag == 2900
    assert (answer.agrees, answer.after) == (True, None)


def test_fifty_records_a_poll_end_the_loop_and_say_what_waits_at_the_end():
    answer = replay(LOOP, changes=FIFTY)

    # 8/s come in, 1 / 0.09 = 11.1/s are handled.
    assert answer.after.rebalances == Interval(0, 0, 0)
    assert answer.after.longest_poll_seconds.likely == pytest.approx(4.5, rel=0.01)
    assert answer.after.final_lag.likely < 100
    assert answer.after.repeated.high == 0
    assert (answer.fit_before.feasible, answer.fit_after.feasible) == (False, True)
    assert (answer.fit_after.largest_safe_records, answer.fit_after.arriving_per_second) == (166, 8.0)


def test_an_interval_longer_than_the_poll_ends_the_loop_too():
    longer = replay(LOOP, changes=changes(["max.poll.interval.ms=46000"]))
    shorter = replay(LOOP, changes=changes(["max.poll.interval.ms=44000"]))

    assert longer.after.rebalances.high == 0
    assert shorter.after.rebalances.low > 0


@pytest.mark.parametrize("protocol", Protocol)
@given(
    records=st.integers(1, 1000),
    interval=st.integers(1, 600_000),
    session=st.integers(4_000, 60_000),
    delay=st.integers(0, 10_000),
    keys=st.sets(st.sampled_from([key for key in KEYS if key != "record.ms"])),
)
def test_what_was_already_so_changes_nothing_when_it_is_asked_for(protocol, records, interval, session, delay, keys):
    assignor = {Protocol.COOPERATIVE: "cooperative-sticky", Protocol.CONSUMER: "uniform"}.get(protocol, "roundrobin")
    own = Settings(records, interval / 1000, session / 1000, heartbeat=3.0)
    member = Member("a", own, busy=Busy(at(0), at(30), records))
    course = Course(at(1), at(300), (), (member,), Pace(((0.0, 0.09),)), protocol, assignor, delay / 1000)
    recorded = {
        "max.poll.records": records,
        "max.poll.interval.ms": interval,
        "session.timeout.ms": session,
        "heartbeat.interval.ms": 3000,
        "group.initial.rebalance.delay.ms": delay,
        "threads": 1,
        "members": 1,
        "group.protocol": "consumer" if protocol is Protocol.CONSUMER else "classic",
        "partition.assignment.strategy": assignor,
    }
    if protocol is Protocol.CONSUMER:
        keys = keys - {"partition.assignment.strategy"}  # the broker assigns

    assert changed(course, changes(f"{key}={recorded[key]}" for key in keys)) == course


@pytest.mark.parametrize("key", ["max.poll.records=500", "max.poll.interval.ms=15000", "threads=1", "members=1"])
def test_a_replay_with_the_recorded_values_is_the_replay_of_what_was(key):
    answer = replay(LOOP, changes=changes([key]), since=at(70), until=at(250))

    assert answer.after == answer.before == replay(LOOP, since=at(70), until=at(250)).before


def test_a_session_that_is_longer_leaves_the_poll_alone_that_is_worked_off_when_the_time_begins():
    course = inputs(LOOP, "billing", at(70), at(120)).course

    assert changed(course, changes(["session.timeout.ms=60000"])).members[0].busy == course.members[0].busy
    assert changed(course, changes(["record.ms=10"])).members[0].busy is None


def test_slower_records_more_threads_and_more_members_change_what_a_poll_takes_and_how_many_work():
    slower = replay(LOOP, changes=changes(["record.ms=200", "max.poll.records=50"]))
    threads = replay(LOOP, changes=changes(["threads=4"]))
    six = changed(inputs(LOOP, "billing").course, changes(["members=3"]))

    assert slower.after.longest_poll_seconds.likely == pytest.approx(10)
    assert slower.after.final_lag.likely == pytest.approx(500 + (8 - 5) * 300, rel=0.1)
    assert threads.fit_after.poll_seconds == pytest.approx(11.25)
    assert threads.after.rebalances.high == 0
    assert [each.name for each in six.members] == ["a", "a~0001", "a~0002"]


def test_each_member_that_is_added_to_a_static_group_has_an_instance_id_of_its_own():
    course = inputs(LOOP, "billing").course
    static = replace(course, members=tuple(replace(m, static=True, instance="billing-0") for m in course.members))

    three = changed(static, changes(["members=3"]))

    assert [(m.name, m.instance) for m in three.members] == [("a", "billing-0"), ("a~0001", None), ("a~0002", None)]
    assert simulate(three).final_lag >= 0


def test_an_incident_ends_with_the_first_start_of_a_process_after_it():
    restarted = facts(loop(), printed(), listings(), client("a", "10:03:20 starting"))

    assert replay(restarted).until == at(200)
    assert replay(LOOP, until=at(200)).until == at(200)


def test_a_poll_that_is_being_worked_off_when_the_time_begins_is_part_of_the_replay_but_not_of_another_setting():
    course = inputs(LOOP, "billing", at(70), at(120)).course
    (one,) = course.members

    assert (one.started, one.busy) == (None, Busy(at(48), at(93), 500))
    # It has left at 63 s: it comes again when the poll is done.
    assert [begun.at - at(0) for begun in simulate(course).rebalances] == [93, 111]
    assert simulate(changed(course, FIFTY)).rebalances == []


def test_a_burst_that_still_waits_when_it_is_listed_came_just_before_that():
    def listed(*rows):
        return [
            Position(at(10 * n), "billing", "invoices", "0", committed, end, None, None, None, None, "o.txt", n, "")
            for n, (committed, end) in enumerate(rows)
        ]

    waiting = arrivals(listed((0, 0), (100, 100), (150, 1200), (150, 1300), (150, 1400)))
    handled = arrivals(listed((0, 0), (100, 100), (1200, 1200), (1300, 1300), (1400, 1400)))

    assert [(moment - at(0), end) for moment, end in waiting] == [
        (0, 0), (10, 100), (19, 190), (20, 1200), (30, 1300), (40, 1400),
    ]  # fmt: skip
    assert [(moment - at(0), end) for moment, end in handled] == [(0, 0), (10, 100), (20, 1200), (30, 1300), (40, 1400)]


def test_the_incident_begins_when_the_last_of_the_first_late_polls_began_wherever_listings_lie():
    two = [
        coordinator("09:59:50 preparing 0 Adding new member {a1}\n09:59:53 stable 1 2\n"
                    "10:00:18 left {a1} consumer poll timeout has expired.\n"
                    "10:00:18 preparing 1 removing member {a1} on LeaveGroup\n"
                    "10:00:19 left {b1} consumer poll timeout has expired."),
        client("a", "09:59:53 joined 1 {a1} range\n10:00:18 timeout {a1}"),
        client("b", "09:59:53 joined 1 {b1} range\n10:00:19 timeout {b1}"),
        polls((2, 1, 1.0), (48, 500, 45.0)), polls((3, 1, 1.0), (44, 400, 40.0), who="b"),
    ]  # fmt: skip

    course = inputs(facts(two, printed(), printed(who="b"), listings()), "billing").course

    # b's poll of 400 records began at 4 s, one second after a's: both are in it.
    assert (course.since, course.until) == (at(4), at(300))
    assert [each.busy for each in course.members] == [Busy(at(3), at(48), 500), Busy(at(4), at(44), 400)]


def test_a_burst_was_there_when_a_poll_began_that_took_more_than_the_usual_rate_brings():
    rows = [(0, 0), (100, 100), (150, 1200), (150, 1300), (150, 1400)]
    points = tuple(
        Position(at(10 * n), "billing", "invoices", "0", committed, end, None, None, None, None, "o.txt", n, "")
        for n, (committed, end) in enumerate(rows)
    )
    usual, large = (13.0, 20, 1.0), (45.0, 500, 33.0)

    moments = bursts([points], polls(usual, large))
    grown = rising(arrivals(points, moments))

    assert [moment - at(0) for moment in moments] == [12.0]
    assert [round(grown.at(at(second))) for second in (10, 11.99, 12, 20)] == [100, 120, 1120, 1200]


def test_polls_of_an_application_that_names_no_group_are_known_by_its_client():
    nameless = [replace(one, group=None) if isinstance(one, Batch) else one for one in loop()[2]]

    answer = replay(facts(loop()[:2], nameless, printed(), listings()))

    assert answer.recorded.longest_poll_seconds == 45
    assert answer.agrees


def test_a_replay_that_does_not_agree_with_the_record_says_nothing_of_other_settings():
    """By the offsets the group was never behind, so the polls that the log tells of are not all there is."""
    calm = facts(loop(), printed(), listings(lag=lambda _: 10))

    answer = replay(calm, changes=FIFTY)

    assert not answer.agrees
    assert answer.error_share > 0.5
    assert answer.after is None


def test_bounds_are_as_much_further_apart_as_the_replay_of_what_was_is_off():
    off = facts(loop(), printed(), listings(lag=lambda second: 500 + 6 * second))

    answer, sure = replay(off, changes=FIFTY), replay(LOOP, changes=FIFTY)

    assert not answer.agrees
    assert 0.2 < answer.error_share < 0.5
    wide = answer.after.final_lag.high - answer.after.final_lag.low
    assert wide > 500 + sure.after.final_lag.high - sure.after.final_lag.low


def test_the_bounds_of_an_answer_hold_one_rebalance_more_or_less_and_half_a_poll_of_each_member():
    longer = replay(LOOP, changes=changes(["max.poll.interval.ms=44000"])).after
    sure = simulate(changed(inputs(LOOP, "billing").course, changes(["max.poll.interval.ms=44000"])))

    assert (longer.rebalances.low, longer.rebalances.high) == (
        len(sure.rebalances) - 1, len(sure.rebalances) + 1,
    )  # fmt: skip
    # Its polls are of 500 records, the last of them not done.
    below, above = sure.final_lag - longer.final_lag.low, longer.final_lag.high - sure.final_lag
    assert below == above == pytest.approx(250, rel=0.2)


def test_lag_at_the_end_is_not_known_where_nobody_listed_offsets_near_it():
    two = [one for one in listings() if one.at in (at(0), at(300))]
    sparse = facts(loop(), printed(), two)

    middle, whole = replay(sparse, since=at(0), until=at(150)), replay(sparse)

    assert (middle.recorded.final_lag, whole.recorded.final_lag) == (None, 2900)
    assert middle.agrees
    assert middle.recorded.rebalances == middle.before.rebalances.likely == 6


def test_a_replay_that_nothing_was_recorded_of_counts_as_wholly_off():
    course = inputs(LOOP, "billing").course
    known = Recorded(None, None, None, None, 0.0, None)

    assert error(replay(LOOP).before, known, course) == 1.0
    assert error(replay(LOOP).before, replace(known, rebalances=12), course) == 0.0


def test_without_offsets_members_or_polls_there_is_no_replay():
    with pytest.raises(NoReplayError, match="offsets"):
        replay(facts(loop(), printed()))
    with pytest.raises(NoReplayError, match=r"record\.ms"):
        replay(replace(LOOP, batches=()))
    with pytest.raises(NoReplayError, match="names no member"):
        replay(facts(listings(), polls((45, 500, 45.0))))


def ledger(*counts, start=0, source="clients/a-processed.csv"):
    """What one ledger notes in each ten seconds, half of it in each partition."""
    return [
        Tally(at(start + 10 * n), "processed", "invoices", queue, count // 2, source, 2 + n)
        for n, count in enumerate(counts)
        for queue in ("0", "1")
    ]


def test_where_no_application_tells_of_its_polls_ledgers_tell_how_long_a_record_takes():
    noted = ledger(*[110, 112, 112, 112, 78] * 6)

    answer = replay(replace(LOOP, batches=(), tallies=tuple(noted)))

    assert answer.fit_before.record_seconds == pytest.approx(10 / 112)
    assert answer.recorded.longest_poll_seconds is None
    assert answer.agrees
    assert any("from what ledgers note in ten seconds" in sentence for sentence in answer.assumed)


def test_ledgers_tell_nothing_where_few_records_wait_or_the_work_has_gaps():
    calm = facts(loop()[:2], printed(), listings(lag=lambda _: 40), ledger(*[80] * 30))
    gaps = facts(loop()[:2], printed(), listings(), ledger(112, 112), ledger(112, 112, start=100))

    for known in (calm, gaps):
        with pytest.raises(NoReplayError, match=r"record\.ms"):
            replay(known)


def test_a_time_per_record_that_is_given_stands_in_for_polls_that_nobody_noted():
    answer = replay(replace(LOOP, batches=()), changes=changes(["record.ms=90"]))

    assert answer.before.rebalances.likely == pytest.approx(2 * CYCLES, abs=1)
    assert answer.agrees


def test_the_group_with_late_polls_is_taken_and_another_one_where_it_is_named():
    other = [replace(one, group="other") for one in listings(last=600)]

    both = facts(loop(), printed(), listings(), other)

    assert chosen(both) == "billing"
    with pytest.raises(NoReplayError, match="The material names no member of group other"):
        replay(both, "other")


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("batch.size=1000", "max.poll.records, max.poll.interval.ms, session.timeout.ms"),
        ("max.poll.records", "has no value"),
        ("max.poll.records=0", "whole number above zero"),
        ("max.poll.records=many", "whole number above zero"),
        ("max.poll.interval.ms=nan", "above zero"),
        ("session.timeout.ms=inf", "above zero"),
        ("threads=1.5", "whole number"),
        ("max.poll.records=1e308", "up to 2147483647"),
        ("members=1000000", "up to 1000"),
        ("threads=1e308", "up to 1000"),
        ("record.ms=0.0000001", "from 0.001 to a day"),
        ("max.poll.interval.ms=0.5", "whole milliseconds above zero"),
        ("=5", "has no value"),
        ("partition.assignment.strategy=best", "one of range, roundrobin, sticky, cooperative-sticky"),
    ],
)
def test_what_cannot_be_set_is_refused_with_what_can_be(pair, told):
    with pytest.raises(BadChangeError, match=told):
        changes([pair])


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (("max.poll.records=50", "max.poll.records=60"), "given twice"),
        (("group.protocol=consumer", "partition.assignment.strategy=range"), "the broker assigns"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(pairs, told):
    with pytest.raises(BadChangeError, match=told):
        changes(pairs)


def test_a_session_that_is_over_before_a_heartbeat_is_due_is_no_setting():
    with pytest.raises(BadChangeError, match=r"heartbeat.interval.ms must be below session.timeout.ms"):
        replay(LOOP, changes=changes(["session.timeout.ms=1000"]))


def test_records_that_took_no_time_are_replayed():
    assert replay(LOOP, changes=changes(["record.ms=0.001", "threads=1000"])).after is not None


def test_the_protocol_follows_the_assignor_and_the_other_way_round():
    course = inputs(LOOP, "billing").course

    cooperative = changed(course, changes(["partition.assignment.strategy=cooperative-sticky"]))
    consumer = changed(course, changes(["group.protocol=consumer"]))

    assert (course.protocol, course.assignor) == (Protocol.EAGER, "range")
    assert (cooperative.protocol, cooperative.assignor) == (Protocol.COOPERATIVE, "cooperative-sticky")
    assert consumer.protocol is Protocol.CONSUMER


@pytest.mark.parametrize(
    ("printed_value", "protocol", "assignor"),
    [
        ("[class org.apache.kafka.clients.consumer.RangeAssignor]", Protocol.EAGER, "range"),
        (
            "[class org.apache.kafka.clients.consumer.RangeAssignor, "
            "class org.apache.kafka.clients.consumer.CooperativeStickyAssignor]",
            Protocol.EAGER,
            "range",
        ),
        (
            "[class org.apache.kafka.clients.consumer.CooperativeStickyAssignor]",
            Protocol.COOPERATIVE,
            "cooperative-sticky",
        ),
        ("cooperative-sticky", Protocol.COOPERATIVE, "cooperative-sticky"),
        ("roundrobin,range", Protocol.EAGER, "roundrobin"),
        ("[class com.acme.OwnAssignor]", Protocol.EAGER, "range"),
    ],
)  # fmt: skip
def test_the_first_known_assignor_that_members_print_is_the_groups(printed_value, protocol, assignor):
    (one,) = printed(records=1)[:1]
    row = replace(one, key="partition.assignment.strategy", value=printed_value)

    course = inputs(facts(loop(), printed(), listings(), row), "billing").course

    assert (course.protocol, course.assignor) == (protocol, assignor)


def test_a_group_whose_coordinator_bumps_epochs_is_one_of_the_consumer_protocol():
    epochs = coordinator("09:59:50 bumped 1\n10:00:15 bumped 2\n10:00:45 bumped 3")

    assert inputs(facts(loop(), epochs, printed(), listings()), "billing").course.protocol is Protocol.CONSUMER


def test_settings_are_those_that_a_process_printed_and_a_static_or_stopped_member_is_known_as_such():
    stopped = facts(
        coordinator("09:59:50 preparing 0 Adding new member {a1}\n09:59:53 stable 1 1", source=BROKER),
        client(
            "a", "09:59:53 joined 1 {a1} range\n10:02:00 stopping\n10:02:00 leaving {a1} the consumer is being closed"
        ),
        printed(records=40, interval=20_000),
    )

    (one,) = members(stopped, "billing", at(0), at(300))

    assert (one.settings.records, one.settings.interval, one.settings.session) == (40, 20.0, 10.0)
    assert (one.started, one.stopped, one.crashed, one.static) == (None, at(120), False, False)


def test_times_per_record_follow_the_polls_and_a_member_that_is_slower_has_its_own():
    usual = [polls(*((end, 100, 1.0) for end in range(10, 101, 10)), who=who) for who in ("a", "b")]
    slow = polls(*((end, 100, 9.0) for end in range(10, 101, 10)), who="c")

    alike = paces([*usual[0], *usual[1]], at(0), at(100))
    apart = paces([*usual[0], *usual[1], *slow], at(0), at(100))

    assert (alike.mean, alike.own) == (pytest.approx(0.01), {})
    assert list(apart.own) == ["c"]
    assert (apart.mean, apart.slowest) == (pytest.approx(0.01), pytest.approx(0.09))


def test_a_service_that_becomes_slow_is_slow_from_then_on():
    turned = polls(*((end, 100, 1.0) for end in range(10, 51, 10)), *((end, 100, 9.0) for end in range(60, 101, 10)))

    pace = paces(turned, at(0), at(100)).common
    fast = [seconds for since, seconds in pace.steps if since < at(40)]
    slow = [seconds for since, seconds in pace.steps if since >= at(60)]

    assert fast == [pytest.approx(0.01)] * 4
    assert slow == [pytest.approx(0.09)] * 4


def test_times_turn_with_the_begin_of_the_first_slow_poll_not_at_round_windows():
    turned = [*polls(*((end, 100, 0.5) for end in (2, 4, 6))), *polls((37, 100, 30.0), (67, 100, 30.0))]

    known = paces(turned, at(0), at(67))

    assert [(since - at(0), round(seconds, 4)) for since, seconds in known.common.steps] == [
        (0, 0.005), (7, 0.3), (17, 0.3), (27, 0.3), (37, 0.3), (47, 0.3), (57, 0.3),
    ]  # fmt: skip
    assert known.slowest == pytest.approx(0.3, rel=0.05)


def test_one_long_poll_of_a_few_records_is_a_stall_that_smaller_polls_do_not_shorten():
    usual = [(end, 100, 1.0) for end in range(2, 40, 2)]
    stalled = polls(*usual, (71, 2, 31.0), *((end, 100, 1.0) for end in range(73, 100, 2)))
    many = polls(*usual, (71, 200, 31.0), *((end, 100, 1.0) for end in range(73, 100, 2)))

    known = paces(stalled, at(0), at(100))

    assert (known.stalls, known.slowest) == ({"a": ((at(40), 31.0),)}, pytest.approx(0.01))
    assert paces(many, at(0), at(100)).stalls == {}


def test_a_member_that_stood_still_does_so_with_any_number_of_records():
    still = [
        coordinator("09:59:50 preparing 0 Adding new member {a1}\n09:59:53 stable 1 1\n"
                    "10:00:55 left {a1} consumer poll timeout has expired.\n10:00:55 preparing 1 removing member {a1}\n"
                    "10:00:55 empty 2\n10:01:11 preparing 2 Adding new member {a2}\n10:01:14 stable 3 1"),
        client("a", "09:59:53 joined 1 {a1} range\n10:00:55 timeout {a1}\n10:01:14 joined 3 {a2} range"),
        polls(*((end, 8, 0.4) for end in range(2, 41, 2)), (71, 2, 31.0), *((e, 8, 0.4) for e in range(76, 300, 2))),
    ]  # fmt: skip

    answer = replay(facts(still, printed(), listings(lag=lambda _: 8)), changes=FIFTY)

    assert (answer.recorded.rebalances, answer.before.rebalances.likely, answer.after.rebalances.likely) == (2, 2, 2)
    assert answer.after.longest_poll_seconds.likely == pytest.approx(31, abs=1)
    assert any("stood still for 31.0 s" in sentence for sentence in answer.assumed)


EXPELLED = """
09:59:50 preparing 0 Adding new member {a1}
09:59:53 stable 1 2
10:01:00 expired {b1}
10:01:00 preparing 1 removing member {b1} on heartbeat expiration
10:01:03 stable 2 1
10:01:20 preparing 2 Adding new member {b2}
10:01:23 stable 3 2
"""
BOTH = ["09:59:53 joined 1 {a1} range", "09:59:53 joined 1 {b1} range\n10:01:23 joined 3 {b2} range"]


def expelled(*more):
    return facts(
        coordinator(EXPELLED), client("a", BOTH[0]), client("b", BOTH[1]), printed(), printed(who="b"),
        listings(lag=lambda _: 8), polls(*((end, 8, 0.4) for end in range(2, 300, 2))), *more,
    )  # fmt: skip


def test_a_member_that_was_expelled_was_silent_for_its_session_and_until_it_came_again():
    known = expelled()

    (_, silent) = inputs(known, "billing").course.members
    answer = replay(known, changes=changes(["session.timeout.ms=31000"]))

    # Its session is 10 s: the last heartbeat came at 50 s. It joins at 80 s; 31 s would have covered it.
    assert (silent.name, silent.crashed, silent.stopped) == ("b", False, None)
    assert [(since - at(0), until - at(0)) for since, until in silent.silences] == [(50, pytest.approx(80, abs=3))]
    assert (answer.recorded.rebalances, answer.before.rebalances.likely) == (2, 2)
    assert answer.agrees
    assert any(sentence.startswith("b: no heartbeats for up to") for sentence in answer.assumed)


def test_a_silence_that_is_a_late_poll_of_a_static_member_comes_from_the_poll():
    (_, silent) = inputs(expelled(polls((79, 500, 55.0), who="b")), "billing").course.members

    assert silent.silences == ()


def test_heartbeats_of_the_consumer_protocol_are_set_on_the_broker():
    epochs = coordinator("09:59:50 bumped 1\n10:00:15 bumped 2\n10:00:45 bumped 3")
    printed_broker = settings(
        """
        at        owner  key                                   value
        09:59:40  1      group.consumer.heartbeat.interval.ms  7000
        """,
        BROKER,
        scope="broker",
    )
    usual = inputs(facts(loop(), epochs, printed(), listings()), "billing").course
    told = inputs(facts(loop(), epochs, printed(), printed_broker, listings()), "billing").course
    asked = changed(inputs(LOOP, "billing").course, changes(["group.protocol=consumer"]))

    assert [(each.settings.heartbeat, each.settings.session) for each in usual.members] == [(5.0, 45.0)]
    assert [(each.settings.heartbeat, each.settings.session) for each in told.members] == [(7.0, 45.0)]
    assert [(each.settings.heartbeat, each.settings.session) for each in asked.members] == [(5.0, 45.0)]


# What really happened: captures with a repaired phase.

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
INCIDENTS = {
    "kafka-rebalance-01": ("ner-indexer", "2026-11-21T11:45:25Z", 13),
    "kafka-rebalance-02": ("entity-extract", "2026-11-21T11:46:49Z", 9),
}
REPAIRED = {
    "kafka-rebalance-01": ("11:42:10", "11:45:25", "11:45:55", "11:47:21", 50, 5.8, 8288, 8424),
    "kafka-rebalance-02": ("11:43:34", "11:46:49", "11:47:40", "11:48:36", 40, 6.6, 8922, 8941),
}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A function: facts of a sample, read once."""
    return cache(lambda name: opened([SAMPLES / name], tmp_path_factory.mktemp("scratch")))


@pytest.mark.parametrize("name", sorted(INCIDENTS))
def test_the_replay_of_a_real_incident_has_its_rebalances_and_its_lag(sample, name):
    group, until, rebalances = INCIDENTS[name]
    known = sample(name)
    begin = inputs(known, group).course.since

    answer = replay(known, group, FIFTY, begin, epoch(until))

    assert answer.recorded.rebalances == rebalances
    assert answer.before.rebalances.likely == pytest.approx(rebalances, abs=max(1, 0.2 * rebalances))
    assert answer.before.final_lag.likely == pytest.approx(
        answer.recorded.final_lag, abs=0.2 * answer.recorded.peak_lag
    )
    assert answer.before.longest_poll_seconds.likely == pytest.approx(answer.recorded.longest_poll_seconds, rel=0.1)
    assert answer.agrees
    assert answer.after.rebalances.high == 0
    as_it_was = replay(known, group, changes(["max.poll.records=500"]), begin, epoch(until))
    assert as_it_was.after == as_it_was.before == answer.before


@pytest.mark.parametrize("name", sorted(INCIDENTS))
def test_the_replay_of_all_that_was_recorded_has_its_rebalances_restarts_and_stops_too(sample, name):
    known, group = sample(name), INCIDENTS[name][0]

    answer = replay(known, group, since=0.0, until=epoch("2026-11-22T00:00:00Z"))

    assert not answer.incident
    assert answer.before.rebalances.likely == pytest.approx(
        answer.recorded.rebalances, abs=max(1, 0.2 * answer.recorded.rebalances)
    )
    assert answer.before.final_lag.likely == pytest.approx(
        answer.recorded.final_lag, abs=0.2 * answer.recorded.peak_lag
    )


@pytest.mark.parametrize("name", sorted(REPAIRED))
def test_what_came_after_the_repair_follows_from_what_was_recorded_before_it(sample, name):
    begin, repaired, since, until, records, longest, lag, peak = REPAIRED[name]
    known, group = sample(name), INCIDENTS[name][0]
    moments = [epoch(f"2026-11-21T{clock}Z") for clock in (begin, repaired, since, until)]
    before = average(known, group, *moments[:2])

    course = inputs(known, group, *moments[2:], before).course
    found = simulate(course)

    assert {each.settings.records for each in course.members} == {records}
    assert found.late_polls == 0
    assert found.longest_seconds == pytest.approx(longest, rel=0.25)
    assert found.final_lag == pytest.approx(lag, abs=0.2 * peak)
    starts = sum(each.started is not None for each in course.members)
    assert len(found.rebalances) <= starts
