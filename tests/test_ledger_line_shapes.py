"""Which lines of a log are a ledger's, and which only look like it."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqlab.formats.registry import FORMATS
from mqlab.ledgers.log_shapes import found
from mqlab.material.recognition import HEAD, noting, recognise

LAYOUT = "2026-11-22 07:00:0{second},123 INFO  [pool-1-thread-{second}] com.acme.Payer - "
PLACE = ("topic", "queue", "offset")


def log(statement, layout=LAYOUT, lines=8):
    """Lines with a number each where the statement says ``{n}``."""
    return [f"{layout.format(second=n)}{statement}".replace("{n}", str(1000 + n)) for n in range(lines)]


def told(lines, name="app.log", **how):
    """Roles, what they are known by, and fields, one for each shape; and whether they are MQTT's."""
    shapes, mqtt = found(lines, name, **how)
    return [(one.role, one.told, tuple(sorted(one.groups, key=one.groups.get))) for one in shapes], mqtt


@pytest.mark.parametrize(
    ("statement", "role", "by", "fields"),
    [
        ("paid PO-{n} (topic=payouts partition=1 offset={n})", "processed", "verb", ("key", *PLACE)),
        ("Acked id={n} partition=0 offset={n}", "acked", "verb", ("key", "queue", "offset")),
        ("level=info msg=sent topic=orders partition=3 offset={n} key=ord-{n}", "sent", "verb", (*PLACE, "key")),
        ('msg="record acked" topic="orders" partition=3 offset={n} key="a b {n}"', "acked", "verb", (*PLACE, "key")),
        ('{"event":"acked","topic":"o","partition":3,"offset":{n},"key":"k{n}"}', "acked", "verb", (*PLACE, "key")),
        ("processed orders-0@{n} key ord-{n} in {n} ms", "processed", "verb", (*PLACE, "key")),
        ("processed orders-0 offset {n}", "processed", "verb", PLACE),
        ("handled order {n} (orders-0 at offset {n})", "processed", "verb", ("key", *PLACE)),
        ("handled partition=orders-0 offset={n} id=o-{n}", "processed", "verb", ("place", "offset", "key")),
        ("processed record from topic o partition 3 at offset {n}, id O-{n}", "processed", "verb", (*PLACE, "key")),
        ("received orders [0] @ {n}", "received", "verb", PLACE),
        ("Message delivered to orders [0] @ {n}", "acked", "shape", PLACE),
        ("Produced record to topic orders partition [0] @ offset {n}", "acked", "shape", PLACE),
        ("sent id=S{n} to carrier (orders-0@{n})", "processed", "shape", ("key", *PLACE)),
        ("sent id=S{n} to topic=orders partition=0 offset={n}", "acked", "shape", ("key", *PLACE)),
        (
            "consumed ConsumerRecord(topic = orders, partition = 0, leaderEpoch = 0, offset = {n}, key = k{n}, "
            'value = {"reset": "failed"})',
            "consumed", "verb", (*PLACE, "key"),
        ),
        ("acked orders-0@{n} id={n} retries=0 error=null", "acked", "verb", (*PLACE, "key", "status")),
        ("saved orders-0@{n} after retries=2", "processed", "verb", PLACE),
        ("shipped order {n} (orders-0@{n})", "processed", "verb", ("key", *PLACE)),
    ],
)  # fmt: skip
def test_lines_that_name_places_are_a_ledger(statement, role, by, fields):
    assert told(log(statement)) == ([(role, by, fields)], False)


@pytest.mark.parametrize(
    ("statement", "role", "fields"),
    [
        ("sent topic=a/b id={n} qos=1", "sent", ("topic", "key", "qos")),
        ("published plant/1/temp id=x-{n} qos=1", "sent", ("topic", "key", "qos")),
        ("received topic=a/b id={n} qos=1 dup=0 retain=0", "received", ("topic", "key", "qos", "dup", "retained")),
        ("puback topic=a/b seq={n} rc=0", "acked", ("topic", "key", "status")),
    ],
)
def test_lines_with_topics_of_levels_are_a_ledger_of_mqtt(statement, role, fields):
    assert told(log(statement)) == ([(role, "verb", fields)], True)


@pytest.mark.parametrize(
    "layout",
    [
        "2026-11-22T07:00:0{second}.123Z ",
        "2026-11-22T07:00:0{second}.123+01:00 INFO ",
        "[2026-11-22 07:00:0{second},123] INFO ",
        "2026-11-22 07:00:0{second}.123  INFO 1 --- [ntainer#0-{second}-C-1] c.a.App                : ",
        "2026/11/22 07:00:0{second} main.go:33: ",
        "2026-11-22 07:00:0{second},123 - ledger - INFO - ",
        "2026-11-22 07:00:0{second},123 INFO:app.main: ",
        "2026-11-22 07:00:0{second},123 WARNING app ",
        "179533097{second}.123 INFO ",
        "22.11.2026 07:00:0{second}: ",
        "ts=2026-11-22T07:00:0{second}Z level=info msg=",
        'time="2026-11-22T07:00:0{second}Z" level=info msg=',
    ],
)
def test_any_layout_of_a_logger_stands_before_it(layout):
    shapes, _ = told(log("acked orders-0@{n}", layout))
    assert [(role, set(fields) - {"time"}) for role, _, fields in shapes] == [("acked", set(PLACE))]


def test_the_name_of_the_log_tells_the_role_where_no_verb_does():
    lines = log("topic=orders partition=0 offset={n} key=k-{n}")
    assert told(lines, "orders-acked.log") == ([("acked", "name", (*PLACE, "key"))], False)
    assert told(lines) == ([(None, None, (*PLACE, "key"))], False)
    assert told([*lines, *log("worker is idle")]) == ([], False)


def test_ids_alone_are_messages_only_in_a_log_of_nothing_else_that_is_called_so():
    lines = log("acked SMS{n}")
    assert told(lines, "campaign-acked.log") == ([("acked", "verb", ("key",))], False)
    assert told(lines, "campaign.log") == ([], False)
    assert told([*lines, *log("cache is warm"), *log("worker is idle")], "campaign-acked.log") == ([], False)
    assert told(log("acked SMS{n}", lines=10) * 300, "campaign-acked.log") == ([("acked", "verb", ("key",))], False)


def test_what_a_producer_sent_with_an_offset_was_acknowledged():
    lines = log("sent topic=orders partition=0 offset={n}")
    assert told(["… ProducerConfig values:", *lines])[0] == [("acked", "shape", PLACE)]
    assert told(["… ProducerConfig values:", "… ConsumerConfig values:", *lines])[0] == [("sent", "verb", PLACE)]
    assert told(lines, "orders-acked.log")[0] == [("acked", "name", PLACE)]


def test_of_one_receiver_the_last_stage_counts():
    lines = [*log("received orders-0@{n}"), *log("processed orders-0@{n}")]
    assert told(lines) == ([("processed", "verb", PLACE)], False)


def test_what_failed_counts_beside_what_was_sent():
    failed = log("failed id={n} error=timeout")
    assert told([*log("acked id={n} partition=0 offset={n}"), *failed])[0] == [
        ("acked", "verb", ("key", "queue", "offset")), ("failed", "verb", ("key", "status")),
    ]  # fmt: skip
    assert told(failed) == ([], False)


def test_a_bridge_tells_of_the_log_that_it_writes_to():
    lines = [*log("received topic=a/b id={n} qos=1"), *log("acked id={n} partition=0 offset={n}")]
    assert told(lines) == ([("acked", "verb", ("key", "queue", "offset"))], False)


def test_any_verb_in_the_past_says_that_a_record_was_handled_only_beside_its_place():
    assert told(log("shipped topic=orders id={n}"), "orders.log") == ([], False)


def test_a_collector_may_date_the_lines():
    lines = log("acked orders-0@{n}", "")
    assert told(lines, clocked=True)[0] == [("acked", "verb", PLACE)]
    assert told(lines)[0] == []


LOOKALIKES = [
    "[Consumer clientId=c, groupId=g] Setting offset for partition orders-0 to the committed offset "
    "FetchPosition{offset={n}, offsetEpoch=Optional.empty}",
    "[Consumer clientId=c, groupId=g] Resetting offset for partition orders-0 to position FetchPosition{offset={n}",
    "[Consumer clientId=c, groupId=g] processed orders-0@{n}",
    "committed orders-0@{n}",
    "committed offset={n} partition=0 topic=orders key=k-{n}",
    "processed up to orders-0@{n}",
    "processed {n} records up to orders-0@{n}",
    "processed {n} messages, position orders-0@{n}",
    "saved checkpoint topic=orders partition=0 offset={n}",
    "saved snapshot of orders-0 at offset {n}",
    "read topic=orders partition=0 offset={n} lag={n}",
    "fetched topic=orders partition=0 offset={n} high_watermark={n}",
    "polled topic=orders partition=0 offset=12 end_offset={n}",
    "assigned orders-0@{n}",
    "seeking to orders-0@{n}",
    "resuming orders-0 at offset {n}",
    "processing orders-0@{n} id={n}",
    "sending topic=orders partition=0 offset={n} id={n}",
    "not sent topic=orders partition=0 offset={n}",
    "could not be processed orders-0@{n}",
    "cannot handle CL{n} at claims.in-0@{n}: ValueError('broken payload'), sent to claims.in.DLT",
    "failed to process orders-0@{n} key=k{n}",
    "processed orders-0@{n} failed: timeout",
    "skipped orders-0@{n} id={n}",
    "received orders-0@{n} duplicate, dropped",
    "retry of orders-0@{n} acked",
    "received request id={n} path=/orders",
    "finished job {n} in 12 ms",
    "done id={n}",
    "processed orders-0@77 id={n}",
    "progress received={n} forwarded={n}",
    "sent={n} acked={n} failed=0",
    "read file.go:33:{n}",
    "got GET /orders/3/{n} 200",
    "connected to 10.0.0.1:9092 offset={n}",
    "dumped partition=0 offset={n} isolation=read_committed from=0 until={n}",
    "Received PUBLISH (d0, q1, r0, m{n}, 'a/b', ... (12 bytes))",
    "Sending PUBLISH to c1 (d0, q1, r0, m{n}, 'a/b', ... (12 bytes))",
    "[Log partition=orders-0, dir=/data] Loading producer state till offset {n} with message format version 2",
    "[Broker id=1] Leader orders-0 starts at leader epoch 1 from offset {n} with high watermark {n}",
    "Wrote producer snapshot at offset {n} with 3 producer ids in 2 ms.",
    "[ReplicaFetcher] Partition orders-0 has log end offset {n}",
    "[Broker id=2] Add 6 partitions and deleted 0 partitions from metadata cache in response to UpdateMetadata request "
    "sent by controller 3 epoch 1 with correlation id {n} (state.change.logger)",
    "Completed load of log with 1 segments, log start offset 0 and log end offset {n}",
]


@pytest.mark.parametrize("statement", LOOKALIKES)
def test_positions_batches_requests_and_failures_are_no_ledger(statement):
    assert told(log(statement)) == ([], False)
    assert told(log(statement, "[2026-11-22 07:00:0{second},123] INFO ")) == ([], False)


def test_a_few_lines_are_no_ledger():
    assert told(log("acked orders-0@{n}", lines=2)) == ([], False)


LOGS = sorted(file for file in (Path(__file__).parents[1] / "data" / "samples").rglob("*.log*") if file.suffix != ".gz")


def test_no_log_of_the_samples_is_taken_for_a_ledger():
    assert len(LOGS) > 100
    assert [file.name for file in LOGS if found(head(file), file.name)[0]] == []


def head(file):
    with file.open("rb") as content:
        return content.read(HEAD).decode("utf-8", "replace").split("\n")[:-1]


WORDS = st.sampled_from(
    ["acked", "orders-0@", "topic=", "offset=", "partition=", '"', "[", "]", "{", "}", "=", ":", " ", "-", "@", "7",
     "a/b", "id", "key=", "\\", "'", ",", "ä", "\t", "2026-11-22 07:00:01 ", "INFO "]
)  # fmt: skip


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.lists(WORDS, max_size=30).map("".join), min_size=1, max_size=4),
    st.sampled_from(["a.log", "a-sent.log"]),
)
def test_a_shape_fits_the_lines_that_it_was_told_by(statements, name):
    lines = [line for statement in statements for line in log(f"acked {statement} {{n}} partition=0 offset={{n}}")]
    for one in found(lines, name)[0]:
        fitting = [match for line in lines if (match := re.match(one.pattern, line, re.ASCII))]
        assert len(fitting) >= 3
        assert {match[one.groups["offset"]] for match in fitting} <= {str(1000 + n) for n in range(8)}


def test_a_name_of_four_kilobytes_costs_no_more_than_its_length():
    hostile = ["a-1" * 1400, '"\\' * 2000, "-1@" * 1400, "a=" * 2000, "[" * 4000, "acked " * 700]
    begin = time.process_time()
    found([f"2026-11-22 07:00:01 acked {text} offset=1" for text in hostile for _ in range(20)], "a.log")
    assert time.process_time() - begin < 5


def taken_by(lines, name="app.log"):
    text = "\n".join(lines).encode() + b"\n"
    known = noting(recognise(text, name, len(text), FORMATS), text, name)
    return known.format, known.layout is not None


@pytest.mark.parametrize("statement", LOOKALIKES)
def test_a_file_of_nothing_but_look_alikes_is_no_ledger_either(statement):
    form, laid = taken_by(log(f"INFO {statement}", "2026-11-22 07:00:{second:02d},123 ", 40))
    assert (form.startswith("ledger"), laid) == (False, False)


def test_what_a_consumer_received_or_sent_on_was_not_acknowledged():
    received = log("received K{n} orders-0@{n}")
    sent_on = log("sent K{n} to carrier (topic=orders partition=0 offset={n})")
    for lines, role in ((received, "received"), (sent_on, "processed")):
        assert taken_by(lines) == ("application-log", True)
        assert [one.role for one in found(lines, "app.log")[0]] == [role]


def test_a_log_of_messages_of_mqtt_is_read_by_its_lines():
    assert taken_by(log("sent topic=plant/1 id=s-{n} qos=1")) == ("application-log", True)


@pytest.mark.parametrize(
    "layout",
    [
        'time="2026-11-22T07:00:0{second}Z" level=info msg=',
        "ts=179533097{second}.25 level=info msg=",
    ],
)
def test_names_and_values_without_a_layout_of_their_own_are_an_application_s_log(layout):
    assert taken_by(log("acked topic=orders partition=0 offset={n}", layout)) == ("application-log", True)
