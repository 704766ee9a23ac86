"""Members that the coordinator expels because it hears nothing: they stood still, or were cut off."""

from dataclasses import replace

import pytest
from churn_builder import exited, runs, steady, triggers
from facts_builder import at, episode, facts, log, series, settings
from kafka_builder import GROUP, client, coordinator
from said import told
from session_builder import CUT, EXPELLED, FAST, FROZEN, PAUSED, SET, STOOD, TWICE, UNKNOWN, WOKE, found, others
from taking_away import PARTS, without

from mqlab.detectors.session_timeout import detect, say
from mqlab.findings import Certainty, Severity
from mqlab.kafka import groups, heartbeat_loss
from mqlab.kafka.heartbeat_loss import Kind


def test_a_process_that_stood_still_is_proven_by_its_silence():
    (one,) = detect(TWICE).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, GROUP)
    assert one.measures == {
        "members": 1, "expired_members": 2, "rebalances": 4, "session_timeout_seconds": 10, "silent_seconds": 26,
    }  # fmt: skip
    assert one.facts == {
        "cause": say("kinds", kind=Kind.FROZEN, times=2), "members": "a", "triggers": triggers(4, "expulsions", 2, 2),
    }  # fmt: skip
    assert [place.why for place in one.evidence] == [
        groups.say("taken-out"), heartbeat_loss.say("notices", client="a"), groups.say("taken-out"),
    ]  # fmt: skip
    assert told(one.remedy) == {"kind": Kind.FROZEN, "enough": 26}
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at(60), at(176))
    assert others(TWICE) == []


@pytest.mark.parametrize(("joined", "until"), [("\n10:01:30 joined 3 {a3}", 90), ("", 82)], ids=["back", "lines only"])
def test_it_ends_when_the_member_is_back_not_with_the_first_line_of_its_process(joined, until):
    """A process that starts again writes long before the group has a member again."""
    again = "\n10:01:28 preparing 3 Adding new member {a3} with group instance id None\n10:01:30 stable 4 2"
    gone = coordinator(f"""
        10:00:01 preparing 0 Adding new member {{a1}} with group instance id None
        10:00:03 stable 1 2
        10:01:10 expired {{a1}}
        10:01:10 preparing 1 removing member {{a1}} on heartbeat expiration
        10:01:12 stable 2 1{again if joined else ""}
    """)
    own = client("a", f"09:59:50 settings\n10:00:00 joining\n10:00:03 joined 1 {{a1}}{joined}")
    one = found(gone, own, steady("a", 4, 60), steady("a", 82, 220), FAST, SET)
    assert at(until) - 2 <= one.ended_at.timestamp() <= at(until)


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
    assert one.facts["cause"] == FROZEN


def test_a_collection_that_covers_the_silence_is_the_cause():
    pause = episode("gc-pause", 82, "clients/a-gc.log", left=22.0, reason="Pause Full", text="Pause Full 22000ms")
    one = found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET, pause)
    assert one.facts["cause"] == PAUSED
    assert told(one.statement)["cause"] == heartbeat_loss.say("paused", seconds=22)
    assert pause.first.text in [e.text for e in one.evidence]


def test_the_collection_of_another_member_is_not():
    pause = episode("gc-pause", 82, "clients/b-gc.log", left=22.0, reason="Pause Full")
    named = client("b", "10:00:03 joined 1 {b1}")
    assert found(EXPELLED, WOKE, STOOD[:29], named, FAST, SET, pause).facts["cause"] == FROZEN


def test_a_short_collection_is_not():
    pause = episode("gc-pause", 61, "clients/a-gc.log", left=0.4, reason="Pause Young")
    assert found(EXPELLED, WOKE, STOOD[:29], FAST, SET, pause).facts["cause"] == FROZEN


def test_a_process_that_worked_on_was_cut_off():
    lines = [
        episode("coordinator-lost", 69, "clients/a.log", line=70, group=GROUP, client_id="a", reason="disconnected"),
        episode("session-timeout", 70, "clients/a.log", line=71, group=GROUP, client_id="a"),
    ]
    one = found(EXPELLED, WOKE, steady("a", 4, 220, every=1), FAST, SET, lines)
    assert (one.facts["cause"], one.certainty) == (CUT, Certainty.PROVEN)
    assert told(one.statement)["cause"] == heartbeat_loss.say("cut")


def test_a_process_that_worked_on_without_a_word_about_the_network_is_likely_only():
    one = found(EXPELLED, WOKE, steady("a", 4, 220, every=1), FAST, SET)
    assert (one.facts["cause"], one.certainty) == (UNKNOWN, Certainty.LIKELY)


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
    assert found(EXPELLED, lines, lost, STOOD[:29], steady("a", 82, 220), SET).facts["cause"] == CUT


LOST = episode("session-timeout", 74, "clients/a.log", line=70, group=GROUP, client_id="a")
BACK = episode("coordinator-found", 82, "clients/a.log", line=73, group=GROUP, client_id="a")


def given_up(when, waited, what="HEARTBEAT"):
    """The client gives a request up that it had made *waited* seconds before."""
    return episode(
        "request-cancelled", when, "clients/a.log", line=72, group=GROUP, client_id="a", reason=what, left=waited
    )


def test_heartbeats_that_were_made_meanwhile_and_not_answered_tell_of_a_network_that_was_cut():
    one = found(EXPELLED, WOKE, LOST, given_up(74, 6.1), BACK, STOOD[:29], steady("a", 82, 220), FAST, SET)
    assert (one.facts["cause"], one.certainty) == (CUT, Certainty.PROVEN)
    assert one.measures["silent_seconds"] == 22
    assert told(one.remedy) == {"kind": Kind.NETWORK}
    assert heartbeat_loss.say("asked-line") in [place.why for place in one.evidence]


@pytest.mark.parametrize(("when", "waited"), [(81.2, 21.0), (81.2, 0.1), (40, 3.0)])
def test_a_heartbeat_from_before_a_freeze_or_after_it_tells_nothing_of_the_network(when, waited):
    woke = replace(LOST, first_at=at(81), last_at=at(81))
    one = found(EXPELLED, WOKE, woke, given_up(when, waited), BACK, STOOD[:29], steady("a", 82, 220), FAST, SET)
    assert one.facts["cause"] == FROZEN


def test_a_client_that_hears_of_the_loss_a_heartbeat_later_was_cut_off_if_it_stays_away_for_a_whole_session():
    late = replace(BACK, first_at=at(85), last_at=at(85))
    joined = client("a", "10:00:03 joined 1 {a1}\n10:01:27 joined 3 {a2}")
    work = (STOOD[:29], steady("a", 88, 220), SET)
    assert found(EXPELLED, joined, LOST, late, work).facts["cause"] == CUT
    assert found(EXPELLED, joined, LOST, BACK, work).facts["cause"] == FROZEN


def test_lines_about_a_coordinator_that_was_lost_long_before_tell_nothing():
    early = episode("coordinator-lost", 50, "clients/a.log", line=40, group=GROUP, client_id="a")
    one = found(EXPELLED, WOKE, early, steady("a", 4, 220, every=1), FAST, SET)
    assert one.facts["cause"] == UNKNOWN


def test_a_process_whose_metrics_are_scraped_meanwhile_does_not_stand_still():
    scraped = series("consumer.records_consumed", range(24), step=5, client_id="a")
    lost = episode("coordinator-lost", 71, "clients/a.log", line=70, group=GROUP, client_id="a")
    one = found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), SET, scraped, lost)
    assert (one.facts["cause"], one.certainty) == (CUT, Certainty.PROVEN)


def test_in_a_kip_848_group_the_brokers_session_timeout_counts():
    own = settings("at owner key value\n09:59:50 a group.protocol consumer", "clients/a.log", scope="consumer")
    broker = settings("at owner key value\n09:59:50 1 group.consumer.session.timeout.ms 12000", scope="broker")
    one = found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET, own, broker)
    assert one.measures["session_timeout_seconds"] == 12


@pytest.mark.parametrize("held_up", [True, False])
def test_rebalances_of_it_are_those_that_nobody_else_made(held_up):
    """c is added while a dies, even if that waits for a; b is released within the minute after it."""
    broker = coordinator(f"""
        10:00:00 preparing 0 Adding new member {{a1}} with group instance id None
        10:00:01 new {{b1}}
        10:00:03 stable 1 2
        10:01:05 preparing 1 Adding new member {{c1}} with group instance id None
        10:01:{"11" if held_up else "09"} stable 2 2
        10:01:22 preparing 2 Adding new member {{a2}} with group instance id None
        10:01:24 stable 3 3
        10:01:40 left {{b1}}
        10:01:40 preparing 3 removing member {{b1}} on LeaveGroup
        10:01:42 stable 4 2
        10:01:45 preparing 4 Adding new member {{b2}} with group instance id None
        10:01:47 stable 5 3
    """)
    gone = coordinator(f"10:01:{10 if held_up else 12} expired {{a1}}")
    died = client("a", "10:00:03 joined 1 {a1}\n10:01:15 settings\n10:01:16 starting\n10:01:24 joined 3 {a2}")
    other = client("b", "10:00:03 joined 1 {b1}\n10:01:40 stopping\n10:01:44 settings\n10:01:47 joined 5 {b2}")
    added = client("c", "10:01:04 settings\n10:01:09 joined 2 {c1}")
    one = found(broker, gone, died, other, added, steady("a", 4, 60), FAST, SET, exited("a", 60, 137))
    assert one.measures["rebalances"] == 1


def test_without_the_coordinators_log_the_clients_words_are_likely():
    own = client("a", """
        10:00:03 joined 1 {a1}
        10:01:22 reset encountered UNKNOWN_MEMBER_ID
        10:01:24 joined 3 {a2}
    """)  # fmt: skip
    said = episode("session-timeout", 82, "clients/a.log", line=90, group=GROUP, client_id="a")
    one = found(own, said, STOOD[:29], steady("a", 83, 200), runs("a"))
    assert (one.certainty, one.facts["members"]) == (Certainty.LIKELY, "a")


def test_a_group_in_which_nobody_is_expelled_is_clear():
    result = detect(facts(client("a", "10:00:03 joined 1 {a1}"), FAST, SET))
    assert (result.findings, result.rejected, result.missing) == ((), None, ())


def test_without_logs_it_is_not_checked():
    assert detect(facts(STOOD)).missing == (say("no-logs"),)
    assert detect(facts(log())).missing == ()


@pytest.mark.parametrize("part", PARTS)
def test_with_material_missing_nobody_else_is_blamed(part):
    assert others(without(TWICE, part)) == []


@pytest.mark.parametrize("kind", ["batches", "settings", "episodes"])
def test_without_a_kind_of_rows_nobody_else_is_blamed(kind):
    assert others(replace(TWICE, **{kind: ()})) == []


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

    shown = told(found(broker, logs, work, SET).statement)
    assert shown["still"] == [say("still", client="a", seconds=22), say("still", client="b", seconds=18)]
    alone = told(found(EXPELLED, WOKE, STOOD[:29], steady("a", 82, 220), FAST, SET).statement)
    assert ("still" in alone, alone["cause"]) == (False, heartbeat_loss.say("frozen", seconds=22))
