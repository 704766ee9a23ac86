"""Every line and every byte is counted, and every line has its number, whatever a file looks like."""

import bz2
import gzip
import random

import pytest
from pyspark.sql import functions as F

from mqlab.analysis import Options, open_capture
from mqlab.scan import scan
from mqlab.sources import Envelope, Reading, Source
from mqlab.tables import EVENTS

pytestmark = pytest.mark.slow

PIECES = [
    b"2026-11-21 12:20:44,201 WARN  [x] a.b.Sender - [Producer clientId=p] Got error produce response in correlation "
    b"id 7 on topic-partition t-1, splitting and retrying (3 attempts left). Error: MESSAGE_TOO_LARGE",
    b"[2026-11-21 12:20:44,201] INFO [Broker id=1] Started (kafka.server.KafkaServer)",
    b"2026-11-21 12:20:45,000 INFO  [x] a.b.C - ProducerConfig values: ",
    b"\tbatch.size = 16384",
    b"",
    b"   ",
    b"\t",
    b"\r",
    b"a lone \r in a line",
    b"NUL \x00 within",
    b"not UTF-8 \xff\xfe\x80",
    "ünïcode 日本 🦄".encode(),
    b"\tat org.apache.kafka.X.y(Z.java:1)",
    b"batch.size=16384",
    b'{"a": 1}',
    b"\xef\xbb\xbfwith a byte order mark",
    b"\x0b\x0c\x1c\x85 other separators \xe2\x80\xa8 here",
]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\n\n"]


def drawn(seed):
    """A small file: any pieces, any ends, with or without a last line feed."""
    dice = random.Random(seed)
    content = b"".join(dice.choice(PIECES) + dice.choice(ENDS) for _ in range(dice.randint(1, 60)))
    return content.rstrip(b"\n") if dice.random() < 0.3 else content


def lines_of(content):
    parts = content.split(b"\n")
    return parts[:-1] if parts[-1] == b"" else parts


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """120 files of every kind, with their content decompressed."""
    folder, contents = tmp_path_factory.mktemp("files"), {}
    kinds = ("log", "txt", "properties", "log.gz", "log.bz2")
    for seed in range(120):
        name = f"drawn-{seed:03d}.{kinds[seed % len(kinds)]}"
        content = drawn(seed)
        pack = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rsplit(".", 1)[-1], bytes)
        (folder / name).write_bytes(pack(content))
        contents[name] = content
    contents["megabyte.log"] = PIECES[0] + b"\n" + PIECES[0] + b" " + b"z" * (1 << 20) + b"\n" + PIECES[1]
    contents["crlf.log"] = b"\r\n".join(PIECES[:4] * 5) + b"\r\n"
    contents["one-byte.log"] = b"x"
    contents["blank.log"] = b"\n"
    contents["blanks.txt"] = b"\n\n\n"
    for name in ("megabyte.log", "crlf.log", "one-byte.log", "blank.log", "blanks.txt"):
        (folder / name).write_bytes(contents[name])
    return folder, contents


@pytest.fixture(scope="module")
def capture(spark, files, tmp_path_factory):
    assert spark is not None
    return open_capture(files[0], options=Options(workspace=str(tmp_path_factory.mktemp("workspace"))))


def test_every_line_is_data_noise_or_rejected(capture, files):
    contents = {name: content for name, content in files[1].items() if content}
    wrong = {}
    for coverage in capture.facts.coverage:
        content = contents.get(coverage.source, b"")
        expected = (0 if coverage.format == "binary" else len(lines_of(content)), True)
        if (coverage.lines, coverage.lines == coverage.data + coverage.noise + coverage.rejected) != expected:
            wrong[coverage.source] = (coverage, len(lines_of(content)))

    assert {c.source for c in capture.facts.coverage} == set(files[1])
    assert wrong == {}


def test_every_byte_is_counted_but_for_the_missing_line_feed(capture, files):
    """A byte order mark at the beginning is no content; bytes that are not UTF-8 may be three each once read."""
    for coverage in capture.facts.coverage:
        content = files[1][coverage.source].removeprefix(b"\xef\xbb\xbf")
        read = len(content.decode("utf-8", "replace").encode())
        assert coverage.bytes in (len(content), len(content) + 1, read, read + 1), coverage.source


def test_every_event_stands_in_the_line_that_it_names(capture, files):
    events = capture.table(EVENTS).select("source", "line", "kind").where("kind = 'batch-split'").collect()
    expected = {
        (name, number)
        for name, content in files[1].items()
        for number, line in enumerate(lines_of(content), start=1)
        if b"splitting and retrying" in line and name in {c.source for c in capture.facts.coverage if is_log(c)}
    }

    assert expected
    assert {(row["source"], row["line"]) for row in events} == expected


def is_log(coverage):
    return coverage.format.endswith("-log")


def test_numbers_of_lines_do_not_depend_on_how_a_file_is_cut(spark, tmp_path):
    """One file read whole, and read in blocks of 8 KB."""
    dice = random.Random(17)
    content = b"".join(dice.choice(PIECES[:9]) + dice.choice(ENDS) for _ in range(3000)) + PIECES[0]
    (tmp_path / "links" / "lines").mkdir(parents=True)
    source = Source("0", "big.log", "big.log", "kafka-client-log", Reading.LOG, Envelope.NONE, len(content), None)
    (tmp_path / "links" / "lines" / source.link).write_bytes(content)

    def rows(size, out):
        before = spark.conf.get("spark.sql.files.maxPartitionBytes")
        spark.conf.set("spark.sql.files.maxPartitionBytes", size)
        try:
            read = spark.read.option("lineSep", "\n").text(str(tmp_path / "links" / "lines"))
            blocks = read.select("_metadata.file_block_start").distinct().count()
            scan(spark, tmp_path / "links", [source], tmp_path / out)
        finally:
            spark.conf.set("spark.sql.files.maxPartitionBytes", before)
        found = spark.read.parquet(str(tmp_path / out))
        kept = found.where("tag <> 'count'").select("line", "tag", "text").orderBy("line").collect()
        return kept, found.agg(F.sum("lines"), F.sum("bytes")).first(), blocks

    whole, total, one = rows("128m", "whole")
    cut, cut_total, many = rows("8k", "cut")

    assert (one, many > 10) == (1, True)
    assert [tuple(row) for row in cut] == [tuple(row) for row in whole]
    assert tuple(cut_total) == tuple(total) == (len(lines_of(content)), total[1])
    places = dict(enumerate(lines_of(content), start=1))
    for row in cut:
        assert places[row["line"]].decode("utf-8", "replace").rstrip("\r") == row["text"].rstrip("\r")


def test_the_clock_of_an_envelope_dates_a_line_that_has_none_of_its_own(tmp_path):
    words = "Terminating due to java.lang.OutOfMemoryError: Java heap space"
    line = f'{{"log":"{words}\\n","stream":"stdout","time":"2026-11-21T12:21:28.5Z"}}\n'
    (tmp_path / "material").mkdir()
    (tmp_path / "material" / "bridge.json.log").write_text(line)
    capture = open_capture(str(tmp_path / "material"), options=Options(workspace=str(tmp_path / "cache")))
    assert [(e.kind, e.first_at) for e in capture.facts.episodes] == [("out-of-memory", 1795263688.5)]
