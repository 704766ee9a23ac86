"""Every line and every byte is counted, and every line has its number, whatever a file looks like."""

import bz2
import gzip
import random

import pytest
from plain_reading import opened, tables

from mqlab import intake
from mqlab.formats.registry import FORMATS
from mqlab.kernel.output import COUNTS
from mqlab.kernel.splits import splits
from mqlab.tables import EVENTS

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
def covered(files, tmp_path_factory):
    """Facts of all files."""
    return opened([files[0]], tmp_path_factory.mktemp("scratch"))


def test_every_line_is_data_noise_or_rejected(covered, files):
    wrong = {}
    for name, content in files[1].items():
        parts = [one for one in covered.coverage if one.source == name]
        expected = 0 if parts[0].format == "binary" else len(lines_of(content))
        if {sum(one.lines for one in parts), sum(one.data + one.noise + one.rejected for one in parts)} != {expected}:
            wrong[name] = (parts, expected)

    assert {c.source for c in covered.coverage} == set(files[1])
    assert wrong == {}


def test_every_byte_is_counted_but_for_the_missing_line_feed(covered, files):
    """A byte order mark at the beginning is no content; bytes that are not UTF-8 may be three each once read."""
    for name, whole in files[1].items():
        content = whole.removeprefix(b"\xef\xbb\xbf")
        read = len(content.decode("utf-8", "replace").encode())
        counted = sum(coverage.bytes for coverage in covered.coverage if coverage.source == name)
        assert counted in {size + end for size in (len(whole), len(content), read) for end in (0, 1)}, name


def test_every_event_stands_in_the_line_that_it_names(covered, files, tmp_path):
    sources = intake.gather([str(files[0])], tmp_path, FORMATS)
    paths = {source.link: source.path for source in sources}
    events = [row for row in tables(*splits(sources))[EVENTS] if row["kind"] == "batch-split"]
    logs = {c.source for c in covered.coverage if c.format.endswith("-log")}
    expected = {
        (name, number, line.decode()[:300])
        for name, content in files[1].items()
        for number, line in enumerate(lines_of(content), start=1)
        if b"splitting and retrying" in line and name in logs
    }

    assert expected
    assert {(paths[row["source"]], row["line"], row["text"][:300]) for row in events} == {
        (name, number, text.rstrip("\r")) for name, number, text in expected
    }


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(b"\xef\xbb\xbf" + PIECES[0] + b"\n")
    rows = tables(*splits(intake.gather([str(path)], tmp_path / "scratch", FORMATS)))
    assert [(row["line"], row["text"]) for row in rows[EVENTS]] == [(1, PIECES[0].decode())]
    assert [row["shape"][:22] for row in rows[COUNTS]] == ["WARN  [x] a.b.Sender -"]


def test_the_clock_of_an_envelope_dates_a_line_that_has_none_of_its_own(tmp_path):
    words = "Terminating due to java.lang.OutOfMemoryError: Java heap space"
    path = tmp_path / "bridge.json.log"
    path.write_text(f'{{"log":"{words}\\n","stream":"stdout","time":"2026-11-21T12:21:28.5Z"}}\n')
    covered = opened([path], tmp_path / "scratch")
    assert [(e.kind, e.first_at) for e in covered.episodes] == [("out-of-memory", 1795263688.5)]
