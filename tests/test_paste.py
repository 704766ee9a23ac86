"""Pastes: what a few lines say, what they do not show, and that Spark is not asked for them."""

import io
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from plain_reading import opened

from mqlab import capture as captures
from mqlab import cli, jsonout
from mqlab.material import pasted, small
from mqlab.screens.paste import LINES, is_paste, paste_screen
from mqlab.verdict import diagnose
from mqlab.words import room

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
    assert told["PASTE"] == "5 lines: log of a broker (kafka); 14:54:38, 2026-03-09"
    assert told["SAYS"].startswith("startup-failure: Another process holds the lock of the broker's log directory.")
    assert "paste.txt:3  org.apache.kafka.common.KafkaException: Failed to acquire lock" in told["SAYS"]
    assert told["CHECK"] == "Which processes use the directory: `lsof`."
    assert told["NOT HERE"] == "what the clients logged at that time"


def test_the_exception_that_is_known_comes_first_behind_the_name_of_a_service_too(tmp_path):
    told = rows(screen(tmp_path, "".join(f"kafka-2  | {line}\n" for line in LOCKED.splitlines()) + "kafka-2 exited\n"))
    assert told["SAYS"].startswith("startup-failure: Another process holds the lock of the broker's log directory.")


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


REGISTERING = """\
[2026-03-09 14:20:34,958] ERROR [BrokerLifecycleManager id=7] Unable to register broker 7 because the controller returned error DUPLICATE_BROKER_REGISTRATION (kafka.server.BrokerLifecycleManager)
[2026-03-09 14:20:41,166] INFO [BrokerLifecycleManager id=7] Successfully registered broker 7 with broker epoch 204 (kafka.server.BrokerLifecycleManager)
"""  # noqa: E501 (lines as they are printed)
UNFENCED = """\
[2026-03-09 14:20:43,090] INFO [BrokerLifecycleManager id=7] The broker has been unfenced. Transitioning from RECOVERY to RUNNING. (kafka.server.BrokerLifecycleManager)
"""  # noqa: E501 (lines as they are printed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REGISTERING, "startup-failure: The controller refused a broker's registration."),
        (UNFENCED + REGISTERING, "startup-failure: The controller refused a broker's registration."),
        (REGISTERING + UNFENCED, "The controller refused a broker's registration."),
    ],
)
def test_a_broker_that_then_serves_did_not_fail_to_start(tmp_path, text, said):
    told = rows(screen(tmp_path, text))
    assert told["SAYS"].partition(" paste.txt")[0] == said
    assert told["CAUSE"].startswith("the broker's previous session has not expired")
    assert ("AFTER IT" in told) is text.endswith(UNFENCED)


FENCED = """\
2026-03-09 03:11:08.442  WARN 1 --- [-StreamThread-3] o.a.k.s.p.internals.RecordCollectorImpl  : stream-thread [tills-7f1c-2a90-StreamThread-3] Error encountered sending record to topic tills-totals-changelog
org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old epoch.
2026-03-09 03:11:19.021  INFO 1 --- [-StreamThread-3] o.a.k.s.p.internals.StreamThread         : stream-thread [tills-7f1c-2a90-StreamThread-3] State transition from PARTITIONS_ASSIGNED to RUNNING
"""  # noqa: E501 (lines as they are printed)


def test_a_thread_of_streams_that_runs_again_is_shown(tmp_path):
    told = rows(screen(tmp_path, FENCED))
    assert told["SAYS"].startswith("The broker no longer accepts this producer.")
    assert told["AFTER IT"].endswith('State transition from PARTITIONS_ASSIGNED to RUNNING"')
    assert "AFTER IT" not in rows(screen(tmp_path, FENCED.replace("to RUNNING", "to PENDING_SHUTDOWN")))


SKIPPED = "2026-03-09T09:51:20.412 ERROR 1 --- [ntainer#0-1-C-1] o.s.k.l.DefaultErrorHandler : Backoff FixedBackOff{interval=0, currentAttempts=10, maxAttempts=9} exhausted for tills-2@%d\n"  # noqa: E501 (a line as it is printed)
THROWN = "org.springframework.kafka.listener.ListenerExecutionFailedException: Listener method threw exception\n"
SOUGHT = "2026-03-09T09:51:21.412 ERROR 1 --- [ntainer#0-1-C-1] o.s.k.l.Container : Error handler threw an exception\norg.springframework.kafka.KafkaException: Seek to current after exception\n"  # noqa: E501 (lines as they are printed)


@pytest.mark.parametrize(
    ("text", "may_be"),
    [
        (SKIPPED % 88 + THROWN, False),
        (SKIPPED % 88 + THROWN + SKIPPED % 89 + THROWN, False),
        (SKIPPED % 88 + THROWN + SKIPPED % 88 + THROWN, True),
        (SKIPPED % 88 + THROWN + SOUGHT, True),
        (THROWN, True),
    ],
)
def test_a_record_that_is_skipped_after_all_its_tries_blocks_nothing(tmp_path, text, may_be):
    told = rows(screen(tmp_path, text))
    assert told.get("MAY BE", "").startswith("poison-pill-stall") is may_be
    assert ("MAY BE" in told) is may_be


HELD = "consumer/broker/2 abandoned subscription to tills/4 because consuming was taking too long"


@pytest.mark.parametrize(
    "line",
    [
        f'{{"level":"info","ts":"2026-03-09T07:19:44.507Z","logger":"sarama","msg":"{HELD}"}}',
        f'{{"level":"info","ts":1773040784.5,"caller":"sarama@v1.43/consumer.go:983","msg":"{HELD}"}}',
        f"[sarama] 2026/03/09 07:19:44 {HELD}",
        f"2026/03/09 07:19:44 {HELD}",
    ],
)
def test_a_consumer_that_sarama_calls_slow_is_heard_at_any_level(tmp_path, line):
    told = rows(screen(tmp_path, line + "\n"))
    assert told["PASTE"].startswith("1 line: log of a client (kafka)")
    assert told["SAYS"].startswith("The application took the records of a partition too slowly")
    added = rows(screen(tmp_path, line.replace("abandoned", "added").partition(" because")[0] + "\n"))
    assert "too slowly" not in added["SAYS"]


TOO_LARGE = """\
[2026-03-09 22:40:13,551] ERROR [tills|task-2] WorkerSourceTask{id=tills-2} failed to send record to tills:  (org.apache.kafka.connect.runtime.AbstractWorkerSourceTask)
org.apache.kafka.common.errors.RecordTooLargeException: The message is 1573312 bytes when serialized which is larger than 1048576, which is the value of the max.request.size configuration.
"""  # noqa: E501 (lines as they are printed)
DIED = """\
[2026-03-09 22:40:{},560] ERROR [tills|task-2] WorkerSourceTask{{id=tills-2}} Task threw an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted (org.apache.kafka.connect.runtime.WorkerTask)
org.apache.kafka.connect.errors.ConnectException: Unrecoverable exception from producer send callback
\tat org.apache.kafka.connect.runtime.AbstractWorkerSourceTask.sendRecords(AbstractWorkerSourceTask.java:396)
Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The message is 1573312 bytes when serialized which is larger than 1048576, which is the value of the max.request.size configuration.
"""  # noqa: E501 (lines as they are printed)


@pytest.mark.parametrize(
    ("text", "records"),
    [
        (TOO_LARGE + DIED.format("13"), "1 record"),
        (TOO_LARGE + DIED.format("15"), "1 record"),
        (TOO_LARGE * 2 + DIED.format("13"), "2 records"),
        (TOO_LARGE * 2, "2 records"),
        (DIED.format("13"), "1 record"),
    ],
)
def test_a_record_of_which_a_task_dies_is_one_and_the_death_is_told(tmp_path, text, records):
    told = rows(screen(tmp_path, text))
    assert told["SAYS"].startswith(f"oversize-record-rejected: {records} of paste (up to 1.57 MB)")
    assert ("A task of Kafka Connect failed." in told["SAYS"]) is ("is being killed" in text)


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
    assert not {"MAY BE", "NOT HERE"} & told.keys()


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


NO_RULES = """\
2026-03-09 11:32:36.106 [error] <0.1050.0>@vmq_mqtt_fsm:auth_on_publish:739 can't auth publish [<<>>,{[],<<"kiln-2">>},1,[<<"site">>,<<"kiln">>],<<"7">>,false] due to no_matching_hook_found
2026-03-09 11:32:36.107 [warning] <0.1049.0>@vmq_ranch:teardown:138 session stopped abnormally due to 'publish_not_authorized_3_1_1'
"""  # noqa: E501 (lines as they are printed)


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("no_matching_hook_found", "authorization-denied: VerneMQ has no plugin that could allow a publish"),
        ("not_authorized", "acl-silent-drop: kiln-2 was refused publishing once. How many messages were lost is not"),
    ],
)
def test_a_refusal_of_vernemq_tells_who_refused_and_no_loss(tmp_path, reason, says):
    told = rows(screen(tmp_path, NO_RULES.replace("no_matching_hook_found", reason)))
    assert told["SAYS"].startswith(says)


@pytest.mark.parametrize(
    ("zone", "head"), [("", "08:14:00 to 08:14:04, 2026-03-09"), ("Z", "08:14:00 to 08:14:04 UTC, 2026-03-09")]
)
def test_only_a_clock_whose_lines_state_its_zone_is_said_to_show_one(tmp_path, zone, head):
    lines = [f"2026-03-09T08:14:0{n}.100{zone} INFO MQTT: MQTT client offline" for n in (0, 2, 4)]
    told = rows(screen(tmp_path, "\n".join(lines)))
    assert told["PASTE"].endswith(f"; {head}")
    assert ("UTC" in told["SAYS"]) is bool(zone)


def test_a_connection_that_was_lost_once_and_made_again_is_a_sign_of_nothing(tmp_path):
    lost = "2026-03-09 08:14:00,100 INFO MQTT: MQTT client offline\n"
    made = "2026-03-09 08:14:05,100 INFO MQTT: MQTT client connected\n"
    once = rows(screen(tmp_path, lost + made))
    assert once["AFTER IT"] == 'paste.txt:2  "2026-03-09 08:14:05,100 INFO MQTT: MQTT client connected"'
    assert once["SAYS"].endswith("paste.txt:1  2026-03-09 08:14:00,100 INFO MQTT: MQTT client offline")
    assert "MAY BE" not in once
    assert "AFTER IT" not in rows(screen(tmp_path, (lost + made) * 3))
    assert "AFTER IT" not in rows(screen(tmp_path, made + lost))


PING = "2026-03-02T22:49:40Z D! [inputs.mqtt_consumer] [pinger]  pingresp not received, disconnecting\n"
UNANSWERED = "2026-03-02T22:49:40Z E! [inputs.mqtt_consumer] Error in plugin: connection lost: pingresp not received\n"
RETURNED = "2026-03-02T22:49:50Z I! [inputs.mqtt_consumer] Connected [tcp://broker:1883]\n"


@pytest.mark.parametrize(
    ("text", "over"),
    [
        (PING + UNANSWERED + RETURNED, True),
        (PING + UNANSWERED, False),
        (UNANSWERED + RETURNED + PING.replace("22:49:40", "22:59:40"), False),
    ],
)
def test_the_ping_of_the_one_loss_is_no_second_sign(tmp_path, text, over):
    told = rows(screen(tmp_path, text))
    assert ("AFTER IT" in told) is over


LOST = "2026-03-09T09:41:09: Client kiln has exceeded timeout, disconnecting.\n"
CAME = "2026-03-09T09:41:20: New client connected from 10.8.0.71:5754 as {} (p2, c1, k30).\n"


@pytest.mark.parametrize(("client", "shown"), [("kiln", True), ("till", False)])
def test_only_the_return_of_the_client_that_was_lost_says_that_it_works(tmp_path, client, shown):
    told = rows(screen(tmp_path, LOST + CAME.format(client)))
    assert ("AFTER IT" in told, "MAY BE" in told) == (shown, not shown)


def test_a_class_of_which_nothing_here_is_a_sign_is_none_that_it_may_be(tmp_path):
    lines = [f"2026-03-09 08:1{n}:00,100 INFO MQTT: MQTT client {what}" for n, what in enumerate(["offline"] * 3)]
    told = rows(screen(tmp_path, "\n".join(lines)))
    assert told["MAY BE"].startswith("reconnect-flaky-link")
    assert "reconnect-storm" not in told["MAY BE"]


def test_a_trouble_that_a_later_line_says_is_over_has_no_class(tmp_path):
    told = rows(screen(tmp_path, CONNECTED_AGAIN))
    first = rows(screen(tmp_path, CONNECTED_AGAIN.splitlines()[0]))
    assert first["SAYS"].partition(": ")[2].startswith(told["SAYS"][:60])


KILLED = """\
[2026-03-09 10:15:13,100] ERROR [stock|task-0] WorkerSourceTask{id=stock-0} failed to send record to stock: (org.apache.kafka.connect.runtime.AbstractWorkerSourceTask:430)
org.apache.kafka.common.errors.RecordTooLargeException: The message is 1573002 bytes when serialized which is larger than 1048576, which is the value of the max.request.size configuration.
[2026-03-09 10:15:15,200] ERROR [stock|task-0] WorkerSourceTask{id=stock-0} Task threw an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted (org.apache.kafka.connect.runtime.WorkerTask:233)
"""  # noqa: E501 (lines as they are printed)


def test_what_else_came_of_it_is_told_below_a_rule_and_what_to_do_about_it(tmp_path):
    told = rows(screen(tmp_path, KILLED))
    assert told["SAYS"].startswith("oversize-record-rejected: ")
    assert "A task of Kafka Connect failed. It does not run again until it is restarted. paste.txt:3" in told["SAYS"]
    assert told["NEXT"].startswith("Have the application split or divert such payloads")


MEMBERS = """\
$ mqadmin consumerProgress -n 10.8.0.9:9876 -g STOCK -s true
#Topic            #Broker Name    #QID  #Broker Offset  #Consumer Offset  #Client IP  #Diff  #LastTime
stock             mq-a            0     9000            9000              10.8.0.4    0      2026-03-09 10:00:00
stock             mq-a            1     9400            1400              N/A         8000   2026-03-08 09:00:00

Consume TPS: 1.00
Diff Total: 8000
"""


def test_queues_that_show_no_member_are_no_group_without_members(tmp_path):
    told = rows(screen(tmp_path, MEMBERS))
    assert told["SAYS"].startswith("8,000 messages waiting in queues that show no member, in 1 queue: STOCK")
    assert "consumer-offline" not in told.get("MAY BE", "")


DEVICE = "09:41:08.010 MQT: Connect failed to 10.8.0.12:1883, rc -4. Retry in 10 sec\n" * 2
BROKER = "2026-11-21T09:41:03: New connection from 10.8.0.71:5754 on port 1883.\n2026-11-21T09:41:09: Client kiln has exceeded timeout, disconnecting.\n"  # noqa: E501 (lines as they are printed)


@pytest.mark.parametrize("border", ["---", "--- mosquitto.log, same minutes", "=== broker"])
def test_two_logs_that_a_border_parts_are_read_each_by_itself(tmp_path, border):
    told = rows(screen(tmp_path, f"{DEVICE}{border}\n{BROKER}"))
    assert told["SAYS"].startswith("broker-unreachable: The device reached the broker's port and got no answer")
    assert "AFTER IT" not in told


@pytest.mark.parametrize("line", ["--- a/server.properties", "=== ERROR: the broker refused | 3 ==="])
def test_a_line_that_begins_as_a_border_does_parts_nothing(line):
    assert not pasted._parts(line)


RECLAIM = "2026-03-09 08:54:08 INFO StoreScheduledThread1 - physic disk maybe full soon, so reclaim space, {}, storePathPhysic=/data\n2026-03-09 08:54:08 WARN StoreScheduledThread1 - disk space will be full soon, but delete file failed.\n"  # noqa: E501 (lines as they are printed)


@pytest.mark.parametrize("ratio", ["0.82", "0.93"])
def test_a_broker_that_finds_no_file_to_delete_is_not_said_to_refuse_messages(tmp_path, ratio):
    told = rows(screen(tmp_path, RECLAIM.format(ratio)))
    assert "wanted to free space and found no file that it may delete" in told["SAYS"]
    assert "refuses to store" not in told["SAYS"]


PROXIED = '2026/03/09 14:54:05 [error] 36#36: *3229 connect() failed (111: Connection refused) while {}, client: 10.8.0.1, server: 0.0.0.0:{}, upstream: "{}", bytes from/to client:0/0, bytes from/to upstream:0/0\n'  # noqa: E501 (lines as they are printed)


@pytest.mark.parametrize(
    ("doing", "port", "upstream", "named"),
    [
        ("proxying connection", 8883, "10.8.0.52:1833", True),
        ("connecting to upstream", 9092, "10.8.0.52:9093", True),
        ("connecting to upstream", 443, "mqtt_nodes", True),
        ("connecting to upstream", 5432, "10.8.0.52:5432", False),
    ],
)
def test_a_proxy_that_cannot_reach_a_broker_names_its_address(tmp_path, doing, port, upstream, named):
    told = rows(screen(tmp_path, PROXIED.format(doing, port, upstream) * 2))
    assert told["SAYS"].startswith("broker-unreachable: nginx, in front of a broker") is named


def test_a_client_that_prints_its_exception_and_what_it_wanted_apart_is_understood(tmp_path):
    text = "\tstatus = StatusCode.DEADLINE_EXCEEDED\n2026-03-09 14:12:09,119 [ERROR] failed to fetch topic:jobs route\n"
    assert rows(screen(tmp_path, text))["SAYS"].startswith("broker-unreachable: A gRPC call failed.")


TWO_PLACES = """\
$ mqadmin consumerConnection -n 10.8.0.9:9876 -g STOCK
#ClientId             #ClientAddr         #Language  #Version
172.17.0.1@31         10.8.0.17:48864     JAVA       V4_9_4
{}         10.8.0.71:52210     JAVA       V4_9_4

ConsumeType: CONSUME_PASSIVELY
MessageModel: {}
"""


@pytest.mark.parametrize(
    ("second", "model", "shared"),
    [
        ("172.17.0.1@31", "CLUSTERING", True),
        ("172.17.0.1@32", "CLUSTERING", False),
        ("172.17.0.1@31", "BROADCASTING", False),
    ],
)
def test_one_id_at_two_addresses_of_one_listing_may_be_two_processes(tmp_path, second, model, shared):
    told = rows(screen(tmp_path, TWO_PLACES.format(second, model)))
    assert told.get("MAY BE", "").startswith("duplicate-client-id") is shared


def test_what_has_no_moment_is_not_called_undated():
    told = room("symptoms")("trouble", what="connections lost", times=5, several=True, place="-:2", at=None)
    assert told == "connections lost, 5 times, first at -:2"
