"""The canonical tables: what every loader produces and everything after it reads.

All times are UTC instants. A null means "the source does not say", never zero. Every row carries ``source`` and
``line``, so that each number leads back to a place in the material.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_TEXT, _LONG, _INT, _AT, _REAL = StringType(), LongType(), IntegerType(), TimestampType(), DoubleType()


@dataclass(frozen=True)
class Table:
    """A table that mqlab's layers agree on."""

    name: str
    schema: StructType

    def rows(self, df: DataFrame, columns: Mapping[str, str]) -> DataFrame:
        """A row of this table for each row of *df*, which has source, line and text; *columns* gives others in SQL.

        Columns of the table that are not given become null. One step, and nothing is asked of *df*: each step and each
        question is analysed by Spark.
        """
        given = {"source": "source", "line": "line", "text": "text", **columns}
        return df.selectExpr(
            *[f"CAST({given.get(f.name, 'NULL')} AS {f.dataType.simpleString()}) AS `{f.name}`" for f in self.schema]
        )

    def conform(self, df: DataFrame) -> DataFrame:
        """Keep exactly this table's columns, in its order and types; columns that *df* lacks become null."""
        have = set(df.columns)
        return df.selectExpr(
            *[
                f"CAST({f'`{f.name}`' if f.name in have else 'NULL'} AS {f.dataType.simpleString()}) AS `{f.name}`"
                for f in self.schema.fields
            ]
        )


def _table(name: str, /, **columns: DataType) -> Table:
    placed: dict[str, DataType] = columns | {"source": _TEXT, "line": _LONG, "text": _TEXT}
    return Table(name, StructType([StructField(column, kind) for column, kind in placed.items()]))


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

METRICS = _table("metrics", at=_AT, name=_TEXT, labels=MapType(_TEXT, _TEXT), value=_REAL)
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

VOLUME = Table(
    "volume",
    StructType(
        [
            StructField("at", _AT),
            StructField("source", _TEXT),
            StructField("level", _TEXT),
            StructField("shape", _TEXT),
            StructField("lines", _LONG),
            StructField("bytes", _LONG),
            StructField("line", _LONG),
        ]
    ),
)
"""Lines and bytes per source, minute, level and line shape; ``line`` is the first of them."""

REJECTS = Table(
    "rejects",
    StructType(
        [
            StructField("source", _TEXT),
            StructField("reason", _TEXT),
            StructField("lines", _LONG),
            StructField("bytes", _LONG),
            StructField("sample", _TEXT),
            StructField("line", _LONG),
        ]
    ),
)
"""A file or a line shape that no loader understood."""

TABLES = (EVENTS, POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, LEDGER, VOLUME, REJECTS)
"""Every canonical table."""


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of *frames* (at least one), by name, missing columns as null."""
    return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), frames)
