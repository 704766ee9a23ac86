"""Rows of canonical tables, thinned source by source: facts as JSON, which is what leaves Spark.

Every table is thinned where it is large and left as it is where it is small; ``signals`` says how. A source that was
read whole is thinned where it was read; one that was read in several splits, once their rows are together. Moments of
log lines are still on the line's own clock: ``wall`` in microseconds, ``offset`` the seconds east of UTC that the line
writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from mqlab.kernel.output import COUNTS, COVERAGE
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, METRICS, POLLS, POSITIONS, SETTINGS, Table
from mqlab.thinning import tables as thinned


def _as_it_is(rows: pl.DataFrame) -> pl.DataFrame:
    return rows


MAKERS: Mapping[Table, Mapping[str, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    EVENTS: {"events": thinned.episodes},
    SETTINGS: {"settings": thinned.changed},
    POSITIONS: {"positions": _as_it_is},
    METRICS: {"metrics": thinned.series},
    CLIENTS: {"clients": _as_it_is},
    ASSIGNMENTS: {"assignments": _as_it_is},
    POLLS: {"batches": thinned.batches},
    COUNTS: {"volume": thinned.shapes, "log": thinned.volumes},
    COVERAGE: {"coverage": thinned.coverage},
}
"""What is made of each table, by fact."""


def facts(tables: Mapping[Table, pa.Table]) -> Iterator[tuple[str, str, str]]:
    """Source, fact and payload of the rows of whole sources."""
    earlier = begins(frame(tables[COVERAGE])) if COVERAGE in tables else None
    for table, makers in MAKERS.items():
        if table in tables and tables[table].num_rows:
            rows = on_clocks(numbered(frame(tables[table]), earlier))
            for fact, make in makers.items():
                yield from ((row["source"], fact, payload(row)) for row in make(rows).iter_rows(named=True))


def frame(rows: pa.Table) -> pl.DataFrame:
    """Rows of one table; labels of samples are known as their series already."""
    known = rows.drop_columns("labels") if "labels" in rows.column_names else rows
    return pl.DataFrame(pl.from_arrow(known))


def on_clocks(rows: pl.DataFrame) -> pl.DataFrame:
    """*rows* with ``wall`` and ``offset`` for what their line shows; a message's own offset is its ``position``."""
    if "at" not in rows.columns:
        return rows
    renamed = {"offset": "position", "at": "wall", "east": "offset"}
    return rows.with_columns(pl.col("at").cast(pl.Int64)).rename(renamed, strict=False)


def payload(row: Mapping[str, Any]) -> str:
    """*row* as JSON, without what is null in it."""
    return json.dumps(_told(row), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _told(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _told(one) for key, one in value.items() if one is not None}
    return [_told(one) for one in value] if isinstance(value, list) else value


def begins(covered: pl.DataFrame) -> pl.DataFrame | None:
    """Lines before each split of sources that were read in several; None where there are none of these."""
    lines = covered.group_by("source", "split").agg(pl.col("lines").sum()).sort("source", "split")
    earlier = (pl.col("lines").cum_sum().over("source") - pl.col("lines")).alias("earlier")
    later = lines.with_columns(earlier).filter(pl.col("split") > 0).drop("lines")
    return later if later.height else None


def numbered(rows: pl.DataFrame, begins: pl.DataFrame | None) -> pl.DataFrame:
    """*rows* with lines that count from the beginning of the source, not of the split."""
    if begins is None:
        return rows.drop("split")
    placed = rows.join(begins, on=["source", "split"], how="left", maintain_order="left")
    return placed.with_columns(pl.col("line") + pl.col("earlier").fill_null(0)).drop("split", "earlier")
