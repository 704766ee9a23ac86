"""Ledgers that applications keep as log lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import application_log, kafka_client_log
from mqlab.formats import ledger_lines as loader
from mqlab.formats.base import Head
from mqlab.formats.registry import FORMATS
from mqlab.ledgers.layout import FIELDS
from mqlab.tables import LEDGER


def lines(form, count=40, **more):
    """So many lines of one form: ``{n}`` counts, ``{q}`` and ``{o}`` are partition and offset in it."""
    rows = (form.format(n=n, q=n % 2, o=n // 2, ms=f"{n:03d}", **more) for n in range(count))
    return "\n".join(f"2026-11-22 03:21:15,{n:03d} {row}" for n, row in enumerate(rows)) + "\n"


PAIRS = lines("INFO web ack id={n} partition={q} offset={o} topic=clicks")
SENTENCE = lines("INFO  [main] com.acme.Payer - paid PO-{n:06d} (topic=payouts partition={q} offset={o})")
IDS = lines("acked SMS{n:07d}")
PLACES = lines("INFO stored orders-{q}@{o}")
DELIVERED = lines("INFO delivered to orders-{q} offset {o} key K{n}")


def head(text, name="app.log"):
    return Head(name, text, len(text))


def told(text, name="app.log"):
    """Fields with their places, the role, and what it is known by."""
    layout = json.loads(loader.layout(head(text, name)))
    columns = {field: place for field, place in zip(FIELDS, layout["columns"], strict=True) if place is not None}
    return columns, layout["role"], layout["told"], layout["party"]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (
            PAIRS, "web-acked.log",
            (
                {"topic": "11:topic", "queue": "7:partition", "offset": "9:offset", "key": "5:id"},
                "acked", "name", "web",
            ),
        ),
        (
            SENTENCE, "payer.audit.log",
            (
                {"topic": "8:topic", "queue": "10:partition", "offset": "12:offset", "key": "6:paid"},
                "processed", "shape", "payer",
            ),
        ),
        (IDS, "campaign-acked.log", ({"key": "2:acked"}, "acked", "name", "campaign")),
        (PLACES, "sink.1.log", ({"offset": "4:", "place": "3:stored"}, "processed", "shape", "sink")),
        (
            DELIVERED, "shop.log",
            ({"offset": "6:offset", "key": "8:key", "place": "4:to"}, "acked", "column", None),
        ),
    ],
    ids=["pairs", "a sentence", "ids only", "places", "what was delivered and has an offset was acknowledged"],
)  # fmt: skip
def test_words_at_the_same_place_tell_what_is_behind_them(text, name, expected):
    assert told(text, name) == expected
    assert next(one for one in FORMATS if one.recognise(head(text, name))) is loader


def test_each_line_may_tell_its_own_role():
    text = "".join(lines("acked A{n}", 30)) + "".join(lines("failed F{n} error=timeout", 10))
    assert told(text, "sms.log")[:3] == ({"key": "2:", "role": "1:"}, None, "column")


@pytest.mark.parametrize(
    "text",
    [
        lines("INFO processed 500 records in {n}.25 s"),
        lines("INFO processed 500 records in {n} ms"),
        lines("INFO polled 500 records, backlog {n}"),
        lines("INFO request {n} took 12 ms"),
        lines("INFO heartbeat {n} ok"),
        PAIRS + lines("INFO connecting to broker", 20),
        "2026-11-22 03:21:15,592 acked SMS0000001\n",
        "id=1 partition=1 offset=0\n" * 30,
        "",
    ],
    ids=["seconds", "milliseconds", "a backlog", "a duration", "a count", "a log of many things", "too few",
         "no moment", "nothing"],
)  # fmt: skip
def test_other_logs_are_none(text):
    assert not loader.recognise(head(text))


def test_a_log_of_a_consumer_stays_one_though_it_names_a_record_now_and_then():
    text = lines("INFO [Consumer clientId=a, groupId=g] Seeking to offset {o} for partition orders-{q}", 10)
    text += lines("INFO [Consumer clientId=a, groupId=g] Discovered group coordinator b:9092 (id: 1 rack: null)", 20)
    first = next(one for one in FORMATS if one.recognise(head(text)))
    assert first in (kafka_client_log, application_log)


COLUMNS = "line at role topic queue offset key"


def test_each_line_is_a_message(loaded):
    text = PAIRS + "2026-11-22 03:22:00,000 INFO web stopping id=7 after all\n"
    found = loaded(loader, LEDGER, COLUMNS, text, name="web-acked.log")
    assert (len(found), found[:2]) == (
        40, [(1, "03:21:15", "acked", "clicks", "0", 0, "0"), (2, "03:21:15", "acked", "clicks", "1", 0, "1")],
    )  # fmt: skip


def test_topic_and_partition_may_stand_in_one_word(loaded):
    assert loaded(loader, LEDGER, COLUMNS, PLACES)[39] == (40, "03:21:15", "processed", "orders", "1", 19, None)


def test_lines_that_tell_of_no_message_are_left_out(loaded):
    text = lines("acked A{n}", 38) + lines("failed F{n} error=timeout", 2) + "2026-11-22 03:22:00,000 started\n"
    found = loaded(loader, LEDGER, "role key", text)
    assert (found[:1], found[38:]) == ([("acked", "A0")], [("failed", "F0"), ("failed", "F1")])


def test_dated_lines_are_data(classes):
    assert classes(loader, "2026-11-22 03:21:15,592 acked A1\n\n\tat a.b.C") == ["data", "noise", None]


def test_what_a_line_prints_of_a_value_is_not_kept(loaded):
    text = lines("acked id={n} topic=clicks partition={q} offset={o} value=card 4111")
    rows = loaded(loader, LEDGER, "key topic queue offset text", text, name="web-acked.log")
    assert rows[1] == (
        "1",
        "clicks",
        "1",
        0,
        "2026-11-22 03:21:15,001 acked id=1 topic=clicks partition=1 offset=0 value=…",
    )


@given(st.text(), st.text(max_size=20))
def test_any_text_has_a_layout(text, name):
    json.loads(loader.layout(head(text, name)))


@given(st.lists(st.text("2026-1 :T=@ackidoffset[](),;", max_size=60), max_size=8))
def test_any_lines_have_one(rows):
    loader.recognise(head("".join(f"2026-11-22 03:21:15 {row}\n" for row in rows)))
