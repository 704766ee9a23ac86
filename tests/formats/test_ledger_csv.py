"""Ledgers of CSV."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import ledger_csv as loader
from mqlab.formats.base import About, Head
from mqlab.tables import LEDGER


@pytest.mark.parametrize(
    "text",
    [
        "0,2,0,1795262666225\n1,2,1,1795262666225\n",
        "0,1795262651717\n",
        "1795262756811,orders,0,0,2\n1795262756811,orders,0,1,5\n",
        "sent_utc,id,topic,qos,done_utc,result\n2026-11-21T11:39:48.576Z,a-1,site/a,1,2026-11-21T11:39:48.576Z,ok\n",
        "ts_ms,topic,broker,queueId,queueOffset,tag,key,msgId,reconsume\n1795262557667,P,b,1,0,T,K,7F,0\n",
        "consumed_utc,id,partition,offset\n2026-11-21T12:06:23.347Z,v-1,2,0\n",
        "acked_utc,id,topic,reason\n2026-11-21T11:39:47.636Z,a-1,press/07/state,Success\n",
    ],
)
def test_notes_about_messages_are_recognised(text):
    assert loader.recognise(Head("x.csv", text, len(text)))


@pytest.mark.parametrize(
    "text", ["utc,VmRSS_kB\n2026-11-21T11:49:14.328Z,8660\n", "1795262756811\n", "a,b\n1,2\n", "", '{"a":1,"b":2}\n']
)
def test_other_lines_are_not(text):
    assert not loader.recognise(Head("x.csv", text, len(text)))


COLUMNS = "line at role party topic queue offset key status dup"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "sent.csv",
            "ts_ms,topic,broker,queueId,queueOffset,tag,key,status\n"
            "1795261150883,ORDERS,broker-a,11,7,TagA,OD-0,SEND_OK\n"
            "1795262552042,ORDERS,,,,TagA,OD-1,FAIL IllegalStateException\n",
            [
                (2, "11:39:10", "sent", None, "ORDERS", "broker-a/11", 7, "OD-0", "SEND_OK", None),
                (3, "12:02:32", "sent", None, "ORDERS", None, None, "OD-1", "FAIL IllegalStateException", None),
            ],
        ),
        (
            "consumed.csv",
            "ts_ms,topic,broker,queueId,queueOffset,tag,key,msgId,reconsume\r\n"
            "1795261150883,ORDERS,broker-a,11,7,TagA,OD-0,7F00,0\r\n"
            "1795261150883,ORDERS,broker-a,11,8,TagA,,7F01,2\r\n",
            [
                (2, "11:39:10", "consumed", None, "ORDERS", "broker-a/11", 7, "OD-0", None, "false"),
                (3, "11:39:10", "consumed", None, "ORDERS", "broker-a/11", 8, "7F01", None, "true"),
            ],
        ),
        (
            "published-edge-1.csv.txt",
            "sent_utc,id,topic,qos,done_utc,result\n2026-11-21T11:39:48.576Z,a-1,site/a,1,2026-11-21T11:39:49Z,ok\n",
            [(2, "11:39:48", "sent", "edge-1", "site/a", None, None, "a-1", "ok", None)],
        ),
        (
            "received-app.csv",
            'received_utc,id,topic,qos,dup,retained\n2026-11-21T12:41:43Z,"t,1",twin/a,0,false,true\n',
            [(2, "12:41:43", "received", "app", "twin/a", None, None, "t,1", None, "false")],
        ),
        (
            "etl-consumed.csv",
            "consumed_utc,id,partition,offset\n2026-11-21T12:06:23.347Z,v-1,2,0\n",
            [(2, "12:06:23", "consumed", "etl", None, "2", 0, "v-1", None, None)],
        ),
        (
            "out.csv",
            "acked_utc,id,topic,reason\n2026-11-21T11:39:47.636Z,a-1,press/07,Success\n",
            [(2, "11:39:47", "acked", None, "press/07", None, None, "a-1", "Success", None)],
        ),
        (
            "gateway-acked.csv",
            "0,2,17,1795261150883\n",
            [(1, "11:39:10", "acked", "gateway", None, "2", 17, "0", None, None)],
        ),
        (
            "gateway-sent.csv",
            "5,1795261150883\n",
            [(1, "11:39:10", "sent", "gateway", None, None, None, "5", None, None)],
        ),
        (
            "traffic-acked.csv",
            "500,calls.cdr,2,0,1795261150883\n",
            [(1, "11:39:10", "acked", "traffic", "calls.cdr", "2", 0, "500", None, None)],
        ),
        (
            "sink-received.csv",
            "1795261150883,orders,0,9,2\n",
            [(1, "11:39:10", "received", "sink", "orders", "0", 9, "2", None, None)],
        ),
        (
            "x.csv",
            "1795261150883,orders,0,9,2\n",
            [(1, "11:39:10", "processed", None, "orders", "0", 9, "2", None, None)],
        ),
        (
            "x.csv",
            "time,client,group,topic,partition,offset,key,bytes\n1795261150.5,c,g,t,0,9,k,5\n",
            [(2, "11:39:10", None, "c", "t", "0", 9, "k", None, None)],
        ),
    ],
)
def test_each_row_is_a_message(loaded, name, text, expected):
    assert loaded(loader, LEDGER, COLUMNS, text, name) == expected


def test_a_long_key_becomes_its_length_and_a_hash(loaded):
    text = f"ts_ms,topic,key\n1795261150883,t,{'k' * 201}\n1795261150883,t,{'k' * 200}\n"
    (first,), (second,) = loaded(loader, LEDGER, "key", text)
    assert (first[:4], len(first), second) == ("201:", 36, "k" * 200)


def test_rows_without_a_moment_are_rejected(classes):
    text = "ts_ms,topic,key\n1795261150883,t,k\n2026-11-21T11:39:47.636Z,t,k\n,t,k\nwat\n"
    assert classes(loader, text) == ["noise", "data", "data", None, None, "noise"]


def test_flags_and_qos_are_read_however_they_are_written(loaded):
    text = (
        "received_utc,id,topic,qos,dup,retain\n2026-11-21T12:41:43Z,1,t/a,0,False,True\n"
        "2026-11-21T12:41:44Z,2,t/a,2,0,0\n2026-11-21T12:41:45Z,3,t/a,9,,\n"
    )
    assert loaded(loader, LEDGER, "qos retained", text) == [(0, "true"), (2, "false"), (None, None)]


def test_rows_are_read_whatever_counts_their_time_and_however_flags_are_written(loaded):
    text = "ts_us|mid|topic|qos|dup|retained\n1795330395625882|h.1|h/1|1|Y|n\n1795330395711007|h.2|h/2|1|d0|r1\n"
    columns = "at key topic dup retained role told"
    assert loaded(loader, LEDGER, columns, text, "w1.rows.csv") == [
        ("06:53:15", "h.1", "h/1", "true", "false", "received", "shape"),
        ("06:53:15", "h.2", "h/2", "false", "true", "received", "shape"),
    ]


def test_headers_are_noise_and_rows_are_data(classes):
    text = "unix\treading\ttopic\tqos\n1795330836.238\tm-1\tmeter/7\t1\nmeter/7\nms,entry,topic,qos,dup,ret\n"
    assert classes(loader, text) == ["noise", "data", None, "noise", "noise"]


def test_separators_within_quotes_part_nothing(loaded):
    text = 'ts_ms,topic,key\n"1795261150883","a,b","x ""y"" z"\n1795261150883, t , k 1 \n'
    assert loaded(loader, LEDGER, "line topic key", text) == [(2, "a,b", 'x ""y"" z'), (3, "t", "k 1")]


@given(st.lists(st.text(alphabet='ab", \r', max_size=12), min_size=1), st.sampled_from(loader.SEPARATORS))
def test_columns_are_cut_as_single_lines_are(texts, separator):
    lines = [text.replace(",", separator) for text in texts]
    cut, _ = loader._cut(pl.Series(lines), separator)
    for line, found in zip(lines, cut, strict=True):
        assert [cell.strip().strip('"') for cell in found] == loader.cells(line.rstrip("\r"), separator)


@given(st.lists(st.text(alphabet='17952611508832026-T:Z,;|\t" \x00wat', max_size=40)))
def test_any_lines_are_read(texts):
    head = "ts_ms,topic,partition,offset,key\n"
    layout = loader.layout(Head("x.csv", head, len(head)))
    lines = pl.DataFrame({"number": range(len(texts)), "text": texts}, {"number": pl.Int64, "text": pl.String})
    block = loader.parse_block(lines, About("x.csv", None, layout))
    assert len(block.kinds) == len(texts)
    assert block.rows[LEDGER]["at"].null_count() == 0
