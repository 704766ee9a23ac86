"""CSV of Kafka's JmxTool → METRICS.

Sample lines::

    "time","kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=orders:Count"
    1729764000000,1048576

A column is named ``mbean:attribute``. ``type`` and ``name`` stay in the metric's name,
``kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:Count``; the other properties become labels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console, samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import METRICS, Table

FORMAT = "jmxtool-csv"
TABLES: tuple[Table, ...] = (METRICS,)
READING = Reading.TABLE

_HEADER = r'^"?time"?,\s*"?[\w.]+:[\w-]+='
_ROW = r'^"?(\d{13}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^",]*)"?,'
_NEXT_COLUMN = r'"?,\s*"?(?=[\w.]+:[\w-]+=)'
_NEXT_PROPERTY = r",(?=[\w-]+=)"


def recognise(head: Head) -> bool:
    """True for a first column of times and mbeans behind it."""
    return any(re.search(_HEADER, line) for line in console.plain_lines(head)[:5])


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a cell that holds a finite number."""
    plain = console.plain(F.col("text"))
    header = F.when(plain.rlike(_HEADER), F.slice(F.split(F.rtrim(plain, F.lit('"')), _NEXT_COLUMN), 2, 100000))
    lines = rows.select(
        "source", "line", "text", plain.alias("plain"), F.last(header, True).over(console.upward()).alias("columns")
    )
    cells = F.slice(F.split(F.translate("plain", '"', ""), ","), 2, 100000)
    time = F.regexp_extract("plain", _ROW, 1)
    found = lines.where(F.col("plain").rlike(_ROW)).select(
        "source", "line", "text",
        F.coalesce(samples.instant(time), time.try_cast("timestamp")).alias("at"),
        F.explode(F.arrays_zip(F.col("columns").alias("column"), cells.alias("cell"))).alias("pair"),
    )  # fmt: skip
    metrics = found.select(
        "source", "line", "text", "at",
        _name(F.col("pair")["column"]).alias("name"),
        _labels(F.col("pair")["column"]).alias("labels"),
        samples.finite(F.col("pair")["cell"]).alias("value"),
    )  # fmt: skip
    return {METRICS: metrics.where(F.col("value").isNotNull()).transform(METRICS.conform)}


def line_class(text: Column) -> Column:
    """Rows are data, headers noise."""
    line = console.plain(text)
    return (
        F.when(line.rlike(_ROW), F.lit("data"))
        .when(line.rlike(_HEADER), F.lit("noise"))
        .otherwise(F.when(console.remark_class(line).isNotNull(), F.lit("noise")))
    )


def _properties(column: Column) -> Column:
    return F.split(F.regexp_extract(column, r"^[^:]+:(.*):[^:]+$", 1), _NEXT_PROPERTY)


def _name(column: Column) -> Column:
    kept = F.filter(_properties(column), lambda pair: pair.rlike("^(?:type|name)="))
    domain, attribute = F.substring_index(column, ":", 1), F.substring_index(column, ":", -1)
    return F.concat_ws(":", domain, F.array_join(kept, ","), attribute)


def _labels(column: Column) -> Column:
    others = F.filter(_properties(column), lambda pair: pair.contains("=") & ~pair.rlike("^(?:type|name)="))
    return samples.unique(F.transform(others, _pair))


def _pair(text: Column) -> Column:
    return F.struct(F.substring_index(text, "=", 1).alias("k"), F.regexp_extract(text, "^[^=]*=(.*)$", 1).alias("v"))
