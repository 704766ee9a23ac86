"""Polls that applications say they worked off, thinned in Spark: long ones one by one, short ones together."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

LONG = 1.0
"""Seconds from which a poll has a row of its own."""
TOGETHER = 10
"""Seconds in which shorter ones share a row."""


def batches(told: DataFrame) -> DataFrame:
    """One row a long poll and one for the short ones of one client that end within ten seconds.

    *told* are rows of ``batch_lines.batches``; a line that stands for several in a flood counts that often. The last
    moment is ``wall`` in microseconds; line and text are those of the longest poll, the first of equals.
    """
    known = told.selectExpr(
        "*",
        f"CASE WHEN seconds >= {LONG} THEN line ELSE floor(unix_seconds(wall) / {TOGETHER}) END AS bucket",
        f"seconds >= {LONG} AS long",
        "coalesce(lines, 1L) AS times",
    )
    return (
        known.groupBy("source", "offset", "client_id", "group", "long", "bucket")
        .agg(
            F.expr("unix_micros(max(wall)) AS wall"),
            F.expr("sum(times) AS polls"),
            F.expr("sum(records * times) AS records"),
            F.expr("sum(CAST(seconds AS DECIMAL(20, 6)) * times) AS exact"),
            F.expr("max(struct(seconds, -line AS place, records, text)) AS longest"),
        )
        .selectExpr(
            "source", "offset", "client_id", "`group`", "wall", "polls", "records",
            "CAST(exact AS DOUBLE) AS seconds",
            "longest.seconds AS longest_seconds", "longest.records AS longest_records",
            "-longest.place AS line", "longest.text AS text",
        )
    )  # fmt: skip
