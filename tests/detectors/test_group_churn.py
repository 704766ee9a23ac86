"""Members that die in a loop, and what only joins again and again."""

from dataclasses import replace

import pytest
from churn_builder import BROKER_LOG, exited, runs, steady
from facts_builder import at, episode, facts, log
from kafka_builder import GROUP, client, coordinator
from said import told
from taking_away import PARTS, without

from mqlab.detectors import poll_interval_exceeded, rolling_restart, session_timeout
from mqlab.detectors.group_churn import detect, say
from mqlab.findings import Certainty, Result, Severity
from mqlab.kafka import groups
from mqlab.rows import Shape
from mqlab.verdict import diagnose

DIES = (60, 120, 180, 240)
"""Seconds after 10:00 at which the process dies; it is started again 20 s later."""


def clock(seconds):
    return f"10:{seconds // 60:02}:{seconds % 60:02}"


def looping(*, orderly=False):
    """The coordinator's and the client's lines; an orderly end leaves the group, another one is expelled."""
    broker = ["10:00:00 preparing 0 Adding new member {a1} with group instance id None", "10:00:03 stable 1 2"]
    own = ["09:59:50 settings", "09:59:51 starting", "10:00:00 joining", "10:00:03 joined 1 {a1}"]
    for n, when in enumerate(DIES, 1):
        gone = when if orderly else when + 10
        broker += [f"{clock(gone)} {'left' if orderly else 'expired'} {{a{n}}}"]
        said = f"removing member {{a{n}}} on {'LeaveGroup' if orderly else 'heartbeat expiration'}"
        broker += [f"{clock(gone)} preparing {2 * n - 1} {said}", f"{clock(gone + 1)} stable {2 * n} 1"]
        broker += [f"{clock(when + 22)} preparing {2 * n} Adding new member {{a{n + 1}}} with group instance id None"]
        broker += [f"{clock(when + 25)} stable {2 * n + 1} 2"]
        own += [f"{clock(when + 15)} settings", f"{clock(when + 20)} starting", f"{clock(when + 22)} joining"]
        own += [f"{clock(when + 25)} joined {2 * n + 1} {{a{n + 1}}}"]
    return (coordinator("\n".join(broker)), client("a", "\n".join(own)))


CALM = client("b", "10:00:03 joined 1 {b1}\n10:01:11 joined 2 {b1}\n10:01:25 joined 3 {b1}")
SET = (runs("a"), runs("b"), BROKER_LOG)
WORK = tuple(row for when in (4, *(d + 26 for d in DIES)) for row in steady("a", when, when + 30))
EXITS = tuple(exited("a", when, 1) for when in DIES)
LOOP = facts(looping(), CALM, EXITS, WORK, steady("b", 4, 300), SET)
ERROR = Shape(
    "clients/a.log", "ERROR", "Uncaught exception in thread main: cannot open <*>", 4, 400, at(60), at(240), 70,
    "Uncaught exception in thread main: cannot open /data",
)  # fmt: skip


def others(given):
    """Incidents that the other rules about members find."""
    results = [rule.detect(given) for rule in (poll_interval_exceeded, session_timeout, rolling_restart)]
    return [f.incident for r in results for f in r.findings]


def test_a_process_that_dies_again_and_again_is_proven_by_its_exits():
    (one,) = detect(LOOP).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, GROUP)
    assert (one.measures["members"], one.measures["deaths"], one.facts["members"]) == (1, 4, "a")
    each, cost = [say("died", client="a", times=4)], {"restarts": 4, "life_seconds": 38, "rebalances": 8}
    assert told(one.statement) == {"subject": GROUP, "one": True, "each": each, **cost}
    causes = [groups.say("deaths", times=4), groups.say("joins", times=4, ends=4)]
    assert one.facts["triggers"] == groups.say("triggers", rebalances=8, parts=causes)
    assert (one.facts["cause"], one.evidence[0].why) == (say("exits", statuses=["1"]), say("fails"))
    assert others(LOOP) == []


@pytest.mark.parametrize(("statuses", "deaths"), [((1, 1, 1, 143), 3), ((1, 137, 1, 1), 4), ((0, 1, 1, 1), 3)])
def test_an_end_with_the_status_of_one_that_was_asked_for_is_no_death(statuses, deaths):
    exits = tuple(exited("a", when, status) for when, status in zip(DIES, statuses, strict=True))
    (one,) = detect(facts(looping(), CALM, exits, WORK, steady("b", 4, 300), SET)).findings
    assert (one.measures["deaths"], one.measures["restarts"]) == (deaths, 4)


def test_the_error_that_it_prints_before_each_end_is_told():
    given = replace(facts(looping(), CALM, WORK, SET), shapes=(ERROR,))
    (one,) = detect(given).findings
    assert one.certainty is Certainty.PROVEN
    assert told(one.statement)["words"] == ERROR.sample
    assert ERROR.sample in [e.text for e in one.evidence]


def test_an_application_that_closes_its_consumer_before_it_dies_is_told_by_its_error():
    given = facts(looping(orderly=True), CALM, WORK, SET)
    assert detect(given).findings == ()
    (one,) = detect(replace(given, shapes=(ERROR,))).findings
    assert one.certainty is Certainty.PROVEN


def test_restarts_without_exit_or_error_are_likely_only():
    (one,) = detect(facts(looping(), CALM, WORK, SET)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)
    assert told(one.statement)["each"] == [say("ended", client="a", times=4)]


def come_and_go(letters):
    """Members pod-a, pod-b, … one after another beside z, a minute each."""
    broker = ["10:00:00 preparing 0 Adding new member {z1} with group instance id None"]
    for n, name in enumerate(f"pod-{letter}" for letter in letters):
        since = 100 + 100 * n
        broker += [f"{clock(since)} preparing {2 * n + 1} Adding new member {{{name}1}} with group instance id None"]
        broker += [f"{clock(since + 60)} left {{{name}1}} the consumer is being closed"]
        broker += [f"{clock(since + 60)} preparing {2 * n + 2} Removing member {{{name}1}} on LeaveGroup; "
                   "client reason: the consumer is being closed"]  # fmt: skip
    broker += ["10:20:00 left {z1} the consumer is being closed"]
    return coordinator("\n".join(broker))


def test_members_of_ever_new_names_that_come_and_go_are_likely_only():
    (one,) = detect(facts(come_and_go("abcdef"), BROKER_LOG)).findings
    assert (one.certainty, one.measures["members"]) == (Certainty.LIKELY, 6)


@pytest.mark.parametrize(("last", "ongoing"), [("10:10:50", True), ("10:12", False)])
def test_what_comes_every_hundred_seconds_is_over_when_it_stayed_away_for_longer(last, ongoing):
    lines = [e for e in come_and_go("abcdef") if e.first_at < at(1000)]
    (one,) = detect(facts(lines, log("logs/server.log", "kafka-broker-log", last=last))).findings
    assert one.ongoing is ongoing


def test_three_members_that_came_and_went_may_be_a_trial():
    assert [len(detect(facts(come_and_go(some), BROKER_LOG)).findings) for some in ("abc", "abcd")] == [0, 1]


def test_a_member_that_is_added_and_taken_away_is_none():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:01:00 preparing 1 Adding new member {b1} with group instance id None
        10:03:00 left {b1} the consumer is being closed
        10:03:00 preparing 2 Removing member {b1} on LeaveGroup; client reason: the consumer is being closed
    """)
    assert detect(facts(broker, SET)).findings == ()
    assert rolling_restart.detect(facts(broker, SET)).findings == ()


def test_a_process_that_was_started_twice_more_is_none():
    two = facts([e for e in (*looping()[0], *looping()[1]) if e.first_at < at(190)], CALM, EXITS[:2], WORK, SET)
    assert detect(two) == Result(rejected=say("released", group=GROUP))


def until(seconds):
    """The loop as it is known at this moment, with the error that the application prints before it closes."""
    broker, own = looping(orderly=True)
    error = replace(ERROR, lines=sum(when < seconds for when in DIES), last_at=max(at(d) for d in DIES if d < seconds))
    rows = facts([e for e in (*broker, *own) if e.first_at < at(seconds)], CALM, SET)
    return replace(rows, shapes=(error,))


def test_two_restarts_and_a_third_end_with_the_same_error_are_a_loop():
    (one,) = detect(until(190)).findings
    assert (one.certainty, one.measures["deaths"], one.measures["restarts"]) == (Certainty.PROVEN, 3, 2)


def test_two_ends_with_the_same_error_are_none():
    assert detect(until(130)).findings == ()


def test_an_error_that_is_printed_all_the_time_is_not_what_ends_the_process():
    given = until(190)
    (error,) = given.shapes
    assert detect(replace(given, shapes=(replace(error, lines=40),))).findings == ()


def test_a_third_end_in_good_order_after_two_restarts_is_none():
    assert detect(replace(until(190), shapes=())).findings == ()


def test_one_process_with_many_member_ids_is_none():
    lines = [e for e in looping()[1] if e.kind not in ("settings-printed", "app-started")]
    assert detect(facts(looping()[0], lines, CALM, SET)).findings == ()


def test_lives_of_a_coordinators_log_alone_are_not_judged():
    assert detect(facts(looping()[0], BROKER_LOG)).findings == ()


def test_without_logs_it_is_not_checked():
    assert detect(facts(WORK)).missing == (say("no-logs"),)
    assert detect(facts(log())).missing == ()


@pytest.mark.parametrize("part", PARTS)
def test_with_material_missing_nobody_else_is_blamed(part):
    assert others(without(LOOP, part)) == []


@pytest.mark.parametrize("kind", ["batches", "settings"])
def test_without_a_kind_of_rows_nobody_else_is_blamed(kind):
    assert others(replace(LOOP, **{kind: ()})) == []


def test_processes_whose_clock_is_off_are_not_held_against_the_coordinators_lines():
    broker, own = looping()
    late = tuple(replace(e, first_at=e.first_at + 900, last_at=e.last_at + 900) for e in own)
    assert detect(facts(broker, late, CALM, SET)) == Result(missing=(groups.missing({"a"}),))


def refused(*moments, source="clients/a.log"):
    """What the client's log says when its database does not answer."""
    return [
        episode("error:database-link-failed", when, source, text="Communications link failure", system="os")
        for when in moments
    ]


def test_a_process_that_dies_since_its_database_does_not_answer_is_no_churn_of_the_group():
    given = facts(looping(), CALM, EXITS, WORK, SET, refused(*(when - 2 for when in DIES)))
    assert detect(given) == Result(rejected=say("in-need", group=GROUP, clients=["a"]))
    (lead, *_) = diagnose(given).findings
    assert (lead.incident, lead.severity, "group-churn" in lead.explains) == ("dependency-down", Severity.WARNING, True)


def test_a_database_that_fails_once_or_in_another_process_is_not_what_ends_this_one():
    for row in (refused(DIES[0] - 2), refused(*(when - 2 for when in DIES), source="clients/b.log")):
        (one,) = detect(facts(looping(), CALM, EXITS, WORK, SET, row)).findings
        assert one.certainty is Certainty.PROVEN
