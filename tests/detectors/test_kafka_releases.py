"""Releases of the members of a Kafka group: each process is replaced, one after another."""

from dataclasses import replace

import pytest
from churn_builder import BROKER_LOG, exited, runs, steady
from facts_builder import at, episode, facts, log, version
from kafka_builder import GROUP, client, coordinator, member
from said import told
from taking_away import PARTS, without

from mqlab.detectors import group_churn, poll_interval_exceeded, session_timeout
from mqlab.detectors.rolling_restart import detect
from mqlab.findings import CLEAR, Certainty, Result, Severity
from mqlab.kafka import restarts
from mqlab.rows import Shape


def clock(seconds):
    return f"10:{seconds // 60:02}:{seconds % 60:02}"


def deploy(*stops, names="abc", reason="removing member {%s} on LeaveGroup", often=1):
    """Lines of the coordinator and of each member; it stops at its moment and is back 10 s later."""
    broker = ["10:00:00 preparing 0 Adding new member {a1} with group instance id None", "10:00:03 stable 1 3"]
    logs = []
    for place, name in enumerate(names):
        own = ["09:59:50 settings", "09:59:51 starting", "10:00:00 joining", f"10:00:03 joined 1 {{{name}1}}"]
        for n in range(often):
            when, old, new = stops[place] + 300 * n, f"{name}{n + 1}", f"{name}{n + 2}"
            broker += [f"{clock(when)} left {{{old}}}", f"{clock(when)} preparing 1 {reason % old}"]
            broker += [f"{clock(when + 2)} stable 2 2", f"{clock(when + 10)} preparing 2 Adding new member {{{new}}}"]
            broker += [f"{clock(when + 12)} stable 3 3"]
            own += [f"{clock(when)} stopping", f"{clock(when)} leaving {{{old}}} the consumer is being closed"]
            own += [f"{clock(when + 5)} settings", f"{clock(when + 6)} starting", f"{clock(when + 10)} joining"]
            own += [f"{clock(when + 12)} joined 3 {{{new}}}"]
        logs.append(client(name, "\n".join(own)))
    rows = sorted(broker, key=lambda row: row.split()[0])
    return (coordinator("\n".join(rows)), logs)


SET = (runs("a"), runs("b"), runs("c"), BROKER_LOG)
WORK = tuple(row for name in "abc" for row in steady(name, 4, 300, every=5))
DEPLOY = facts(deploy(60, 90, 120), SET, WORK)


def others(given):
    """Incidents that the other rules about members find."""
    results = [rule.detect(given) for rule in (poll_interval_exceeded, session_timeout, group_churn)]
    return [f.incident for r in results for f in r.findings]


def no_release(key, **values):
    """Why these restarts are no release."""
    return Result(rejected=restarts.say("because", group=GROUP, reason=restarts.say(key, **values)))


def test_each_member_restarted_once_one_after_another_is_a_release():
    (one,) = detect(DEPLOY).findings
    assert (one.severity, one.certainty, one.subject) == (Severity.NOTICE, Certainty.PROVEN, GROUP)
    assert one.measures == {"members": 3, "rebalances": 6}
    span = {"since": one.started_at, "until": one.ended_at}
    assert told(one.statement) == {"subject": GROUP, "apart": True, **one.measures, **span}
    assert others(DEPLOY) == []


def test_rebalances_of_another_cause_soon_after_a_release_are_not_its_cost():
    late = coordinator(
        "10:02:40 preparing 9 Removing member {a2} on LeaveGroup; client reason: consumer poll timeout has expired.",
        source="logs/server-2.log",
    )
    (one,) = detect(facts(deploy(60, 90, 120), late, SET, WORK)).findings
    assert one.measures["rebalances"] == 6


def test_two_releases_are_two_notices_or_one_in_which_each_came_again_twice():
    found = detect(facts(deploy(60, 90, 120, often=2), SET, WORK)).findings
    assert [told(one.statement)["times"] for one in found] == [2]


def test_a_cooperative_release_has_twice_the_rebalances_and_is_no_more_than_that():
    broker, logs = deploy(60, 90, 120)
    more = coordinator("\n".join(
        f"{clock(when)} preparing 9 Member {{a1}} joining group during Stable; client reason: "
        "need to revoke partitions and re-join" for when in (62, 72, 92, 102, 122, 132)
    ), source="logs/server-2.log")  # fmt: skip
    deferred = [episode("commit-deferred", 60 + n, "clients/a.log", line=n, group=GROUP, client_id="a")
                for n in range(30)]  # fmt: skip
    given = facts(broker, more, logs, deferred, SET, WORK)
    (one,) = detect(given).findings
    assert one.measures["rebalances"] == 12
    assert others(given) == []


def test_a_release_is_told_by_the_reasons_of_3_9_alone():
    reason = "Removing member {%s} on LeaveGroup; client reason: the consumer is being closed"
    broker = [
        episode(e.kind, e.first_at - at(0), e.source, line=n, group=GROUP, member_id=e.member_id, text=e.first.text,
                left=e.value_max, reason="the consumer is being closed" if e.kind == "member-left" else e.reason)
        for n, e in enumerate(deploy(60, 90, 120, reason=reason)[0], 1)
    ]  # fmt: skip
    (one,) = detect(facts(broker, BROKER_LOG)).findings
    assert one.measures["members"] == 3


@pytest.mark.parametrize(("kinds", "found"), [({"app-stopping"}, 1), (set(), 0), ({"app-started", "app-stopping"}, 1)])
def test_clients_that_print_no_start_are_restarted_where_they_say_that_they_stop(kinds, found):
    broker, logs = deploy(60, 90, 120)
    own = [[e for e in these if e.kind in kinds] for these in logs]
    assert len(detect(facts(broker, own, BROKER_LOG)).findings) == found


def test_a_log_that_has_the_first_start_and_no_other_tells_of_one_process():
    broker, logs = deploy(60, 90, 120)
    own = [[e for e in these if e.kind == "app-stopping" or e.first_at < at(0)] for these in logs]
    assert detect(facts(broker, own, BROKER_LOG)).findings == ()


def test_pods_with_new_names_replace_the_former_ones():
    broker = ["10:00:00 preparing 0 Adding new member {old-a1}", "10:00:03 stable 1 3"]
    broker += ["10:00:01 new {old-b1}", "10:00:02 new {old-c1}"]
    for place, name in enumerate("abc"):
        when = 120 + 60 * place
        broker += [f"{clock(when)} preparing 3 Adding new member {{new-{name}1}}"]
        broker += [f"{clock(when + 20)} left {{old-{name}1}} the consumer is being closed"]
        broker += [f"{clock(when + 20)} preparing 4 Removing member {{old-{name}1}} on LeaveGroup; "
                   "client reason: the consumer is being closed"]  # fmt: skip
    rows = coordinator("\n".join(sorted(broker)))
    (one,) = detect(facts(rows, BROKER_LOG)).findings
    assert one.measures["members"] == 3
    assert group_churn.detect(facts(rows, BROKER_LOG)).findings == ()


def static(*stops, ended=True):
    """Static members that are stopped, and replaced by their next process 12 s later; not *ended*, both run."""
    broker, logs = [], []
    for name, when in zip("abc", stops, strict=True):
        old, new = member(name), member(name, 2)
        said = f"Static member Some({name}) rejoins, assigning new member id {new}, while old member id {old} will go."
        replaced = {"group": GROUP, "member_id": new, "text": said, "line": when}
        broker.append(episode("static-member-replaced", when + 12, "logs/server.log", **replaced))
        own = ["09:59:50 settings", f"10:00:03 joined 1 {{{name}1}}"]
        own += [f"{clock(when)} stopping"] if ended else []
        own += [
            f"{clock(when + 5)} settings",
            f"{clock(when + 6)} starting",
            f"{clock(when + 12)} joined 1 {{{name}2}}",
        ]
        logs.append(client(name, "\n".join(own)))
    return facts(broker, logs, SET, WORK)


def test_static_members_that_are_replaced_after_they_were_stopped_are_a_release():
    given = static(60, 90, 120)
    (one,) = detect(given).findings
    assert one.measures == {"members": 3, "rebalances": 0}
    assert "rebalances" not in told(one.statement)
    assert others(given) == []


def test_static_members_that_are_replaced_while_they_run_are_no_release():
    assert detect(static(60, 90, 120, ended=False)).findings == ()


def test_a_member_that_is_stopped_for_good_after_a_release_costs_a_rebalance_of_its_own():
    later = coordinator("10:02:40 preparing 3 removing member {b2} on LeaveGroup", source="logs/server-2.log")
    (one,) = detect(facts(deploy(60, 90, 120), later, client("b", "10:02:39 stopping"), SET, WORK)).findings
    assert one.measures["rebalances"] == 6


def test_members_that_are_stopped_together_are_no_rolling_restart():
    assert detect(facts(deploy(60, 60, 61), SET, WORK)) == no_release("together")


def test_one_of_three_members_that_comes_again_is_none():
    broker, logs = deploy(60, names="a")
    rest = [client(name, f"10:00:03 joined 1 {{{name}1}}\n10:05:00 joined 3 {{{name}1}}") for name in "bc"]
    assert detect(facts(broker, logs, rest, SET, WORK)).findings == ()


def test_members_that_are_stopped_for_good_are_none():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:05:00 left {a1}
        10:05:02 left {b1}
        10:05:02 empty 2
    """)
    assert detect(facts(broker, SET, WORK)).findings == ()


def test_a_crash_and_a_member_that_is_added_before_all_are_stopped_are_no_release():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 stable 1 2
        10:01:10 expired {a1}
        10:01:10 preparing 1 removing member {a1} on heartbeat expiration
        10:01:20 preparing 2 Adding new member {a2} with group instance id None
        10:01:50 preparing 3 Adding new member {c1} with group instance id None
        10:02:40 left {a2} the consumer is being closed
        10:02:40 preparing 4 Removing member {a2} on LeaveGroup; client reason: the consumer is being closed
        10:02:41 left {c1} the consumer is being closed
        10:02:41 empty 5
    """)
    again = client("a", """
        10:00:03 joined 1 {a1}
        10:01:15 settings
        10:01:16 starting
        10:01:22 joined 3 {a2}
    """)  # fmt: skip
    assert detect(facts(broker, again, SET)).findings == ()


def kill(*whom):
    """The same restarts, of which these members are expelled for their heartbeats and say nothing before."""
    broker, logs = deploy(60, 90, 120, reason="removing member {%s} on heartbeat expiration")
    silent = [[e for e in own if e.kind not in ("app-stopping", "leave-sent")] for own in logs]
    ended = [
        replace(e, kind="member-expired") if e.kind == "member-left" and e.member_id[0] in whom else e for e in broker
    ]
    return ended, [quiet if name in whom else own for name, quiet, own in zip("abc", silent, logs, strict=True)]


ANEW = (("a", 60), ("b", 90), ("c", 120))
CHANGED = tuple(row for name, when in ANEW for row in runs(name, records=100, when=clock(when + 5))[0])


@pytest.mark.parametrize("whom", ["a", "abc"])
def test_members_that_are_expelled_without_a_good_bye_died_in_whatever_sequence(whom):
    assert detect(facts(kill(*whom), SET, WORK)) == no_release("wordless", members=len(whom))


def test_members_that_are_expelled_and_say_in_their_own_log_that_they_stop_are_released():
    broker, _ = kill(*"abc")
    own = [[e for e in these if e.kind != "leave-sent"] for these in deploy(60, 90, 120)[1]]
    assert [f.incident for f in detect(facts(broker, own, SET, WORK)).findings] == ["rolling-restart"]


def test_an_exit_by_a_kill_is_no_word_of_a_stop():
    killed = [exited(name, when, 137) for name, when in ANEW]
    assert detect(facts(kill(*"abc"), killed, SET, WORK)).findings == ()


@pytest.mark.parametrize(("key", "found"), [("max.poll.records", 1), ("session.timeout.ms", 0)])
def test_processes_that_come_with_other_settings_were_deployed_however_the_former_ones_ended(key, found):
    rows = [row for row in CHANGED if row.key == key]
    assert len(detect(facts(kill(*"abc"), SET, WORK, rows)).findings) == found


def test_processes_that_come_with_another_version_were_deployed():
    newer = [version("3.7.0", f"clients/{name}.log", when + 5) for name, when in ANEW]
    assert len(detect(facts(kill(*"abc"), SET, WORK, newer)).findings) == 1


def test_members_that_are_gone_after_an_error_are_no_release_in_spite_of_other_settings():
    given = facts(kill(*"abc"), SET, WORK, CHANGED)
    assert len(detect(given).findings) == 1
    error = Shape("clients/b.log", "ERROR", "out of disk", 1, 40, at(89), at(89), 70, "out of disk")
    assert detect(replace(given, shapes=(error,))).findings == ()


@pytest.mark.parametrize("line", [
    episode("poll-timeout", 50, "clients/a.log", line=40, group=GROUP, client_id="a"),
    episode("commit-failed", 50, "clients/a.log", line=40, client_id="a"),
    exited("b", 89, 1),
])  # fmt: skip
def test_restarts_after_members_fell_out_are_a_repair_and_no_release(line):
    assert detect(facts(deploy(60, 90, 120), line, SET, WORK)) == no_release("dropped-out")


def test_a_process_that_closes_its_consumer_and_exits_with_an_error_is_not_released():
    broker, logs = deploy(60, 90, 120)
    closed = [[e for e in own if e.kind != "app-stopping"] for own in logs]
    assert len(detect(facts(broker, closed, SET, WORK)).findings) == 1
    failed = exited("b", 92, 1)
    assert detect(facts(broker, closed, failed, SET, WORK)).findings == ()


@pytest.mark.parametrize("part", PARTS)
def test_with_material_missing_nobody_is_blamed(part):
    assert others(without(DEPLOY, part)) == []


def test_a_group_whose_members_stay_is_clear():
    assert detect(facts(client("a", "10:00:03 joined 1 {a1}"), log("clients/a.log"))) == CLEAR
