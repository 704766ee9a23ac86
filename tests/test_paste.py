"""Pastes: what a few lines say, what they do not show, and that Spark is not asked for them."""

import io
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from plain_reading import opened

from mqlab import capture as captures
from mqlab import cli, jsonout
from mqlab.material import small
from mqlab.screens.paste import LINES, is_paste, paste_screen
from mqlab.verdict import diagnose

LOCKED = """\
[2026-03-09 14:54:38,526] INFO starting (kafka.server.KafkaServer)
[2026-03-09 14:54:38,890] ERROR [KafkaServer id=0] Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)
org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /var/lib/kafka. A Kafka instance in another process or thread is using this directory.
\tat kafka.log.LogManager.$anonfun$lockLogDirs$1(LogManager.scala:311)
[2026-03-09 14:54:38,904] INFO [KafkaServer id=0] shut down completed (kafka.server.KafkaServer)
"""  # noqa: E501 (lines as they are printed)
GAVE_UP = """\
2026-03-09 09:00:20,101 ERROR RocketmqClient - sendMessageBack exception, group: seats
org.apache.rocketmq.client.exception.MQClientException: Send [3] times, still failed, cost [27]ms, Topic: SEATS, BrokersSent: [mq-a, mq-a, mq-a]
Caused by: org.apache.rocketmq.client.exception.MQBrokerException: CODE: 1  DESC: java.lang.NullPointerException BROKER: 10.5.0.5:10911
"""  # noqa: E501 (lines as they are printed)
CONNECTED_AGAIN = """\
[2026-03-09 09:26:34,101] WARN [Controller id=1] Controller 1's connection to broker localhost:9094 (id: 2 rack: null) was unsuccessful (kafka.controller.RequestSendThread)
[2026-03-09 09:26:34,352] INFO [Controller id=1] Controller 1 connected to localhost:9094 (id: 2 rack: null) for sending state change requests (kafka.controller.RequestSendThread)
"""  # noqa: E501 (lines as they are printed)
UNKNOWN = """\
2026-03-09 11:00:00,000 ERROR shop.Till: drawer 4 is stuck
2026-03-09 11:00:01,000 INFO shop.Till: next customer
"""
NOTHING = """\
2026-03-09 11:00:00,000 INFO shop.Till: drawer 4 is open
2026-03-09 11:00:01,000 INFO shop.Till: next customer
"""


def screen(tmp_path, text):
    file = tmp_path / "paste.txt"
    file.write_text(text)
    facts = opened([file], tmp_path / "scratch")
    return paste_screen(facts, diagnose(facts))


def rows(told):
    """The screen as (label, text) pairs, each row in one line."""
    found = []
    for line in told.splitlines():
        label, text = line[:9].strip(), line[9:].strip()
        found.append([label, text]) if label else found[-1].append(text)
    return {label: " ".join(texts) for label, *texts in found}


def test_the_exception_that_is_known_comes_before_the_line_that_only_heads_it(tmp_path):
    told = rows(screen(tmp_path, LOCKED))
    assert told["PASTE"] == "5 lines: log of a broker (kafka); 14:54:38 UTC, 2026-03-09"
    assert told["SAYS"].startswith("startup-failure: Another process holds the lock of the broker's log directory.")
    assert "paste.txt:3  org.apache.kafka.common.KafkaException: Failed to acquire lock" in told["SAYS"]
    assert told["CHECK"] == "Which processes use the directory: `lsof`."
    assert told["NOT HERE"] == "what the clients logged at that time"


def test_an_exception_that_nobody_knows_is_shown_and_neither_a_class_nor_a_usual_cause_is_told(tmp_path):
    told = rows(screen(tmp_path, GAVE_UP))
    assert told["SAYS"].startswith("A producer gave up on a message after all its retries.")
    assert "paste.txt:3  Caused by: org.apache.rocketmq.client.exception.MQBrokerException: CODE: 1" in told["SAYS"]
    assert "MAY BE" not in told
    assert told["CAUSE"].startswith("the broker is busy or refuses (its CODE is in the cause)")
    assert "broker-unreachable" not in told["SAYS"]


def test_a_later_line_that_says_that_it_works_is_shown(tmp_path):
    told = rows(screen(tmp_path, CONNECTED_AGAIN))
    assert told["AFTER IT"].startswith('paste.txt:2  "… Controller 1 connected to localhost:9094')
    assert "whether it went on" not in told["NOT HERE"]


def test_lines_that_complain_without_being_known_are_shown_as_they_are(tmp_path):
    told = rows(screen(tmp_path, UNKNOWN))
    assert told["SAYS"] == (
        "mqlab does not know these warnings and errors: "
        "paste.txt:1  2026-03-09 11:00:00,000 ERROR shop.Till: drawer 4 is stuck"
    )


def test_lines_without_a_sign_of_trouble_are_not_called_healthy(tmp_path):
    told = screen(tmp_path, NOTHING)
    assert rows(told)["SAYS"] == "No line here is a sign of trouble that mqlab knows."
    assert not {word for word in ("HEALTHY", "CLEAR", "STATUS", "%") if word in told}


@pytest.mark.parametrize(("lines", "shown"), [(LINES, True), (LINES + 1, False)])
def test_the_lines_of_a_paste_are_those_that_people_copy_by_hand(tmp_path, lines, shown):
    file = tmp_path / "paste.txt"
    file.write_text("2026-03-09 11:00:00,000 INFO shop.Till: next customer\n" * lines)
    assert is_paste(opened([file], tmp_path / "scratch")) is shown


def test_two_files_are_no_paste(tmp_path):
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(NOTHING + name)
    assert not is_paste(opened([tmp_path], tmp_path / "scratch"))


def test_no_session_is_started_for_standard_input_of_a_few_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(captures, "spark_session", None)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LOCKED.encode())))
    found = captures.open_capture("-", workspace=str(tmp_path))
    assert [one.incident for one in found.findings] == ["startup-failure"]
    assert found.sizes()["events"] == 4


def test_a_paste_is_diagnosed_as_spark_would_have_it_read(tmp_path, spark, monkeypatch):
    file = tmp_path / "server.log"
    file.write_text(LOCKED)
    here = captures.open_capture(file, workspace=str(tmp_path / "here"))
    monkeypatch.setattr(small, "LARGEST", 0)
    there = captures.open_capture(file, workspace=str(tmp_path / "there"), spark=spark)
    assert jsonout.dumps(here.diagnosis) == jsonout.dumps(there.diagnosis)
    assert here.sizes() == there.sizes()


def test_the_whole_screen_is_there_with_why(tmp_path):
    file = tmp_path / "server.log"
    file.write_text(LOCKED)
    command = ["triage", str(file), "--why", "--workspace", str(tmp_path / "cache")]
    told = CliRunner().invoke(cli.commands, command, standalone_mode=False).output
    assert told.startswith("CRITICAL  startup-failure")


def test_a_grpc_call_of_some_other_program_is_no_sign_of_rocketmq(tmp_path):
    line = "2026-04-14 08:11:02,120 ERROR tax - export: StatusCode.UNAVAILABLE, failed to connect to all addresses\n"
    told = rows(screen(tmp_path, line))
    assert told["NOT HERE"] == "whose lines they are: nothing names Kafka, RocketMQ or MQTT"
    assert "MAY BE" not in told


def test_a_connection_that_is_lost_at_info_is_an_event_all_the_same(tmp_path):
    each = ("client connected", "client offline", "client closed")
    lines = [f"2026-03-09 08:14:0{n}.100 INFO MQTT: MQTT {each[n % 3]}" for n in range(9)]
    file = tmp_path / "gateway.log"
    file.write_text("\n".join(lines))
    facts = opened([file], tmp_path / "scratch")
    assert [len(facts.of_kind(kind)) > 0 for kind in ("connection-made", "connection-lost")] == [True, True]
    assert diagnose(facts).verdict.hypotheses[0].incident == "client-id-takeover"


def test_lines_of_no_known_format_are_not_called_quiet(tmp_path):
    told = rows(screen(tmp_path, "seats 0 23901 taken\nseats 1 23911 free\n"))
    assert told["SAYS"] == "mqlab knows no format of these lines."


def test_the_exception_below_a_line_that_nobody_knows_is_shown_with_it(tmp_path):
    text = UNKNOWN.splitlines()[0] + "\njava.lang.IllegalStateException: the drawer of till 7 is open\n"
    told = rows(screen(tmp_path, text))
    assert told["SAYS"].endswith("paste.txt:2  java.lang.IllegalStateException: the drawer of till 7 is open")


def test_one_id_connected_three_times_within_two_seconds_is_no_bad_link(tmp_path):
    lines = ["1739262000: mosquitto version 2.0.22 running"]
    for second in range(60, 64):
        lines += [f"17392620{second}: New connection from 10.9.1.7:3{second}00 on port 1883."]
        lines += [f"17392620{second}: Client line already connected, closing old connection."] * (second > 60)
        lines += [f"17392620{second}: New client connected from 10.9.1.7:3{second}00 as line (p2, c0, k60)."]
    file = tmp_path / "mosquitto.log"
    file.write_text("\n".join(lines))
    found = diagnose(opened([file], tmp_path / "scratch"))
    assert [one.incident for one in found.findings] == []
    assert found.verdict.hypotheses[0].incident == "client-id-takeover"


def test_a_refused_connect_is_no_connection_that_was_lost(tmp_path):
    each = (
        "connected rc=Success",
        "disconnected rc=Unspecified error",
        *("connected rc=Not authorized", "disconnected rc=Unspecified error") * 3,
    )
    file = tmp_path / "gate.log"
    file.write_text("\n".join(f"2026-03-09 08:14:0{n},100 INFO gateway: {what}" for n, what in enumerate(each)))
    facts = opened([file], tmp_path / "scratch")
    assert sum(one.count for one in facts.of_kind("connection-lost")) == 1
    assert sum(one.count for one in facts.of_kind("error:mqtt-connack-refused")) == 3


def test_two_dated_records_with_one_cause_each_are_two(tmp_path):
    record = "2026-03-09 09:1{}:01,120 ERROR stock\nCaused by: java.sql.SQLException: No suitable driver found for jdbc:mysql://db/stock\n"
    file = tmp_path / "connect.log"
    file.write_text("".join(record.format(minute) for minute in range(3)))
    facts = opened([file], tmp_path / "scratch")
    assert sum(one.count for one in facts.of_kind("error:jdbc-driver-missing")) == 3
