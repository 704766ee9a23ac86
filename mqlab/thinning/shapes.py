"""VOLUME thinned: one row per source, level and line shape."""

from __future__ import annotations

import polars as pl

SHAPES = 300
"""Shapes kept per source; the rest is counted under coverage only."""


def shapes(rows: pl.DataFrame) -> pl.DataFrame:
    """Line shapes of each source, the most frequent ones and all that warn; *rows* are those of COUNTS."""
    counted = rows.filter(~pl.col("kept") & pl.col("shape").is_not_null())
    grouped = counted.group_by("source", "level", "shape").agg(
        pl.col("lines", "bytes").sum(),
        pl.col("minute").min().alias("first_minute"),
        pl.col("minute").max().alias("last_minute"),
        pl.col("line").min(),
    )
    warns = pl.col("level").is_in(["WARN", "ERROR", "FATAL"]).fill_null(False).alias("warns")
    ranked = grouped.with_columns(warns).sort("warns", "lines", "shape", descending=[True, True, False])
    return ranked.group_by("source", maintain_order=True).head(SHAPES).drop("warns")
