"""Logs made small: what became of the lines of each source, shapes of lines, and bytes by minute of the loudest.

Lines that are kept verbatim carry bytes like any others, so they are counted under a shape of their own. Lines without
a moment have no minute; ``assembly.logs`` says to which they belong.
"""

from __future__ import annotations

import polars as pl

from mqlab.sources import Reading


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
