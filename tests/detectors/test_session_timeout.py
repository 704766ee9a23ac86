"""Members that the coordinator expels because it hears nothing: why, and what is only the trace of something else."""

from dataclasses import replace

import pytest
from churn_builder import BROKER_LOG, exited, runs, steady, worked
from facts_builder import at, episode, facts, log, series, settings, version
from kafka_builder import GROUP, client, coordinator
from taking_away import PARTS, without

from mqlab.detectors import group_churn, poll_interval_exceeded, rolling_restart
from mqlab.detectors.session_timeout import detect, say
from mqlab.findings import Certainty, Severity

EXPELLED = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:01:10 expired {a1}
    10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    10:01:11 stable 2 1
    10:01:22 preparing 2 Adding new member {a2} with group instance id None
    10:01:24 stable 3 2
""")
WOKE = client("a", """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:01:22 failed
    10:01:22 lost invoices-0
    10:01:22 joining
    10:01:24 joined 3 {a2}
""")  # fmt: skip
AGAIN = coordinator("""
    10:02:40 expired {a2}
    10:02:40 preparing 3 removing member {a2} on heartbeat expiration
    10:02:41 stable 4 1
    10:02:56 preparing 4 Adding new member {a3} with group instance id None
    10:02:58 stable 5 2
""")
STOOD = (*steady("a", 4, 60), *steady("a", 82, 150), *steady("a", 176, 220))
FAST = steady("b", 4, 220)
SET = (runs("a"), runs("b"), BROKER_LOG)
TWICE = facts(EXPELLED, AGAIN, WOKE, client("a", "10:02:56 joined 5 {a3}"), STOOD, FAST, SET)


def found(*rows):
    (one,) = detect(facts(*rows)).findings
    return one


def others(given):
    """Incidents that the other rules about members find."""
    results = [rule.detect(given) for rule in (poll_interval_exceeded, group_churn, rolling_restart)]
    return [f.incident for r in results for f in r.findings]


def test_a_process_that_stood_still_is_proven_by_its_silence():
    (one,) = detect(TWICE).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, GROUP)
    assert one.measures == {
        "members": 1, "expired_members": 2, "rebalances": 4, "session_timeout_seconds": 10, "silent_seconds": 26,
    }  # fmt: skip
    assert one.facts == {
        "cause": "process stood still 2×", "members": "a", "triggers": "4 rebalances: 2 expulsions, 2 joins after them",
    }  # fmt: skip
    assert [place.why for place in one.evidence] == [
        "the coordinator removes the member",
        "a notices",
        "the coordinator removes the member",
    ]
    assert "session.timeout.ms above 26.0 s would have covered it" in one.remedy
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at(60), at(176))
    assert others(TWICE) == []


def test_one_pause_is_no_loop():
    one = found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET)
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.WARNING)


def test_a_member_of_a_kip_848_group_is_fenced_by_its_session():
    lines = coordinator("""
        10:00:02 new {a1}
        10:00:03 bumped 1
        10:01:10 expired {a1}
        10:01:10 bumped 2
        10:01:22 new {a1}
        10:01:22 bumped 3
    """)
    one = found(lines, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET)
    assert one.facts["cause"] == "process stood still"


def test_a_collection_that_covers_the_silence_is_the_cause():
    pause = episode("gc-pause", 82, "clients/a-gc.log", left=22.0, reason="Pause Full", text="Pause Full 22000ms")
    one = found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET, pause)
    assert one.facts["cause"] == "garbage collection"
    assert "garbage collection stopped its process for 22.0 s" in one.statement
    assert pause.first.text in [e.text for e in one.evidence]


def test_the_collection_of_another_member_is_not():
    pause = episode("gc-pause", 82, "clients/b-gc.log", left=22.0, reason="Pause Full")
    named = client("b", "10:00:03 joined 1 {b1}")
    assert found(EXPELLED, WOKE, STOOD[:29], named, FAST, SET, pause).facts["cause"] == "process stood still"


def test_a_short_collection_is_not():
    pause = episode("gc-pause", 61, "clients/a-gc.log", left=0.4, reason="Pause Young")
    assert found(EXPELLED, WOKE, STOOD[:29], FAST, SET, pause).facts["cause"] == "process stood still"


def test_a_process_that_worked_on_was_cut_off():
    lines = [
        episode("coordinator-lost", 69, "clients/a.log", line=70, group=GROUP, client_id="a", reason="disconnected"),
        episode("session-timeout", 70, "clients/a.log", line=71, group=GROUP, client_id="a"),
    ]
    one = found(EXPELLED, WOKE, steady("a", 4, 220, every=1), FAST, SET, lines)
    assert (one.facts["cause"], one.certainty) == ("no answer from the coordinator", Certainty.PROVEN)
    assert "kept working and got no answer from the coordinator" in one.statement


def test_a_process_that_worked_on_without_a_word_about_the_network_is_likely_only():
    one = found(EXPELLED, WOKE, steady("a", 4, 220, every=1), FAST, SET)
    assert (one.facts["cause"], one.certainty) == ("not told", Certainty.LIKELY)


def test_a_client_that_hears_of_the_loss_at_once_and_finds_no_coordinator_for_long_was_cut_off():
    lines = client("a", """
        10:00:03 joined 1 {a1}
        10:01:22 joined 3 {a2}
    """)  # fmt: skip
    lost = [
        episode("session-timeout", 70, "clients/a.log", line=70, group=GROUP, client_id="a"),
        episode("coordinator-lost", 70, "clients/a.log", line=71, group=GROUP, client_id="a"),
        episode("coordinator-found", 81, "clients/a.log", line=72, group=GROUP, client_id="a"),
    ]
    assert (
        found(EXPELLED, lines, lost, STOOD[:29], steady("a", 82, 220), SET).facts["cause"]
        == "no answer from the coordinator"
    )


LOST = episode("session-timeout", 74, "clients/a.log", line=70, group=GROUP, client_id="a")
BACK = episode("coordinator-found", 82, "clients/a.log", line=73, group=GROUP, client_id="a")


def given_up(when, waited, what="HEARTBEAT"):
    """The client gives a request up that it had made *waited* seconds before."""
    return episode(
        "request-cancelled", when, "clients/a.log", line=72, group=GROUP, client_id="a", reason=what, left=waited
    )


def test_heartbeats_that_were_made_meanwhile_and_not_answered_tell_of_a_network_that_was_cut():
    one = found(EXPELLED, WOKE, LOST, given_up(74, 6.1), BACK, STOOD[:29], steady("a", 82, 220), FAST, SET)
    assert (one.facts["cause"], one.certainty) == ("no answer from the coordinator", Certainty.PROVEN)
    assert one.measures["silent_seconds"] == 22
    assert "would have covered it" not in one.remedy
    assert "a request without an answer: it ran" in [place.why for place in one.evidence]


@pytest.mark.parametrize(("when", "waited"), [(81.2, 21.0), (81.2, 0.1), (40, 3.0)])
def test_a_heartbeat_from_before_a_freeze_or_after_it_tells_nothing_of_the_network(when, waited):
    woke = replace(LOST, first_at=at(81), last_at=at(81))
    one = found(EXPELLED, WOKE, woke, given_up(when, waited), BACK, STOOD[:29], steady("a", 82, 220), FAST, SET)
    assert one.facts["cause"] == "process stood still"


def test_a_client_that_hears_of_the_loss_a_heartbeat_later_was_cut_off_if_it_stays_away_for_a_whole_session():
    late = replace(BACK, first_at=at(85), last_at=at(85))
    joined = client("a", "10:00:03 joined 1 {a1}\n10:01:27 joined 3 {a2}")
    work = (STOOD[:29], steady("a", 88, 220), SET)
    assert found(EXPELLED, joined, LOST, late, work).facts["cause"] == "no answer from the coordinator"
    assert found(EXPELLED, joined, LOST, BACK, work).facts["cause"] == "process stood still"


def test_lines_about_a_coordinator_that_was_lost_long_before_tell_nothing():
    early = episode("coordinator-lost", 50, "clients/a.log", line=40, group=GROUP, client_id="a")
    one = found(EXPELLED, WOKE, early, steady("a", 4, 220, every=1), FAST, SET)
    assert one.facts["cause"] == "not told"


def test_a_process_whose_metrics_are_scraped_meanwhile_does_not_stand_still():
    scraped = series("consumer.records_consumed", range(24), step=5, client_id="a")
    lost = episode("coordinator-lost", 71, "clients/a.log", line=70, group=GROUP, client_id="a")
    one = found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), SET, scraped, lost)
    assert (one.facts["cause"], one.certainty) == ("no answer from the coordinator", Certainty.PROVEN)


def test_in_a_kip_848_group_the_brokers_session_timeout_counts():
    own = settings("at owner key value\n09:59:50 a group.protocol consumer", "clients/a.log", scope="consumer")
    broker = settings("at owner key value\n09:59:50 1 group.consumer.session.timeout.ms 12000", scope="broker")
    one = found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET, own, broker)
    assert one.measures["session_timeout_seconds"] == 12


def test_a_process_that_was_killed_and_came_again_died():
    again = client("a", """
        10:00:03 joined 1 {a1}
        10:01:15 settings
        10:01:16 starting
        10:01:24 joined 3 {a2}
    """)  # fmt: skip
    one = found(EXPELLED, again, steady("a", 4, 60), FAST, SET, exited("a", 60, 137))
    assert (one.facts["cause"], one.severity) == ("process died", Severity.WARNING)
    assert "reprocess-duplicates" not in one.explains


@pytest.mark.parametrize(("removed", "rebalances"), [("10:01:10", 2), ("10:01:08", 1)])
def test_rebalances_of_it_are_that_in_which_the_member_was_removed_and_those_that_nobody_else_made(removed, rebalances):
    """c is added while a dies, b is released within the minute after it: neither comes of the expulsion."""
    broker = coordinator(f"""
        10:00:00 preparing 0 Adding new member {{a1}} with group instance id None
        10:00:01 new {{b1}}
        10:00:03 stable 1 2
        10:01:05 preparing 1 Adding new member {{c1}} with group instance id None
        10:01:{"09" if removed < "10:01:10" else "11"} stable 2 2
        10:01:22 preparing 2 Adding new member {{a2}} with group instance id None
        10:01:24 stable 3 3
        10:01:40 left {{b1}}
        10:01:40 preparing 3 removing member {{b1}} on LeaveGroup
        10:01:42 stable 4 2
        10:01:45 preparing 4 Adding new member {{b2}} with group instance id None
        10:01:47 stable 5 3
    """)
    gone = coordinator(f"{removed if rebalances == 2 else '10:01:12'} expired {{a1}}")
    died = client("a", "10:00:03 joined 1 {a1}\n10:01:15 settings\n10:01:16 starting\n10:01:24 joined 3 {a2}")
    other = client("b", "10:00:03 joined 1 {b1}\n10:01:40 stopping\n10:01:44 settings\n10:01:47 joined 5 {b2}")
    added = client("c", "10:01:04 settings\n10:01:09 joined 2 {c1}")
    one = found(broker, gone, died, other, added, steady("a", 4, 60), FAST, SET, exited("a", 60, 137))
    assert one.measures["rebalances"] == rebalances


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
    assert one.facts["cause"] == "process died 2×"
    assert rolling_restart.detect(given).findings == ()


def test_without_the_coordinators_log_the_clients_words_are_likely():
    own = client("a", """
        10:00:03 joined 1 {a1}
        10:01:22 reset encountered UNKNOWN_MEMBER_ID
        10:01:24 joined 3 {a2}
    """)  # fmt: skip
    said = episode("session-timeout", 82, "clients/a.log", line=90, group=GROUP, client_id="a")
    one = found(own, said, STOOD[:29], steady("a", 83, 200), runs("a"))
    assert (one.certainty, one.facts["members"]) == (Certainty.LIKELY, "a")


def test_what_members_did_that_no_log_tells_of_is_not_judged():
    result = detect(facts(EXPELLED, AGAIN, BROKER_LOG))
    assert result.findings == ()
    assert "what they did meanwhile is not told" in result.missing[0]


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
    assert result.findings == ()
    assert "had been stopped" in result.rejected


def test_a_static_member_whose_log_is_not_there_is_none():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id Some(a)
        10:01:10 expired {a1}
        10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    """)
    assert "static member" in detect(facts(broker, BROKER_LOG)).rejected


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
    assert one.facts["cause"] == "process died 2×"
    assert rolling_restart.detect(given).findings == ()


def test_members_that_do_not_leave_when_another_version_comes_are_none():
    newer = [version("3.7.0", f"clients/{name}.log", start) for name, start in (("a", "10:01:02"), ("b", "10:01:32"))]
    given = restarted_without_leaving(newer)
    assert "replaced with the others" in detect(given).rejected
    assert [f.incident for f in rolling_restart.detect(given).findings] == ["rolling-restart"]


def test_members_that_fence_each_other_are_none():
    swap = episode("static-member-replaced", 60, "logs/server.log", group=GROUP, reason="a", member_id="a-2", node="1")
    given = facts(EXPELLED, swap, replace(swap, kind="static-member-fenced", client_id="a"), BROKER_LOG)
    assert detect(given).findings == ()


def test_a_group_in_which_nobody_is_expelled_is_clear():
    result = detect(facts(client("a", "10:00:03 joined 1 {a1}"), FAST, SET))
    assert (result.findings, result.rejected, result.missing) == ((), None, ())


def test_without_logs_it_is_not_checked():
    assert detect(facts(STOOD)).missing
    assert not detect(facts(log())).missing


@pytest.mark.parametrize("part", PARTS)
def test_with_material_missing_nobody_else_is_blamed(part):
    assert others(without(TWICE, part)) == []


@pytest.mark.parametrize("kind", ["batches", "settings", "episodes"])
def test_without_a_kind_of_rows_nobody_else_is_blamed(kind):
    assert others(replace(TWICE, **{kind: ()})) == []


@pytest.mark.parametrize("seconds", [-3600.0, -40.0, 40.0, 900.0])
def test_the_log_of_a_member_whose_clock_is_off_tells_nothing_of_what_it_did_meanwhile(seconds):
    own = tuple(
        replace(e, first_at=e.first_at + seconds, last_at=e.last_at + seconds)
        for e in (*WOKE, *client("a", "10:02:56 joined 5 {a3}"))
    )
    worked_off = tuple(replace(batch, at=batch.at + seconds) for batch in STOOD)
    result = detect(facts(EXPELLED, AGAIN, own, worked_off, SET))

    assert result.findings == ()
    assert result.missing == (
        "the clock of a: it joined generations at other times than the coordinator made them; give the time zone with "
        "--log-tz",
    )


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
    assert found(NEVER_BACK, QUIET).facts["cause"] == "process died"


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
    assert (one.facts["cause"], one.certainty) == ("not told", Certainty.LIKELY)


def test_a_static_member_that_is_never_seen_again_may_have_been_stopped():
    static = settings("at owner key value\n09:59:50 a group.instance.id a-1", scope="consumer")
    result = detect(facts(NEVER_BACK, QUIET, static))
    assert (result.findings, result.rejected) == (
        (), f"{GROUP}: 1 expulsion: the member is a static member, which says nothing when it stops",
    )  # fmt: skip


@pytest.mark.parametrize("last", [60, 58, 56])
def test_the_coordinator_heard_a_member_until_the_session_timeout_before_it_expelled_it(last):
    one = found(EXPELLED, WOKE, steady("a", 4, last), steady("a", 82, 220), FAST, SET)
    assert one.started_at.timestamp() == at(60)


def test_each_member_that_stood_still_is_told_with_its_own_time():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 stable 1 2
        10:01:10 expired {a1}
        10:01:10 preparing 1 removing member {a1} on heartbeat expiration
        10:01:24 stable 2 2
        10:02:10 expired {b1}
        10:02:10 preparing 2 removing member {b1} on heartbeat expiration
        10:02:24 stable 3 2
    """)
    logs = [
        client(name, f"""
            10:00:03 joined 1 {{{name}1}}
            10:{back} failed
            10:{back} joined 3 {{{name}2}}
        """)
        for name, back in (("a", "01:22"), ("b", "02:18"))
    ]  # fmt: skip
    work = (steady("a", 4, 60), steady("a", 82, 220), steady("b", 4, 120), steady("b", 138, 220))

    assert "stood still, a for up to 22.0 s and b for up to 18.0 s" in found(broker, logs, work, SET).statement
    assert (
        "its process stood still for up to 22.0 s"
        in found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET).statement
    )
