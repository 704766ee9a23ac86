"""Polls that applications say they worked off, thinned in Spark: long ones one by one, short ones together."""

from __future__ import annotations

import polars as pl

LONG = 1.0
"""Seconds from which a poll has a row of its own."""
TOGETHER = 10
"""Seconds in which shorter ones share a row."""


def batches(told: pl.DataFrame) -> pl.DataFrame:
    """One row a long poll and one for the short ones of one client that end within ten seconds.

    *told* are rows of POLLS; a line that stands for several in a flood counts that often. The last moment is ``wall``
    in microseconds; line and text are those of the longest poll, the first of equals.
    """
    long, times = pl.col("seconds") >= LONG, pl.col("lines").fill_null(1)
    known = told.with_columns(
        pl.when(long).then("line").otherwise(pl.col("wall") // (TOGETHER * 1_000_000)).alias("bucket"),
        long.alias("long"),
        times.alias("times"),
        ((pl.col("seconds") * 1e6).round().cast(pl.Int64) * times).alias("micros"),
    ).sort("seconds", "line", descending=[True, False])
    return known.group_by("source", "offset", "client_id", "group", "long", "bucket").agg(
        pl.col("wall").max(),
        pl.col("times").sum().alias("polls"),
        (pl.col("records") * pl.col("times")).sum().alias("records"),
        (pl.col("micros").sum() / 1e6).round(6).alias("seconds"),
        pl.col("seconds").first().alias("longest_seconds"),
        pl.col("records").first().alias("longest_records"),
        pl.col("line", "text").first(),
    ).drop("long", "bucket")  # fmt: skip
