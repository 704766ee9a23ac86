"""What splits give, gathered table by table and written as Parquet, each table in a folder of its own.

A file has a name that nobody else uses, and counts only where the task that wrote it says so (``Output.written``): what
a task leaves behind that failed or was run twice is in no index of the workspace.
"""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from mqlab.material import files
from mqlab.tables import (
    ASSIGNMENTS,
    CLIENTS,
    EVENTS,
    LEDGER,
    METRICS,
    POLLS,
    POSITIONS,
    SETTINGS,
    Row,
    Table,
)

COUNTS = Table(
    "counts",
    (("source", "string"), ("split", "int"), ("minute", "string"), ("level", "string"), ("shape", "string"),
     ("kept", "boolean"), ("lines", "bigint"), ("bytes", "bigint"), ("line", "bigint")),
)  # fmt: skip
"""Lines and bytes of a split by minute, level and shape, ``kept`` where they became rows; the first of them."""
COVERAGE = Table(
    "coverage",
    (("source", "string"), ("split", "int"), ("class", "string"), ("lines", "bigint"), ("bytes", "bigint"),
     ("first_minute", "string"), ("last_minute", "string"), ("line", "bigint"), ("text", "string"),
     ("damage", "string")),
)  # fmt: skip
"""What became of the lines of a split: data, noise, or null for what nobody understands, and the first of the latter.

``damage`` says why the split was not read to its end.
"""
FACTS = Table("facts", (("source", "string"), ("fact", "string"), ("payload", "string")))
"""Rows of sources that were read whole, thinned: what leaves Spark, as JSON."""
WRITTEN = (EVENTS, POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, LEDGER, POLLS, COUNTS, COVERAGE, FACTS)
"""Tables that splits may give."""
_MOST = 200_000
"""Rows of a file, about."""
_CONSTANT = {"source": "_source", "split": "_split", "damage": "damage"}
"""Columns that are the same for all rows of a split."""
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(), "bigint": pa.int64(), "int": pa.int32(), "double": pa.float64(), "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"), "map<string,string>": pa.map_(pa.string(), pa.string()),
}  # fmt: skip


def stored(table: Table) -> tuple[tuple[str, str], ...]:
    """The columns of *table* as they are stored: its own, and where a line of a log stands.

    ``at`` is on the line's own clock, ``east`` how far east of UTC that is, where it is known; ``line`` counts from
    the beginning of the split. ``series`` is a sample's labels as JSON with sorted keys.
    """
    if table in (COUNTS, COVERAGE, FACTS):
        return table.columns
    series = (("series", "string"),) if table is METRICS else ()
    return (*table.columns, ("east", "int"), ("split", "int"), *series)


def ddl(table: Table) -> str:
    """The stored columns of *table* as Spark's DDL."""
    return ", ".join(f"`{name}` {kind}" for name, kind in stored(table))


_SCHEMAS = {t: pa.schema([pa.field(name, _TYPES[kind]) for name, kind in stored(t)]) for t in WRITTEN}


class Output:
    """The rows of the splits of one task."""

    def __init__(self, folder: str | None = None) -> None:
        """Rows are written below *folder*; without one they are kept in ``tables``."""
        self._folder = folder
        self._source, self._split = "", 0
        self._rows: dict[Table, list[Mapping[str, Any]]] = defaultdict(list)
        self._frames: dict[Table, list[pa.Table]] = defaultdict(list)
        self.tables: dict[Table, list[pa.Table]] = defaultdict(list)
        """What is waiting to be written."""
        self.damage: str | None = None
        """Why the split could not be read to its end."""
        self.written: list[tuple[str, str]] = []
        """Tables and names of the files that were written."""

    def begin(self, source: str, split: int) -> None:
        """What is added from now on belongs to this *split* of this *source*."""
        self._source, self._split, self.damage = source, split, None

    def add(self, row: Row, line: int, text: str, east: int | None) -> None:
        """Add a *row* that stands in this *line* with this *text*, unless it says otherwise."""
        rows = self._rows[row.table]
        rows.append({"line": line, "text": text, "east": east, **row.values})
        if row.table is LEDGER and len(rows) >= _MOST:
            self.tables[LEDGER].append(self._listed(LEDGER, self._rows.pop(LEDGER)))
            self._write_many()

    def add_frame(self, table: Table, frame: pl.DataFrame) -> None:
        """Add rows as columns; those that the table has and *frame* has not are null."""
        if frame.height:
            rows = self._table(table, {name: frame[name] for name in frame.columns}, frame.height)
            (self.tables if table is LEDGER else self._frames)[table].append(rows)
            self._write_many()

    def end(self) -> Mapping[Table, pa.Table]:
        """The rows of the split, or of a part of it, that are complete now; they go where all rows go."""
        rows, frames = self._rows, self._frames
        self._rows, self._frames = defaultdict(list), defaultdict(list)
        for table, values in rows.items():
            frames[table].append(self._listed(table, values))
        told = {table: pa.concat_tables(parts) for table, parts in frames.items()}
        for table, part in told.items():
            self.tables[table].append(part)
        self._write_many()
        return told

    def close(self) -> None:
        """Write what is left."""
        for table in list(self.tables) if self._folder else ():
            self._write(table, self._folder or "")

    def _write_many(self) -> None:
        for table, waiting in list(self.tables.items()) if self._folder else ():
            if sum(part.num_rows for part in waiting) >= _MOST:
                self._write(table, self._folder or "")

    def _write(self, table: Table, folder: str) -> None:
        name = f"{secrets.token_hex(8)}.parquet"
        files.write_parquet(pa.concat_tables(self.tables.pop(table)), f"{folder}/{table.name}/{name}")
        self.written.append((table.name, name))

    def _listed(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name, _ in stored(table)}
        if table is METRICS:
            columns["series"] = _series(columns["labels"])
        return self._table(table, columns, len(rows))

    def _table(self, table: Table, columns: Mapping[str, Any], height: int) -> pa.Table:
        arrays = [self._array(columns.get(name), name, kind, height) for name, kind in stored(table)]
        return pa.Table.from_arrays(arrays, schema=_SCHEMAS[table])

    def _array(self, values: Any, name: str, kind: str, height: int) -> pa.Array:
        if name in _CONSTANT:
            return pa.array([getattr(self, _CONSTANT[name])] * height, _TYPES[kind])
        if values is None:
            return pa.nulls(height, _TYPES[kind])
        if isinstance(values, pl.Series):
            array = values.to_arrow(compat_level=pl.CompatLevel.oldest())
            return array.cast(pa.int64()).cast(_TYPES[kind]) if kind == "timestamp" else array.cast(_TYPES[kind])
        if kind == "timestamp":
            return pa.array(values, pa.int64()).cast(_TYPES[kind])
        if kind.startswith("map"):
            return pa.array([None if v is None else list(v.items()) for v in values], _TYPES[kind])
        return pa.array(values, _TYPES[kind])


def _series(labels: Sequence[Mapping[str, str] | None]) -> list[str]:
    """Each set of labels as JSON; samples of one series often share theirs."""
    known: dict[int, str] = {}
    for one in labels:
        if id(one) not in known:
            known[id(one)] = json.dumps(one or {}, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return [known[id(one)] for one in labels]
