"""One group.instance.id in two processes: who fences whom, and what is none."""

from __future__ import annotations

from facts_builder import episode, facts, log, settings

from mqlab.detectors.static_member_fenced import detect
from mqlab.findings import Certainty, Severity


def runs(host, instance="shop-0"):
    """A consumer's log that prints its settings."""
    return settings(
        f"""
        at     owner    key                value
        10:00  {host}   client.id          {host}
        10:00  {host}   group.instance.id  {instance}
        """,
        f"clients/{host}.log",
        scope="consumer",
    )


def fenced(when, host="a"):
    return episode("static-member-fenced", when, f"clients/{host}.log", group="shop", client_id=host, reason="shop-0")


def swapped(when):
    return episode("static-member-replaced", when, "logs/server.log", group="shop", reason="shop-0", node="1")


TURNS = [row for when, host in ((60, "a"), (95, "b"), (130, "a")) for row in (swapped(when), fenced(when + 0.5, host))]
LOGS = (log("clients/a.log"), log("clients/b.log"), log("logs/server.log", "kafka-broker-log"))


def test_two_processes_that_take_turns_are_proven():
    (one,) = detect(facts(runs("a"), runs("b"), TURNS, LOGS)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, "shop/shop-0")
    assert one.measures == {"fencings": 3, "swaps": 3, "processes": 2}
    assert "2 processes (clients/a, clients/b)" in one.statement


def test_one_fencing_of_one_known_process_is_likely_only():
    (one,) = detect(facts(runs("a"), swapped(60), fenced(60.5), LOGS)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_rotated_parts_of_one_log_are_one_process():
    rotated = settings("at owner key value\n10:00 a group.instance.id shop-0", "clients/a.log.1", scope="consumer")
    (one,) = detect(facts(runs("a"), rotated, swapped(60), fenced(60.5), LOGS)).findings
    assert one.measures["processes"] == 1


def test_a_static_member_that_restarts_fences_nobody():
    result = detect(facts(runs("a"), swapped(60), swapped(120), LOGS))
    assert (result.findings, result.rejected) == ((), None)


def test_one_client_id_in_two_processes_is_harmless():
    both = [settings("at owner key value\n10:00 shop client.id shop", f"clients/{host}.log", scope="consumer")
            for host in ("a", "b")]  # fmt: skip
    assert "shop in 2 processes" in detect(facts(both, LOGS)).rejected


def test_without_logs_it_is_not_checked():
    assert detect(facts()).missing
