"""``kafka-configs.sh --describe`` (0.10 … 4.x) → SETTINGS of topics, brokers and clients.

Sample lines::

    All configs for topic plant-telemetry are:
      max.message.bytes=1048588 sensitive=false synonyms={DEFAULT_CONFIG:message.max.bytes=1048588}
    Quota configs for client-id 'billing' are producer_byte_rate=1048576.0

A value whose first synonym is the default, or that has none, was never set by anybody: its origin is ``default``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import SETTINGS, Table

FORMAT = "kafka-configs-describe"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_HEADER = (
    r"^\s*(?:(?:Dynamic|All|Default|Quota|SCRAM credential) )?[Cc]onfigs? for (?:the default )?"
    r"(topic|broker|client-id|client|user-principal|user|ip|group)s?\b[ :]?(.*?) are\b:?(.*)$"
)
_ROW = r"^\s+([A-Za-z][\w.-]*)=(.*) sensitive=(true|false) synonyms=\{(.*)\}\s*$"
_INLINE = r",\s*(?=[A-Za-z][\w.]*=)"
_SAID = r"executing config command|ConfigCommand"


def recognise(head: Head) -> bool:
    """True for the tool's header lines or its entries with synonyms."""
    lines = console.plain_lines(head)
    found = any(re.search(f"{_HEADER}|{_ROW}", line) for line in lines)
    return found or console.only_errors(head, _SAID, r"configs?-describe|kafka-configs")


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One setting an entry; scope and owner come from the header nearest above."""
    header = F.when(F.col("plain").rlike(_HEADER), F.col("plain"))
    lines = rows.withColumn("header", F.last(header, True).over(console.upward()))
    return {SETTINGS: _settings(lines)}


def line_class(text: Column) -> Column:
    """Entries, and headers that hold some, are data; other headers are noise."""
    line = console.plain(text)
    inline = line.rlike(_HEADER) & F.regexp_extract(line, _HEADER, 3).contains("=")
    return (
        F.when(line.rlike(_ROW) | inline, F.lit("data"))
        .when(line.rlike(_HEADER), F.lit("noise"))
        .otherwise(console.remark_class(line))
    )


def _settings(lines: DataFrame) -> DataFrame:
    entry = F.col("plain").rlike(_ROW)
    inline = F.split(F.trim(F.regexp_extract("plain", _HEADER, 3)), _INLINE)
    described = F.array(F.concat_ws("=", F.regexp_extract("plain", _ROW, 1), F.regexp_extract("plain", _ROW, 2)))
    pairs = F.filter(F.when(entry, described).otherwise(inline), lambda pair: pair.contains("="))
    unset = entry & F.regexp_extract("plain", _ROW, 4).rlike(r"^(?:DEFAULT_CONFIG:|$)")
    entity = F.regexp_extract("header", _HEADER, 1)
    found = lines.where(F.col("plain").rlike(f"{_ROW}|{_HEADER}")).select("*", F.explode(pairs).alias("pair"))
    return found.select(
        "source", "line", "text", "at",
        F.when(entity.isin("topic", "broker"), entity).otherwise(F.lit("client")).alias("scope"),
        _owner(F.regexp_extract("header", _HEADER, 2)).alias("owner"),
        F.substring_index("pair", "=", 1).alias("key"),
        F.regexp_extract("pair", r"^[^=]*=(.*)$", 1).alias("value"),
        F.when(unset, F.lit("default")).otherwise(F.lit("describe")).alias("origin"),
    ).transform(SETTINGS.conform)  # fmt: skip


def _owner(named: Column) -> Column:
    """Name without quotes; null for the default of all, as in ``for brokers in the cluster``."""
    bare = F.regexp_replace(F.trim(named), r"^:?\s*'?|'$", "")
    return F.when(~bare.isin("", "in the cluster"), bare)
