"""``kafka-get-offsets.sh`` and GetOffsetShell → POSITIONS without a group.

Sample lines::

    plant-telemetry:0:371
    Error: partition 0 does not have a leader. Skip getting offsets

Nothing in a line says which moment was asked for: ``--time`` in a command line above does, else the file's name;
without either the offset is the end (the high watermark).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches
from mqlab.tables import POSITIONS, Table

FORMAT = "kafka-get-offsets"
TABLES: tuple[Table, ...] = (POSITIONS,)
READING = Reading.TABLE

_ROW = r"^(?=[^:]*[A-Za-z_])([A-Za-z0-9._-]+):(\d+):((?:\d+(?:,\d+)*|-1)?)\s*$"
_TIME = r"(?:GetOffsetShell|get-offsets\S*)\s.*--time[ =](\S+)"
_EARLIEST = r"(?i)earliest|oldest|log-?start|beginning"
_SAID = r"Skip getting offsets|GetOffsetShell|partitions? \S+ does not have a leader"


def recognise(head: Head) -> bool:
    """True when every line that is no remark is ``topic:partition:offset``."""
    lines = console.plain_lines(head)
    rows = sum(1 for line in lines if re.search(_ROW, line))
    if not rows:
        return console.only_errors(head, _SAID, r"get-?offset")
    others = sum(1 for line in lines if not re.search(_ROW, line) and not console.is_remark(line))
    return rows >= 9 * others


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One position a line; of ``100,50,0`` (``--offsets 3``) the first is the latest."""
    of_the_name = f"CASE WHEN {matches('name', _EARLIEST)} THEN 'earliest' ELSE 'latest' END"
    asked = f"coalesce({console.nearest_above(filled(group('plain', _TIME)))}, {of_the_name})"
    topic, queue, offsets = (group("plain", _ROW, part) for part in (1, 2, 3))
    offset = f"nullif(try_cast(substring_index({offsets}, ',', 1) AS BIGINT), -1)"
    columns = {
        "at": "at",
        "topic": topic,
        "queue": queue,
        "end": f"CASE WHEN asked IN ('-1', 'latest') THEN {offset} END",
        "start": f"CASE WHEN asked IN ('-2', 'earliest') THEN {offset} END",
    }
    lines = rows.selectExpr("*", f"{asked} AS asked").where(matches("plain", _ROW))
    return {POSITIONS: POSITIONS.rows(lines, columns)}


def line_class(text: str) -> str:
    """Offsets are data."""
    line = console.plain(text)
    return f"CASE WHEN {matches(line, _ROW)} THEN 'data' ELSE {console.remark_class(line)} END"
