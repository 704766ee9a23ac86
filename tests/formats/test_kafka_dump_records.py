# ruff: noqa: E501 - lines of dumps stay in one piece
"""Dumps of segments of topics."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import kafka_dump_offsets
from mqlab.formats import kafka_dump_records as loader
from mqlab.formats.base import About, Head
from mqlab.tables import LEDGER

HEADING = "Dumping /var/lib/kafka/data/in-put.a-7/00000000000000000100.log"
BATCH = "baseOffset: {} lastOffset: {} count: {} baseSequence: -1 lastSequence: -1 producerId: {} producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: {} deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1795263298671 size: 644 magic: 2 compresscodec: none crc: 31 isvalid: true"
# of each version, one record of offset 104 with a value of 24 bytes, created at 12:14:58
RECORDS = {
    "0.8": ("offset: 104 position: 0 isvalid: true payloadsize: 24 magic: 0 compresscodec: NoCompressionCodec crc: 1 keysize: 1 key: a payload: b", None, "a", "plain"),
    "0.10": ("offset: 104 position: 0 CreateTime: 1795263298671 isvalid: true payloadsize: 24 magic: 1 compresscodec: NoCompressionCodec crc: 1 keysize: 1 key: a payload: b", "12:14:58", "a", "plain"),
    "1.0": ("offset: 104 position: 70 CreateTime: 1795263298671 isvalid: true keysize: 1 valuesize: 24 magic: 2 compresscodec: NONE producerId: 7 sequence: 3 isTransactional: false headerKeys: [] key: a payload: b", "12:14:58", "a", "idempotent"),
    "2.0": ("| offset: 104 CreateTime: 1795263298671 keysize: 1 valuesize: 24 sequence: -1 headerKeys: []", "12:14:58", None, "plain"),
    "2.8": ("| offset: 104 isValid: true crc: null keySize: 1 valueSize: 24 CreateTime: 1795263298671 baseOffset: 100 lastOffset: 110 baseSequence: -1 lastSequence: -1 producerEpoch: -1 partitionLeaderEpoch: 0 batchSize: 644 magic: 2 compressType: NONE position: 0 sequence: -1 headerKeys: [a b,key] key: a payload: b", "12:14:58", "a", "plain"),
    "3.9": ("| offset: 104 CreateTime: 1795263298671 keySize: 1 valueSize: 24 sequence: 0 headerKeys: [] key:  a  payload: x key: y", "12:14:58", "a", "idempotent"),
    "a log append time": ("| offset: 104 LogAppendTime: 1795263298671 keySize: -1 valueSize: 24 sequence: -1 headerKeys: [] payload: key: x", "12:14:58", None, "plain"),
    "no time": ("| offset: 104 NoTimestampType: -1 keySize: -1 valueSize: 24 sequence: -1 headerKeys: []", None, None, "plain"),
    "a marker": ("| offset: 104 CreateTime: 1795263298671 keySize: 4 valueSize: 24 sequence: -1 headerKeys: [] endTxnMarker: COMMIT coordinatorEpoch: 0", "12:14:58", None, "control"),
    "a wrong checksum": ("offset: 104 position: 0 CreateTime: 1795263298671 isvalid: false payloadsize: 24 magic: 1 compresscodec: NoCompressionCodec crc: 1", "12:14:58", None, "invalid"),
}  # fmt: skip
NASTY = [
    "Dumping", "Dumping ", "| offset: ", "offset: 99999999999999999999 keySize: 1", "| offset: 1 keysize: 1 key: \"",
    "baseOffset: 99999999999999999999 lastOffset: 1 a: b c: d e: f", "\x00", " payload: ", "[2026-99-99 99:99:99",
    f"| offset: 1 CreateTime: {'9' * 18} keySize: 1 valueSize: {'9' * 30}", "Thu Feb 31 25:61:61 UTC 2024",
]  # fmt: skip
CELLS = "line at role topic queue offset key status bytes"


@pytest.mark.parametrize("version", RECORDS)
def test_a_record_of_every_version_is_a_stored_message(loaded, version):
    record, at, key, status = RECORDS[version]
    text = f"{HEADING}\nStarting offset: 100\n{record}"
    assert loaded(loader, LEDGER, CELLS, text)[1:] == [(3, at, "stored", "in-put.a", "7", 104, key, status, 24)]


def test_a_payload_is_not_kept(loaded):
    text = f"{HEADING}\n| offset: 5 CreateTime: 1795263298671 keySize: 1 valueSize: 9 sequence: 0 headerKeys: [] key: a payload: pass payload: word"
    assert loaded(loader, LEDGER, "text", text)[1] == (
        "| offset: 5 CreateTime: 1795263298671 keySize: 1 valueSize: 9 sequence: 0 headerKeys: [] key: a",
    )


def test_lines_of_a_payload_are_noise_and_give_nothing(loaded, classes):
    record = "| offset: 5 CreateTime: 1795263298671 keySize: 1 valueSize: 9 sequence: 0 headerKeys: [] key: a"
    lines = [
        HEADING,
        f"{record} payload: first line",
        "second line",
        '{"third": "line"}',
        "Sat Nov 21 12:16:00 UTC 2026",
    ]
    assert loaded(loader, LEDGER, "line text", "\n".join(lines)) == [(1, HEADING), (2, record)]
    assert classes(loader, "\n".join(lines)) == ["data", "data", *["noise"] * 3]


def test_a_long_key_is_kept_as_a_ledger_keeps_it(loaded):
    text = (
        f"| offset: 5 CreateTime: 1795263298671 keySize: 300 valueSize: 9 sequence: 0 headerKeys: [] key: {'k' * 300}"
    )
    ((key,),) = loaded(loader, LEDGER, "key", text)
    assert (key[:4], len(key)) == ("300:", 36)


def test_a_dump_says_its_first_offset_and_when_it_was_made(loaded):
    log = "[2026-11-21 12:17:45,325] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jController$)"
    other = HEADING.replace("7/00000000000000000100", "8/00000000000000000000")
    record = RECORDS["3.9"][0]
    columns = "line at role queue offset"
    rows = [(5, "12:14:58", "stored", "7", 104), (8, "12:14:58", "stored", "8", 104)]
    assert loaded(loader, LEDGER, columns, f"{log}\n{HEADING}\nStarting offset: 100\n\n{record}\n{other}\n\n{record}") == [
        (2, "12:17:45", "dump", "7", 100), rows[0], (6, "12:17:45", "dump", "8", 0), rows[1],
    ]  # fmt: skip
    late = f"{HEADING}\n{log}\nLog starting offset: 100\n\n{record}"
    assert loaded(loader, LEDGER, columns, late) == [(1, "12:17:45", "dump", "7", 100), rows[0]]
    dated = f"Sat Nov 21 12:16:00 UTC 2026\n{late}"
    assert loaded(loader, LEDGER, "line at", dated)[0] == (2, "12:16:00")
    assert loaded(loader, LEDGER, "line at", late, snapshot_at="2026-11-21 12:15:00")[0] == (1, "12:15:00")
    assert loaded(loader, LEDGER, "line at", f"{HEADING}\n\n\n\n{log}\n{record}")[0] == (1, None)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (r"C:\kafka\data\t-0\00000000000000000100.log", ("t", "0", 100)),
        ("t-0/00000000000000000100.log.deleted", ("t", "0", 100)),
        ("/d/t.a-12.5f0c2d7e9b1a4c3d8e6f7a8b9c0d1e2f-delete/00000000000000000100.log", ("t.a", "12", 100)),
        ("00000000000000000100.log", (None, None, None)),
    ],
)
def test_the_folder_of_a_segment_is_its_topic_and_partition(loaded, path, place):
    assert loaded(loader, LEDGER, "topic queue offset", f"Dumping {path}")[0] == place


def test_records_before_any_heading_have_no_topic_and_those_of_brokers_are_left_out(loaded):
    record = RECORDS["3.9"][0]
    internal = "Dumping /d/__transaction_state-4/00000000000000000000.log"
    assert loaded(loader, LEDGER, "line role topic", f"{record}\n{HEADING}\n{record}\n{internal}\n{record}") == [
        (1, "stored", None), (2, "dump", "in-put.a"), (3, "stored", "in-put.a"),
    ]  # fmt: skip


def test_batches_alone_are_a_row_for_each_of_their_offsets(loaded):
    text = "\n".join((
        HEADING, BATCH.format(100, 102, 3, -1, "false"), BATCH.format(103, 103, 1, 5, "false"),
        BATCH.format(104, 104, 1, 5, "true"), BATCH.format(105, 107, 2, -1, "false"),
        BATCH.format(108, 9_000_108, 1, -1, "false"),
    ))  # fmt: skip
    assert loaded(loader, LEDGER, "line offset status bytes", text)[1:] == [
        *((2, offset, "plain", None) for offset in (100, 101, 102)),
        (3, 103, "idempotent", None),
        (4, 104, "control", None),
        *((5, offset, "spanned", None) for offset in (105, 106, 107)),
    ]


def test_batches_above_their_records_are_no_rows_of_their_own(loaded):
    deep = f"{HEADING}\n{BATCH.format(104, 110, 7, -1, 'false')}\n{RECORDS['2.8'][0]}"
    shallow = f"{HEADING.replace('-7', '-8')}\n{BATCH.format(3, 4, 2, -1, 'false')}"
    assert loaded(loader, LEDGER, "line queue offset", f"{deep}\n{shallow}") == [
        (1, "7", 100), (3, "7", 104), (4, "8", 100), (5, "8", 3), (5, "8", 4),
    ]  # fmt: skip


def test_every_line_has_a_class(classes):
    lines = [
        "[2026-11-21 12:17:45,325] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.X$)",
        HEADING, "Log starting offset: 100", BATCH.format(1, 1, 1, -1, "false"), RECORDS["2.8"][0],
        "second line of a payload", "", "Found 3 invalid messages at the end of 00.log", "| offset: 8 CreateTi",
    ]  # fmt: skip
    assert classes(loader, "\n".join(lines)) == ["noise", "data", "noise", "data", "data", *["noise"] * 3, None]


def test_dumps_of_topics_are_recognised_and_those_of_offsets_are_left_to_their_own_loader():
    def known(text):
        return loader.recognise(Head("x", text, len(text)))

    assert all(known(f"{record}\n") for record, *_ in RECORDS.values())
    assert known(f"{HEADING}\n")
    assert known(BATCH.format(1, 1, 1, -1, "false") + "\n")
    assert not known("offset: 23 position: 4150\n")
    assert not known("2026-11-21 12:17:45,325 INFO committed offset: 5 keySize: 3\n")
    offsets = f"Dumping /d/__consumer_offsets-3/00000000000000000000.log\n{RECORDS['3.9'][0]}\n"
    assert not kafka_dump_offsets.recognise(Head("x", f"{HEADING}\n", len(HEADING) + 1))
    assert kafka_dump_offsets.recognise(Head("x", offsets, len(offsets)))


def numbered(lines, first=1):
    texts = {"number": range(first, first + len(lines)), "text": lines}
    return pl.DataFrame(texts, {"number": pl.Int64, "text": pl.String})


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_piece_of_a_dump_is_read_with_what_is_above_it(cut):
    log = "[2026-11-21 12:17:45,325] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.X$)"
    other = HEADING.replace("7/00000000000000000100", "8/00000000000000000000")
    records = [RECORDS["3.9"][0], RECORDS["2.8"][0]]
    lines = ["Sat Nov 21 12:16:00 UTC 2026", log, HEADING, *records, "of a payload", other, *records]
    (whole,) = loader.parse_block(numbered(lines), About("x")).rows.values()
    below = pl.concat([loader.above(numbered(lines[:cut])), numbered(lines[cut:], cut + 1)])
    parts = [loader.parse_block(piece, About("x")).rows[LEDGER] for piece in (numbered(lines[:cut]), below)]
    assert pl.concat([parts[0], parts[1].filter(pl.col("line") > cut)]).sort("line").equals(whole.sort("line"))


@given(
    st.lists(st.sampled_from([*NASTY, HEADING, BATCH, RECORDS["3.9"][0], "baseOffset: 5 lastOffset: 2 a: b c: d e: f"]))
)
def test_any_lines_are_read(lines):
    assert len(loader.parse_block(numbered(lines), About("x")).kinds) == len(lines)
