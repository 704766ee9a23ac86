# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""Dated lines: which ones are kept, and what a kept line says."""

import pytest
from log_lines import picked, read

from mqlab.formats import kafka_broker_log, kafka_client_log
from mqlab.formats.base import Head
from mqlab.formats.layouts import LEVELS, Moment, level, moment
from mqlab.formats.values import instant
from mqlab.kernel.vectors import NO_MINUTE, Lines, headers

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
    ("broker-booting", "INFO", "Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)"),
    ("broker-booting", "INFO", "starting (kafka.server.KafkaServer)"),
    ("broker-booting", "INFO", "[SharedServer id=1] Starting SharedServer (kafka.server.SharedServer)"),
    ("broker-started", "INFO", "[KafkaServer id=1] started (kafka.server.KafkaServer)"),
    ("broker-started", "INFO", "[KafkaRaftServer nodeId=1] Kafka Server started (kafka.server.KafkaRaftServer)"),
    ("broker-started", "INFO", "[KafkaRaftServer nodeId=1] Kafka Server started"),
    ("broker-stopping", "INFO", "[KafkaServer id=1] Starting controlled shutdown (kafka.server.KafkaServer)"),
    ("broker-stopping", "INFO", "[BrokerLifecycleManager id=1] Beginning controlled shutdown. (kafka.server.BrokerLifecycleManager)"),
    ("server-stopping", "INFO", "[ControllerServer id=3] shutting down (kafka.server.ControllerServer)"),
    ("broker-stopped", "INFO", "[BrokerServer id=3] shut down completed (kafka.server.BrokerServer)"),
    ("broker-stopped", "INFO", "[BrokerServer id=3] shut down completed"),
    ("log-recovery", "INFO", "[LogLoader partition=t-0, dir=/x] Recovering unflushed segment 0. (kafka.log.LogLoader)"),
    ("topic-config-changed", "INFO", "Processing override for entityPath: topics/t with config: HashMap(a.b -> 1) (kafka.server.X)"),
    ("topic-config-changed", "INFO", "[DynamicConfigPublisher broker id=1] Updating topic t with new configuration : a.b -> 1 (kafka.x)"),
    ("member-joined", "INFO", "[GroupCoordinator 1]: Dynamic member with unknown member id joins group g in Empty state. (kafka.x)"),
    ("reassignment", "INFO", "[Controller id=1] Completed partition reassignment of t-0 (kafka.controller.KafkaController)"),
    ("unclean-election", "INFO", "[QuorumController id=1] UNCLEAN partition change for t-0 with topic ID x (org.apache.kafka.x)"),
    ("broker-fenced", "INFO", "[QuorumController id=1] Fencing broker 2 because its session has timed out. (org.apache.kafka.x)"),
    ("batches-aborted", "ERROR", "kafka.producer.sender <Sender client_id=p>: Aborting producer batches due to fatal error: [Error 10] MessageSizeTooLargeError: None"),
    ("record-too-large", "ERROR", "send failed: org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes"),
    ("record-expired", "ERROR", "org.apache.kafka.common.errors.TimeoutException: Expiring 4 record(s) for t-2:120 ms has passed"),
)  # fmt: skip


def _read(lines):
    return read(lines, "kafka-broker-log")


@pytest.mark.parametrize("layout", [BROKER, CLIENT], ids=["in the brokers' layout", "behind a thread and a logger"])
def test_each_signature_is_kept_and_gives_its_kind(layout):
    lines = [layout.format(level=word) + message for _, word, message in LINES]
    keeps, events = _read(lines)
    assert keeps == [True] * len(LINES)
    assert [event["kind"] for event in events] == [kind for kind, _, _ in LINES]


def test_a_line_whose_component_is_long_is_kept():
    component = f"[GroupCoordinator id=1 topic={'t' * 249} partition=31]"
    line = BROKER.format(level="INFO") + component[:190] + "] Stabilized group g generation 5 (kafka.x)"
    assert _read([line])[0] == [True]


def test_ordinary_lines_are_not_kept():
    lines = [
        BROKER.format(level="INFO")
        + "[ReplicaFetcher replicaId=1] Partition t-0 marked as failed (kafka.server.ReplicaFetcherThread)",
        BROKER.format(level="INFO") + "Starting the log cleaner (kafka.log.LogCleaner)",
        CLIENT.format(level="INFO") + "Cluster ID: x",
        "\tat java.lang.Thread.run(Thread.java:840)",
    ]
    assert _read(lines)[0] == [False] * 4


def test_a_split_names_client_topic_partition_attempts_and_error():
    _, events = _read([CLIENT.format(level="WARN") + LINES[0][2]])
    told = picked(events, "kind client_id topic queue value reason")
    assert told == [("batch-split", "p", "t-x", "1", 3.0, "MESSAGE_TOO_LARGE")]
    assert str(events[0]["at"]) == "2026-11-21 12:20:44.201000+00:00"


@pytest.mark.parametrize(
    ("line", "value", "reason"),
    [
        ("ERROR TillProducer - RecordTooLargeException @ Position[x:238], lastHeartbeat=0]", None, None),
        (
            "ERROR TillProducer - The message is 1628919 bytes when serialized which is larger than the maximum request size you have configured with the max.request.size configuration.",
            1628919,
            "when serialized",
        ),
        (
            "ERROR Failed to produce message to topic tills: kafka server: Message was too large, server rejected it to avoid allocation error",
            None,
            "kafka server: Message was too large",
        ),
        ("ERROR delivery failed: Broker: Message size too large", None, None),
    ],
)
def test_a_record_that_is_too_large_is_told_with_who_refused_it_where_the_line_says_so(line, value, reason):
    (event,) = read([f"2026-03-02 09:41:33,174 {line}"], "kafka-client-log")[1]
    assert (event["kind"], event["value"], event["reason"]) == ("record-too-large", value, reason)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (
            "METADATA|till#producer-1| kafka-2:9092/2: Metadata request failed: Local: Message timed out",
            "request-timeout",
        ),
        ("DELIVERY|till#producer-1| delivery to tills failed: Local: Message timed out", "record-expired"),
    ],
)
def test_a_request_for_metadata_that_timed_out_is_no_record(told, kind):
    (event,) = read([f"%4|1795263643.250|{told}"], "kafka-client-log")[1]
    assert event["kind"] == kind


def test_a_position_that_broadway_finds_out_of_range_is_no_record_that_failed():
    line = "** (RuntimeError) cannot fetch records from Kafka (topic=tills partition=0 offset=338). Reason: :offset_out_of_range"
    (event,) = read(["09:11:53.607 [error] GenServer Till.Producer_0 terminating", line], "kafka-client-log")[1]
    assert (event["kind"], event["topic"], event["value"]) == ("offset-reset", "tills", 338)


def test_lines_that_begin_with_a_level_are_records_of_their_own_without_a_date():
    lines = [f"WARN 514 --- [x] o.a.k.clients.NetworkClient : Bootstrap broker k{n}:9092 disconnected" for n in "123"]
    assert [event["line"] for event in read(lines, "kafka-client-log")[1]] == [1, 2, 3]
    stack = ["java.lang.OutOfMemoryError: Java heap space", "java.lang.OutOfMemoryError: Java heap space"]
    assert [event["line"] for event in read(stack, "application-log")[1]] == [1]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Producer clientId=till-3", "kafka-client-log"),
        ("Consumer instanceId=i, clientId=till-4, groupId=g", "kafka-client-log"),
        ("ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0", "kafka-broker-log"),
    ],
)
def test_a_client_that_logs_as_brokers_do_is_no_broker(name, form):
    line = f"[2026-03-02 08:21:01,500] WARN [{name}] Connection to node 1 (k/10.0.0.1:9092) could not be established. (org.apache.kafka.clients.NetworkClient)"
    head = Head("console.txt", f"{line}\n{line}\n", 400)
    assert next(f.FORMAT.name for f in (kafka_broker_log, kafka_client_log) if f.recognise(head)) == form


def test_the_size_of_a_serialized_record_comes_before_that_of_its_payload():
    says = "send to t failed, payload=1900 bytes: RecordTooLargeException: The message is 2000 bytes when serialized"
    refused = "send to t failed, payload=1900 bytes: RecordTooLargeException: the max message size the server accepts"
    _, events = _read([CLIENT.format(level="ERROR") + line for line in (says, refused)])
    assert [event["value"] for event in events] == [2000.0, 1900.0]


def test_an_exception_below_its_own_header_is_one_event():
    lines = [
        "2026-11-21 12:20:44,201 ERROR [main] App - send failed: org.apache.kafka.common.errors.RecordTooLargeException: x",
        "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.RecordTooLargeException: x",
        "Caused by: org.apache.kafka.common.errors.RecordTooLargeException: x",
        "2026-11-21 12:20:45,201 ERROR [main] App - send failed: org.apache.kafka.common.errors.RecordTooLargeException: y",
    ]
    _, events = _read(lines)
    assert [event["line"] for event in events] == [1, 4]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[2026-11-21 12:18:43,427] INFO x (kafka.y)", ("INFO", "2026-11-21 12:18:43.427", None)),
        ("2026-11-21 12:18:43,427 WARN  [main] App: x", ("WARN", "2026-11-21 12:18:43.427", None)),
        ("2026-11-21T12:18:43.5+08:00 SEVERE x", ("ERROR", "2026-11-21 12:18:43.500", 28800)),
        ("2026-11-21T12:18:43.5+08:00 [warning] x", ("WARN", "2026-11-21 12:18:43.500", 28800)),
        ("2026-11-21T12:18:43.5+08:00 [alert] x", ("FATAL", "2026-11-21 12:18:43.500", 28800)),
        ("2026-11-21T12:18:43.5+08:00 [notice] x: error", (None, "2026-11-21 12:18:43.500", 28800)),
        ("2026-11-21T12:18:27Z started bridge (start #1)", (None, "2026-11-21 12:18:27", 0)),
        ("%4|1795263643.250|REQTMOUT|p#1| [thrd:b]: x", ("WARN", "2026-11-21 12:20:43.250", 0)),
        ("Nov  2 00:24:29 x.service: x", (None, "1972-11-02 00:24:29", None)),
        ("Nob 22 00:24:29 x", (None, None, None)),
        ("\tat a.b.C", (None, None, None)),
        ("2026-13-45 99:18:43,427 INFO x", ("INFO", None, None)),
    ],
)
def test_a_layout_says_level_moment_and_zone(line, expected):
    found = moment(line) or Moment(None, None)
    word, wall, east = expected
    assert (level(line), found.wall, found.east) == (word, instant(wall), east)


def test_many_lines_are_read_by_position_as_each_is_by_the_general_rule():
    lines = [
        *(f"[2026-11-21 12:18:43,427] {name:<5} x" for name in LEVELS),
        "[2026-11-21 12:18:43,427] WARN [a]: b",
        "2026-11-21T12:18:43.427+00:00 [error] b",
        "2026/11/21 11:54:25.092412 ERROR publish x",
        "%4|1795263643.250|REQTMOUT|p#1| [thrd:b]: x",
        "[2026-11-21 12:18:43,427 +0000] INFO x",
        "\tat a.b.C(INFO)",
        "",
        "[",
    ]
    found = headers(Lines.of("\n".join(lines).encode()))
    moments = [moment(line) for line in lines]
    assert found.minute.tolist() == [m.wall // 60_000_000 if m else NO_MINUTE for m in moments]
    assert [LEVELS[place - 1] if place else None for place in found.level] == [level(line) for line in lines]
