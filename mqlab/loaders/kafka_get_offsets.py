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

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
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
    asked = F.nullif(F.regexp_extract("plain", _TIME, 1), F.lit(""))
    lines = rows.withColumn("asked", F.last(asked, True).over(console.upward()))
    offset = F.regexp_extract("plain", _ROW, 3)
    of_the_name = F.when(F.col("name").rlike(_EARLIEST), F.lit("earliest")).otherwise(F.lit("latest"))
    time = F.coalesce("asked", of_the_name)
    positions = lines.where(F.col("plain").rlike(_ROW)).select(
        "source", "line", "text", "at",
        F.regexp_extract("plain", _ROW, 1).alias("topic"),
        F.regexp_extract("plain", _ROW, 2).alias("queue"),
        F.when(time.isin("-1", "latest"), _known(offset)).alias("end"),
        F.when(time.isin("-2", "earliest"), _known(offset)).alias("start"),
    )  # fmt: skip
    return {POSITIONS: positions.transform(POSITIONS.conform)}


def line_class(text: Column) -> Column:
    """Offsets are data."""
    line = console.plain(text)
    return F.when(line.rlike(_ROW), F.lit("data")).otherwise(console.remark_class(line))


def _known(offset: Column) -> Column:
    """The first offset of the cell; null where it is empty or -1."""
    return F.nullif(F.substring_index(offset, ",", 1).try_cast("long"), F.lit(-1))
