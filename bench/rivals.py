"""The work of mqlab's scan by Polars and DuckDB: counts and selected lines of one log, to Parquet.

Each writes ``counts.parquet`` (lines and bytes per minute, level and shape of all lines that no signature selects) and
``kept.parquet`` (line number and text of those that one does), in the way its experts would. Words and expressions come
as JSON from ``bench.patterns``: mqlab's signature table, and the masks of ``bench.shapes``. Both count by rough shapes
first, as mqlab does, and mask the identifiers in the few that are left.

Not the same work, and lighter here: no secrets are masked, no settings blocks looked for, no long lines cut, no line
becomes an event with its parts; one layout of dated lines is known instead of all, and one file is read, whose line
numbers are its row numbers.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.patterns import Patterns, for_rust
from bench.shapes import ANY_FRAME, FINE, FRAME, HEADER, LENGTH, ROUGH

if TYPE_CHECKING:
    import polars as pl

_BAD = ("WARN", "ERROR", "FATAL")
_LEVEL = r"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
_KEYS = ("minute", "level", "shape")
_BEGINNING, _NEAR = 200, 400
"""Characters of a dated line behind its stamp, and of another one, in which a message begins."""


def polars(log: str, out: Path, wanted: Patterns) -> None:
    """Write both results with Polars' streaming engine, in one pass over *log*.

    The same pass counts all lines and takes out those that hold a word of a signature. The expressions decide about
    these, and what they keep is taken off the counts: deciding within the pass would go over it once for each result,
    which takes twice as long.
    """
    import polars as pl

    lines = _polars_lines(log)
    holding = pl.col("line").str.contains_any(wanted["begins_words"])
    telling = pl.col("bad") & pl.col("line").str.contains_any(wanted["contains_words"])
    everything, candidates = pl.collect_all(
        [_polars_counted(lines, 1), lines.filter(holding | telling)], engine="streaming"
    )
    kept = _polars_kept(candidates, for_rust(wanted))
    found = pl.concat([everything, _polars_counted(kept.lazy(), -1).collect()])
    shape = pl.col("shape")
    for pattern, name in FINE:
        shape = shape.str.replace_all(pattern, name)
    shape = pl.when(pl.col("shape").str.contains(FRAME)).then(pl.lit(ANY_FRAME)).otherwise(shape)
    counts = found.with_columns(shape=shape).group_by(_KEYS).agg(pl.col("lines", "bytes").sum())
    counts.filter(pl.col("lines") > 0).write_parquet(out / "counts.parquet")
    kept.select(pl.col("number").alias("line"), pl.col("line").alias("text")).write_parquet(out / "kept.parquet")


def _polars_lines(log: str) -> pl.LazyFrame:
    """Each line with its number, whether it is dated, its level and whether that is bad or missing."""
    import polars as pl

    line, level = pl.col("line"), pl.col("level")
    written = line.str.slice(HEADER, 5).str.strip_chars_end(" ")
    return (
        pl.scan_lines(log, row_index_name="number", row_index_offset=1)
        .with_columns(dated=line.str.starts_with("[2"))
        .with_columns(level=pl.when("dated").then(written).otherwise(line.str.head(120).str.extract(_LEVEL, 1)))
        .with_columns(bad=level.is_null() | level.is_in(_BAD))
    )


def _polars_counted(lines: pl.LazyFrame, sign: int) -> pl.LazyFrame:
    """Lines and bytes by minute, level and rough shape, times *sign*."""
    import polars as pl

    line = pl.col("line")
    shape = pl.when("dated").then(line.str.slice(HEADER, LENGTH)).otherwise(line.str.head(LENGTH))
    told = lines.select(
        pl.when("dated").then(line.str.slice(1, 16)).alias("minute"),
        "level",
        shape.str.replace_all(*ROUGH).alias("shape"),
        (line.str.len_bytes() + 1).cast(pl.Int64).alias("bytes"),
    )
    sums = pl.len().cast(pl.Int64).alias("lines"), pl.col("bytes").sum()
    return told.group_by(_KEYS).agg(*sums).with_columns(pl.col("lines", "bytes") * sign)


def _polars_kept(candidates: pl.DataFrame, wanted: Patterns) -> pl.DataFrame:
    """Those of the *candidates* that a signature selects; dated ones are never asked what is only for others."""
    import polars as pl

    line = pl.col("line")
    tells = pl.col("bad") & line.str.contains(wanted["contains"])
    begins = line.str.slice(HEADER, _BEGINNING).str.contains(wanted["begins"])
    elsewhere = line.str.head(_NEAR).str.contains(wanted["elsewhere"])
    dated = candidates.lazy().filter("dated").filter(begins | tells)
    others = candidates.lazy().filter(~pl.col("dated")).filter(elsewhere | tells)
    return pl.concat(pl.collect_all([dated, others], engine="streaming"))


def duckdb(log: str, out: Path, wanted: Patterns) -> None:
    """Write both results with DuckDB.

    A kept line is a group of its own, so that one pass makes both. Numbering rows takes all but one core away from
    DuckDB, so the numbers of the kept lines are found in a second, cheap pass. Words do not help it: one expression of
    all words takes it as long as the signatures themselves, as its engine turns both into one automaton.
    """
    import duckdb as engine

    lines = f"""read_csv({_quoted(log)}, columns = {{'line': 'VARCHAR'}}, header = false, delim = '\x01', quote = '',
                escape = '', auto_detect = false)"""
    engine.sql(f"SET threads = {len(os.sched_getaffinity(0))}")
    engine.sql("SET preserve_insertion_order = false")
    engine.sql(f"CREATE OR REPLACE TEMP TABLE found AS {_grouped(lines, wanted)}")
    counts, kept = _quoted(str(out / "counts.parquet")), _quoted(str(out / "kept.parquet"))
    engine.sql(f"COPY ({_fine('found')}) TO {counts}")
    engine.sql(
        f"""COPY (SELECT number AS line, line AS text FROM (SELECT line, row_number() OVER () AS number FROM {lines})
            WHERE line IN (SELECT text FROM found WHERE text IS NOT NULL)) TO {kept}"""
    )


def _grouped(lines: str, wanted: Patterns) -> str:
    begins, elsewhere, contains = (_quoted(p) for p in (wanted["begins"], wanted["elsewhere"], wanted["contains"]))
    pattern, name = map(_quoted, ROUGH)
    start = f"CASE WHEN dated THEN substr(line, {HEADER + 1}, {LENGTH}) ELSE substr(line, 1, {LENGTH}) END"
    return f"""
        WITH leveled AS (
          SELECT line, starts_with(line, '[2') AS dated,
                 CASE WHEN dated THEN rtrim(substr(line, {HEADER + 1}, 5))
                 ELSE nullif(regexp_extract(substr(line, 1, 120), {_quoted(_LEVEL)}, 1), '') END AS level
          FROM {lines}),
        tagged AS (
          SELECT *, CASE WHEN dated THEN regexp_matches(substr(line, {HEADER + 1}, {_BEGINNING}), {begins})
                    ELSE regexp_matches(substr(line, 1, {_NEAR}), {elsewhere}) END
                    OR ((level IS NULL OR level IN {_BAD}) AND regexp_matches(line, {contains})) AS kept
          FROM leveled)
        SELECT CASE WHEN kept THEN line END AS text,
               CASE WHEN NOT kept THEN level END AS level,
               CASE WHEN NOT kept AND dated THEN substr(line, 2, 16) END AS minute,
               CASE WHEN NOT kept THEN regexp_replace({start}, {pattern}, {name}, 'g') END AS shape,
               count(*) AS lines, CAST(sum(strlen(line) + 1) AS BIGINT) AS bytes
        FROM tagged GROUP BY ALL"""


def _fine(found: str) -> str:
    """The counts in the table *found* by the shapes proper."""
    shape = "shape"
    for pattern, name in FINE:
        shape = f"regexp_replace({shape}, {_quoted(pattern)}, '{name}', 'g')"
    shape = f"CASE WHEN regexp_matches(shape, {_quoted(FRAME)}) THEN '{ANY_FRAME}' ELSE {shape} END"
    return f"""
        SELECT minute, level, {shape} AS shape, CAST(sum(lines) AS BIGINT) AS lines, CAST(sum(bytes) AS BIGINT) AS bytes
        FROM {found} WHERE text IS NULL GROUP BY ALL"""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    rival = {"polars": polars, "duckdb": duckdb}[sys.argv[1]]
    patterns = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    __import__(sys.argv[1])
    started = time.perf_counter()
    rival(sys.argv[3], Path(sys.argv[4]), patterns)
    print(json.dumps({"seconds": time.perf_counter() - started}))
