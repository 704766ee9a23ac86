"""Members that the coordinator expels because their process ended, and whose expulsion tells of something else."""

from dataclasses import replace

import pytest
from churn_builder import BROKER_LOG, exited, runs, steady, worked
from facts_builder import at, episode, facts, settings, version
from kafka_builder import GROUP, client, coordinator
from session_builder import AGAIN, DIED, EXPELLED, FAST, SET, STOOD, UNKNOWN, WOKE, found, others

from mqlab.detectors import rolling_restart
from mqlab.detectors.session_timeout import detect, say
from mqlab.findings import Certainty, Severity
from mqlab.kafka import groups, heartbeat_loss
from mqlab.kafka.heartbeat_loss import Kind

DIED_TWICE = say("kinds", kind=Kind.DEATH, times=2)


def trace(reason, expulsions=1):
    """Expulsions that are only the trace of something else."""
    return say("trace", group=GROUP, expulsions=expulsions, reasons=[heartbeat_loss.say(reason)])


def test_a_process_that_was_killed_and_came_again_died():
    again = client("a", """
        10:00:03 joined 1 {a1}
        10:01:15 settings
        10:01:16 starting
        10:01:24 joined 3 {a2}
    """)  # fmt: skip
    one = found(EXPELLED, again, steady("a", 4, 60), FAST, SET, exited("a", 60, 137))
    assert (one.facts["cause"], one.severity) == (DIED, Severity.WARNING)
    assert "reprocess-duplicates" not in one.explains


def test_two_of_three_that_were_killed_died_and_were_no_release():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 stable 1 3
        10:01:10 expired {a1}
        10:01:10 preparing 1 removing member {a1} on heartbeat expiration
        10:01:24 preparing 2 Adding new member {a2} with group instance id None
        10:02:10 expired {b1}
        10:02:10 preparing 3 removing member {b1} on heartbeat expiration
        10:02:24 preparing 4 Adding new member {b2} with group instance id None
    """)
    logs = [
        client(name, f"""
            09:59:50 settings
            10:00:03 joined 1 {{{name}1}}
            10:{minute}:15 settings
            10:{minute}:16 starting
            10:{minute}:24 joined 3 {{{name}2}}
        """)
        for name, minute in (("a", "01"), ("b", "02"))
    ]  # fmt: skip
    killed = [episode("process-exit", when, "clients/watch.log", line=when, reason=name, system="os", left=137)
              for name, when in (("a", 60), ("b", 120))]  # fmt: skip
    stays = client("c", "10:00:03 joined 1 {c1}\n10:02:30 joined 5 {c1}")
    work = (steady("a", 4, 60), steady("b", 4, 120), steady("c", 4, 180))
    given = facts(broker, logs, stays, killed, work, SET)
    (one,) = detect(given).findings
    assert one.facts["cause"] == DIED_TWICE
    assert rolling_restart.detect(given).findings == ()


def test_what_members_did_that_no_log_tells_of_is_not_judged():
    result = detect(facts(EXPELLED, AGAIN, BROKER_LOG))
    assert (result.findings, result.missing) == ((), (say("no-client-logs"),))


def test_a_static_member_that_was_stopped_is_none():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id Some(a)
        10:01:10 expired {a1}
        10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    """)
    own = client("a", """
        10:00:03 joined 1 {a1}
        10:01:00 stopping
    """)  # fmt: skip
    result = detect(facts(broker, own, FAST, SET))
    assert (result.findings, result.rejected) == ((), trace("stopped"))


def test_a_static_member_whose_log_is_not_there_is_none():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id Some(a)
        10:01:10 expired {a1}
        10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    """)
    assert detect(facts(broker, BROKER_LOG)).rejected == trace("static")


@pytest.mark.parametrize(("timeout", "session"), [("10:01:00", 10000), ("10:00:40", 30000)])
def test_a_static_member_that_polled_too_late_is_expelled_and_is_none(timeout, session):
    late = client("a", f"""
        10:00:03 joined 1 {{a1}}
        {timeout} timeout {{a1}}
    """)  # fmt: skip
    given = facts(EXPELLED, late, worked("a", (82, 500, 60.0)), FAST, runs("a", session=session), BROKER_LOG)
    assert detect(given).findings == ()
    assert others(given) == ["poll-interval-exceeded"]


def restarted_without_leaving(*more):
    """Two members that are expelled one after the other while their next processes join."""
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 stable 1 2
        10:01:05 preparing 1 Adding new member {a2} with group instance id None
        10:01:10 expired {a1}
        10:01:12 stable 2 2
        10:01:35 preparing 2 Adding new member {b2} with group instance id None
        10:01:40 expired {b1}
        10:01:42 stable 3 2
    """)
    logs = [
        client(name, f"""
            09:59:50 settings
            10:00:03 joined 1 {{{name}1}}
            {start} settings
            {start} starting
            {join} joined 2 {{{name}2}}
        """)
        for name, start, join in (("a", "10:01:02", "10:01:12"), ("b", "10:01:32", "10:01:42"))
    ]  # fmt: skip
    work = (steady("a", 4, 60), steady("a", 76, 120), steady("b", 4, 90), steady("b", 106, 120))
    return facts(broker, logs, work, SET, *more)


def test_members_that_are_killed_one_after_another_died_and_were_not_released():
    given = restarted_without_leaving()
    (one,) = detect(given).findings
    assert one.facts["cause"] == DIED_TWICE
    assert rolling_restart.detect(given).findings == ()


def test_members_that_do_not_leave_when_another_version_comes_are_none():
    newer = [version("3.7.0", f"clients/{name}.log", start) for name, start in (("a", "10:01:02"), ("b", "10:01:32"))]
    given = restarted_without_leaving(newer)
    assert detect(given).rejected == trace("release", expulsions=2)
    assert [f.incident for f in rolling_restart.detect(given).findings] == ["rolling-restart"]


def test_members_that_fence_each_other_are_none():
    swap = episode("static-member-replaced", 60, "logs/server.log", group=GROUP, reason="a", member_id="a-2", node="1")
    given = facts(EXPELLED, swap, replace(swap, kind="static-member-fenced", client_id="a"), BROKER_LOG)
    assert detect(given).findings == ()


@pytest.mark.parametrize("seconds", [-3600.0, -40.0, 40.0, 900.0])
def test_the_log_of_a_member_whose_clock_is_off_tells_nothing_of_what_it_did_meanwhile(seconds):
    own = tuple(
        replace(e, first_at=e.first_at + seconds, last_at=e.last_at + seconds)
        for e in (*WOKE, *client("a", "10:02:56 joined 5 {a3}"))
    )
    worked_off = tuple(replace(batch, at=batch.at + seconds) for batch in STOOD)
    result = detect(facts(EXPELLED, AGAIN, own, worked_off, SET))
    assert (result.findings, result.missing) == ((), (groups.say("clock", clients=["a"]),))


QUIET = (
    steady("a", 4, 60), client("a", "09:59:50 settings\n10:00:00 joining\n10:00:03 joined 1 {a1}"), FAST, SET,
)  # fmt: skip
NEVER_BACK = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:01:10 expired {a1}
    10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    10:01:11 stable 2 1
""")


def test_a_member_that_writes_nothing_any_more_died():
    assert found(NEVER_BACK, QUIET).facts["cause"] == DIED


def test_a_coordinators_log_with_missing_lines_does_not_tell_why_a_member_was_never_seen_again():
    thinned = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 stable 1 2
        10:01:10 expired {a1}
        10:01:10 preparing 3 removing member {a1} on heartbeat expiration
        10:01:11 stable 4 1
    """)
    result = detect(facts(thinned, QUIET))
    assert (result.findings, result.missing) == ((), (say("no-coordinator"),))


def test_a_log_that_was_cut_before_its_member_came_back_tells_nothing_of_a_silence():
    cut = (steady("a", 4, 60), client("a", "09:59:50 settings\n10:00:00 joining\n10:00:03 joined 1 {a1}"))
    result = detect(facts(EXPELLED, cut, FAST, SET))
    assert (result.findings, result.missing) == ((), (say("no-client-logs"),))


def test_a_log_that_ends_long_before_the_last_heartbeat_tells_nothing_of_a_death():
    early = (steady("a", 4, 30), client("a", "09:59:50 settings\n10:00:00 joining\n10:00:03 joined 1 {a1}"), FAST, SET)
    one = found(NEVER_BACK, early)
    assert (one.facts["cause"], one.certainty) == (UNKNOWN, Certainty.LIKELY)


def test_a_static_member_that_is_never_seen_again_may_have_been_stopped():
    static = settings("at owner key value\n09:59:50 a group.instance.id a-1", scope="consumer")
    result = detect(facts(NEVER_BACK, QUIET, static))
    assert (result.findings, result.rejected) == ((), trace("static"))


@pytest.mark.parametrize("last", [60, 58, 56])
def test_the_coordinator_heard_a_member_until_the_session_timeout_before_it_expelled_it(last):
    one = found(EXPELLED, WOKE, steady("a", 4, last), steady("a", 82, 220), FAST, SET)
    assert one.started_at.timestamp() == at(60)
