"""Rows of ledgers → LEDGER, once a line is cut into cells: what all formats of ledgers share.

There are hundreds of thousands of them, so they are read as columns. What a layout (``ledgers.layout``) has no place
for costs nothing. Long keys become their length and a hash. Samples of moments::

    1795262756811    1795262756.811    2026-11-21T12:05:56.811Z    2026-11-21 12:05:56,811 +0100
    21.11.2026 12:05:56.811    2026/11/21 12:05:56    21/Nov/2026:12:05:56 +0100

Where no zone is written the moment is taken for UTC. A date of slashes that begins with numbers for day and month is
no moment: nothing tells which is which.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from mqlab.formats import values
from mqlab.formats.layouts import MONTHS
from mqlab.formats.values import rust
from mqlab.ledgers import words
from mqlab.ledgers.layout import FIELDS, ROLES, WORDS, Layout, LineShape
from mqlab.tables import LEDGER

_MILLIS, _MICROS, _SECONDS = "^[0-9]{13}$", "^[0-9]{16}$", r"^[0-9]{10}(?:\.[0-9]+)?$"
_EAST = " ?([+-])([01][0-9]):?([0-5][0-9])$"
_ISO = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]{{1,9}})?(?:Z?$|{_EAST})"
_SWAPPED = (
    (r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})[T ]", "$3-$2-$1 "),
    ("^([0-9]{4})/([0-9]{2})/([0-9]{2})[T ]", "$1-$2-$3 "),
    (f"^([0-9]{{2}})/({'|'.join(MONTHS)})/([0-9]{{4}})[: ]", "$3-$2-$1 "),
)
"""Dates of other forms, and how ISO writes them."""
_NUMBERS = {f"-{month}-": f"-{number:02d}-" for number, month in enumerate(MONTHS, 1)}
_OTHER = re.compile(
    r"\s*(?P<date>\d{4}-\d{1,2}-\d{1,2})(?:[T ](?P<clock>\d{1,2}(?::\d{1,2}){0,2})(?:[.,](?P<fraction>\d{0,9}))?"
    r" ?(?P<zone>Z|[+-]\d{1,2}:?\d{2}|[A-Za-z][\w/+-]*)?)?\s*",
    re.ASCII,
)
_LONGEST = 64
"""Characters of a moment."""


def instants(text: pl.Series) -> pl.Series:
    """Microseconds of the moments in *text*; null where it is none. Each form is looked for in what is left."""
    found = _counted(text)
    for form in (_iso, _swapped, _others):
        left = (found.is_null() & text.is_not_null()).arg_true()
        if len(left):
            found = found.scatter(left, form(text.gather(left)))
    return found


def _counted(text: pl.Series) -> pl.Series:
    """Of milliseconds, microseconds or seconds since 1970."""
    whole = text.str.to_integer(strict=False)
    seconds = (text.cast(pl.Float64, strict=False) * values.MICRO).round().cast(pl.Int64, strict=False)
    found = (
        pl.when(text.str.contains(_MILLIS)).then(whole * 1000)
        .when(text.str.contains(_MICROS)).then(whole)
        .when(text.str.contains(_SECONDS)).then(seconds)
    )  # fmt: skip
    return pl.select(found).to_series().replace(0, None)


def _iso(text: pl.Series) -> pl.Series:
    """Of a date as ISO writes it; null where the calendar has no such day."""
    iso = text.set(~text.str.contains(_ISO), None)
    day = iso.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    clock = iso.str.slice(11, 8).str.to_time("%H:%M:%S", strict=False).cast(pl.Int64) // 1000
    rest = iso.str.slice(19)
    east, bare = pl.Series([0]), rest.str.strip_suffix("Z")
    if rest.str.contains("[+-]").any():
        hours, minutes = (rest.str.extract(_EAST, n).cast(pl.Int64) for n in (2, 3))
        east = (rest.str.extract(_EAST) + "1").cast(pl.Int64) * (hours * 3600 + minutes * 60)
        bare = bare.str.replace(_EAST, "")
    fraction = bare.str.slice(1, 6).str.pad_end(6, "0").cast(pl.Int64)
    return (day * 86_400 - east.fill_null(0)) * values.MICRO + clock + fraction


def _swapped(text: pl.Series) -> pl.Series:
    """Of a date with dots, slashes or the name of a month."""
    for form, by in _SWAPPED:
        text = text.str.replace(form, by)
    return _iso(text.str.replace_many(_NUMBERS))


def _others(text: pl.Series) -> pl.Series:
    return text.map_elements(_other, return_dtype=pl.Int64)


def _other(text: str) -> int | None:
    """Of ISO's form with numbers of one figure, without seconds, or with the name of a zone."""
    found = _OTHER.fullmatch(text) if len(text) <= _LONGEST else None
    if not found:
        return None
    clock = f"{found['clock'] or '0'}:0:0".split(":")
    wall = values.instant(f"{found['date']} {':'.join(clock[:3])}.{found['fraction'] or '0'}")
    return None if wall is None else _on_earth(wall, found["zone"] or "Z")


def _on_earth(wall: int, zone: str) -> int | None:
    """Microseconds of a moment on the clocks of a *zone*, which may be the name of a place."""
    seconds = values.east(zone)
    if seconds is not None:
        return wall - seconds * values.MICRO
    try:
        naive = datetime.fromtimestamp(wall // values.MICRO, UTC)
        return values.micros(naive.replace(tzinfo=ZoneInfo(zone))) + wall % values.MICRO
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


LONGEST = 200
"""Characters of a key that is kept as it is."""
_STATUS = 200
"""Characters of a status that are kept."""
_PLACE = r"^(.+)[-:@#/]([0-9]{1,9})$"
"""Topic and partition in one cell, as ``toString`` of Kafka's TopicPartition writes them."""
_FLAGS = dict.fromkeys(("true", "1", "yes", "t", "y", "r1", "d1"), "true") | dict.fromkeys(
    ("false", "0", "no", "f", "n", "r0", "d0"), "false"
)
"""What a DUP or RETAIN flag may look like; mosquitto writes d1 and r1."""
_WORDS = {role: role for role in ROLES} | WORDS
_TYPES = {"bigint": pl.Int64, "timestamp": pl.Int64, "int": pl.Int32}
_COLUMNS = {name: _TYPES.get(kind, pl.String) for name, kind in LEDGER.columns if name != "source"}
_NONE = pl.lit(None, pl.String)
_NAMED = rust(words.NAMED)
_STEPS = tuple((rust(pattern), rest) for pattern, rest in words.STEPS)

Cells = Mapping[str, pl.Expr]
"""Text of each field that a layout has a place for; empty or null where a line has none."""


@lru_cache(maxsize=64)
def layout(text: str | None) -> Layout:
    """The layout that ``Layout.text`` wrote; without one no line is a row."""
    known = json.loads(text) if text else {"columns": ()}
    columns = {field: place for field, place in zip(FIELDS, known.pop("columns"), strict=False) if place is not None}
    shapes = tuple(LineShape(**one) for one in known.pop("lines", ()))
    return Layout(columns, lines=shapes, **known)


def ledger(lines: pl.DataFrame, cells: Cells, known: Layout, clock: pl.Expr = _NONE) -> pl.DataFrame:
    """LEDGER of *lines*, which have number, text and what *cells* and *clock* need: one row for each.

    The *clock* is the moment of lines that have none in a cell; those without a moment are no rows (``dated``).
    """
    given = {field: cells.get(field, _NONE).replace("", None) for field in FIELDS}
    cut = lines.select("number", "text", clock.cast(pl.Int64).alias("clock"), **given)
    c = {field: pl.col(field) for field in FIELDS}
    role = c["role"].str.to_lowercase().replace_strict(_WORDS, default=None, return_dtype=pl.String)
    told = {
        "line": pl.col("number"),
        "text": pl.col("text"),
        "at": pl.when(c["time"].is_null()).then(pl.col("clock")).otherwise(instants(cut["time"])),
        "role": pl.coalesce(role, pl.lit(known.role)),
        "told": pl.when(role.is_not_null()).then(pl.lit("column")).otherwise(pl.lit(known.told)),
        "party": pl.coalesce(c["party"], pl.lit(known.party)),
        "group": pl.coalesce(c["group"], pl.lit(known.group)),
        "topic": pl.coalesce(c["topic"], c["place"].str.extract(_PLACE), pl.lit(known.topic)),
        "queue": _queue(c),
        "offset": whole(pl.when(~c["offset"].str.starts_with("-")).then(c["offset"])),
        "key": pl.lit(kept_key(cut.select(pl.coalesce("key", "message")).to_series())),
        "status": c["status"].str.slice(0, _STATUS),
        "dup": _dup(c),
        "bytes": whole(c["bytes"]),
        "qos": pl.when(c["qos"].is_in(["0", "1", "2"])).then(c["qos"]),
        "retained": _flag(c["retained"]),
    }
    return conform(cut, told)


def conform(lines: pl.DataFrame, told: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """The columns of LEDGER, in its order and types; those that nothing is *told* of are null."""
    return lines.select(told.get(name, _NONE).cast(kind).alias(name) for name, kind in _COLUMNS.items())


def dated(rows: pl.DataFrame) -> pl.DataFrame:
    """The *rows* of LEDGER that have a moment."""
    return rows.filter(pl.col("at").is_not_null())


def whole(text: pl.Expr) -> pl.Expr:
    """The whole number in *text*; null where it is none."""
    return text.str.strip_chars().str.to_integer(strict=False)


def kept_key(key: pl.Series) -> pl.Series:
    """The *key* as LEDGER holds it; the same wherever keys are read, so that they compare."""
    long = (key.str.len_chars() > LONGEST).arg_true()
    hashed = [f"{len(text)}:{sha256(text.encode()).hexdigest()[:32]}" for text in key.gather(long)]
    return key.scatter(long, hashed) if hashed else key


def without_payload(text: pl.Series) -> pl.Series:
    """The lines *text* without what they print of a record's value."""
    naming = text.str.contains(_NAMED).arg_true()
    cut = text.gather(naming)
    for pattern, rest in _STEPS:
        cut = cut.str.replace_all(pattern, rest)
    return text.scatter(naming, cut) if len(naming) else text


def _queue(c: Cells) -> pl.Expr:
    named = pl.concat_str("broker", "queue", separator="/", ignore_nulls=True)
    return pl.when(c["queue"].is_not_null()).then(named).otherwise(c["place"].str.extract(_PLACE, 2))


def _dup(c: Cells) -> pl.Expr:
    again = pl.when(c["again"] == "0").then(pl.lit("false")).when(c["again"].is_not_null()).then(pl.lit("true"))
    return pl.coalesce(_flag(c["dup"]), c["dup"], again)


def _flag(text: pl.Expr) -> pl.Expr:
    return text.str.to_lowercase().replace_strict(_FLAGS, default=None, return_dtype=pl.String)
