"""First lines of shapes, word by word: the scan only counts them, so their files are opened once more.

Read are the first dated line of each log, and of the shapes that ``volumes`` tells the first line and the one before
it, of short logs that of every shape; of ledgers the first and last lines of parts, fates and flows, and the first of
receipts; no file further than the last line wanted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mqlab.formats import layouts
from mqlab.formats.values import MICRO
from mqlab.ledgers import words
from mqlab.material import envelopes, remote, streams, wholes
from mqlab.secrets import mask, mask_all, mask_spanning, within
from mqlab.sources import Source

LONGEST = 500
"""Characters that evidence keeps of a line."""
MOST = 2000
"""Lines of one file that are quoted for what its messages became; a part of a dump or ledger has two of them."""
_BEFORE, _BEHIND, _GAP = 60, 20, "\0"
"""Lines around each that are looked at, since a secret may begin or be named in them; what stands where some are left
out."""
_FEW = 5000
"""Lines of a log of which every shape is quoted: what a person reads."""
_ENOUGH = 1 << 16
"""Bytes of a line that are looked at."""


def first_lines(rows: Iterable[tuple[str, str]], sources: Sequence[Source]) -> list[tuple[str, str]]:
    """(fact, payload) rows, one a line: source, line, text, and its moment (``wall``, ``offset``) where it writes one.

    *rows* are those that Spark handed over. A file that cannot be read any more gives none.
    """
    wanted: dict[str, set[int]] = defaultdict(set)
    for fact, payload in sorted(rows):
        if fact in _WANTED:
            for source, lines in _WANTED[fact](json.loads(payload)):
                wanted[source].update(lines if fact == "log" or len(wanted[source]) < MOST else ())
    return [
        ("quoted", json.dumps(row))
        for source in sources
        if wanted.get(source.link)
        for row in _quoted(source, wanted[source.link])
    ]


def _of_log(row: Mapping[str, Any]) -> list[tuple[str, set[int]]]:
    if row["whole"]:
        return [(row["source"], {min((m["line"] for m in row["minutes"] if m.get("minute")), default=1)})]
    return [(row["source"], {row["line"], row["line"] - 1} - {0})]


def _of_part(row: Mapping[str, Any]) -> list[tuple[str, set[int]]]:
    return [(row["source"], {row["first_line"], row["last_line"]})]


def _of_shape(row: Mapping[str, Any]) -> list[tuple[str, set[int]]]:
    return [(row["source"], {row["line"]})] if (row["line"] or _FEW) < _FEW else []


def _of_fate(row: Mapping[str, Any]) -> list[tuple[str, set[int]]]:
    return [(row[end]["source"], {row[end]["line"]}) for end in ("first", "last")]


def _of_receipt(row: Mapping[str, Any]) -> list[tuple[str, set[int]]]:
    return [
        (
            row.get("file") or row["source"],
            {row["line"], *(row[name] for name in ("again_line", "retained_line") if row.get(name))},
        )
    ]


_WANTED: Mapping[str, Callable[[Mapping[str, Any]], list[tuple[str, set[int]]]]] = {
    "log": _of_log, "parts": _of_part, "fates": _of_fate, "flows": _of_fate, "topic_flows": _of_fate,
    "receipts": _of_receipt, "volume": _of_shape,
}  # fmt: skip
"""Lines that a row of a fact wants, with their sources."""


def _quoted(source: Source, numbers: Collection[int]) -> Iterable[dict[str, Any]]:
    if source.part:
        yield from _made_whole(source, set(numbers))
        return
    for number, line in _spanned(source, numbers):
        shown = _kept(source, line)
        when = layouts.moment(envelopes.peel(line, source.envelope))
        wall, east = (when.wall / MICRO, when.east) if when else (None, None)
        yield {"source": source.link, "line": number, "text": shown, "wall": wall, "offset": east}


def _kept(source: Source, line: str) -> str:
    """What is shown of a line: no secret, and of a ledger's no value of a record."""
    text = mask(words.without(line) if source.layout else line)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _spanned(source: Source, numbers: Collection[int]) -> Iterator[tuple[int, str]]:
    """The lines with these numbers, of which secrets are masked that begin in others."""
    near = {one for number in numbers for one in range(max(1, number - _BEFORE), number + _BEHIND + 1)}
    read = sorted(lines_at(source.location, near).items())
    lines: dict[int, str] = {}
    for place, (number, raw) in enumerate(read):
        if place and read[place - 1][0] != number - 1:
            lines[-number] = _GAP
        lines[number] = raw.decode("utf-8", "replace").rstrip("\r")
    inner = pl.Series([envelopes.peel(line, source.envelope) for line in lines.values()], dtype=pl.String)
    wanted = [place for place, number in enumerate(lines) if number in numbers]
    whole = pl.Series(list(lines.values()), dtype=pl.String).gather(wanted)
    hidden = within(whole, inner.gather(wanted), mask_all(mask_spanning(inner).gather(wanted)))
    yield from zip((number for number in lines if number in numbers), hidden, strict=True)


def _made_whole(source: Source, numbers: set[int]) -> Iterable[dict[str, Any]]:
    for one in wholes.load(source.part or ""):
        if one.number in numbers:
            numbers.discard(one.number)
            when = layouts.moment(one.inner)
            wall, east = (when.wall / MICRO, when.east) if when else (None, None)
            text = _kept(source, one.text)
            yield {"source": source.link, "line": one.number, "text": text, "wall": wall, "offset": east}


def lines_at(location: str | Path, numbers: Collection[int]) -> dict[int, bytes]:
    """The lines with these numbers, 1-based and without line feed, cut at 64 kB; what is damaged is left out."""
    found: dict[int, bytes] = {}
    current, last = 1, max(numbers)
    try:
        with remote.opened(str(location)) as stream:
            for block in streams.blocks(stream):
                count = block.count(b"\n")
                if any(current <= n <= current + count for n in numbers):
                    for number, part in _parts(block, current, numbers):
                        found[number] = (found.get(number, b"") + part)[:_ENOUGH]
                current += count
                if current > last:
                    break
    except streams.BROKEN:
        pass
    return found


def _parts(block: bytes, first: int, numbers: Collection[int]) -> Iterator[tuple[int, bytes]]:
    """What *block*, which begins within line *first*, holds of the lines with these numbers."""
    return ((number, part) for number, part in enumerate(block.split(b"\n"), start=first) if number in numbers)
