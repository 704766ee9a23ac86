"""The canonical tables: what every format produces and everything after it reads; no Spark.

All times are UTC instants. A null means "the source does not say", never zero. Every row carries ``source`` and
``line``, so that each number leads back to a place in the material.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_TEXT, _LONG, _INT, _AT, _REAL, _MAP = "string", "bigint", "int", "timestamp", "double", "map<string,string>"


class Row(NamedTuple):
    """One row of a table; columns that are left out are null, moments are microseconds since 1970, UTC."""

    table: Table
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table that mqlab's layers agree on: its columns and their types, as Spark's DDL names these."""

    name: str
    columns: tuple[tuple[str, str], ...]

    def row(self, **values: Any) -> Row:
        """A row of this table; source, line and text are known to whoever reads the line."""
        return Row(self, values)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name, _ in self.columns)

    @property
    def ddl(self) -> str:
        """The columns as Spark's DDL."""
        return ", ".join(f"`{name}` {kind}" for name, kind in self.columns)

    @cached_property
    def schema(self) -> StructType:
        """The columns as Spark's schema."""
        from pyspark.sql import types

        kinds = {
            _TEXT: types.StringType(), _LONG: types.LongType(), _INT: types.IntegerType(), _AT: types.TimestampType(),
            _REAL: types.DoubleType(), _MAP: types.MapType(types.StringType(), types.StringType()),
        }  # fmt: skip
        return types.StructType([types.StructField(name, kinds[kind]) for name, kind in self.columns])

    def rows(self, df: DataFrame, columns: Mapping[str, str]) -> DataFrame:
        """A row of this table for each row of *df*, which has source, line and text; *columns* gives others in SQL.

        Columns of the table that are not given become null. One step, and nothing is asked of *df*: each step and each
        question is analysed by Spark.
        """
        given = {"source": "source", "line": "line", "text": "text", **columns}
        return df.selectExpr(*[f"CAST({given.get(name, 'NULL')} AS {kind}) AS `{name}`" for name, kind in self.columns])

    def conform(self, df: DataFrame) -> DataFrame:
        """Keep exactly this table's columns, in its order and types; columns that *df* lacks become null."""
        have = set(df.columns)
        return df.selectExpr(
            *[f"CAST({f'`{n}`' if n in have else 'NULL'} AS {kind}) AS `{n}`" for n, kind in self.columns]
        )


def _table(name: str, /, **columns: str) -> Table:
    placed = columns | {"source": _TEXT, "line": _LONG, "text": _TEXT}
    return Table(name, tuple(placed.items()))


EVENTS = _table(
    "events", at=_AT, node=_TEXT, system=_TEXT, kind=_TEXT, cluster=_TEXT, group=_TEXT, topic=_TEXT, queue=_TEXT,
    client_id=_TEXT, member_id=_TEXT, peer=_TEXT, reason=_TEXT, value=_REAL, lines=_LONG,
)  # fmt: skip
"""One thing that a log line says happened; in a flood, the last of ``lines`` alike (null is one)."""

POSITIONS = _table(
    "positions", at=_AT, group=_TEXT, topic=_TEXT, queue=_TEXT, committed=_LONG, end=_LONG, start=_LONG,
    client_id=_TEXT, member_id=_TEXT, peer=_TEXT,
)  # fmt: skip
"""One group's position in one partition or queue at one moment."""

CLIENTS = _table(
    "clients", at=_AT, system=_TEXT, group=_TEXT, client_id=_TEXT, peer=_TEXT, connected=_TEXT, clean=_TEXT,
    expiry=_LONG, subscription=_TEXT, queued=_LONG, dropped=_LONG, version=_TEXT,
)  # fmt: skip
"""One client or session as one snapshot or connect line saw it."""

ASSIGNMENTS = _table(
    "assignments", at=_AT, group=_TEXT, topic=_TEXT, queue=_TEXT, client_id=_TEXT, member_id=_TEXT, peer=_TEXT
)
"""One queue given to one member in one snapshot."""

METRICS = _table("metrics", at=_AT, name=_TEXT, labels=_MAP, value=_REAL)
"""One sample of one series."""

SETTINGS = _table("settings", at=_AT, scope=_TEXT, owner=_TEXT, key=_TEXT, value=_TEXT, origin=_TEXT, version=_TEXT)
"""One configured value as seen at one moment; ``at`` is null for an undated file."""

LEDGER = _table(
    "ledger", at=_AT, role=_TEXT, party=_TEXT, group=_TEXT, topic=_TEXT, queue=_TEXT, offset=_LONG, key=_TEXT,
    status=_TEXT, dup=_TEXT, bytes=_LONG, told=_TEXT, qos=_INT, retained=_TEXT,
)  # fmt: skip
"""One message that somebody says was sent, acknowledged, stored, consumed, processed or committed.

``told`` is what the role is known by: map, column, name, shape, or null where the format fixes it; ``retained`` is
true or false.
"""

POLLS = _table(
    "polls", at=_AT, client_id=_TEXT, group=_TEXT, records=_LONG, seconds=_REAL, lines=_LONG
)  # fmt: skip
"""One poll that an application says it worked off; in a flood, the last of ``lines`` alike. Not for notebooks."""

VOLUME = Table(
    "volume",
    (("at", _AT), ("source", _TEXT), ("level", _TEXT), ("shape", _TEXT), ("lines", _LONG), ("bytes", _LONG),
     ("line", _LONG)),
)  # fmt: skip
"""Lines and bytes per source, minute, level and line shape; ``line`` is the first of them."""

REJECTS = Table(
    "rejects",
    (("source", _TEXT), ("reason", _TEXT), ("lines", _LONG), ("bytes", _LONG), ("sample", _TEXT), ("line", _LONG)),
)
"""A file or a line shape that no format understood."""

TABLES = (EVENTS, POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, LEDGER, VOLUME, REJECTS)
"""Every canonical table."""


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of *frames* (at least one), by name, missing columns as null."""
    return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), frames)
