"""What splits give, gathered table by table and written as Parquet, each table in a folder of its own.

A file has a name that nobody else uses, and counts only where the task that wrote it says so (``Output.written``): what
a task leaves behind that failed or was run twice is in no index of the workspace.
"""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import polars as pl
import pyarrow as pa

from mqlab.material import files
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, LEDGER, METRICS, POLLS, POSITIONS, SETTINGS, Row, Table

COUNTS = Table(
    "counts",
    (("source", "string"), ("split", "int"), ("minute", "string"), ("level", "string"), ("shape", "string"),
     ("kept", "boolean"), ("lines", "bigint"), ("bytes", "bigint"), ("line", "bigint")),
)  # fmt: skip
"""Lines and bytes of a split by minute, level and shape, ``kept`` where they became rows; the first of them."""
COVERAGE = Table(
    "coverage",
    (("source", "string"), ("split", "int"), ("class", "string"), ("lines", "bigint"), ("bytes", "bigint"),
     ("first_second", "string"), ("last_second", "string"), ("line", "bigint"), ("text", "string"),
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
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(), "bigint": pa.int64(), "int": pa.int32(), "double": pa.float64(), "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"), "map<string,string>": pa.map_(pa.string(), pa.string()),
}  # fmt: skip


_SERIES: Mapping[str, type[pl.DataType]] = {
    "string": pl.String, "bigint": pl.Int64, "int": pl.Int32, "double": pl.Float64, "boolean": pl.Boolean,
    "timestamp": pl.Int64,
}  # fmt: skip
"""Of lists, which become Arrow through Polars: Arrow itself imports pandas for them, which takes as long as a paste."""


def stored(table: Table) -> tuple[tuple[str, str], ...]:
    """The columns of *table* as they are stored: its own, and where a line of a log stands.

    ``at`` is on the line's own clock, ``east`` how far east of UTC that is, where it is known; ``line`` counts from
    the beginning of the split. ``series`` is a sample's labels as JSON with sorted keys.
    """
    if table in (COUNTS, COVERAGE, FACTS):
        return table.columns
    series = (("series", "string"),) if table is METRICS else ()
    return (*table.columns, ("east", "int"), ("split", "int"), *series)


def arrow_schema(columns: Iterable[tuple[str, str]]) -> pa.Schema:
    """These columns, named in Spark's DDL, as Arrow's schema."""
    return pa.schema([pa.field(name, _TYPES[kind]) for name, kind in columns])


_SCHEMAS = {table: arrow_schema(stored(table)) for table in WRITTEN}


class Output:
    """The rows of the splits of one task: written, and thinned, when all of them were read."""

    def __init__(self, folder: str | None = None) -> None:
        """Rows are written below *folder*; without one they are kept in ``tables``."""
        self._folder = folder
        self._source, self._split = "", 0
        self._numbers: Sequence[int] = ()
        self._whole: set[str] = set()
        self._rows: dict[Table, list[Mapping[str, Any]]] = defaultdict(list)
        self._parts: dict[Table, list[pa.Table]] = defaultdict(list)
        self.damage: str | None = None
        """Why the split could not be read to its end."""
        self.tables: dict[Table, pa.Table] = {}
        """What is not written, once the task is done."""
        self.written: list[tuple[str, str]] = []
        """Tables and names of the files that were written."""
        self.facts: list[tuple[str, str]] = []
        """(fact, payload) of the sources that were read whole."""

    def begin(self, source: str, split: int, *, whole: bool, numbers: Sequence[int] = ()) -> None:
        """What is added from now on belongs to this *split* of this *source*, which may be all of it.

        *numbers* are those that its lines have in the file, where they were made whole.
        """
        self._source, self._split, self.damage, self._numbers = source, split, None, numbers
        if whole:
            self._whole.add(source)

    def add(self, row: Row, line: int, text: str, east: int | None) -> None:
        """Add a *row* that stands in this *line* with this *text*, unless it says otherwise."""
        rows = self._rows[row.table]
        told = {"source": self._source, "split": self._split, "line": line, "text": text, "east": east, **row.values}
        rows.append(told | {"line": self._number(told["line"])})
        if row.table is LEDGER and len(rows) >= _MOST:
            self._write(LEDGER, self._listed(LEDGER, self._rows.pop(LEDGER)))

    def forget(self, table: Table) -> None:
        """Take back the rows of the split in this *table*, as far as they are not written yet."""
        self._rows[table] = [row for row in self._rows[table] if row["source"] != self._source]
        self._parts[table] = [part for part in self._parts[table] if part["source"][0].as_py() != self._source]

    def count(self, table: Table, **counted: Any) -> None:
        """Add a row of COVERAGE."""
        known = {"source": self._source, "split": self._split, "damage": self.damage}
        self._rows[table].append(known | counted | {"line": self._number(counted.get("line"))})

    def _number(self, line: int | None) -> int | None:
        """The number in the file of a *line* of the split."""
        return self._numbers[line - 1] if line is not None and 0 < line <= len(self._numbers) else line

    def add_frame(self, table: Table, frame: pl.DataFrame) -> None:
        """Add rows as columns; those that the table has and *frame* has not are null."""
        if not frame.height:
            return
        columns = {"source": self._source, "split": self._split, "damage": self.damage}
        if self._numbers and "line" in frame.columns:
            placed = [self._number(line) for line in frame["line"].to_list()]
            frame = frame.with_columns(pl.Series("line", placed, dtype=pl.Int64))
        told = {name: [value] * frame.height for name, value in columns.items()}
        self._parts[table].append(_table(table, told | {name: frame[name] for name in frame.columns}, frame.height))
        if table is LEDGER and sum(part.num_rows for part in self._parts[LEDGER]) >= _MOST:
            self._write(LEDGER, pa.concat_tables(self._parts.pop(LEDGER)))

    def close(self, thinned: Callable[[Mapping[Table, pa.Table]], Iterable[tuple[str, str, str]]]) -> None:
        """Write what there is, and what *thinned* makes of the sources that were read whole: source, fact, payload."""
        for table, rows in self._rows.items():
            self._parts[table].append(self._listed(table, rows))
        tables = {table: pa.concat_tables(parts) for table, parts in self._parts.items()}
        facts = list(thinned({table: files.about(rows, self._whole) for table, rows in tables.items()}))
        self.facts = [(fact, payload) for _, fact, payload in facts]
        if facts:
            columns = dict(zip(_SCHEMAS[FACTS].names, zip(*facts, strict=True), strict=True))
            tables[FACTS] = _table(FACTS, columns, len(facts))
        for table, rows in tables.items():
            self._write(table, rows)

    def _write(self, table: Table, rows: pa.Table) -> None:
        if self._folder is None:
            self.tables[table] = pa.concat_tables([*([self.tables[table]] if table in self.tables else []), rows])
            return
        name = f"{secrets.token_hex(8)}.parquet"
        files.write_parquet(rows, f"{self._folder}/{table.name}/{name}")
        self.written.append((table.name, name))

    def _listed(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name, _ in stored(table)}
        if table is METRICS:
            columns["series"] = _series(columns["labels"])
        return _table(table, columns, len(rows))


def _table(table: Table, columns: Mapping[str, Any], height: int) -> pa.Table:
    arrays = [_array(columns.get(name), kind, height) for name, kind in stored(table)]
    return pa.Table.from_arrays(arrays, schema=_SCHEMAS[table])


def _array(values: Any, kind: str, height: int) -> pa.Array:
    if values is None:
        return pa.nulls(height, _TYPES[kind])
    if kind.startswith("map"):
        return _maps(values)
    series = values if isinstance(values, pl.Series) else pl.Series(values, dtype=_SERIES[kind])
    array = series.to_arrow(compat_level=pl.CompatLevel.oldest())
    return array.cast(pa.int64()).cast(_TYPES[kind]) if kind == "timestamp" else array.cast(_TYPES[kind])


def _maps(values: Sequence[Mapping[str, str] | None]) -> pa.Array:
    pairs = [pair for one in values for pair in (one or {}).items()]
    begins = [0, *accumulate(len(one or {}) for one in values)]
    offsets = [*(None if one is None else at for one, at in zip(values, begins, strict=False)), begins[-1]]
    keys, items = (_array([pair[n] for pair in pairs], "string", len(pairs)) for n in range(2))
    return pa.MapArray.from_arrays(_array(offsets, "int", len(offsets)), keys, items)


def _series(labels: Sequence[Mapping[str, str] | None]) -> list[str]:
    """Each set of labels as JSON; samples of one series often share theirs."""
    known: dict[int, str] = {}
    for one in labels:
        if id(one) not in known:
            known[id(one)] = json.dumps(one or {}, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return [known[id(one)] for one in labels]
