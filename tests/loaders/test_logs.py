# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""Dated lines: which ones the scan keeps, and what a kept line says."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F

from mqlab.loaders import signatures
from mqlab.loaders.layouts import level, level_name, minute, offset, wall
from mqlab.scanning import tagging
from tests.log_lines import read

CLIENT = "2026-11-21 12:20:44,201 {level}  [kafka-producer-network-thread | p] o.a.k.c.p.internals.Sender - [Producer clientId=p] "
BROKER = "[2026-11-21 12:20:44,201] {level} "

LINES = (
    ("batch-split", "WARN", "Got error produce response in correlation id 3 on topic-partition t-x-1, splitting and retrying"
     " (3 attempts left). Error: MESSAGE_TOO_LARGE"),
    ("produce-retry", "WARN", "Got error produce response with correlation id 9 on topic-partition t-x-1, retrying"
     " (1 attempts left). Error: NETWORK_EXCEPTION"),
    ("request-timeout", "INFO", "Disconnecting from node 1 due to request timeout."),
    ("client-version", "INFO", "Kafka version : 2.1.0"),
    ("client-start-time", "INFO", "Kafka startTimeMs: 1795263190846"),
    ("settings-printed", "INFO", "ProducerConfig values: "),
    ("idempotence-off", "INFO", "Idempotence will be disabled because acks is set to 1, not set to 'all'."),
    ("poll-timeout", "WARN", "consumer poll timeout has expired. This means the time between subsequent calls"),
    ("offset-reset", "INFO", "Fetch position FetchPosition{offset=9} is out of range for partition t-1, resetting offset"),
    ("broker-started", "INFO", "[KafkaServer id=1] started (kafka.server.KafkaServer)"),
    ("broker-started", "INFO", "[KafkaRaftServer nodeId=1] Kafka Server started (kafka.server.KafkaRaftServer)"),
    ("broker-started", "INFO", "[KafkaRaftServer nodeId=1] Kafka Server started"),
    ("broker-stopping", "INFO", "[KafkaServer id=1] Starting controlled shutdown (kafka.server.KafkaServer)"),
    ("broker-stopping", "INFO", "[BrokerLifecycleManager id=1] Beginning controlled shutdown. (kafka.server.BrokerLifecycleManager)"),
    ("broker-stopped", "INFO", "[BrokerServer id=3] shut down completed (kafka.server.BrokerServer)"),
    ("broker-stopped", "INFO", "[BrokerServer id=3] shut down completed"),
    ("log-recovery", "INFO", "[LogLoader partition=t-0, dir=/x] Recovering unflushed segment 0. (kafka.log.LogLoader)"),
    ("topic-config-changed", "INFO", "Processing override for entityPath: topics/t with config: HashMap(a.b -> 1) (kafka.server.X)"),
    ("topic-config-changed", "INFO", "[DynamicConfigPublisher broker id=1] Updating topic t with new configuration : a.b -> 1 (kafka.x)"),
    ("rebalance-started", "INFO", "[GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with old "
     "generation 4 (__consumer_offsets-2) (reason: removing member m on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)"),
    ("rebalance-started", "INFO", "[GroupCoordinator id=1 topic=__consumer_offsets partition=31] Preparing to rebalance group g in "
     "state Stable with old generation 4 (reason: r). (org.apache.kafka.coordinator.group.GroupMetadataManager)"),
    ("rebalance-stabilized", "INFO", "[GroupCoordinator 1]: Stabilized group g generation 5 (kafka.coordinator.group.GroupCoordinator)"),
    ("member-expired", "INFO", "[GroupCoordinator 1]: Member m-1 in group g has failed, removing it from the group (kafka.x)"),
    ("member-expired", "INFO", "[GroupCoordinator id=1 topic=__consumer_offsets partition=4] [GroupId g] Member j1 fenced from the "
     "group because the member session expired.. (org.apache.kafka.x)"),
    ("member-joined", "INFO", "[GroupCoordinator 1]: Dynamic member with unknown member id joins group g in Empty state. (kafka.x)"),
    ("isr-shrunk", "INFO", "[Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1. Leader: (highWatermark: 0) (kafka.cluster.Partition)"),
    ("isr-updated", "INFO", "[Partition t-0 broker=1] ISR updated to 1,2  and version updated to 7 (kafka.cluster.Partition)"),
    ("isr-updated", "INFO", "[Partition t-0 broker=1] Expanding ISR from 1 to 1,2 (kafka.cluster.Partition)"),
    ("reassignment", "INFO", "[Controller id=1] Completed partition reassignment of t-0 (kafka.controller.KafkaController)"),
    ("unclean-election", "INFO", "[QuorumController id=1] UNCLEAN partition change for t-0 with topic ID x (org.apache.kafka.x)"),
    ("broker-fenced", "INFO", "[QuorumController id=1] Fencing broker 2 because its session has timed out. (org.apache.kafka.x)"),
    ("join-requested", "INFO", "[Consumer clientId=c, groupId=g] Requesting to re-join the group and trigger rebalance since the"
     " assignment metadata has changed from (version28: {t=4}) to (version31: {t=9})"),
    ("join-requested", "INFO", "[Consumer clientId=c, groupId=g] Need to revoke partitions [t-3, t-8] and re-join the group"),
    ("poll-timeout", "ERROR", 'consumer error: KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum poll'
     ' interval (12000ms) exceeded by 385ms"}'),
    ("commit-failed", "ERROR", 'commit failed: KafkaError{code=_ASSIGNMENT_LOST,val=-142,str="Commit failed: Local: lost"}'),
    ("commit-deferred", "ERROR", 'commit failed: KafkaError{code=REBALANCE_IN_PROGRESS,val=27,str="Commit failed: Broker"}'),
    ("record-too-large", "ERROR", "send failed: org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes"),
    ("record-expired", "ERROR", "org.apache.kafka.common.errors.TimeoutException: Expiring 4 record(s) for t-2:120 ms has passed"),
)  # fmt: skip


def _read(spark, lines):
    return read(spark, lines, "kafka-broker-log")


@pytest.mark.parametrize("layout", [BROKER, CLIENT], ids=["in the brokers' layout", "behind a thread and a logger"])
def test_each_signature_is_kept_and_gives_its_kind(spark, layout):
    lines = [layout.format(level=word) + message for _, word, message in LINES]
    keeps, events = _read(spark, lines)
    assert keeps == [True] * len(LINES)
    assert [row.kind for row in events.select("kind").collect()] == [kind for kind, _, _ in LINES]


def test_a_line_whose_component_is_long_is_kept(spark):
    component = f"[GroupCoordinator id=1 topic={'t' * 249} partition=31]"
    line = BROKER.format(level="INFO") + component[:190] + "] Stabilized group g generation 5 (kafka.x)"
    assert _read(spark, [line])[0] == [True]


def test_ordinary_lines_are_not_kept(spark):
    lines = [
        BROKER.format(level="INFO")
        + "[ReplicaFetcher replicaId=1] Partition t-0 marked as failed (kafka.server.ReplicaFetcherThread)",
        BROKER.format(level="INFO") + "Starting the log cleaner (kafka.log.LogCleaner)",
        CLIENT.format(level="INFO") + "Cluster ID: x",
        "\tat java.lang.Thread.run(Thread.java:840)",
    ]
    assert _read(spark, lines)[0] == [False] * 4


def test_a_split_names_client_topic_partition_attempts_and_error(spark):
    _, events = _read(spark, [CLIENT.format(level="WARN") + LINES[0][2]])
    row = events.selectExpr("kind", "client_id", "topic", "queue", "value", "reason", "unix_millis(wall) AS at").first()
    assert tuple(row) == ("batch-split", "p", "t-x", "1", 3.0, "MESSAGE_TOO_LARGE", 1795263644201)


def test_an_exception_below_its_own_header_is_one_event(spark):
    lines = [
        "2026-11-21 12:20:44,201 ERROR [main] App - send failed: org.apache.kafka.common.errors.RecordTooLargeException: x",
        "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.RecordTooLargeException: x",
        "Caused by: org.apache.kafka.common.errors.RecordTooLargeException: x",
        "2026-11-21 12:20:45,201 ERROR [main] App - send failed: org.apache.kafka.common.errors.RecordTooLargeException: y",
    ]
    _, events = _read(spark, lines)
    assert [row.line for row in events.select("line").collect()] == [1, 4]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[2026-11-21 12:18:43,427] INFO x (kafka.y)", ("2026-11-21 12:18", "INFO", "2026-11-21 12:18:43.427", None)),
        ("2026-11-21 12:18:43,427 WARN  [main] App: x", ("2026-11-21 12:18", "WARN", "2026-11-21 12:18:43.427", None)),
        ("2026-11-21T12:18:43.5+08:00 SEVERE x", ("2026-11-21 12:18", "ERROR", "2026-11-21 12:18:43.500", 28800)),
        ("2026-11-21T12:18:27Z started bridge (start #1)", ("2026-11-21 12:18", None, "2026-11-21 12:18:27.000", 0)),
        ("%4|1795263643.250|REQTMOUT|p#1| [thrd:b]: x", ("2026-11-21 12:20", "WARN", "2026-11-21 12:20:43.250", 0)),
        ("Nov  2 00:24:29 x.service: x", ("1972-11-02 00:24", None, "1972-11-02 00:24:29.000", None)),
        ("Nob 22 00:24:29 x", ("1972-00-22 00:24", None, None, None)),
        ("\tat a.b.C", (None, None, None, None)),
        ("2026-13-45 99:18:43,427 INFO x", ("2026-13-45 99:18", "INFO", None, None)),
    ],
)
def test_a_layout_says_minute_level_moment_and_zone(spark, line, expected):
    frame = spark.createDataFrame([(line,)], "text string")
    parts = frame.selectExpr(minute("text"), level("text"), f"{wall('text')} AS at", offset("text"))
    shown = parts.withColumn("at", F.date_format("at", "yyyy-MM-dd HH:mm:ss.SSS"))
    assert tuple(shown.first()) == expected


FITTING = [(s.contains, s.words) for s in signatures.SIGNATURES if s.contains]


@pytest.mark.parametrize(("pattern", "words"), FITTING, ids=[pattern[:30] for pattern, _ in FITTING])
def test_a_word_that_is_looked_at_first_never_hides_a_line_that_fits(pattern, words):
    @given(st.from_regex(re.compile(pattern, re.ASCII)))
    def holds(line):
        assert any(re.search(word, line, re.ASCII) for word in words)

    holds()


def test_all_layouts_are_read_by_position_as_they_are_by_the_general_rule(spark):
    lines = [
        *(f"[2026-11-21 12:18:43,427] {name:<5} x" for name in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")),
        "[2026-11-21 12:18:43,427] WARN [a]: b",
        "2026/11/21 11:54:25.092412 ERROR publish x",
        "%4|1795263643.250|REQTMOUT|p#1| [thrd:b]: x",
        "[2026-11-21 12:18:43,427 +0000] INFO x",
        "\tat a.b.C(INFO)",
        "",
        "[",
    ]
    located = spark.createDataFrame(list(enumerate(lines)), "seq long, value string").selectExpr(
        "value", "value AS inner", "CAST(NULL AS TIMESTAMP) AS clock", "octet_length(value) AS size", "seq",
        "'Ln1.application-log.-.txt' AS file", "0 AS block",
    )  # fmt: skip
    general = located.selectExpr("seq", f"{minute('value')} AS minute", f"{level('value')} AS level").sort("seq")
    read = tagging.tagged(located).where(f"tag = {tagging.COUNT}")
    assert [tuple(r) for r in read.selectExpr("seq", "minute", f"{level_name('level')}").sort("seq").collect()] == [
        tuple(r) for r in general.collect()
    ]
