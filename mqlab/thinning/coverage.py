"""What became of the lines of each source: data, noise, or not understood."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.canonical import FORMAT, INNER, table_loaders
from mqlab.sources import Reading

NOT_READ = ("unrecognised", "binary", "empty", "unreadable")
"""Formats of sources that nobody understands."""


def coverage(rows: DataFrame, formats: frozenset[str]) -> DataFrame:
    """Lines and bytes per source and class: data, noise, or null for what nobody understands."""
    named = rows.where("tag NOT IN ('metric', 'answer')").withColumnRenamed("file", "source")
    readings = named.selectExpr("*", f"{INNER} AS plain")
    loaders = table_loaders(formats)
    cases = [f"WHEN {FORMAT} = '{loader.FORMAT}' THEN {loader.line_class('plain')}" for loader in loaders]
    table_class = f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS STRING)"
    unread = ", ".join(f"'{name}'" for name in NOT_READ)
    line_class = (
        "CASE WHEN tag IN ('event', 'setting') THEN 'data' "
        f"WHEN tag = 'row' AND source LIKE '{Reading.LOG.value}%' THEN 'data' "
        "WHEN tag = 'row' THEN table_class WHEN tag = 'document' THEN shape "
        f"WHEN {FORMAT} NOT IN ({unread}) THEN 'noise' END AS class"
    )
    classed = readings.selectExpr("*", f"{table_class} AS table_class")
    return classed.selectExpr("source", "lines", "bytes", "minute", "line", "text", line_class).groupBy(
        "source", "class"
    ).agg(
        F.expr("sum(lines) AS lines"),
        F.expr("sum(bytes) AS bytes"),
        F.expr("min(minute) AS first_minute"),
        F.expr("max(minute) AS last_minute"),
        F.expr("min(CASE WHEN class IS NULL THEN struct(line, text) END) AS sample"),
    )  # fmt: skip
