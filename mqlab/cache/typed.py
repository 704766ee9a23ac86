"""The canonical tables of some sources, typed and dated as ``Capture.table`` gives them, but file by file with Arrow.

For whoever has no Spark at hand: a Python worker that serves them to one (``spark.source``), or the process that writes
them to files (``saving``). What is needed beside a file goes with ``Rows``, so that any machine that sees the workspace
reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa

from mqlab.cache.batches import Places
from mqlab.clocks.zones import Zone
from mqlab.kernel.output import COUNTS, COVERAGE, arrow_schema
from mqlab.kernel.thin import begins, numbered
from mqlab.material import files
from mqlab.rows import Coverage
from mqlab.sources import Source
from mqlab.tables import EVENTS, SETTINGS, VOLUME, Table
from mqlab.units import parse_zone

_MINUTE = 60_000_000
"""Microseconds of a minute: within one no zone changes its offset."""
_NEEDED = ("source", "split", "line", "at", "east", "node", "minute", "kept")
"""Stored columns that others are made of."""


def placed(sources: Iterable[Source], coverage: Iterable[Coverage]) -> Mapping[str, tuple[str, str]]:
    """For people: the path of each source and the zone of its clock, by its link."""
    labels = {one.source: "UTC" if one.zone == "as written" else one.zone for one in coverage}
    return {source.link: (source.path, labels.get(source.path, "UTC")) for source in sources}


@dataclass(frozen=True)
class Rows:
    """The rows of one table."""

    table: Table
    files: Sequence[str]
    """Where they stand."""
    known: Mapping[str, tuple[str, str]]
    """Path and zone by link, of the sources whose rows count."""
    begins: pl.DataFrame | None
    """Lines before each split of sources that were read in several."""
    nodes: Mapping[str, str]
    """Who wrote the events of a source, by its link, where it names one only."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the table as Arrow's."""
        return arrow_schema(self.table.columns)

    def read(self, file: str) -> Iterator[pa.RecordBatch]:
        """The rows in one of the files, piece by piece."""
        for batch in files.batches(file):
            yield from self._typed(batch).to_batches()

    def every(self) -> Iterator[pa.RecordBatch]:
        """The rows in all of the files."""
        for file in self.files:
            yield from self.read(file)

    def _typed(self, batch: pa.RecordBatch) -> pa.Table:
        raw = pa.Table.from_batches([batch])
        needed = pl.DataFrame(pl.from_arrow(raw.select([name for name in _NEEDED if name in raw.column_names])))
        own = needed.with_row_index("row").filter(pl.col("source").is_in(list(self.known)))
        if self.table == VOLUME:
            moment = pl.col("minute").str.to_datetime("%Y-%m-%d %H:%M", time_unit="us", strict=False)
            own = own.filter(~pl.col("kept")).with_columns(at=moment)
        kept = raw if own.height == raw.num_rows else raw.take(own["row"].to_arrow())
        made = self._made(own)
        columns = []
        for field in self.schema:
            if field.name in made.columns:
                columns.append(made[field.name].to_arrow().cast(field.type))
            elif field.name in kept.column_names:
                columns.append(kept[field.name].cast(field.type))
            else:
                columns.append(pa.nulls(kept.num_rows, field.type))
        return pa.table(columns, schema=self.schema)

    def _made(self, own: pl.DataFrame) -> pl.DataFrame:
        """The columns that are not as they are stored."""
        made = numbered(own, self.begins) if "split" in own.columns else own
        if "at" in own.columns:
            made = self._dated(made)
        if self.table == EVENTS:
            alone = pl.col("source").replace_strict(self.nodes, default=None, return_dtype=pl.String)
            made = made.with_columns(pl.coalesce("node", alone).alias("node"))
        paths = {link: path for link, (path, _) in self.known.items()}
        return made.with_columns(pl.col("source").replace_strict(paths, return_dtype=pl.String))

    def _dated(self, own: pl.DataFrame) -> pl.DataFrame:
        """*own* with moments in UTC, as microseconds since 1970."""
        wall, minute = pl.col("at").cast(pl.Int64), (pl.col("at").cast(pl.Int64) // _MINUTE).alias("minute")
        east = pl.col("east").cast(pl.Int64) if "east" in own.columns else pl.lit(None, pl.Int64)
        zones = {link: Zone(parse_zone(zone), zone, "") for link, (_, zone) in self.known.items() if zone != "UTC"}
        there = own.filter(pl.col("source").is_in(list(zones)) & pl.col("at").is_not_null() & east.is_null())
        told = [
            (source, at, round(at * 60 - zones[source].instant(at * 60)))
            for source, at in there.select("source", minute).unique().iter_rows()
        ]
        offsets = pl.DataFrame(
            told, schema={"source": pl.String, "minute": pl.Int64, "settled": pl.Int64}, orient="row"
        )
        joined = own.with_columns(minute).join(offsets, on=["source", "minute"], how="left", maintain_order="left")
        offset = pl.coalesce(east, "settled", pl.lit(0)) * 1_000_000
        return joined.with_columns((wall - offset).alias("at"))


@dataclass(frozen=True)
class Typed:
    """All tables of some sources."""

    cache: Path
    places: Places
    known: Mapping[str, tuple[str, str]]

    def table(self, table: Table) -> Rows:
        """The rows of *table*, in no order."""
        known = {link: self.known[link] for link in self.places.by_link}
        nodes = self._nodes() if table is EVENTS else {}
        found = self._files(COUNTS if table is VOLUME else table)
        return Rows(table, found, known, self._begins() if found and self.places.cut else None, nodes)

    def _files(self, table: Table) -> Sequence[str]:
        return [str(self.cache / name) for name in self.places.files.get(table.name, ())]

    def _begins(self) -> pl.DataFrame | None:
        cut = pl.col("source").is_in(sorted(self.places.cut))
        read = [_columns(file, "source", "split", "lines").filter(cut) for file in self._files(COVERAGE)]
        return begins(pl.concat(read)) if read else None

    def _nodes(self) -> Mapping[str, str]:
        told = [_columns(file, "source", "node") for file in self._files(EVENTS)]
        for file in self._files(SETTINGS):
            own = _columns(file, "source", "owner", "scope", "origin")
            printed = own.filter((pl.col("scope") == "broker") & (pl.col("origin") == "printed"))
            told.append(printed.select("source", pl.col("owner").alias("node")))
        each = [rows.group_by("source").agg(pl.min("node").alias("low"), pl.max("node").alias("high")) for rows in told]
        if not each:
            return {}
        least = pl.concat(each).group_by("source").agg(pl.min("low"), pl.max("high"))
        return {source: low for source, low, high in least.iter_rows() if low is not None and low == high}


def _columns(file: str, *names: str) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(files.batches(file, names))))
