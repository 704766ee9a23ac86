"""The truth: counted in ledgers and facts that are drawn by hand, never asked of mqlab."""

import json
import tomllib
from types import SimpleNamespace

import pytest

from mqlab.findings import Certainty, Severity
from mqlab.lab import judging
from mqlab.lab.counting import Books, counted, matches, read_facts
from mqlab.lab.kafka_admin import Stored
from mqlab.lab.scenario import read

KAFKA = """
title = "t"
incident = "reprocess-duplicates"
notebook = "04_delivery_audit"
seconds = 10
[[brokers]]
software = "kafka"
[[loads]]
name = "feeder"
kind = "kafka-producer"
[[loads]]
name = "worker"
kind = "kafka-consumer"
count = 2
group = "g"
[numbers]
duplicated_records = "handled-again"
"""
MQTT = """
title = "t"
incident = "client-id-takeover"
notebook = "05_mqtt_sessions"
seconds = 10
[[brokers]]
software = "mosquitto"
[[loads]]
name = "plc"
kind = "mqtt-client"
publish = "plant/1/t"
[[loads]]
name = "viewer"
kind = "mqtt-client"
subscribe = ["plant/#"]
[[loads]]
name = "member"
kind = "mqtt-client"
subscribe = ["$share/g/plant/+/t"]
"""


def books(tmp_path, scenario, ledgers, facts=(), **more):
    for name, text in ledgers.items():
        lines = [",".join(line.split()) for line in text.strip().splitlines()]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return Books(read("drawn", tomllib.loads(scenario)), tmp_path, tuple(facts), **more)


@pytest.fixture
def kafka(tmp_path):
    """Three records acknowledged: a handled twice, b below the commit and never, c behind it; d is stored twice."""
    ledgers = {
        "feeder-acked": """
            acked_at              id  topic  partition  offset
            2026-11-23T10:00:00Z  a   t      0          0
            2026-11-23T10:00:01Z  b   t      0          1
            2026-11-23T10:00:02Z  c   t      0          2
        """,
        "worker-1-processed": """
            processed_at          topic  partition  offset  id
            2026-11-23T10:00:03Z  t      0          0       a
        """,
        "worker-2-processed": """
            processed_at          topic  partition  offset  id
            2026-11-23T10:00:04Z  t      0          0       a
            2026-11-23T10:00:0
        """,
    }
    log = (Stored("t", 0, 0, "a"), Stored("t", 0, 1, "b"), Stored("t", 0, 3, "d"), Stored("t", 0, 4, "d"))
    facts = [{"at": 1, "who": "worker-1", "kind": "poll", "seconds": 2.5}]
    positions = {"committed": {("g", "t"): {0: 2}}, "ends": {"t": {0: 5}}}
    return books(tmp_path, KAFKA, ledgers, facts, log=log, **positions)


def test_what_became_of_each_record_is_counted(kafka):
    assert counted(kafka) == {
        "handled-again": 1, "longest-poll": 2.5, "never-handled": 1, "lost-in-log": 1, "stored-again": 1, "pending": 3,
        "groups": 1, "doubled-queues": 1,
    }  # fmt: skip


def test_messages_of_mqtt_are_counted_by_receiver_and_by_share_group(tmp_path):
    ledgers = {
        "published-plc": """
            sent_utc              id  topic      qos  done_utc              result
            2026-11-23T10:00:00Z  a   plant/1/t  1    2026-11-23T10:00:00Z  ok
            2026-11-23T10:00:01Z  b   plant/1/t  1    2026-11-23T10:00:01Z  ok
            2026-11-23T10:00:02Z  c   plant/1/t  1    -                     pending
        """,
        "received-viewer": """
            received_utc          id  topic      qos  dup    retained
            2026-11-23T10:00:00Z  a   plant/1/t  1    False  False
            2026-11-23T10:00:00Z  a   plant/1/t  1    False  False
        """,
    }
    connects = [{"at": n, "who": who, "kind": "connected", "client_id": "x"} for n, who in enumerate("abab")]
    assert counted(books(tmp_path, MQTT, ledgers, connects)) == {
        "takeovers": 3, "never-received": 1, "diverted": 2, "most-copies": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "topic", "taken"),
    [
        ("plant/#", "plant", True), ("plant/#", "plant/1/t", True), ("plant/+/t", "plant/1/t", True),
        ("plant/+", "plant/1/t", False), ("$share/g/plant/+/t", "plant/1/t", True), ("plant/1", "plant/2", False),
    ],
)  # fmt: skip
def test_a_filter_takes_what_mqtt_says_it_takes(wanted, topic, taken):
    assert matches(wanted, topic) is taken


def test_a_fact_that_a_kill_cut_is_none(tmp_path):
    (tmp_path / "a.ndjson").write_text('{"at": 2, "who": "a", "kind": "k"}\n{"at": 3, "wh')
    (tmp_path / "b.ndjson").write_text('{"at": 1, "who": "b", "kind": "k"}\n')
    assert [fact["who"] for fact in read_facts(tmp_path)] == ["b", "a"]


def diagnosis(*found, verdict=None):
    """What mqlab says, as far as it is judged: (class, severity, measures)."""
    findings = [SimpleNamespace(incident=slug, severity=grade, measures=said) for slug, grade, said in found]
    name = verdict or found[0][0]
    return SimpleNamespace(
        findings=findings, verdict=SimpleNamespace(incident=name, certainty=Certainty.PROVEN, statement="s")
    )


CRITICAL = Severity.CRITICAL


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ([("reprocess-duplicates", CRITICAL, {"duplicated_records": 1.0})], True),
        ([("reprocess-duplicates", CRITICAL, {"duplicated_records": 1.06})], False),
        ([("reprocess-duplicates", CRITICAL, {})], False),
        ([("group-churn", CRITICAL, {"duplicated_records": 1.0})], False),
        ([("reprocess-duplicates", CRITICAL, {"duplicated_records": 1.0}), ("fan-out", Severity.NOTICE, {})], True),
        ([("reprocess-duplicates", CRITICAL, {"duplicated_records": 1.0}), ("group-churn", CRITICAL, {})], False),
    ],
)
def test_a_diagnosis_is_right_with_class_numbers_and_no_other_accusation(kafka, said, right):
    check = judging.judged(kafka.scenario, kafka, diagnosis(*said))
    assert check.right is right
    assert judging.told(check).startswith("RIGHT" if right else "WRONG")
    assert json.loads(json.dumps(check.document()))["right"] is right
