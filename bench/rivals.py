"""The same counts by Polars and DuckDB: lines and bytes per minute, level and shape, and the planted events."""

from __future__ import annotations

import sys
import time

_HEADER = r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d):\d\d,\d{3}\] ([A-Z]+) +(.{0,90})"
_MASKED = r"[0-9]+(?:[.,:][0-9]+)*"
_EVENT = r"^\[[^\]]*\] [A-Z]+ +\[[^\]]*\]:? Preparing to rebalance group planted"


def polars(path: str) -> tuple[int, int]:
    """(groups, planted events) by Polars' regular expressions."""
    import polars as pl

    frame = pl.scan_csv(
        path, has_header=False, new_columns=["line"], separator="\x01", quote_char=None, schema={"line": pl.String}
    )
    fields = frame.select(
        pl.col("line").str.extract(_HEADER, 1).alias("minute"),
        pl.col("line").str.extract(_HEADER, 2).alias("level"),
        pl.col("line").str.extract(_HEADER, 3).str.replace_all(_MASKED, "#").alias("shape"),
        pl.col("line").str.len_bytes().alias("bytes"),
        pl.col("line").str.contains(_EVENT).alias("event"),
    )
    counted = fields.group_by("minute", "level", "shape").agg(pl.len(), pl.col("bytes").sum(), pl.col("event").sum())
    found = counted.collect(engine="streaming")
    return found.height, int(found["event"].sum())


def duckdb(path: str) -> tuple[int, int]:
    """(groups, planted events) by DuckDB's regular expressions."""
    import duckdb as engine

    header, masked, event = (pattern.replace("'", "''") for pattern in (_HEADER, _MASKED, _EVENT))
    found = engine.sql(
        f"""
        SELECT count(*), sum(events) FROM (
          SELECT h.minute, h.level, regexp_replace(h.rest, '{masked}', '#', 'g') AS shape, count(*) AS lines,
                 sum(strlen(line)) AS bytes, sum(CAST(regexp_matches(line, '{event}') AS INT)) AS events
          FROM (SELECT line, regexp_extract(line, '{header}', ['minute', 'level', 'rest']) AS h
                FROM read_csv('{path}', columns = {{'line': 'VARCHAR'}}, header = false, delim = '\x01', quote = '',
                              escape = '', auto_detect = false))
          GROUP BY ALL)
        """
    ).fetchall()[0]
    return int(found[0]), int(found[1])


if __name__ == "__main__":
    started = time.perf_counter()
    groups, events = {"polars": polars, "duckdb": duckdb}[sys.argv[1]](sys.argv[2])
    print(f"{time.perf_counter() - started:.3f} {groups} {events}")
