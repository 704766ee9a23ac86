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
from typing import Any

from pyspark.sql import DataFrame

from mqlab.ledgers import mqtt
from mqlab.ledgers import named as ledger_named
from mqlab.ledgers.layout import Layout, is_mqtt, named_columns, party_in
from mqlab.loaders import console, ledger_rows
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import LEDGER, Table

FORMAT = "ledger-json"
TABLES: tuple[Table, ...] = (LEDGER,)
READING = Reading.TABLE

_LOOKED_AT = 50
_ROWS = 500
"""Lines by which members are told."""
_NEARLY_ALL = 0.9
_FACTS = frozenset({"topic", "queue", "offset", "key", "message"})


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


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a message; *rows* have their layout."""
    return {LEDGER: ledger_rows.ledger(rows, lambda field: f"get_json_object(text, p_{field})")}


def line_class(text: str) -> str:
    """Whole objects are data."""
    return f"""CASE
        WHEN trim({text}) = '' THEN 'noise'
        WHEN startswith(trim({text}), '{{') AND get_json_object({text}, '$') IS NOT NULL THEN 'data' END"""


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
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


def _named(lines: Sequence[str], name: str) -> tuple[list[str], ledger_named.Named]:
    """Paths of all members in *lines*, in their order, and which of them is what."""
    objects = [one for line in lines if (one := _object(line))]
    names: dict[str, str] = {}
    for one in objects:
        for member, path in _members(one):
            names.setdefault(path, member.rpartition("\0")[2])
    rows = [[_cell(one, path) for path in names] for one in objects]
    return list(names), mqtt.named(list(names.values()), rows, name)


def _cell(one: Mapping[str, Any], path: str) -> str:
    """The value at a path of ``_members`` as text; empty where there is none."""
    value: Any = one
    for name in path[3:-2].split("']['"):
        value = value.get(name) if isinstance(value, dict) else None
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _is_plain(name: str) -> bool:
    return "'" not in name and "\0" not in name
