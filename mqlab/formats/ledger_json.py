"""JSON objects, one a line, in which an application notes each message it sent, had acknowledged or processed → LEDGER.

Sample lines::

    {"ts":1795262756811,"topic":"orders","partition":0,"offset":0,"key":"2"}
    {"at":"2026-11-21T12:05:56.811Z","record":{"topic":"orders","partition":0,"offset":0},"id":"2"}

Names say what a member is, whatever their case; members of objects within count too. Who noted it is taken from the
file's name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import polars as pl

from mqlab.formats import console, ledger_rows
from mqlab.formats.base import About, Block, Head, Spec
from mqlab.ledgers import columns as ledgers_columns
from mqlab.ledgers import mqtt_columns
from mqlab.ledgers.layout import Layout, is_mqtt, named_columns, party_in
from mqlab.sources import Role
from mqlab.tables import LEDGER

FORMAT = Spec("ledger-json", Role.LEDGER, (LEDGER,))

_LOOKED_AT = 50
_ROWS = 500
"""Lines by which members are told."""
_FEW = 1000
"""Lines, with odd ones among them, that are read one by one."""
_NEARLY_ALL = 0.9
_JSON, _WRITTEN = json.JSONDecoder(strict=False), json.JSONEncoder(separators=(",", ":"))
_FACTS = frozenset({"topic", "queue", "offset", "key", "message"})


Needed = Mapping[str, Sequence[str]]
"""Members that are looked at; of those that are objects the members within."""


def recognise(head: Head) -> bool:
    """True where nearly all first lines are objects that name a moment and two facts of a message.

    A moment and one fact are enough where a name tells what was done with the message.
    """
    lines = console.plain_lines(head)[:_LOOKED_AT]
    named = [
        named_columns({name.rpartition("\0")[2]: "" for name, _ in _members(_object(line) or {})}) for line in lines
    ]
    fitting = sum("time" in names and len(_FACTS & names.keys()) >= 2 for names in named)
    if sum(_object(line) is not None for line in lines) < max(1, _NEARLY_ALL * len(lines)):
        return False
    found = _named(lines, head.name)[1]
    return found.sure or (found.dated and fitting >= _NEARLY_ALL * len(lines))


def layout(head: Head) -> str:
    """Which member holds which fact, as text for ``Source.layout``."""
    return laid_out(head).text()


def laid_out(head: Head) -> Layout:
    """The layout of a file: columns are paths in the objects."""
    lines = console.plain_lines(head)[:_ROWS]
    places, found = _named(lines, head.name)
    columns = {field: places[n] for field, n in found.columns.items()}
    topics = [_cell(_object(line) or {}, columns["topic"]) for line in lines] if "topic" in columns else []
    return Layout(
        columns, "", found.role, found.told, party_in(head.name), mqtt=is_mqtt(columns, topics), answered=found.answered
    )


def paths(head: Head) -> Mapping[str, str]:
    """Paths of all members by name, in lower case; those within others as ``outer.inner``."""
    found: dict[str, str] = {}
    for line in console.plain_lines(head)[:_LOOKED_AT]:
        for name, path in _members(_object(line) or {}):
            found.setdefault(name.replace("\0", ".").lower(), path)
    return found


def parse_block(lines: pl.DataFrame, about: About) -> Block:
    """One row a message; whole objects are data."""
    found, whole = rows(lines, ledger_rows.layout(about.layout))
    kinds = pl.select(pl.when(whole).then(pl.lit("data"))).to_series()
    return Block({LEDGER: ledger_rows.dated(found)}, kinds)


def rows(lines: pl.DataFrame, known: Layout) -> tuple[pl.DataFrame, pl.Series]:
    """LEDGER of all *lines*, and which of them are whole objects."""
    places = {field: _names(path) for field, path in known.columns.items() if path.startswith("$['")}
    needed: dict[str, list[str]] = {"": []}
    for outer, *inner in places.values():
        needed.setdefault(outer, []).extend(inner)
    objects = _objects(lines["text"], needed)
    cells = {field: _member(names) for field, names in places.items()}
    return ledger_rows.ledger(lines.with_columns(objects.alias("object")), cells, known), objects.is_not_null()


def _objects(text: pl.Series, needed: Needed) -> pl.Series:
    """The object of each line; null where it holds none. Only parts with odd lines are read one by one."""
    schema = pl.Struct({
        name: pl.Struct(dict.fromkeys(inner, pl.String())) if inner else pl.String() for name, inner in needed.items()
    })  # fmt: skip
    try:
        return text.str.json_decode(schema)
    except pl.exceptions.ComputeError:
        if len(text) <= _FEW:
            return pl.Series([_tidy(line, needed) for line in text], dtype=pl.String).str.json_decode(schema)
    half = len(text) // 2
    return pl.concat([_objects(text.head(half), needed), _objects(text.slice(half), needed)])


def _tidy(line: str, needed: Needed) -> str | None:
    """The object of a line with what is *needed* of it, in which lists and objects are texts; None for no object."""
    one = _object(line)
    if one is None:
        return None
    told: dict[str, Any] = {}
    for name, inner in needed.items():
        value = one.get(name)
        if not inner:
            told[name] = _plain(value)
        elif isinstance(value, dict):
            told[name] = {each: _plain(value.get(each)) for each in inner}
    return _WRITTEN.encode(told)


def _plain(value: Any) -> Any:
    if isinstance(value, dict | list):
        return _WRITTEN.encode(value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _member(names: Sequence[str]) -> pl.Expr:
    return reduce(lambda one, name: one.struct.field(name), names, pl.col("object"))


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = _JSON.decode(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _members(one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and paths of the members, those of objects within after them."""
    for name, value in one.items():
        if not isinstance(value, dict) and _is_plain(name):
            yield name, f"$['{name}']"
    for name, value in one.items():
        if isinstance(value, dict) and _is_plain(name):
            yield from ((f"{name}\0{inner}", f"$['{name}']['{inner}']") for inner in value if _is_plain(inner))


def _named(lines: Sequence[str], name: str) -> tuple[list[str], ledgers_columns.Named]:
    """Paths of all members in *lines*, in their order, and which of them is what."""
    objects = [one for line in lines if (one := _object(line))]
    names: dict[str, str] = {}
    for one in objects:
        for member, path in _members(one):
            names.setdefault(path, member.rpartition("\0")[2])
    rows = [[_cell(one, path) for path in names] for one in objects]
    return list(names), mqtt_columns.named(list(names.values()), rows, name)


def _cell(one: Mapping[str, Any], path: str) -> str:
    """The value at a path of ``_members`` as text; empty where there is none."""
    value: Any = one
    for name in _names(path):
        value = value.get(name) if isinstance(value, dict) else None
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _names(path: str) -> list[str]:
    return path[3:-2].split("']['")


def _is_plain(name: str) -> bool:
    return "'" not in name and "\0" not in name
