"""What the columns of ledgers about messages of MQTT are, whatever they are called."""

import json

import pytest

from mqlab.formats import ledger_csv, ledger_json
from mqlab.formats.base import Head
from mqlab.formats.registry import FORMATS
from mqlab.ledgers.layout import FIELDS
from mqlab.material.recognition import recognise


def told(text, name="x.csv", form=ledger_csv):
    """Fields with their places, the role, and what it is known by."""
    layout = json.loads(form.layout(Head(name, text, len(text))))
    columns = {field: place for field, place in zip(FIELDS, layout["columns"], strict=True) if place is not None}
    return columns, layout["role"], layout["told"]


def table(header, row, rows=30):
    return "\n".join([header, *(row(n) for n in range(rows))]) + "\n"


def format_of(text, name="x.csv"):
    return recognise(text.encode(), name, len(text), FORMATS).format


def second(n):
    return f"1795330976.{n:03d}"


def milli(n):
    return str(1_795_330_976_000 + n)


def micro(n):
    return str(1_795_330_976_000_000 + n)


def iso(n):
    return f"2026-11-22 07:05:{n:02d}.767"


@pytest.mark.parametrize(
    ("header", "row", "role", "time"),
    [
        ("t,sample,topic,qos,t_ack,res", lambda n: f"{second(n)},n-{n},lab/1/od,1,{second(n)},ok", "sent", "0"),
        ("t,sample,topic,qos,dup", lambda n: f"{second(n)},n-{n},lab/1/od,1,false", "received", "0"),
        ("ms,entry,topic,qos,dup,ret", lambda n: f"{milli(n)},d-{n},doors/1,1,f,f", "received", "0"),
        ("ts_us|mid|topic|qos|dup|retained", lambda n: f"{micro(n)}|h1.{n}|house/1|1|0|0", "received", "0"),
        ("ts_us|mid|topic|qos|acked_us|rc", lambda n: f"{micro(n)}|h1.{n}|house/1|1|{micro(n)}|0", "sent", "0"),
        ("zeit;nr;topic;qos;ack", lambda n: f"{iso(n)};r-{n};depot/1;1;{iso(n)}", "acked", "4"),
        ("unix\treading\ttopic\tqos", lambda n: f"{second(n)}\tm-{n}\tmeter/7\t1", None, "0"),
        ("time\treading_id\ttopic\tretained", lambda n: f"{iso(n)}\tm-{n}\tmeter/7\tfalse", "received", "0"),
        ("ts,order,topic,qos,redelivered", lambda n: f"{iso(n)},o-{n},orders/new,1,{'NY'[n % 2]}", "received", "0"),
        ("ts,msg,topic,qos,retain,ack", lambda n: f"{iso(n)},r-{n},room/1,1,1,{iso(n)}", "acked", "5"),
        ("ts,msg,topic,qos,retain", lambda n: f"{iso(n)},r-{n},room/1,1,1", None, "0"),
        ("ts,pos,topic,qos,ack,st", lambda n: f"{iso(n)},F{n},ferry/9,1,,pending", "sent", "0"),
        ("ts,id,topic,qos,acknowledged", lambda n: f"{iso(n)},F{n},ferry/9,1,true", "sent", "0"),
        ("seen_at,key,mqtt_topic,mqtt_qos,is_dup", lambda n: f"{iso(n)},q-{n},pump/2,1,false", "received", "0"),
        ("t_ms,uid,channel,qos,ack_ms,result", lambda n: f"{milli(n)},f-{n},fork/1,1,{milli(n)},ok", "sent", "0"),
        ("ts,id,topic,qos,dup,acked_at", lambda n: f"{iso(n)},F{n},ferry/9,1,0,{iso(n)}", "received", "0"),
    ],
)
def test_columns_that_one_side_alone_can_fill_tell_the_role(header, row, role, time):
    text = table(header, row)
    columns, known, _ = told(text)
    assert (format_of(text), known) == ("ledger-csv", role)
    assert (columns["time"], columns["key"], columns["topic"]) == (time, "1", "2")


def test_the_name_of_the_file_knows_the_role_better_than_its_columns():
    text = table("ts,id,topic,qos,dup", lambda n: f"{iso(n)},F{n},ferry/9,1,0")
    assert told(text, "relay-published.csv")[1:] == ("sent", "name")


def test_a_column_of_directions_tells_the_role_of_each_row():
    text = table("ts,dir,id,topic,qos,dup", lambda n: f"{iso(n)},{'RT'[n % 2]}X,F{n},ferry/9,1,0")
    columns, role, _ = told(text)
    assert (columns["role"], columns["key"], role) == ("1", "2", None)


def test_a_receivers_key_is_known_though_each_message_comes_many_times():
    text = table("ts,uid,topic,qos,dup", lambda n: f"{iso(n)},o-{n // 10},oven/1,1,false")
    assert told(text)[0]["key"] == "1"


def test_no_key_is_guessed_where_two_columns_come_again():
    text = table("ts,device,room,topic,qos,dup", lambda n: f"{iso(n)},d-{n // 10},r-{n % 2},oven/1,1,false")
    assert "key" not in told(text)[0]


def test_numbers_of_packets_are_no_keys():
    text = table("ts,mid,topic,qos,dup", lambda n: f"{iso(n)},{n},oven/1,1,false")
    assert "key" not in told(text)[0]


def test_members_of_objects_are_told_alike():
    lines = [
        {"at": f"2026-11-22T06:55:{n:02d}.673Z", "weighing": f"s-{n}", "topic": "scale/1", "qos": 1, "dup": False}
        for n in range(30)
    ]
    text = "\n".join(map(json.dumps, lines)) + "\n"
    names = {"time": "at", "topic": "topic", "key": "weighing", "dup": "dup", "qos": "qos"}
    assert told(text, "erp.jsonl", ledger_json) == (
        {field: f"$['{name}']" for field, name in names.items()}, "received", "shape",
    )  # fmt: skip
    assert format_of(text, "erp.jsonl") == "ledger-json"


def test_a_bridges_records_stay_those_of_the_log_behind_it():
    header = "received_utc,id,mqtt_topic,qos,dup,forwarded_utc,kafka_topic,partition,offset,result"
    text = table(header, lambda n: f"{iso(n)},a-{n},rail/1/axle,1,false,{iso(n)},rail.axle,1,{n},ok")
    columns, role, by = told(text, "bridge-forwarded.csv")
    assert (columns["topic"], columns["queue"], columns["offset"], role, by) == ("6", "7", "8", "received", "column")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("time,path,status,ms", lambda n: f"{iso(n)},/api/v1/{n},200,{n}"),
        ("time,host,topic,lag", lambda n: f"{iso(n)},h-1,orders,{n}"),
        ("time,url,qos", lambda n: f"{iso(n)},http://a/{n},gold"),
        ("time,level,logger,message", lambda n: f"{iso(n)},INFO,a/b,m-{n}"),
        ("topic,qos,clients", lambda n: f"plant/{n},1,{n}"),
    ],
    ids=["requests", "lag", "addresses", "a log", "no moment"],
)
def test_tables_of_other_things_are_no_ledgers(header, row):
    assert format_of(table(header, row)) not in {"ledger-csv", "ledger-json"}


@pytest.mark.parametrize(
    ("row", "columns", "role"),
    [
        (lambda n: f"{iso(n)},r-{n},depot/1,1", {"time": "0", "key": "1", "topic": "2", "qos": "3"}, None),
        (lambda n: f"depot/1;{second(n)};{n};1;0;0", {"time": "1", "key": "2", "topic": "0"}, None),
        (lambda n: f"{milli(n)}\t1\tdepot/1\tr-{n}\t{milli(n + 3)}\tok",
         {"time": "0", "qos": "1", "topic": "2", "key": "3", "status": "5"}, "sent"),
    ],
    ids=["plain", "flags", "answers"],
)  # fmt: skip
def test_without_a_header_topics_and_qos_make_a_ledger_of_mqtt(row, columns, role):
    text = "\n".join(map(row, range(30))) + "\n"
    assert format_of(text) == "ledger-csv"
    assert told(text)[:2] == (columns, role)


def test_topics_that_come_again_and_ids_of_letters_are_enough():
    text = "".join(f"{iso(n)}\tfan/{n % 3}/rpm\tf{n:05}\n" for n in range(30))
    assert format_of(text) == "ledger-csv"
    assert told(text)[:2] == ({"time": "0", "topic": "1", "key": "2"}, None)


def test_names_of_any_language_stand_over_topics_and_ids_that_copies_repeat():
    rows = "".join(f"{iso(n)}|e{n // 3:03}|loom/{n % 2}|1|false\n" for n in range(200))
    assert told("saat|olay|konu|qos|tekrar\n" + rows)[:2] == ({"time": "0", "topic": "2", "key": "1", "qos": "3"}, None)


@pytest.mark.parametrize(
    "row",
    [
        lambda n: f"{iso(n)},GET,/api/x/{n},1",
        lambda n: f"{iso(n)},u-{n},home/docs/file-{n}",
        lambda n: f"{iso(n)},plant/1,1",
        lambda n: f"{iso(n)},{n * 7} Received PUBLISH (d0, q1, r0, m{n}, 'a/b', ... (12 bytes))",
        lambda n: f"{iso(n)},$SYS/broker/uptime,s{n}",
    ],
    ids=["requests", "paths", "no key", "a log", "of the broker itself"],
)
def test_other_rows_without_a_header_are_no_ledgers(row):
    assert format_of("\n".join(map(row, range(30))) + "\n") != "ledger-csv"
