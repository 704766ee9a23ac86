"""One group.instance.id in two processes: who fences whom, and what is none."""

from __future__ import annotations

from dataclasses import replace

from facts_builder import at, episode, facts, log, settings
from said import told

from mqlab.detectors.static_member_fenced import detect, say
from mqlab.facts import Position
from mqlab.findings import Certainty, Severity

SUBJECT = say("subject", group="shop", instance="shop-0")
UUID = "0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"


def runs(host, instance="shop-0", *, group="shop", at="10:00"):
    """A consumer's log that prints its settings."""
    return settings(
        f"""
        at    owner   key                value
        {at}  {host}  client.id          {host}
        {at}  {host}  group.id           {group}
        {at}  {host}  group.instance.id  {instance}
        """,
        f"clients/{host}.log",
        scope="consumer",
    )


def fenced(when, host="a", instance="shop-0"):
    return episode("static-member-fenced", when, f"clients/{host}.log", group="shop", client_id=host, reason=instance)


def told_by_broker(when):
    return episode("static-member-fenced", when, "logs/server.log", reason="shop-0")


def swapped(when, instance="shop-0"):
    return episode("static-member-replaced", when, "logs/server.log", group="shop", reason=instance, node="1")


TURNS = [row for when, host in ((60, "a"), (95, "b"), (130, "a")) for row in (swapped(when), fenced(when + 0.5, host))]
LOGS = (log("clients/a.log"), log("clients/b.log"), log("logs/server.log", "kafka-broker-log"))


def test_two_processes_that_take_turns_are_proven():
    (one,) = detect(facts(runs("a"), runs("b"), TURNS, LOGS)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, SUBJECT)
    assert one.measures == {"fencings": 3, "swaps": 3, "processes": 2}
    assert told(one.statement).items() >= {"processes": 2, "names": ("clients/a", "clients/b")}.items()


def test_fencings_of_one_known_process_are_likely_only():
    (one,) = detect(facts(runs("a"), [row for row in TURNS if row.client_id != "b"], LOGS)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_rotated_parts_of_one_log_are_one_process():
    rotated = settings("at owner key value\n10:00 a group.instance.id shop-0", "clients/a.log.1", scope="consumer")
    (one,) = detect(facts(runs("a"), rotated, TURNS, LOGS)).findings
    assert "processes" not in {**one.measures, **told(one.statement)}


def handed_over(*instances):
    """Each of these was taken over once."""
    return say("handed-over", each=[say("each", instance=one, times=1) for one in instances])


def test_one_hand_over_in_a_deploy_is_none():
    result = detect(facts(runs("a"), runs("b", at="10:00:58"), swapped(60), fenced(60.5), LOGS))
    assert (result.findings, result.rejected) == ((), handed_over("shop-0"))


def test_three_static_members_that_each_overlap_once_are_a_deploy():
    rows = [
        (
            runs(f"old{n}", f"shop-{n}"),
            runs(f"new{n}", f"shop-{n}", at=f"10:0{n + 1}:00"),
            swapped(60 * n + 61, f"shop-{n}"),
            fenced(60 * n + 63, f"old{n}", f"shop-{n}"),
            log(f"clients/old{n}.log", last=f"10:0{n + 1}:10"),
            log(f"clients/new{n}.log", first=f"10:0{n + 1}"),
        )
        for n in range(3)
    ]
    result = detect(facts(rows))
    assert (result.findings, result.rejected) == ((), handed_over("shop-0", "shop-1", "shop-2"))


def test_two_deploys_of_one_member_are_two_hand_overs():
    rows = [runs("a"), runs("b", at="10:10"), runs("c", at="10:22")]
    turns = [swapped(601), fenced(602, "a"), swapped(1321), fenced(1322, "b")]
    assert detect(facts(rows, turns, log("clients/a.log", last="10:10:10"), LOGS[1:])).findings == ()


def test_a_former_deployment_is_no_process():
    former = (runs("former"), log("clients/former.log", last="10:00:30"))
    (one,) = detect(facts(former, runs("a"), runs("b"), TURNS, LOGS)).findings
    assert one.measures["processes"] == 2


def test_the_same_id_in_another_group_is_another_member():
    other = runs("y", group="stock")
    assert detect(facts(runs("a"), other, swapped(60), fenced(60.5), LOGS, log("clients/y.log"))).findings == ()
    (one,) = detect(facts(runs("a"), runs("b"), other, TURNS, LOGS, log("clients/y.log"))).findings
    assert one.measures["processes"] == 2


def test_two_groups_in_which_an_id_goes_back_and_forth_are_two_findings():
    own = [row for host in ("c", "d") for row in (runs(host, group="stock"), log(f"clients/{host}.log"))]
    hosts = {"a": "c", "b": "d"}
    turns = [replace(r, group="stock", source=r.source.replace(f"/{r.client_id}.", f"/{hosts.get(r.client_id)}."))
             for r in TURNS]  # fmt: skip
    found = detect(facts(runs("a"), runs("b"), TURNS, LOGS, own, turns)).findings
    assert [(one.id, one.measures["processes"], one.certainty) for one in found] == [
        (f"static-member-fenced:{say('subject', group=group, instance='shop-0')}", 2, Certainty.PROVEN)
        for group in ("shop", "stock")
    ]


def test_a_line_that_names_no_group_belongs_to_the_hand_over_beside_it():
    nameless = [replace(fenced(when, "x"), group=None, source="logs/server.log") for when in (60.3, 95.3, 130.3)]
    (one,) = detect(facts(runs("a"), runs("b"), TURNS, nameless, LOGS)).findings
    assert (one.subject, one.measures["fencings"]) == (SUBJECT, 3)


def test_an_id_that_snapshots_see_at_one_address_again_went_back():
    held = [
        Position(at(when), "shop", "orders", "0", 1, 1, 0, "shop", f"shop-0-{UUID}", f"/10.0.0.{host}", "d.txt", 2, "")
        for when, host in ((50, 1), (70, 2), (100, 1))
    ]
    (one,) = detect(facts(held, swapped(60), swapped(95), told_by_broker(60.5), told_by_broker(95.5), LOGS)).findings
    assert (one.certainty, one.measures["processes"]) == (Certainty.PROVEN, 2)


def test_fencings_without_any_client_are_likely_only():
    lines = [row for when in (60, 95, 130) for row in (swapped(when), told_by_broker(when + 0.5))]
    (one,) = detect(facts(lines, LOGS[2])).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_a_static_member_that_restarts_fences_nobody():
    result = detect(facts(runs("a"), swapped(60), swapped(120), LOGS))
    assert (result.findings, result.rejected) == ((), None)


def test_one_client_id_in_two_processes_is_harmless():
    both = [settings("at owner key value\n10:00 shop client.id shop", f"clients/{host}.log", scope="consumer")
            for host in ("a", "b")]  # fmt: skip
    shared = say("shared-name", each=[say("namesake", client="shop", processes=2)])
    assert detect(facts(both, LOGS)).rejected == shared


def test_without_logs_it_is_not_checked():
    assert detect(facts()).missing == (say("no-logs"),)


def test_it_is_over_after_four_times_the_pace_of_its_fencings():
    def ongoing(end):
        logs = (log("clients/a.log"), log("clients/b.log"), log("logs/server.log", "kafka-broker-log", last=end))
        (one,) = detect(facts(runs("a"), runs("b"), TURNS, [replace(each, last_at=at(end)) for each in logs])).findings
        return one.ongoing

    assert [ongoing(end) for end in ("10:04", "10:05")] == [True, False]


def test_the_lag_of_a_fenced_group_may_peak_after_the_last_fencing():
    rows = [
        Position(at(when), "shop", "orders", "0", 0, lag, None, None, None, None, f"groups.{when}.txt", 3, "")
        for when, lag in ((55, 0), (90, 40), (128, 96), (180, 210), (1500, 4000))
    ]
    (one,) = detect(facts(runs("a"), runs("b"), TURNS, rows, LOGS)).findings
    assert one.measures["peak_lag"] == 210
