"""Which column of a ledger is what, by its name and by what stands in it."""

import json

import pytest

from mqlab.formats import ledger_csv, ledger_json
from mqlab.formats.base import Head
from mqlab.formats.registry import FORMATS
from mqlab.ledgers.layout import FIELDS, party_in, role_in
from mqlab.material.recognition import recognise


def told(text, name, form=ledger_csv):
    """Fields with their places, and the role."""
    layout = json.loads(form.layout(Head(name, text, len(text))))
    columns = {field: place for field, place in zip(FIELDS, layout["columns"], strict=True) if place is not None}
    return columns, layout["role"]


def table(header, row, rows=30):
    return "\n".join([header, *(row(n) for n in range(rows))]) + "\n"


def moment(n):
    return str(1_795_262_756_811 + n)


def format_of(text, name):
    return recognise(text.encode(), name, len(text), FORMATS).format


@pytest.mark.parametrize(
    ("header", "row", "key"),
    [
        ("ts,partition,offset,ticket", lambda n: f"{moment(n)},0,{n},T-{n}", "3"),
        ("ts,partition,offset,key,hold_id", lambda n: f"{moment(n)},0,{n},dev-{n % 3},H{n}", "4"),
        ("ts,partition,offset,meter,id", lambda n: f"{moment(n)},0,{n},dev-{n},{n}", "4"),
        ("ts,partition,offset,colour,view_id", lambda n: f"{moment(n)},0,{n},c{n},V{n}", "4"),
        ("ts,partition,offset,claim,colour", lambda n: f"{moment(n)},0,{n},C{n},c{n}", "3"),
        ("ts,partition,offset,key,colour", lambda n: f"{moment(n)},0,{n},dev-{n % 3},c{n % 2}", "3"),
        ("ts,partition,offset,colour", lambda n: f"{moment(n)},0,{n},c{n % 2}", None),
        ("ts,partition,offset,value,bytes,price", lambda n: f"{moment(n)},0,{n},{n},{900 + n},{n}.5", None),
        ("ts,partition,offset,ticket", lambda n: f"{moment(n)},0,{n // 2},T-{n // 2}", "3"),
    ],
    ids=["any word", "not a device's", "known before leftmost", "id before leftmost", "leftmost", "known name stays",
         "none", "measures are none", "handled twice"],
)  # fmt: skip
def test_the_key_is_the_column_that_differs_from_message_to_message(header, row, key):
    assert told(table(header, row), "sink-processed.csv")[0].get("key") == key


def test_a_journal_of_what_was_created_and_answered_tells_what_was_acknowledged_with_its_offset_or_why_not():
    def row(n):
        outcome = "failed,,InvalidRecordException" if n % 3 == 0 else f"ok,0,{n}"
        return f"2026-11-28T08:34:{n:02}.527Z,2026-11-28T08:34:{n:02}.537Z,clk-{n},425,{outcome}"

    text = table("created,answered,id,bytes,status,partition,offset_or_reason", row)
    columns, role = told(text, "web-journal.csv")
    assert (format_of(text, "web-journal.csv"), role) == ("ledger-csv", "acked")
    assert columns == {"time": "1", "key": "2", "bytes": "3", "status": "4", "queue": "5", "offset": "6"}


@pytest.mark.parametrize("header", ["created,answered,ticket_id,agent", "created,answered,owner,title"])
def test_a_table_of_what_people_answer_acknowledges_nothing(header):
    rows = table(header, lambda n: f"2026-11-28T08:34:{n:02}.527Z,2026-11-28T09:34:{n:02}.537Z,T-{n},Ann")
    assert told(rows, "helpdesk.csv")[1] is None


def test_keys_differ_within_each_role():
    def row(n):
        return f"{moment(n)},acked,B{n // 2},0,{n}" if n % 2 else f"{moment(n)},sent,B{n // 2},,"

    text = table("time,state,booking,partition,offset", row)
    assert told(text, "bank.audit.csv") == ({"time": "0", "role": "1", "key": "2", "queue": "3", "offset": "4"}, None)


def test_members_of_objects_are_told_by_their_values_too():
    lines = [
        {"at": int(moment(n)), "event": "sent", "msg": f"P{n}", "vehicle": f"d{n % 4}", "topic": "t", "offset": None}
        for n in range(30)
    ]
    text = "\n".join(map(json.dumps, lines)) + "\n"
    names = {"time": "at", "topic": "topic", "offset": "offset", "key": "msg", "role": "event"}
    assert told(text, "gps.ndjson", ledger_json) == ({field: f"$['{name}']" for field, name in names.items()}, None)
    assert format_of(text, "gps.ndjson") == "ledger-json"


@pytest.mark.parametrize(
    ("name", "header", "row", "expected"),
    [
        ("a-sent.csv", "ts,order_id", lambda n: f"{moment(n)},{n}", ({"time": "0", "key": "1"}, "sent")),
        ("shop.orders.csv", "order_id,sent_at", lambda n: f"O{n},{moment(n)}", ({"key": "0", "time": "1"}, "sent")),
        ("x-failed.csv", "time,alert,error", lambda n: f"{moment(n)},A{n},TIMED_OUT",
         ({"time": "0", "key": "1", "status": "2"}, "failed")),
        ("acked.csv", "move;part;pos;ack_ms", lambda n: f"M{n};0;{n};{moment(n)}",
         ({"key": "0", "queue": "1", "offset": "2", "time": "3"}, "acked")),
        ("w.csv", "payout,topic,partition,offset,acked", lambda n: f"P{n},t,0,{n},{moment(n)}",
         ({"key": "0", "topic": "1", "queue": "2", "offset": "3", "time": "4"}, "acked")),
        ("b_acked.csv", "auth;topic_partition;offset;time", lambda n: f"A{n};card-auth-1;{n};{moment(n)}",
         ({"key": "0", "place": "1", "offset": "2", "time": "3"}, "acked")),
        ("twin-acked.csv", "committed_at,id,partition,offset", lambda n: f"{moment(n)},u{n},0,{n}",
         ({"time": "0", "key": "1", "queue": "2", "offset": "3"}, "acked")),
        ("sms-1-sent-to-carrier.csv", "sms,handed_ms", lambda n: f"S{n},{moment(n)}",
         ({"key": "0", "time": "1"}, "processed")),
    ],
)  # fmt: skip
def test_a_moment_and_a_message_are_a_ledger_where_a_name_tells_the_role(name, header, row, expected):
    text = table(header, row)
    assert format_of(text, name) == "ledger-csv"
    assert told(text, name) == expected


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("export.csv", "time,alert", lambda n: f"{moment(n)},A{n}"),
        ("bytes-sent.csv", "time,value", lambda n: f"{moment(n)},{n}"),
        ("bytes-sent.csv", "time,eth0", lambda n: f"{moment(n)},{17 * n}"),
        ("requests-failed.csv", "time,host", lambda n: f"{moment(n)},web-{n % 2}"),
        ("orders-sent.csv", "sent_at,order_id", lambda n: f"yesterday,O{n}"),
    ],
    ids=["no role", "a value", "numbers of a measure", "no key", "no moment"],
)
def test_exports_of_other_things_are_no_ledgers(name, header, row):
    assert format_of(table(header, row), name) not in {"ledger-csv", "ledger-json"}


def test_names_of_files_tell_roles_and_parties():
    names = (
        "crm.acks.csv",
        "api-failed.csv",
        "sms-1-sent-to-carrier.csv",
        "audit-sent-to-kafka.csv",
        "shop.orders.csv",
    )
    assert [(role_in(name), party_in(name)) for name in names] == [
        ("acked", "crm"), ("failed", "api"), ("processed", "sms-1"), ("sent", "auditto-kafka"), (None, "shop"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "row", "columns"),
    [
        ("part,pos,shift,applied_ms", lambda n: f"{n % 2},{n // 2},s{n},{moment(n)}", ("3", "0", "1", "2")),
        ("loan;p;o;am", lambda n: f"L{n};{n % 2};{n // 2};22.11.2026 10:47:{n:02}.405", ("3", "1", "2", "0")),
        ("Wann;Buchung;Teil;Ort", lambda n: f"2026/11/22 10:47:{n:02};B{n};{n % 2};{n // 2}", ("0", "2", "3", "1")),
        (
            '"RatedAt","Id","A","B"',
            lambda n: f'"22/Nov/2026:10:47:{n:02} +0100","P{n}",{n % 2},{n // 2}',
            ("0", "2", "3", "1"),
        ),
    ],
    ids=["known names", "dotted dates", "another language", "months and quotes"],
)
def test_places_are_told_by_offsets_that_rise_one_by_one(header, row, columns):
    text = table(header, row)
    assert format_of(text, "x.csv") == "ledger-csv"
    found, role = told(text, "x.csv")
    assert (tuple(found[name] for name in ("time", "queue", "offset", "key")), role) == (columns, None)


def test_members_without_names_are_told_alike():
    text = "".join(f'{{"e":{moment(n)},"open":"op{n}","p":{n % 2},"o":{n // 2}}}\n' for n in range(30))
    assert format_of(text, "stats.ndjson") == "ledger-json"
    assert told(text, "stats.ndjson", ledger_json)[0] == {
        "time": "$['e']", "queue": "$['p']", "offset": "$['o']", "key": "$['open']",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("when,cpu,memory", lambda n: f"{moment(n)},{n % 4},{1000 + 37 * n}"),
        ("a,b,c", lambda n: f"{moment(n)},{n % 7},{(n * 7919) % 100}"),
        ("time,level,text", lambda n: f"{moment(n)},INFO,m{n}"),
    ],
    ids=["measures", "numbers", "a log"],
)
def test_other_tables_are_no_ledgers(header, row):
    assert format_of(table(header, row), "x.csv") != "ledger-csv"


def test_an_empty_file_that_is_said_to_have_a_header_has_no_columns():
    assert ledger_csv.laid_out(Head("acked.csv", "", 0), ",", header=True).columns == {}
