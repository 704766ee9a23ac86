"""How each log grew: bytes per minute in all, and for the few shapes of line with the loudest minutes.

Lines that the scan keeps verbatim carry bytes like any others, so they are counted here too, by a shape of their own.
Lines without a moment have no minute; ``continuation`` says to which they belong.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.canonical import INNER
from mqlab.loaders import layouts
from mqlab.sources import Reading
from mqlab.sql import replaced

MOST = 24
"""Shapes of a log whose minutes are told. A flood is made of three at most, but a shape that was cut to its length
before its numbers were masked stands here once for each length of its numbers; ``log_growth.shapes`` joins them."""
MATTERS = 1_000_000
"""Bytes below which a log's shapes are not told: it cannot have grown by that much within any minute."""

_HEADER, _LOOKED_AT, _LENGTH = 25, 400, 80
_ID = r"[0-9a-fA-F#]{8}(?:-[0-9a-fA-F#]{4}){3}-[0-9a-fA-F#]{2,12}"


def volumes(rows: DataFrame) -> DataFrame:
    """One row a log (``whole``) and one for each of its loudest shapes, from the tagged *rows*.

    ``minutes`` holds (minute, line, lines, bytes) by minute, ``line`` being the first one. In the row of the whole log
    the entry without a minute counts its undated lines.
    """
    by_minute = _logs(rows).groupingSets(
        [["source", "minute"], ["source", "minute", "level", "shape"]], "source", "minute", "level", "shape"
    ).agg(
        F.expr("grouping(shape) = 1 AS whole"),
        F.expr("sum(lines) AS lines"),
        F.expr("sum(bytes) AS bytes"),
        F.expr("min(line) AS line"),
    )  # fmt: skip
    grown = (
        by_minute.where("whole OR minute IS NOT NULL")
        .groupBy("source", "whole", "level", "shape")
        .agg(
            F.expr("sum(lines) AS lines"),
            F.expr("sum(bytes) AS bytes"),
            F.expr("min(line) AS line"),
            F.expr("max(bytes) AS loudest"),
            F.expr("sort_array(collect_list(struct(minute, line, lines, bytes))) AS minutes"),
        )
    )
    ranked = grown.selectExpr(
        "*",
        "max(CASE WHEN whole THEN bytes END) OVER (PARTITION BY source) AS total",
        "row_number() OVER (PARTITION BY source, whole ORDER BY loudest DESC, line, shape) AS rank",
    )
    return ranked.where(f"whole OR (rank <= {MOST} AND total >= {MATTERS})").drop("total", "loudest", "rank")


def _logs(rows: DataFrame) -> DataFrame:
    """Lines and bytes of every log by minute, level and shape; undated lines without a shape."""
    logs = rows.where(f"tag IN ('count', 'event', 'setting', 'row') AND file LIKE '{Reading.LOG.value}%'").selectExpr(
        "file AS source", "tag", "minute", "level", "shape", "lines", "bytes", "line", f"{INNER} AS inner"
    )
    known = logs.selectExpr(
        "source", "lines", "bytes", "line",
        f"coalesce(minute, {layouts.minute('inner')}) AS minute",
        f"coalesce(level, {layouts.level('inner')}) AS level",
        f"CASE tag WHEN 'count' THEN shape ELSE {_masked('inner')} END AS shape",
    )  # fmt: skip
    dated = [f"CASE WHEN minute IS NOT NULL THEN {name} END AS {name}" for name in ("level", "shape")]
    return known.selectExpr("source", "minute", "lines", "bytes", "line", *dated)


def _masked(line: str) -> str:
    """SQL: the shape of a line that was kept verbatim."""
    masked = replaced(replaced(f"substring({line}, {_HEADER}, {_LOOKED_AT})", "[0-9]+", "#"), _ID, "<id>")
    return f"substring({masked}, 1, {_LENGTH})"
