"""What became of the lines of each source: data, noise, or not understood."""

from __future__ import annotations

import polars as pl

NOT_READ = ("unrecognised", "binary", "empty", "unreadable")
"""Formats of sources that nobody understands."""


def coverage(rows: pl.DataFrame) -> pl.DataFrame:
    """Lines and bytes per source and class: data, noise, or null for what nobody understands."""
    sample = pl.struct("line", "text").sort_by("line").first()
    return rows.group_by("source", "class").agg(
        pl.col("lines", "bytes").sum(),
        pl.col("first_minute").min(),
        pl.col("last_minute").max(),
        pl.col("damage").min(),
        pl.when(pl.col("class").first().is_null()).then(sample).alias("sample"),
    )
