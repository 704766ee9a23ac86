import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.material.envelopes import detect, peel, unwrapped
from mqlab.sources import Envelope

OWN = "[2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance (kafka.coordinator.group.X)"
NANOS = "2026-11-21T12:18:43.427123456Z"
DOCKER = json.dumps({"log": OWN + "\n", "stream": "stdout", "time": NANOS}, separators=(",", ":"))
PLAIN = "2026-11-21T12:18:43.427Z WARN [main] a.b.Sender - Got error"

WRAPPED = [
    (Envelope.DOCKER, DOCKER, OWN),
    (
        Envelope.DOCKER,
        '{"log":"\\tacks = 1\\r\\n","stream":"stdout","attrs":{"a":"b"},"time":"' + NANOS + '"}',
        "\tacks = 1",
    ),
    (Envelope.DOCKER, '{"log":"caf\\u00e9 \\"x\\"","stream":"stderr","time":"' + NANOS + '"}', 'café "x"'),
    (Envelope.DOCKER, '{"log":"cut', '{"log":"cut'),
    (Envelope.CRI, f"{NANOS} stdout F {OWN}", OWN),
    (Envelope.CRI, "2026-11-21T20:18:43.4+08:00 stderr P part", "part"),
    (Envelope.CRI, f"{NANOS} stdout F", ""),
    (Envelope.KUBECTL, f"[pod/kafka-0/kafka] {OWN}", OWN),
    (Envelope.KUBECTL, f"[pod/kafka-0/kafka] {NANOS} {OWN}", OWN),
    (Envelope.KUBECTL, f"{NANOS} {OWN}", OWN),
    (Envelope.KUBECTL, f"[pod/kafka-0/kafka] {NANOS} \tat a.B.c(D.java:1)", "\tat a.B.c(D.java:1)"),
    (Envelope.KUBECTL, f"[pod/mqtt-0/mqtt] {NANOS} New connection", f"{NANOS} New connection"),
    (Envelope.COMPOSE, f"kafka-1  | {OWN}", OWN),
    (Envelope.COMPOSE, f"\x1b[36mkafka-1  | \x1b[0m{OWN}", OWN),
    (Envelope.COMPOSE, "kafka-1  | \tacks = 1", "\tacks = 1"),
    (Envelope.COMPOSE, "kafka-1  |", ""),
    (Envelope.SYSLOG, f"Nov 21 12:18:43 mqtt-1 kafka[812]: {OWN}", OWN),
    (
        Envelope.SYSLOG,
        "<30>Nov  1 12:18:43 mqtt-1 mosquitto[8]: 1795261711: New connection",
        "1795261711: New connection",
    ),
    (
        Envelope.SYSLOG,
        "Nov 22 00:24:29 app-7 systemd[1]: dedup-1.service: Main process exited, code=exited, status=1/FAILURE",
        "Nov 22 00:24:29 dedup-1.service: Main process exited, code=exited, status=1/FAILURE",
    ),
    (
        Envelope.SYSLOG,
        'Nov 21 12:18:43 wrk-7 racecar[22]: {"level":"INFO","message":"Joined","timestamp":"2026-11-21T12:18:43Z"}',
        "2026-11-21T12:18:43Z INFO [-] - - Joined",
    ),
    (Envelope.SYSLOG, "Nov  2 00:24:29 app-7 kernel: Memory cgroup: x", "Nov  2 00:24:29 Memory cgroup: x"),
    (Envelope.SYSLOG, f"2026-11-21T12:18:43+0000 host kafka-run[812]: {OWN}", OWN),
    (
        Envelope.SYSLOG,
        "2026-11-21T12:18:43+0000 host kernel: Out of memory: Killed process 12 (java)",
        "2026-11-21T12:18:43+0000 Out of memory: Killed process 12 (java)",
    ),
    (Envelope.SYSLOG, f"<34>1 2026-11-21T12:18:43.003Z host kafka 812 ID47 - {OWN}", OWN),
    (
        Envelope.STRUCTURED,
        '{"@timestamp":"2026-11-21T12:18:43.427Z","log.level":"WARN","message":"Got error",'
        '"process.thread.name":"main","log.logger":"a.b.Sender","ecs.version":"1.2.0"}',
        PLAIN,
    ),
    (
        Envelope.STRUCTURED,
        '{"@timestamp":"2026-11-21T12:18:43.427Z","log":{"level":"warn","logger":"a.b.Sender"},'
        '"process":{"thread":{"name":"main"}},"message":"Got error"}',
        PLAIN,
    ),
    (
        Envelope.STRUCTURED,
        '{"@timestamp":"2026-11-21T12:18:43.427Z","@version":"1","message":"Got error","level_value":30000,'
        '"level":"WARNING","thread_name":"main","logger_name":"a.b.Sender"}',
        PLAIN,
    ),
    (Envelope.STRUCTURED, '{"_source":{"@timestamp":"t","level":"INFO","message":"m"}}', "t INFO [-] - - m"),
    (
        Envelope.STRUCTURED,
        '{"ts":1795263523.427,"level":"info","logger":"x","msg":"up"}',
        "2026-11-21T12:18:43.427Z INFO [-] x - up",
    ),
    (
        Envelope.STRUCTURED,
        '{"level":40,"time":1795263523427,"msg":"slow"}',
        "2026-11-21T12:18:43.427Z WARN [-] - - slow",
    ),
    (Envelope.STRUCTURED, '{"ts":1795263523,"msg":"up"}', "2026-11-21T12:18:43Z up"),
    (Envelope.STRUCTURED, json.dumps({"labels": {"a": "b"}, "line": OWN, "timestamp": "1795263523427123456"}), OWN),
    (Envelope.STRUCTURED, '{"timestamp":"1795263523427123456","line":"bare"}', "2026-11-21T12:18:43.427123Z bare"),
    (Envelope.STRUCTURED, '{"ts":null,"level":"","msg":"only"}', "only"),
    (Envelope.STRUCTURED, '{"id":1}', '{"id":1}'),
    (Envelope.STRUCTURED, "no json", "no json"),
    (Envelope.STRUCTURED, '{"msg":"cut', '{"msg":"cut'),
    (Envelope.NONE, OWN, OWN),
    (Envelope.NONE, DOCKER, DOCKER),
    (Envelope.CRI, OWN, OWN),
    (Envelope.SYSLOG, OWN, OWN),
]


@pytest.mark.parametrize(("envelope", "line", "inner"), WRAPPED)
def test_a_line_is_peeled_to_what_the_application_wrote(envelope, line, inner):
    assert peel(line, envelope) == inner


@pytest.mark.parametrize(("envelope", "line", "inner"), WRAPPED)
def test_a_line_is_peeled_in_the_same_way_where_its_clock_is_asked_for_too(envelope, line, inner):
    assert unwrapped(line, envelope)[0] == inner


MICROS = round(datetime(2026, 11, 21, 12, 18, 43, 427123, tzinfo=UTC).timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("envelope", "line", "clock"),
    [
        (Envelope.DOCKER, DOCKER, MICROS),
        (Envelope.CRI, f"{NANOS} stdout F x", MICROS),
        (Envelope.KUBECTL, f"[pod/a/b] {NANOS} x", MICROS),
        (Envelope.SYSLOG, "2026-11-21T20:18:43.427123+08:00 h kernel: x", MICROS),
        (Envelope.STRUCTURED, '{"ts":1795263523.427123,"msg":"m"}', MICROS),
        (Envelope.SYSLOG, "Nov 21 12:18:43 h a[1]: x", None),
        (Envelope.COMPOSE, "kafka-1 | x", None),
        (Envelope.STRUCTURED, '{"level":"info","msg":"m"}', None),
        (Envelope.DOCKER, '{"log":"cut', None),
        (Envelope.NONE, OWN, None),
    ],
)
def test_the_collectors_clock_is_read_where_it_has_a_zone(envelope, line, clock):
    assert unwrapped(line, envelope)[1] == clock


@pytest.mark.parametrize("envelope", [e for e in Envelope if e is not Envelope.NONE])
def test_an_envelope_around_every_line_is_detected(envelope):
    lines = [line for kind, line, inner in WRAPPED if kind is envelope and line != inner and "cut" not in line]

    assert detect([*lines[:3], lines[0], "", *lines[:2]]) == envelope


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["", "  "],
        [OWN, OWN, '{"message":"x","level":"INFO","ts":1}', OWN],
        ["1795261711: mosquitto version 2.0.11 starting"] * 3,
        ['{"id":1,"at":"2026-11-21T12:00:00Z","topic":"t"}'] * 3,
        ['{"ts":1795263523,"topic":"t","partition":0,"offset":4,"message":"hello"}'] * 3,
        ['{"status":"success","data":{"resultType":"matrix"}}'],
        ["2026-11-21T11:48:32+0000 $SYS/broker/version mosquitto version 2.0.11"] * 3,
        ["2026-11-21T11:44:26Z started bridge (start #1)"] * 3,
        ["2026-11-21T12:00:00Z INFO Sender: got it"] * 3,
        ["2026-11-21T12:00:00Z INFO Sender[12]: got it"] * 3,
        [f"{NANOS} INFO zap writes nine digits itself"] * 3,
        ["id | name", "1 | a", "2 | b", "3 | c"],
        ["[main] [pod/x] y"] * 3,
        ["{", '  "brokers": [', "]", "}"],
    ],
)
def test_other_lines_wear_no_envelope(lines):
    assert detect(lines) == Envelope.NONE


def test_a_few_strange_lines_do_not_hide_an_envelope():
    assert (
        detect(["-- Journal begins at Sat 2026-11-21 --", *[f"kafka-1  | {OWN}"] * 8, "Attaching to kafka-1"])
        == Envelope.COMPOSE
    )


PIECES = [
    '{"log":"',
    '"',
    "\\",
    "}",
    "{",
    NANOS,
    " ",
    "stdout F ",
    "[pod/a/b] ",
    "kafka-1 | ",
    "Nov 21 12:00:00 h a[1]: ",
    '"time":',
    "1795263523",
    '"message":',
    ",",
    "1e999",
    "[",
    "\x00",
    "é",
    "\r",
]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join) | st.text(), st.sampled_from(Envelope))
def test_no_line_breaks_peeling(line, envelope):
    assert unwrapped(line, envelope)[0] == peel(line, envelope)


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=9).map("".join), max_size=6))
def test_no_head_breaks_detection(lines):
    assert isinstance(detect(lines), Envelope)
