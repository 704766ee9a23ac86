"""A bad line never fails a job, whatever format meets it."""

import pytest

from mqlab.formats.base import Head, LaidOut
from mqlab.formats.registry import FORMATS
from mqlab.kernel import job, thin
from mqlab.kernel.output import COVERAGE, Output
from mqlab.kernel.splits import WHOLE, Split
from mqlab.sources import Envelope, Reading

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
}
"""A head that tells where each fact of a message stands."""


SERIES = '{"status":"success","data":{"resultType":"matrix","result":[%s]}}'
DOCUMENTS = [
    *NASTY,
    SERIES % '{"metric":{"a":"1","a":"2"},"values":[[1,"x"],["y",2],[],null,[1e30,"1"]]}',
    *[SERIES % told for told in ("null", "1", '{"metric":null,"value":null}', '{"values":5}')],
]


def covered(form, text, place):
    """Lines of a file with this *text* that are data, noise or not understood: all of them."""
    place.write_text(text, newline="")
    good = GOOD.get(form.FORMAT.name, "")
    split = Split(
        source="x", number=0, location=str(place), start=0, end=WHOLE, format=form.FORMAT.name,
        reading=form.FORMAT.reading.value, envelope=Envelope.NONE.value, name=place.name, snapshot_at=None,
        layout=form.layout(Head(place.name, good, len(good))) if isinstance(form, LaidOut) else None,
        large=True, size=len(text),
    )  # fmt: skip
    out = Output()
    job.rows_of(split, out)
    out.close(thin.facts)
    rows = out.tables[COVERAGE].to_pylist()
    assert {row["class"] for row in rows} <= {"data", "noise", None}
    return sum(row["lines"] for row in rows)


@pytest.mark.parametrize(
    "form", [x for x in FORMATS if x.FORMAT.reading is not Reading.DOCUMENT], ids=lambda x: x.FORMAT.name
)
def test_a_bad_line_never_fails_a_job(form, tmp_path):
    text = "".join(f"{line}\n" for line in NASTY)
    assert covered(form, text, tmp_path / "x.csv") == text.count("\n")


@pytest.mark.parametrize(
    "form", [x for x in FORMATS if x.FORMAT.reading is Reading.DOCUMENT], ids=lambda x: x.FORMAT.name
)
def test_a_bad_document_never_fails_a_job(form, tmp_path):
    for text in DOCUMENTS:
        assert covered(form, f"{text}\n", tmp_path / "x.csv") == text.count("\n") + 1
