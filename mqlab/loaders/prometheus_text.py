"""Prometheus' text exposition and OpenMetrics, as ``curl host:port/metrics`` saves them → METRICS.

Sample lines::

    # TYPE kafka_server_brokertopicmetrics_bytesin_total counter
    kafka_server_brokertopicmetrics_bytesin_total{topic="orders",} 1.0485760E7

A sample's moment is its own, else that of a ``date`` line or comment above, else the snapshot's.
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

FORMAT = "prometheus-text"
TABLES: tuple[Table, ...] = (METRICS,)
READING = Reading.TABLE

_META = r"^# (?:TYPE|HELP|UNIT|EOF)\b"
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[Nn]a[Nn]|[Ii]nf)"
_SAMPLE = (
    r"^([A-Za-z_:][\w:]*)(?:\{((?:[^\"{}]|\"(?:[^\"\\]|\\.)*\")*)\})?"
    rf"\s+({_NUMBER})(?:\s+(-?\d+(?:\.\d+)?))?\s*(?:# \{{.*)?$"
)


def recognise(head: Head) -> bool:
    """True when nearly all lines are samples and some of them have labels or a type."""
    lines = console.plain_lines(head)
    found = [line for line in lines if re.search(_SAMPLE, line)]
    typed = any(re.search(_META, line) for line in lines) or any("{" in line for line in found)
    if not found or not typed:
        return False
    others = [line for line in lines if not line.startswith("#") and not re.search(_SAMPLE, line)]
    return len(found) >= 9 * sum(1 for line in others if not console.is_remark(line))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a sample; NaN and infinite ones are left out."""
    own = F.nullif(F.regexp_extract("plain", _SAMPLE, 4), F.lit(""))
    found = rows.where(F.col("plain").rlike(_SAMPLE))
    metrics = found.select(
        "source", "line", "text",
        F.coalesce(samples.instant(own), F.col("at")).alias("at"),
        F.regexp_extract("plain", _SAMPLE, 1).alias("name"),
        samples.labels(F.regexp_extract("plain", _SAMPLE, 2)).alias("labels"),
        samples.finite(F.regexp_extract("plain", _SAMPLE, 3)).alias("value"),
    )  # fmt: skip
    return {METRICS: metrics.where(F.col("value").isNotNull()).transform(METRICS.conform)}


def line_class(text: Column) -> Column:
    """Samples are data, comments noise."""
    line = console.plain(text)
    return (
        F.when(line.rlike(_SAMPLE), F.lit("data"))
        .when(line.startswith("#"), F.lit("noise"))
        .otherwise(F.when(console.remark_class(line).isNotNull(), F.lit("noise")))
    )
