"""Lines of logs in which an application notes each message → LEDGER; the other lines of such a log stay what they are.

Sample lines::

    2026-11-22 07:00:01,123 INFO  [main] com.acme.Payer - paid PO-17 (topic=payouts partition=1 offset=33)
    2026-11-22T07:00:01.123Z level=info msg=sent topic=orders partition=3 offset=1032 key=ord-17
    {"ts":"2026-11-22T07:00:01.123Z","level":"info","msg":"acked","topic":"orders","partition":3,"offset":1032}

Which lines these are is told by the first of them (``ledgers.log_shapes``) or by the user's map; the layout of the
log holds the regex of each shape. What a line shows of a record's value is not kept. A moment without a zone is read as
UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import polars as pl

from mqlab.formats import layouts, ledger_rows
from mqlab.formats.base import regex
from mqlab.formats.ledger_rows import instants
from mqlab.formats.values import MICRO, rust
from mqlab.ledgers.layout import Layout, LineShape
from mqlab.ledgers.words import FAR, HARMLESS, NEGATIVE

_HARMLESS, _NEGATIVE = rust(HARMLESS), rust(NEGATIVE)
_TWICE = "Rocketmq"
"""In lines whose clock may show its seconds twice."""
_MOMENT = rust(r"^.?(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?)")


def are_rows(layout: str, lines: pl.Series) -> pl.Series:
    """Which *lines* of a log with this layout are rows of its ledger, at the cost of a regex.

    A line is what is in the envelope; of a log of JSON objects it is the object.
    """
    return _shapes(lines, ledger_rows.layout(layout).lines).is_not_null()


def rows(layout: str, kept: pl.DataFrame) -> pl.DataFrame:
    """LEDGER of *kept* lines of a log: number, text, inner (as in ``are_rows``) and clock, that of the envelope."""
    known = ledger_rows.layout(layout)
    cut = kept.with_columns(ledger_rows.without_payload(kept["text"]), ledger_rows.without_payload(kept["inner"]))
    shapes = _shapes(cut["inner"], known.lines)
    found = [_rows(cut.filter(shapes == n), one, known) for n, one in enumerate(known.lines)]
    return ledger_rows.dated(pl.concat(found)).sort("line")


def _shapes(lines: pl.Series, shapes: Sequence[LineShape]) -> pl.Series:
    """The number of the first of *shapes* that each of the *lines* fits; null for none."""
    near = lines.set(lines.str.len_chars() > FAR, None)
    fits = [pl.when(_fits(near, one)).then(pl.lit(n)) for n, one in enumerate(shapes)]
    return pl.select(pl.coalesce(pl.lit(pl.Series([None] * len(lines), dtype=pl.Int32)), *fits)).to_series()


def _fits(lines: pl.Series, one: LineShape) -> pl.Series:
    """Which *lines* have this shape and do not deny behind it what they say."""
    found = _finds(lines, one.pattern)
    if one.told == "map":
        return found
    said = found.arg_true()
    rest = lines.gather(said).str.replace(rust(one.pattern), "")
    negative = rest.str.contains(_NEGATIVE).arg_true()
    denied = rest.gather(negative).str.replace_all(_HARMLESS, " ").str.contains(_NEGATIVE)
    return found.scatter(said.gather(negative).filter(denied), False)


def _finds(lines: pl.Series, pattern: str) -> pl.Series:
    if _is_rust(pattern):
        return lines.str.contains(rust(pattern))
    search = regex(pattern).search
    return lines.map_elements(lambda line: search(line) is not None, return_dtype=pl.Boolean)


def _groups(lines: pl.Series, pattern: str) -> pl.Series:
    """What the groups of the *pattern* hold in each line, by their numbers."""
    if _is_rust(pattern):
        return lines.str.extract_groups(rust(pattern))
    compiled = regex(pattern)
    names = [str(n) for n in range(1, compiled.groups + 1)]
    found = [dict(zip(names, one.groups(), strict=True)) if (one := compiled.search(line)) else None for line in lines]
    return pl.Series(found, dtype=pl.Struct(dict.fromkeys(names, pl.String)))


@lru_cache(maxsize=256)
def _is_rust(pattern: str) -> bool:
    """Whether Rust takes it: one of the user's map may hold what only Python knows, or be too large."""
    try:
        pl.Series([""]).str.contains(rust(pattern))
    except pl.exceptions.ComputeError:
        return False
    return True


def _rows(lines: pl.DataFrame, one: LineShape, known: Layout) -> pl.DataFrame:
    """LEDGER of *lines* of one shape."""
    groups = _groups(lines["inner"], one.pattern)
    cells = {field: pl.lit(text) for field, text in one.fixed.items()}
    cells |= {field: pl.col("groups").struct.field(str(n)) for field, n in one.groups.items()}
    cut = lines.with_columns(groups.alias("groups"))
    timed = cut.select(cells.get("time", pl.lit("")).fill_null("") != "").to_series()
    own = _clocks(cut["inner"].set(timed, None))
    named = replace(known, role=one.role, told=one.told)
    return ledger_rows.ledger(cut.with_columns(own.alias("own")), cells, named, pl.coalesce("own", "clock"))


def _clocks(lines: pl.Series) -> pl.Series:
    """Microseconds of the moments that *lines* show, nearly all at their beginning."""
    found = instants(lines.set(lines.str.contains(_TWICE, literal=True), None).str.extract(_MOMENT))
    left = (found.is_null() & lines.is_not_null()).arg_true()
    return found.scatter(left, lines.gather(left).map_elements(_clock, return_dtype=pl.Int64)) if len(left) else found


def _clock(line: str) -> int | None:
    shown = layouts.moment(line)
    return None if shown is None else shown.wall - (shown.east or 0) * MICRO
