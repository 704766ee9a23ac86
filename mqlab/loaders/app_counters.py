"""Counters that applications print → METRICS, named ``app.received`` and the like; lines as in ``application_log``."""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders.application_log import COUNTER, COUNTERS
from mqlab.loaders.logs import beginning
from mqlab.sql import quoted


def counters(lines: DataFrame) -> DataFrame:
    """METRICS on the lines' own clocks, one row a counter; *lines* are kept ones as ``logs.beginning`` takes them."""
    pairs = f"explode(regexp_extract_all(text, {quoted(COUNTER)}, 0)) AS pair"
    told = beginning(lines, COUNTERS)
    printed = told.selectExpr("source", "line", "text", "wall", "offset", pairs)
    return printed.selectExpr(
        "source", "line", "text", "wall", "offset",
        "concat('app.', split_part(pair, '=', 1)) AS name",
        "CAST(map() AS MAP<STRING, STRING>) AS labels",
        "try_cast(split_part(pair, '=', 2) AS DOUBLE) AS value",
    )  # fmt: skip
