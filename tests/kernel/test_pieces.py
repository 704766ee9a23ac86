"""The bytes of a split as whole lines: each line once, whatever the size of pieces and splits."""

import bz2
import gzip
import io
import lzma
import os
import tracemalloc
from dataclasses import replace

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from plain_reading import source, split, tables

from mqlab import intake
from mqlab.formats.registry import FORMATS
from mqlab.kernel import pieces, splits
from mqlab.kernel.logs import sizes
from mqlab.kernel.vectors import Lines, valid
from mqlab.sources import Reading
from mqlab.tables import LEDGER

LINES = st.lists(st.tuples(st.text("a1 \r\té日🦄", max_size=15).map(str.encode), st.sampled_from([b"\n", b"\r\n"])))
CONTENTS = st.tuples(LINES, st.booleans()).map(
    lambda drawn: b"".join(map(b"".join, drawn[0]))[: None if drawn[1] else -1]
)


def counted(found):
    """(lines, bytes) of what belongs to the split."""
    each = [sizes(Lines.of(piece.data), piece) for piece in found if piece.own]
    return sum(map(len, each)), sum(int(one.sum()) for one in each)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write drawn contents into."""
    return tmp_path_factory.mktemp("pieces") / "app.log"


@given(CONTENTS, st.integers(1, 200), st.integers(1, 64))
def test_splits_of_one_file_together_own_each_line_exactly_once(file, content, size, block):
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(splits, "SIZE", size)
        patched.setattr(pieces, "BLOCK", 64 + block)
        patched.setattr(pieces, "HUGE", 60)
        own = [piece.data for part in splits.splits([source(file)]) for piece in pieces.Pieces(part) if piece.own]
    assert b"".join(own) == content
    assert all(data.endswith(b"\n") for data in own[:-1])


@given(CONTENTS, st.integers(1, 200), st.integers(0, 90), st.integers(0, 90))
def test_what_is_only_looked_at_are_whole_lines_right_before_and_behind_the_split(file, content, size, before, after):
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(splits, "SIZE", size)
        patched.setattr(pieces, "BEFORE", before)
        patched.setattr(pieces, "AFTER", after)
        read = [list(pieces.Pieces(part)) for part in splits.splits([source(file)])]
    at = 0
    for found in read:
        own = [n for n, piece in enumerate(found) if piece.own]
        data = b"".join(found[n].data for n in own)
        earlier = b"".join(piece.data for piece in (found[: own[0]] if own else found))
        later = b"".join(piece.data for piece in found[own[-1] + 1 :]) if own else b""
        assert content[:at].endswith(earlier)
        assert content[at + len(data) :].startswith(later)
        assert earlier == b"" or at == len(earlier) or content[: at - len(earlier)].endswith(b"\n")
        assert later == b"" or later.endswith(b"\n")
        at += len(data)


@given(st.lists(st.integers(0, 300), max_size=12), st.booleans(), st.integers(1, 400))
def test_a_line_longer_than_a_piece_is_cut_and_counted_whole(file, lengths, ends, size):
    content = b"\n".join(b"x" * n for n in lengths) + (b"\n" if ends else b"")
    file.write_bytes(content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(splits, "SIZE", size)
        patched.setattr(pieces, "BLOCK", 64)
        patched.setattr(pieces, "HUGE", 16)
        found = [piece for part in splits.splits([source(file)]) for piece in pieces.Pieces(part) if piece.own]
    assert max((len(piece.data) for piece in found), default=0) <= 128
    lines, size = counted(found)
    assert lines == len(content.splitlines())
    assert len(content) <= size <= len(content) + 1


def test_a_line_of_100_mb_takes_bounded_memory_and_is_counted_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(splits, "SIZE", 1 << 30)
    monkeypatch.setattr(pieces, "BLOCK", 1 << 20)
    monkeypatch.setattr(pieces, "HUGE", 1 << 16)
    path = tmp_path / "app.log"
    with path.open("wb") as out:
        out.write(b"first\n")
        for _ in range(100):
            out.write(b"z" * (1 << 20))
        out.write(b"\nlast")
    tracemalloc.start()
    lines, size = counted(pieces.Pieces(split(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (lines, size) == (3, path.stat().st_size + 1)
    assert peak < 10 << 20


@pytest.mark.parametrize("end", [b"", b"\nlast\n"])
def test_the_holes_of_a_sparse_file_are_counted_without_being_read(tmp_path, end):
    path = tmp_path / "disk.img"
    with path.open("wb") as out:
        out.write(b"first\nsecond")
        out.truncate(1 << 42)  # read byte by byte, it would take an hour
        out.seek(0, io.SEEK_END)
        out.write(end)
    lines, size = counted(pieces.Pieces(split(path, "binary", Reading.COUNT)))
    assert (lines, size) == (3 if end else 2, path.stat().st_size)


def test_a_carriage_return_before_the_line_feed_is_no_part_of_the_line(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(b"2026-11-21 12:00:00,000 INFO up\r\n\r\na \r b\r\n")
    (piece,) = pieces.Pieces(split(path))
    assert Lines.of(piece.data).texts().to_list() == ["2026-11-21 12:00:00,000 INFO up", "", "a \r b"]
    assert sizes(Lines.of(piece.data), piece).tolist() == [33, 2, 7]


def test_a_line_that_is_no_utf_8_has_the_bytes_that_it_has_in_the_file():
    piece = pieces.Piece(b"one \xff\xfe\n\x80\ntwo")
    assert sizes(Lines.of(valid(piece.data)), piece).tolist() == [7, 2, 4]


def test_a_last_line_without_a_line_feed_is_a_line(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(b"one\ntwo")
    found = list(pieces.Pieces(split(path)))
    assert [line for piece in found for line in Lines.of(piece.data).texts()] == ["one", "two"]
    assert counted(found) == (2, 8)


def test_an_empty_file_has_no_lines(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(b"")
    assert (list(pieces.Pieces(split(path))), tables(split(path))) == ([], {})


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstandard.compress)],
)
def test_of_a_compressed_file_that_is_cut_all_that_can_be_read_is(tmp_path, suffix, pack):
    content = b"".join(f"line {n} {os.urandom(30).hex()}\n".encode() for n in range(30_000))
    path = tmp_path / f"app.log{suffix}"
    path.write_bytes(pack(content)[:-2000])
    found = pieces.Pieces(split(path, packed=True))
    read = found.joined()
    assert content.startswith(read)
    assert len(read) > 0.4 * len(content)
    assert f"{len(read):,} bytes before that were read." in found.damage


def test_pieces_of_a_large_file_elsewhere_are_read_as_those_of_one_here(tmp_path, monkeypatch):
    monkeypatch.setattr(splits, "SIZE", 1000)
    path = tmp_path / "app.log"
    path.write_bytes(b"".join(f"line {n}\n".encode() for n in range(500)))
    here = list(splits.splits([source(path)]))
    there = [replace(one, location=f"file://{path}") for one in here]
    assert len(here) > 3
    assert [list(pieces.Pieces(one)) for one in there] == [list(pieces.Pieces(one)) for one in here]


def test_a_ledger_that_ends_early_counts_as_far_as_it_goes_and_one_that_was_altered_not_at_all(tmp_path):
    rows = b"".join(b"%d,0,%d,%d\n" % (n, n, 1795262700000 + n) for n in range(20_000))
    packed = gzip.compress(b"id,partition,offset,ts_ms\n" + rows, mtime=0)
    place, half = tmp_path / "app-processed.csv.gz", len(packed) // 2
    noted = {}
    for kind, content in {
        "whole": packed, "cut": packed[:half], "altered": packed[:half] + bytes(64) + packed[half + 64 :],
    }.items():  # fmt: skip
        place.write_bytes(content)
        (ledger,) = intake.gather([str(place)], tmp_path / kind, FORMATS)
        noted[kind] = len(tables(*splits.splits([ledger])).get(LEDGER, ()))

    assert noted["whole"] == 20_000 > noted["cut"] > 0 == noted["altered"]
