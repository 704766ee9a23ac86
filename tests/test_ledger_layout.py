"""How the rows of a ledger stand, by its first lines: headers, columns without one, JSON objects."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import ledger_csv, ledger_json, ledger_mapped
from mqlab.formats.base import Head
from mqlab.formats.registry import FORMATS
from mqlab.ledgers.layout import FIELDS
from mqlab.ledgers.mapping import Entry
from mqlab.material.recognition import recognise


def head(text, name="ledger.csv"):
    return Head(name, text, len(text))


def told(text, name="ledger.csv", form=ledger_csv):
    """Fields with their places, the role, and what it is known by."""
    layout = json.loads(form.layout(head(text, name)))
    columns = {field: place for field, place in zip(FIELDS, layout["columns"], strict=True) if place is not None}
    return columns, layout["role"], layout["told"]


SHIPPED = "\n".join(f"17952627568{n:02d},orders,{n % 2},{n // 2},{7 * n}" for n in range(20)) + "\n"
ACKED = "\n".join(f"{3 * n},{n % 2},{n // 2},17952627568{n:02d}" for n in range(20)) + "\n"


@pytest.mark.parametrize(
    ("text", "columns", "role"),
    [
        (SHIPPED, {"time": "0", "topic": "1", "queue": "2", "offset": "3", "key": "4"}, "processed"),
        (ACKED, {"key": "0", "queue": "1", "offset": "2", "time": "3"}, "acked"),
        ("5,1795262756811\n6,1795262756812\n", {"key": "0", "time": "1"}, "sent"),
        (ACKED.replace(",", ";"), {"key": "0", "queue": "1", "offset": "2", "time": "3"}, "acked"),
        (
            "\n".join(f"orders\t{n // 3}\t{n % 3}\tk-{n}\t2026-11-21T12:00:{n:02d}.5Z" for n in range(30)),
            {"topic": "0", "offset": "1", "queue": "2", "key": "3", "time": "4"},
            "acked",
        ),
    ],
    ids=["time first", "time last", "key and time", "semicolons", "another order"],
)
def test_columns_without_a_header_are_told_by_what_stands_in_them(text, columns, role):
    assert told(text) == (columns, role, "shape")


def test_a_ledger_whose_newest_row_comes_first_has_the_same_columns():
    newest_first = "".join(reversed(SHIPPED.splitlines(keepends=True)))
    assert told(newest_first) == told(SHIPPED)


def outbox(rows, last="info", status="result"):
    """Rows of a producer: when it was handed over and answered, the id, the answer, and where it lies."""
    head = f"queued,answered,id,{status},partition,{last}\n"
    return head + "".join(
        f"2026-11-21T12:00:{n:02d}.1Z,2026-11-21T12:00:{n:02d}.9Z,k-{n},{answer},{place}\n"
        for n, (answer, place) in enumerate(rows)
    )


SENT = [("ok", f"{n % 2},{40 * (n % 2) + 3 * n}") if n % 5 else ("failed", ",TIMED_OUT") for n in range(40)]


@pytest.mark.parametrize(("name", "role"), [("shop-outbox.csv", "sent"), ("rows.csv", "acked")])
def test_an_id_its_answer_and_two_moments_are_the_ledger_of_a_producer(name, role):
    columns = {"time": "1", "queue": "4", "offset": "5", "key": "2", "status": "3"}
    text = outbox(SENT)
    assert recognise(text.encode(), name, len(text), FORMATS).format == "ledger-csv"
    assert told(text, name)[:2] == (columns, role)


def test_jobs_with_an_id_a_status_and_two_moments_are_no_messages():
    rows = "".join(f"2026-11-21T12:00:{n:02d}.1Z,2026-11-21T12:00:{n:02d}.9Z,job-{n},ok\n" for n in range(40))
    text = "started,finished,job_id,status\n" + rows
    assert recognise(text.encode(), "jobs.csv", len(text), FORMATS).format != "ledger-csv"


def test_a_column_without_a_known_name_is_the_offset_only_where_it_rises_within_its_partition_alone():
    numbered = [("ok", f"{n % 2},{7 * n}") for n in range(40)]
    measured = [("ok", f"{n % 2},{n * 37 % 41}") for n in range(40)]
    alone = [("ok", f"{n % 2},{n // 2}") for n in range(40)]
    assert ["offset" in told(outbox(rows))[0] for rows in (numbered, measured, alone)] == [False, False, True]


def test_one_partition_does_not_make_a_key_of_the_offset():
    text = "\n".join(f"{n},0,{n},17952627568{n:02d}" for n in range(30))
    assert told(text)[0] == {"key": "0", "queue": "1", "offset": "2", "time": "3"}


def test_a_header_tells_columns_whatever_parts_them():
    columns = {"time": "0", "topic": "1", "queue": "2", "offset": "3", "key": "4", "status": "5"}
    for parted in (",", ";", "\t", "|"):
        text = parted.join(["timestamp", "topic", "partition", "offset", "key", "status"]) + "\n"
        assert told(text + parted.join(["1795262756811", "t", "0", "1", "k", "ok"])) == (columns, "sent", "column")


def test_a_role_in_the_name_is_marked_as_such():
    assert told(SHIPPED, "sink-received.csv")[1:] == ("received", "name")


def test_whose_ledger_it_is_stands_in_its_name():
    layout = json.loads(ledger_csv.layout(head(SHIPPED, "billing-1-processed.csv")))
    assert layout["party"] == "billing-1"


def test_members_of_objects_are_found_one_level_down():
    text = '{"ts":1795262756811,"Record":{"topic":"t","partition":0,"offset":3},"id":"a"}\n'
    assert told(text, "sink-received.ndjson", ledger_json) == (
        {
            "time": "$['ts']", "topic": "$['Record']['topic']", "queue": "$['Record']['partition']",
            "offset": "$['Record']['offset']", "key": "$['id']",
        },
        "received",
        "name",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "format_name"),
    [
        (SHIPPED, "ledger-csv"),
        ('{"ts":1795262756811,"topic":"t","partition":0,"offset":3}\n' * 3, "ledger-json"),
        ('{"ts":1795262756811,"value":3}\n' * 3, "unrecognised"),
        ("a;b;c\n1;2;3\n", "unrecognised"),
    ],
)
def test_ledgers_and_only_those_are_recognised(text, format_name):
    assert recognise(text.encode(), "data.txt", len(text), FORMATS).format == format_name


@given(st.text(max_size=300), st.sampled_from(["x.csv", "sink-received.csv", "-.csv", "sent"]))
def test_any_text_has_a_layout(text, name):
    for form in (ledger_csv, ledger_json):
        form.recognise(head(text, name))
        assert len(json.loads(form.layout(head(text, name)))["columns"]) == len(FIELDS)


@given(st.lists(st.lists(st.text(alphabet="0123456789abc.,;\"'-|\t", max_size=22), max_size=6), max_size=12))
def test_any_rows_have_a_layout(rows):
    text = "\n".join(",".join(row) for row in rows)
    assert len(json.loads(ledger_csv.layout(head(text)))["columns"]) == len(FIELDS)


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("received_utc,id,topic,qos,dup,retained\n2026-11-21T12:41:43Z,1,t,0,false,true\n", ledger_csv, True),
        ("acked_utc,id,topic,reason\n2026-11-21T11:39:47.636Z,a-1,press/07/state,Success\n", ledger_csv, True),
        ("acked_utc,id,topic,reason\n2026-11-21T11:39:47.636Z,a-1,orders,Success\n", ledger_csv, False),
        (SHIPPED, ledger_csv, False),
        (SHIPPED.replace("orders", "plant/m1"), ledger_csv, True),
        ('{"at":"2026-11-21T12:05:56.811Z","topic":"plant/m1","id":"2"}\n', ledger_json, True),
        ('{"at":"2026-11-21T12:05:56.811Z","topic":"orders","id":"2","retain":false}\n', ledger_json, True),
        ('{"at":"2026-11-21T12:05:56.811Z","topic":"orders","id":"2"}\n', ledger_json, False),
    ],
)
def test_levels_of_topics_qos_and_retain_flags_are_those_of_mqtt(text, form, expected):
    assert json.loads(form.layout(head(text)))["mqtt"] is expected


def test_a_map_may_tell_that_a_ledger_is_about_mqtt():
    text = "17|2026-11-21 12:00:00.123\n18|2026-11-21 12:00:00.124\n"
    told = {
        topic: json.loads(ledger_mapped.mapped(head(text), Entry("x", "sent", {"time": "1", "key": "0"}, topic=topic)))
        for topic in ("plant/m1", "orders")
    }
    assert {topic: layout["mqtt"] for topic, layout in told.items()} == {"plant/m1": True, "orders": False}
