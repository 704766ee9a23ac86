"""The canonical tables: what every format produces and everything after it reads; no Spark.

All times are UTC instants. A null means "not in the source", never zero. Every row carries ``source`` and
``line``, so that each number can be traced to a place in the material.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_TEXT, _LONG, _INT, _AT, _REAL, _MAP = "string", "bigint", "int", "timestamp", "double", "map<string,string>"
_FLAG = "boolean"


class Row(NamedTuple):
    """One row of a table; columns that are left out are null, moments are microseconds since 1970, UTC."""

    table: Table
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table that mqlab's layers agree on: its columns and their types, as Spark's DDL names these."""

    name: str
    columns: tuple[tuple[str, str], ...]
    what: str = ""
    """One row of it, in words."""

    def row(self, **values: Any) -> Row:
        """A row of this table; source, line and text are known to whoever reads the line."""
        return Row(self, values)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name, _ in self.columns)

    @cached_property
    def schema(self) -> StructType:
        """The columns as Spark's schema."""
        from pyspark.sql import types

        kinds = {
            _TEXT: types.StringType(), _LONG: types.LongType(), _INT: types.IntegerType(), _AT: types.TimestampType(),
            _REAL: types.DoubleType(), _FLAG: types.BooleanType(),
            _MAP: types.MapType(types.StringType(), types.StringType()),
        }  # fmt: skip
        return types.StructType([types.StructField(name, kinds[kind]) for name, kind in self.columns])

    def conform(self, df: DataFrame) -> DataFrame:
        """Keep exactly this table's columns, in its order and types; columns that *df* lacks become null."""
        from pyspark.sql import functions as F

        have = set(df.columns)
        return df.select(
            *[(F.col(c.name) if c.name in have else F.lit(None)).cast(c.dataType).alias(c.name) for c in self.schema]
        )


def _table(name: str, what: str, /, **columns: str) -> Table:
    placed = columns | {"source": _TEXT, "line": _LONG, "text": _TEXT}
    return Table(name, tuple(placed.items()), what)


EVENTS = _table(
    "events", "One event from a log line; in a flood, the last of `lines` identical ones",
    at=_AT, node=_TEXT, system=_TEXT, kind=_TEXT, cluster=_TEXT, group=_TEXT, topic=_TEXT, queue=_TEXT,
    client_id=_TEXT, member_id=_TEXT, peer=_TEXT, reason=_TEXT, value=_REAL, lines=_LONG,
)  # fmt: skip
POSITIONS = _table(
    "positions", "One group's position in one partition or queue at one moment",
    at=_AT, group=_TEXT, topic=_TEXT, queue=_TEXT, committed=_LONG, end=_LONG, start=_LONG, client_id=_TEXT,
    member_id=_TEXT, peer=_TEXT,
)  # fmt: skip
CLIENTS = _table(
    "clients", "One client or session, from one snapshot or connect line",
    at=_AT, system=_TEXT, group=_TEXT, client_id=_TEXT, peer=_TEXT, connected=_TEXT, clean=_TEXT, expiry=_LONG,
    subscription=_TEXT, queued=_LONG, dropped=_LONG, version=_TEXT,
)  # fmt: skip
ASSIGNMENTS = _table(
    "assignments", "One queue assigned to one member in one snapshot",
    at=_AT, group=_TEXT, topic=_TEXT, queue=_TEXT, client_id=_TEXT, member_id=_TEXT, peer=_TEXT,
)  # fmt: skip
METRICS = _table("metrics", "One sample of one series", at=_AT, name=_TEXT, labels=_MAP, value=_REAL)
SETTINGS = _table(
    "settings", "One configured value as seen at one moment; `at` is null for an undated file",
    at=_AT, scope=_TEXT, owner=_TEXT, key=_TEXT, value=_TEXT, origin=_TEXT, version=_TEXT,
)  # fmt: skip
LEDGER = _table(
    "ledger", "One message recorded as sent, acknowledged, stored, consumed, processed or committed",
    at=_AT, role=_TEXT, party=_TEXT, group=_TEXT, topic=_TEXT, queue=_TEXT, offset=_LONG, key=_TEXT, status=_TEXT,
    dup=_TEXT, bytes=_LONG, told=_TEXT, qos=_INT, retained=_TEXT,
)  # fmt: skip
POLLS = _table(
    "polls", "One poll that an application logged as processed; in a flood, the last of `lines` identical ones",
    at=_AT, client_id=_TEXT, group=_TEXT, records=_LONG, seconds=_REAL, lines=_LONG,
)  # fmt: skip
"""Not for notebooks."""
VOLUME = Table(
    "volume",
    (("at", _AT), ("source", _TEXT), ("level", _TEXT), ("shape", _TEXT), ("lines", _LONG), ("bytes", _LONG),
     ("line", _LONG)),
    "Lines and bytes per source, minute, level and line pattern; `line` is the first of them",
)  # fmt: skip
REJECTS = Table(
    "rejects",
    (("source", _TEXT), ("reason", _TEXT), ("lines", _LONG), ("bytes", _LONG), ("sample", _TEXT), ("line", _LONG)),
    "A file or a line pattern that no format recognises",
)

TABLES = (EVENTS, POSITIONS, CLIENTS, ASSIGNMENTS, METRICS, SETTINGS, LEDGER, VOLUME, REJECTS)
"""Every canonical table."""


_MEANINGS: Mapping[str, str] = {
    "at": "when, UTC; null if unknown",
    "node": "who wrote the line: the broker ID, or the name of the client or host",
    "system": "kafka, rocketmq, mqtt, app or os",
    "kind": "what happened, by the name of the format's signature: `rebalance-started`, `session-takeover` …",
    "cluster": "the cluster's name",
    "group": "the consumer group, or the share group",
    "topic": "the topic, or the topic filter",
    "queue": "the partition (`3`) or the queue (`broker-a/3`)",
    "client_id": "the client ID",
    "member_id": "the member ID that the coordinator assigned",
    "peer": "the address at the other end, `host:port`",
    "reason": "the reason, as the line gives it",
    "value": "the number in the line or sample, in the unit of its kind",
    "lines": "how many lines this row represents; null means one",
    "committed": "the committed offset",
    "end": "the log end offset, or the broker's offset",
    "start": "the log start offset",
    "connected": "whether the client was connected: true or false",
    "clean": "clean session or clean start: true or false",
    "expiry": "the session's expiry in seconds",
    "subscription": "its subscription",
    "queued": "messages waiting for it",
    "dropped": "messages dropped for it",
    "version": "the software's version",
    "name": "the metric's name as its exporter writes it; facts use the canonical name",
    "labels": "its labels, as the exporter writes them",
    "scope": "what is configured: broker, topic, producer, consumer, session, os or application",
    "owner": "what the value belongs to: topic, client ID, broker ID",
    "key": "the setting's or the message's key, as its system names it; message keys are hashed",
    "origin": "its source: printed by a process, file, describe or default",
    "role": "what happened to the message: sent, acknowledged, stored, consumed, processed, committed …",
    "party": "who recorded it",
    "offset": "its offset, or its packet ID",
    "status": "the outcome, as recorded",
    "dup": "whether it was marked as a duplicate",
    "bytes": "the size of the message or of the lines, in bytes",
    "told": "how the role was determined: map, column, name, shape; null if the format fixes it",
    "qos": "quality of service, 0 to 2",
    "retained": "whether it is a retained message: true or false",
    "level": "the level of the lines",
    "shape": "the lines with numbers, IDs and addresses masked",
    "sample": "the first of the lines, secrets masked",
    "source": "the file, as in evidence: its path below the argument, `bundle.tar.gz!/logs/server.log` in archives",
    "line": "the line number in it, from 1; null for documents",
    "text": "the line, secrets masked",
    "records": "records in the poll",
    "seconds": "how long it took",
}
"""What stands in a column; a name means the same in every table."""


def documented() -> str:
    """docs/tables.md: every canonical table with its columns, as Markdown."""
    parts = [
        "# The canonical tables\n\nWhat `capture.events`, `capture.metrics` … hold: Spark DataFrames, one fact a row. "
        'Every row leads back to its place in the material. A null means "not in the source", never zero. Written by '
        "`make docs` from `mqlab/tables.py`.\n"
    ]
    for table in TABLES:
        rows = [f"| `{name}` | {kind} | {_MEANINGS[name]} |" for name, kind in table.columns]
        parts.append(
            f"\n## {table.name}\n\n{table.what}.\n\n| column | type | what it is |\n|---|---|---|\n"
            + "\n".join(rows)
            + "\n"
        )
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(documented())
