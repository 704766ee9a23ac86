"""A bad line never fails a job, whatever loader meets it."""

import pytest

from mqlab.loaders import LOADERS, console, ledger_rows
from mqlab.loaders.base import Head, LaidOut
from mqlab.sources import Reading

HUGE = "9" * 30
NASTY = [
    "", " ", "\t", "\r", "\\", "=", ":", "a=", "=b", "{", "}", '"', '"""', "\x00\ufffd\x1b[", "$1 $9 \\1",
    "Every 2.0s: ",
    "Thu Feb 31 25:61:61 UTC 2024", "2024-13-45T99:99:99+99:99", "Thu 24 Oct 2024 13:00:00 PM XYZ", HUGE, "1" * 10,
    f"t:0:{HUGE}", f"t:{HUGE}:-1",
    "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID",
    f"g t 0 {HUGE} {HUGE} -{HUGE}", "g t 0 - - -",
    "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT",
    f"g m /1 c {HUGE} t(,,,), (0), t:", f"g h:1 (1) Stable {HUGE}",
    "Topic: t PartitionCount: 1 ReplicationFactor: 1 Configs: =,=",
    "Topic: t Partition: 0 Leader: none Replicas: Isr: ", "Configs for topic 't' are =,a=",
    "  a= sensitive=true synonyms={}",
    f'm{{a="1",a="2",b="}} 1e999 {HUGE}', "m -Inf", f"m 1 {HUGE}", '"time","a:b=c,b=d,b=e:f","a:b=c"',
    f"{HUGE[:13]},1,2,3",
    "0000000000000,,", 'Time,"a{x=""1"",x=""2""}",Value', f"{HUGE[:13]},{HUGE} XB,-",
    "1999-99-99 00:00,5", "Series;Time;Value",
    f"s;{HUGE[:10]};1e999", "ESTAB 0 0 a:1 b:2 \x00", "targets: [,,]", "scrape_interval: ", "a\\\\\\", "b\\",
]  # fmt: skip


GOOD = {
    "ledger-csv": "ts_ms,topic,partition,offset,key\n1795262756811,orders,0,0,k2",
    "ledger-json": '{"ts": 1795262756811, "topic": "orders", "partition": 0, "offset": 0, "key": "k2"}',
    "ledger-lines": "\n".join(f"2026-11-22 03:21:15,59{n} INFO ack id={n} partition=0 offset={n}" for n in range(5)),
}
"""A head that tells where each fact of a message stands."""


@pytest.mark.parametrize("loader", [x for x in LOADERS if x.READING is Reading.TABLE], ids=lambda x: x.FORMAT)
def test_a_bad_line_never_fails_a_table(spark, loader):
    lines = [("x", number, line, "x.csv", None) for number, line in enumerate(NASTY, 1)]
    columns = "source string, line long, text string, name string, snapshot_at timestamp"
    rows = console.dated(spark.createDataFrame(lines, columns))
    if isinstance(loader, LaidOut):
        text = GOOD.get(loader.FORMAT, "")
        rows = rows.join(spark.sql(ledger_rows.layouts({"x": loader.layout(Head("x.csv", text, len(text)))})), "source")
    classes = {row[0] for row in rows.selectExpr(loader.line_class("text")).collect()}
    assert classes <= {"data", "noise", None}
    for table, frame in loader.load(rows).items():
        assert frame.schema == table.schema or frame.schema.names == table.schema.names
        frame.write.mode("overwrite").format("noop").save()


@pytest.mark.parametrize("loader", [x for x in LOADERS if x.READING is Reading.DOCUMENT], ids=lambda x: x.FORMAT)
def test_a_bad_document_never_fails_a_job(spark, loader):
    series = '{"status":"success","data":{"resultType":"matrix","result":[%s]}}'
    texts = [*NASTY, series % '{"metric":{"a":"1","a":"2"},"values":[[1,"x"],["y",2],[],null,[1e30,"1"]]}']
    texts += [series % "null", series % "1", series % '{"metric":null,"value":null}', series % '{"values":5}']
    rows = spark.createDataFrame([(str(n), text) for n, text in enumerate(texts)], "source string, text string")
    rows.selectExpr(loader.understood("text")).write.mode("overwrite").format("noop").save()
    for frame in loader.load(rows).values():
        frame.write.mode("overwrite").format("noop").save()
