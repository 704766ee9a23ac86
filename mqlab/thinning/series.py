"""METRICS thinned: samples of the series that mqlab knows by name, one row a series."""

from __future__ import annotations

import polars as pl

from mqlab.formats import metric_names


def series(samples: pl.DataFrame) -> pl.DataFrame:
    """One row a series: its points (at, value, line) by time; labels are JSON with sorted keys."""
    names = samples["name"].unique().drop_nulls()
    known = [name for name in names if name.startswith("app.") or metric_names.is_known(name)]
    told = samples.filter(pl.col("name").is_in(known) & pl.col("value").is_not_null())
    points = pl.struct(pl.col("wall").alias("at"), "value", "line").sort_by("wall", "value", "line")
    return told.group_by("source", "name", pl.col("series").alias("labels"), "offset").agg(points.alias("points"))
