"""Rows of ledgers → LEDGER, once a line is cut into cells: what all formats of ledgers share.

There are hundreds of thousands of them, so they are read as columns. What a layout (``ledgers.layout``) has no place
for costs nothing. Long keys become their length and a hash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256

import polars as pl

from mqlab.formats.ledger_moments import instants
from mqlab.formats.rust_regex import rust
from mqlab.ledgers import payloads
from mqlab.ledgers.layout import FIELDS, ROLES, WORDS, Layout, LineShape
from mqlab.tables import LEDGER

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
_NAMED = rust(payloads.NAMED)
_STEPS = tuple((rust(pattern), rest) for pattern, rest in payloads.STEPS)

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
