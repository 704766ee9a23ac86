"""The work of mqlab's scan by Polars and DuckDB: counts and selected lines of one log, to Parquet.

Each writes ``counts.parquet`` (lines and bytes per minute, level and shape of all lines that no signature selects) and
``kept.parquet`` (line number and text of those that one does), in the way its experts would. The expressions come as
JSON from ``bench.patterns``: mqlab's signature table, and the masks of ``bench.shapes``.

Not the same work, and lighter here: no secrets are masked, no settings blocks looked for, no long lines cut; one layout
of dated lines is known instead of all, and one file is read, whose line numbers are its row numbers.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.shapes import ANY_FRAME, FRAME, HEADER, LENGTH, MASKS

if TYPE_CHECKING:
    import polars as pl

_BAD = ("WARN", "ERROR", "FATAL")
_LEVEL = r"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"


def polars(log: str, out: Path, wanted: dict[str, str]) -> None:
    """Write both results with Polars' streaming engine, in one pass over *log*."""
    import polars as pl

    line, level = pl.col("line"), pl.col("level")
    lines = pl.scan_lines(log, row_index_name="number", row_index_offset=1).with_columns(
        dated=line.str.starts_with("[2")
    )
    written = line.str.slice(HEADER, 5).str.strip_chars_end(" ")
    leveled = lines.with_columns(
        level=pl.when("dated").then(written).otherwise(line.str.head(120).str.extract(_LEVEL, 1))
    )
    begun = line.str.slice(HEADER, 200).str.contains(wanted["begins"])
    elsewhere = line.str.head(400).str.contains(wanted["elsewhere"])
    bad = (level.is_null() | level.is_in(_BAD)) & line.str.contains(wanted["contains"])
    tagged = leveled.with_columns(kept=pl.when("dated").then(begun).otherwise(elsewhere) | bad)
    counts = (
        tagged.filter(~pl.col("kept"))
        .select(
            "level",
            pl.when("dated").then(line.str.slice(1, 16)).alias("minute"),
            _polars_shape().alias("shape"),
            (line.str.len_bytes() + 1).cast(pl.Int64).alias("bytes"),
        )
        .group_by("minute", "level", "shape")
        .agg(pl.len().alias("lines"), pl.col("bytes").sum())
    )
    kept = tagged.filter("kept").select(pl.col("number").alias("line"), pl.col("line").alias("text"))
    sinks = [counts.sink_parquet(out / "counts.parquet", lazy=True), kept.sink_parquet(out / "kept.parquet", lazy=True)]
    pl.collect_all(sinks, engine="streaming")


def _polars_shape() -> pl.Expr:
    import polars as pl

    line = pl.col("line")
    shape = pl.when("dated").then(line.str.slice(HEADER, LENGTH)).otherwise(line.str.head(LENGTH))
    for pattern, name in MASKS:
        shape = shape.str.replace_all(pattern, name)
    return pl.when(~pl.col("dated") & line.str.contains(FRAME)).then(pl.lit(ANY_FRAME)).otherwise(shape)


def duckdb(log: str, out: Path, wanted: dict[str, str]) -> None:
    """Write both results with DuckDB.

    A kept line is a group of its own, as in mqlab, so that one pass makes both. Numbering rows takes all but one core
    away from DuckDB, so the numbers of the kept lines are found in a second, cheap pass.
    """
    import duckdb as engine

    lines = f"""read_csv({_quoted(log)}, columns = {{'line': 'VARCHAR'}}, header = false, delim = '\x01', quote = '',
                escape = '', auto_detect = false)"""
    engine.sql(f"SET threads = {len(os.sched_getaffinity(0))}")
    engine.sql("SET preserve_insertion_order = false")
    engine.sql(f"CREATE OR REPLACE TEMP TABLE found AS {_grouped(lines, wanted)}")
    counts, kept = _quoted(str(out / "counts.parquet")), _quoted(str(out / "kept.parquet"))
    engine.sql(f"COPY (SELECT minute, level, shape, lines, bytes FROM found WHERE text IS NULL) TO {counts}")
    engine.sql(
        f"""COPY (SELECT number AS line, line AS text FROM (SELECT line, row_number() OVER () AS number FROM {lines})
            WHERE line IN (SELECT text FROM found WHERE text IS NOT NULL)) TO {kept}"""
    )


def _grouped(lines: str, wanted: dict[str, str]) -> str:
    begins, elsewhere, contains = (_quoted(wanted[name]) for name in ("begins", "elsewhere", "contains"))
    shape = f"CASE WHEN dated THEN substr(line, {HEADER + 1}, {LENGTH}) ELSE substr(line, 1, {LENGTH}) END"
    for pattern, name in MASKS:
        shape = f"regexp_replace({shape}, {_quoted(pattern)}, '{name}', 'g')"
    return f"""
        WITH leveled AS (
          SELECT line, starts_with(line, '[2') AS dated,
                 CASE WHEN dated THEN rtrim(substr(line, {HEADER + 1}, 5))
                 ELSE nullif(regexp_extract(substr(line, 1, 120), {_quoted(_LEVEL)}, 1), '') END AS level
          FROM {lines}),
        tagged AS (
          SELECT *, CASE WHEN dated THEN regexp_matches(substr(line, {HEADER + 1}, 200), {begins})
                    ELSE regexp_matches(substr(line, 1, 400), {elsewhere}) END
                    OR ((level IS NULL OR level IN {_BAD}) AND regexp_matches(line, {contains})) AS kept
          FROM leveled)
        SELECT CASE WHEN kept THEN line END AS text,
               CASE WHEN NOT kept THEN level END AS level,
               CASE WHEN NOT kept AND dated THEN substr(line, 2, 16) END AS minute,
               CASE WHEN NOT kept THEN
                 CASE WHEN NOT dated AND regexp_matches(line, {_quoted(FRAME)}) THEN '{ANY_FRAME}' ELSE {shape} END
               END AS shape,
               count(*) AS lines, CAST(sum(strlen(line) + 1) AS BIGINT) AS bytes
        FROM tagged GROUP BY ALL"""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    rival = {"polars": polars, "duckdb": duckdb}[sys.argv[1]]
    patterns = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    __import__(sys.argv[1])
    started = time.perf_counter()
    rival(sys.argv[3], Path(sys.argv[4]), patterns)
    print(json.dumps({"seconds": time.perf_counter() - started}))
