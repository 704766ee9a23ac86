"""VOLUME thinned: one row per source, level and line shape."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SHAPES = 300
"""Shapes kept per source; the rest is counted under coverage only."""


def shapes(rows: DataFrame) -> DataFrame:
    """Line shapes of each source, the most frequent ones and all that warn."""
    rank = (
        "row_number() OVER (PARTITION BY source ORDER BY coalesce(level, '') IN ('WARN', 'ERROR', 'FATAL') DESC, "
        "lines DESC, shape) AS rank"
    )
    counted = rows.where("tag = 'count' AND shape IS NOT NULL").withColumnRenamed("file", "source")
    grouped = counted.groupBy("source", "level", "shape").agg(
        F.expr("sum(lines) AS lines"),
        F.expr("sum(bytes) AS bytes"),
        F.expr("min(minute) AS first_minute"),
        F.expr("max(minute) AS last_minute"),
        F.expr("min(line) AS line"),
    )
    return grouped.selectExpr("*", rank).where(f"rank <= {SHAPES}").drop("rank")
