"""Lines are read once more where only their number is known."""

import gzip
import json
from pathlib import Path

import pytest

from mqlab.material.quoting import first_lines, lines_at
from mqlab.sources import Envelope, Reading, Source

LINES = [b"one", b"", b"three \xff", b"x" * 3_000_000, b"five"]


def source(path, envelope=Envelope.NONE):
    return Source(1, path.name, str(path), "application-log", Reading.LOG, envelope, 1, None)


def quoted(path, number, envelope=Envelope.NONE):
    """What is told about one line."""
    known = source(path, envelope)
    payload = {"source": known.link, "whole": False, "line": number, "minutes": []}
    rows = [json.loads(row) for _, row in first_lines([("log", json.dumps(payload))], [known])]
    return next((r["text"], r["wall"], r["offset"]) for r in rows if r["line"] == number)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_lines_are_found_by_number_over_the_ends_of_blocks(tmp_path, pack):
    path = tmp_path / "a.log"
    path.write_bytes(pack(b"\n".join(LINES)))
    assert lines_at(path, {1, 3, 4, 5, 9}) == {1: b"one", 3: b"three \xff", 4: b"x" * 65_536, 5: b"five"}


def test_a_file_that_is_gone_or_damaged_gives_what_can_be_read(tmp_path):
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(b"\n".join([b"one", *LINES]))[:-20])
    assert lines_at(path, {1, 6}) == {1: b"one"}
    assert lines_at(Path(tmp_path / "gone.log"), {1}) == {}


@pytest.mark.parametrize(
    ("line", "wall", "offset"),
    [
        ("2026/11/21 11:54:25.092412 ERROR publish failed", 1795262065.092412, None),
        ("[2026-11-21 11:54:25,092] INFO started", 1795262065.092, None),
        ("2026-11-21T12:54:25.092+01:00 WARN slow", 1795265665.092, 3600),
        ("%4|1795262065.092|MAXPOLL|rdkafka#consumer-1| late", 1795262065.092, 0),
        ("2026-13-45 99:99:99 no moment", None, None),
        ("no moment", None, None),
    ],
)
def test_a_line_tells_its_moment(tmp_path, line, wall, offset):
    path = tmp_path / "a.log"
    path.write_text(f"{line}\n")
    assert quoted(path, 1) == (line, wall, offset)


def test_the_moment_is_the_lines_own_below_its_envelope_and_the_text_stays_verbatim(tmp_path):
    line = "2026-11-21T11:54:26.000000000Z stdout F 2026-11-21 12:54:25,000 ERROR failed"
    path = tmp_path / "a.log"
    path.write_text(f"{line}\n")
    assert quoted(path, 1, Envelope.CRI) == (line, 1795265665.0, None)


def test_secrets_are_masked_and_long_lines_are_cut(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("login password=hunter2\n" + "x" * 600 + "\n")
    assert quoted(path, 1)[0] == "login password=[masked]"
    assert quoted(path, 2)[0] == "x" * 500 + "…"
