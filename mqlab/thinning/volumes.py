"""How each log grew: bytes per minute in all, and for the few shapes of line with the loudest minutes.

Lines that the scan keeps verbatim carry bytes like any others, so they are counted here too, by a shape of their own.
Lines without a moment have no minute; ``continuation`` says to which they belong.
"""

from __future__ import annotations

import polars as pl

from mqlab.sources import Reading

MOST = 24
"""Shapes of a log whose minutes are told. A flood is made of three at most, but a shape that was cut to its length
before its numbers were masked stands here once for each length of its numbers; ``log_growth.shapes`` joins them."""
MATTERS = 1_000_000
"""Bytes below which a log's shapes are not told: it cannot have grown by that much within any minute."""


def volumes(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a log (``whole``) and one for each of its loudest shapes, from rows of COUNTS.

    ``minutes`` holds (minute, line, lines, bytes) by minute, ``line`` being the first one. In the row of the whole log
    the entry without a minute counts its undated lines.
    """
    logs = rows.filter(pl.col("source").str.starts_with(Reading.LOG.value))
    whole = _by_minute(logs, ["source", "minute"]).with_columns(
        whole=pl.lit(True), level=pl.lit(None, pl.String), shape=pl.lit(None, pl.String)
    )
    shaped = _by_minute(logs.filter(pl.col("minute").is_not_null()), ["source", "minute", "level", "shape"])
    every = pl.concat([whole, shaped.with_columns(whole=pl.lit(False))], how="diagonal")
    grown = every.group_by("source", "whole", "level", "shape").agg(
        pl.col("lines", "bytes").sum(),
        pl.col("line").min(),
        pl.col("bytes").max().alias("loudest"),
        pl.struct("minute", "line", "lines", "bytes").sort_by("minute", nulls_last=False).alias("minutes"),
    )
    total = pl.col("bytes").filter("whole").max().over("source")
    ordered = grown.with_columns(total.alias("total")).sort("loudest", "line", "shape", descending=[True, False, False])
    ranked = ordered.with_columns(pl.int_range(pl.len()).over("source", "whole").alias("rank"))
    told = ranked.filter(pl.col("whole") | ((pl.col("rank") < MOST) & (pl.col("total") >= MATTERS)))
    return told.drop("total", "loudest", "rank")


def _by_minute(logs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return logs.group_by(keys).agg(pl.col("lines", "bytes").sum(), pl.col("line").min())
