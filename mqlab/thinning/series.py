"""METRICS thinned: samples of the series that mqlab knows by name, one row a series."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab import scan
from mqlab.loaders import metric_names
from mqlab.sql import quoted


def series(samples: DataFrame) -> DataFrame:
    """One row a series: its points (at, value, line) by time."""
    known = samples.where(
        f"(name RLIKE {quoted(metric_names.known())} OR name LIKE 'app.%') AND value IS NOT NULL"
    ).selectExpr(
        "source",
        "name",
        f"{scan.SORTED_LABELS} AS labels",
        "offset",
        "struct(unix_micros(wall) AS at, value, line) AS point",
    )
    return known.groupBy("source", "name", "labels", "offset").agg(F.expr("sort_array(collect_list(point)) AS points"))
