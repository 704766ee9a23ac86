"""The jobs: packs of splits, or sources, as a DataFrame go through one Arrow kernel each.

``read`` turns splits into Parquet by table and says which files it wrote; ``thin_cut`` thins sources that were read in
several splits; ``follow`` follows messages through all ledgers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pyarrow as pa

from mqlab.formats.base import BlockFormat, LineFormat
from mqlab.formats.registry import BY_NAME
from mqlab.kernel import listed, thin
from mqlab.kernel.logs import LogReader
from mqlab.kernel.output import FACTS, Output
from mqlab.kernel.pieces import Pieces
from mqlab.kernel.splits import WHOLE, Split
from mqlab.material.files import read_parquet
from mqlab.sources import Reading
from mqlab.thinning import ledgers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LEAST, _MOST = 256 << 10, 64 << 20
"""Bytes of a pack: few for small material, so that two cores may share it; never by the number of cores."""

Kernel = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def read(spark: SparkSession, splits: Sequence[Split], folder: str) -> list[tuple[str, str]]:
    """Read *splits* and write their rows below *folder*: tables and names of the files that hold them."""
    packs = [[asdict(split) for split in pack] for pack in _packed(splits)]

    def kernel(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        out = Output(folder)
        for pack in _handed(batches):
            for split in pack:
                rows_of(Split(**split), out)
        out.close()
        yield _pairs(out.written)

    return _collected(_mapped(spark, packs, kernel))


def thin_cut(spark: SparkSession, files: Mapping[str, Sequence[str]], sources: Sequence[str]) -> list[tuple[str, str]]:
    """Facts of *sources* that were read in several splits, from all *files* of each table; one task a source."""

    def kernel(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for source in _handed(batches):
            there = {table: files[table.name] for table in thin.MAKERS if table.name in files}
            rows = {table: read_parquet(names, [source]) for table, names in there.items()}
            yield _pairs(list(thin.facts(rows)))

    return _collected(_mapped(spark, sources, kernel))


def follow(
    spark: SparkSession, files: Sequence[str], sources: Collection[str] | None, known: ledgers.Known, *, others: bool
) -> list[tuple[str, str]]:
    """Facts about messages, followed through all ledgers in *files*: one task, since a message may stand in any.

    *sources* are those that count, None for all; *others* is as ``ledgers.thinned`` takes it.
    """

    def kernel(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for names in _handed(batches):
            rows = thin.on_clocks(thin.frame(read_parquet(names, sources).drop_columns("text")))
            for fact, frame in ledgers.thinned(rows, known, others=others).items():
                yield _pairs([(fact, thin.payload(row)) for row in frame.iter_rows(named=True)])

    return _collected(_mapped(spark, [list(files)], kernel))


def rows_of(split: Split, out: Output) -> None:
    """Read one split; a source that is read whole is thinned at once."""
    out.begin(split.source, split.number)
    _read(split, out)
    told = out.end()
    if split.number == 0 and split.end == WHOLE:
        facts = list(thin.facts(told))
        out.add_frame(FACTS, pl.DataFrame(facts, schema=["fact", "payload"], orient="row"))
        out.end()


def _read(split: Split, out: Output) -> None:
    form, how = BY_NAME.get(split.format), Reading(split.reading)
    if how is Reading.COUNT or form is None:
        listed.count(split, out)
    elif how is Reading.LOG:
        reader = LogReader(split, out)
        found = Pieces(split)
        for piece in found:
            reader.read(piece)
        out.damage = found.damage
        reader.ended()
    elif how is Reading.DOCUMENT:
        listed.read_document(split, cast("LineFormat", form), out)
    elif isinstance(form, BlockFormat):
        listed.read_blocks(split, form, out)
    else:
        listed.read_lines(split, cast("LineFormat", form), out)


def _mapped(spark: SparkSession, handed: Sequence[object], kernel: Kernel) -> DataFrame:
    """A task for each thing that is handed over, as JSON; each answers with pairs of texts."""
    rows = [(json.dumps(one),) for one in handed]
    spark.conf.set("spark.sql.leafNodeDefaultParallelism", str(len(rows)))
    return spark.createDataFrame(rows, "handed string").mapInArrow(kernel, "one string, two string")


def _handed(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    for batch in batches:
        yield from map(json.loads, batch.column("handed").to_pylist())


def _collected(told: DataFrame) -> list[tuple[str, str]]:
    return [(row["one"], row["two"]) for row in told.collect()]


def _pairs(rows: Sequence[tuple[str, str]]) -> pa.RecordBatch:
    text = pa.string()
    arrays = [pa.array([row[n] for row in rows], text) for n in (0, 1)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([("one", text), ("two", text)]))


def _packed(splits: Sequence[Split]) -> list[list[Split]]:
    """Splits in packs of about the same size, the largest first."""
    most = min(max(sum(split.size for split in splits) // 2 + 1, _LEAST), _MOST)
    packs: list[tuple[int, list[Split]]] = []
    for split in sorted(splits, key=lambda s: (-s.size, s.source, s.number)):
        place = next((n for n, (held, _) in enumerate(packs) if held + split.size <= most), len(packs))
        if place == len(packs):
            packs.append((0, []))
        held, pack = packs[place]
        packs[place] = held + split.size, [*pack, split]
    return [pack for _, pack in packs]
