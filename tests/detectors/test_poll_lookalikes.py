"""What only looks like a poll that takes longer than the interval."""

from dataclasses import replace

import pytest
from churn_builder import BROKER_LOG, exited, steady, worked
from facts_builder import at, episode, facts
from kafka_builder import GROUP, client, coordinator
from poll_builder import FAST, LOOP, SET, SLOW, TOLD, WHOLE, others
from taking_away import PARTS, without

from mqlab.detectors import group_churn, session_timeout
from mqlab.detectors.poll_interval_exceeded import detect, say
from mqlab.facts import Series

UNTOLD = tuple(e for e in TOLD if e.kind != "poll-timeout")
FROZEN = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:01:10 expired {a1}
    10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    10:01:11 stable 2 1
    10:01:26 preparing 2 Adding new member {a2} with group instance id None
    10:01:28 stable 3 2
""")
WOKE = client("a", """
    10:00:03 joined 1 {a1}
    10:01:26 failed
    10:01:26 lost invoices-0
    10:01:26 joining
    10:01:28 joined 3 {a2}
""")  # fmt: skip


def test_a_frozen_process_is_none_though_its_poll_took_longer_than_the_interval():
    stood = (*steady("a", 4, 60), *worked("a", (86, 10, 26.0)))
    result = detect(facts(FROZEN, WOKE, stood, FAST, SET))
    assert (result.findings, result.rejected) == ((), say("expelled", group=GROUP, expulsions=1))


def test_a_long_poll_after_which_nobody_left_is_none():
    stays = coordinator("10:00:00 preparing 0 Adding new member {a1}")
    result = detect(facts(stays, client("a", "10:00:03 joined 1 {a1}"), worked("a", (90, 500, 45.0)), SET))
    assert (result.findings, result.rejected) == ((), say("nobody-left", group=GROUP, polls=1))


def test_commits_that_a_cooperative_rebalance_puts_off_are_none():
    lines = [episode("commit-deferred", when, "clients/a.log", line=when, client_id="a", group=GROUP)
             for when in range(60, 90)]  # fmt: skip
    assert detect(facts(lines, client("a", "10:00:03 joined 1 {a1}"), FAST, SET)).findings == ()


def test_a_deploy_is_none():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 stable 1 1
        10:01:00 left {a1}
        10:01:00 preparing 1 removing member {a1} on LeaveGroup
        10:01:00 empty 2
        10:01:10 preparing 2 Adding new member {a2} with group instance id None
        10:01:13 stable 3 1
    """)
    own = client("a", """
        10:00:03 joined 1 {a1}
        10:01:00 stopping
        10:01:00 leaving {a1} the consumer is being closed
        10:01:05 settings
        10:01:06 starting
        10:01:13 joined 3 {a2}
    """)  # fmt: skip
    result = detect(facts(broker, own, steady("a", 4, 58), SET))
    assert (result.findings, result.rejected) == ((), say("closed", group=GROUP, times=1))


def test_leaves_of_which_no_log_of_a_client_tells_are_not_judged():
    assert detect(facts(LOOP, BROKER_LOG)).findings == ()
    assert session_timeout.detect(facts(LOOP, BROKER_LOG)).findings == ()
    assert group_churn.detect(facts(LOOP, BROKER_LOG)).findings == ()


def test_without_logs_it_is_not_checked():
    assert detect(facts(SLOW)).missing == (say("no-logs"),)


def test_members_that_die_in_a_loop_do_not_poll_late():
    dying = (exited("a", 60, 1), exited("a", 108, 1))
    calm = facts(LOOP, [e for e in UNTOLD if e.kind != "commit-failed"], dying, steady("a", 5, 58), FAST, SET)
    assert detect(calm).findings == ()


@pytest.mark.parametrize("part", PARTS)
def test_with_material_missing_nobody_else_is_blamed(part):
    assert others(without(WHOLE, part)) == []


@pytest.mark.parametrize("kind", ["episodes", "batches", "settings", "positions"])
def test_without_a_kind_of_rows_nobody_else_is_blamed(kind):
    assert others(replace(WHOLE, **{kind: ()})) == []


def test_a_metric_of_the_time_between_polls_alone_accuses_nobody():
    late = Series("consumer.time_between_poll_max", "x", {"client_id": "a"}, "m.json", ((at(100), 26_000.0),))
    assert detect(facts(FROZEN, WOKE, steady("a", 4, 60), FAST, SET, late)).findings == ()
