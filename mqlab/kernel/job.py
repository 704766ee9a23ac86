"""The jobs: packs of splits, or sources, go through one Arrow kernel as rows of a DataFrame; without Spark, one by one.

``read`` turns splits into Parquet by table and says which files it wrote; ``thin_cut`` thins sources that were read in
several splits; ``follow`` follows messages through all ledgers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa

from mqlab import plugins
from mqlab.formats.base import BlockFormat, LineFormat
from mqlab.formats.registry import BY_NAME
from mqlab.kernel import listed, thin
from mqlab.kernel.logs import LogReader
from mqlab.kernel.output import Output
from mqlab.kernel.pieces import Pieces
from mqlab.kernel.splits import WHOLE, Split
from mqlab.material import wholes
from mqlab.material.files import read_parquet
from mqlab.sources import Reading
from mqlab.thinning import ledgers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LEAST, _MOST = 256 << 10, 64 << 20
"""Bytes of a pack: few for small material, so that two cores may share it; never by the number of cores."""

_TEXT = pa.string()
_TOLD = pa.schema([("kind", _TEXT), ("name", _TEXT), ("content", _TEXT)])
Pair = tuple[str, str]
Told = tuple[str, str, str]
_FACT, _FILE = "fact", "file"
"""What a task answers with: a fact and its payload, or a table and the name of a file with rows of it."""
_EACH = 8 << 10
"""Bytes that take as long as opening a file does."""


class Found(NamedTuple):
    """What reading gave."""

    files: tuple[Pair, ...]
    """Tables and names of the files with rows."""
    facts: tuple[Pair, ...]
    """(fact, payload) of the sources that were read whole."""


def read(spark: SparkSession | None, splits: Sequence[Split], folder: str) -> Found:
    """Read *splits* and write their rows below *folder*."""

    def work(pack: Sequence[Split]) -> list[Told]:
        out = Output(folder)
        for split in pack:
            rows_of(split, out)
        out.close(thin.facts)
        return [*((_FILE, *file) for file in out.written), *((_FACT, *fact) for fact in out.facts)]

    told = _mapped(spark, _packed(splits), work)
    return Found(_of(_FILE, told), _of(_FACT, told))


def kept(spark: SparkSession | None, files: Sequence[str], sources: Collection[str] | None) -> list[Pair]:
    """Facts that earlier runs wrote to *files* about *sources*, None for all."""

    def work(names: Sequence[str]) -> Iterator[Told]:
        rows = read_parquet(names, sources)
        for fact, payload in zip(rows.column("fact").to_pylist(), rows.column("payload").to_pylist(), strict=True):
            yield _FACT, fact, payload

    return list(_of(_FACT, _mapped(spark, [list(files)], work)))


def thin_cut(spark: SparkSession | None, files: Mapping[str, Sequence[str]], sources: Sequence[str]) -> list[Pair]:
    """Facts of *sources* that were read in several splits, from all *files* of each table."""

    def work(source: str) -> list[Told]:
        there = {table: files[table.name] for table in thin.MAKERS if table.name in files}
        rows = {table: read_parquet(names, [source]) for table, names in there.items()}
        return [(_FACT, fact, payload) for _, fact, payload in thin.facts(rows)]

    return list(_of(_FACT, _mapped(spark, sources, work)))


def follow(
    spark: SparkSession | None,
    files: Sequence[str],
    sources: Collection[str] | None,
    known: ledgers.Known,
    *,
    others: bool,
) -> list[Pair]:
    """Facts about messages, followed through all ledgers in *files*: one task, since a message may stand in any.

    *sources* are those that count, None for all; *others* is as ``ledgers.thinned`` takes it.
    """

    def work(names: Sequence[str]) -> Iterator[Told]:
        rows = thin.on_clocks(thin.frame(read_parquet(names, sources).drop_columns("text")))
        for fact, frame in ledgers.thinned(rows, known, others=others).items():
            yield from ((_FACT, fact, thin.payload(row)) for row in frame.iter_rows(named=True))

    return list(_of(_FACT, _mapped(spark, [list(files)], work)))


def rows_of(split: Split, out: Output) -> None:
    """Read one split."""
    numbers = [one.number for one in wholes.load(split.part)] if split.part else ()
    out.begin(split.source, split.number, whole=split.number == 0 and split.end == WHOLE, numbers=numbers)
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


def _mapped(spark: SparkSession | None, handed: Sequence[Any], work: Callable[[Any], Iterable[Told]]) -> list[Told]:
    """What *work* says of each thing that is handed over; one task for each of them, with the plug-ins of here."""
    if spark is None:
        return [told for one in handed for told in work(one)]
    named = plugins.in_force()

    def kernel(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        plugins.use(named)
        for batch in batches:
            for number in batch.column("id").to_pylist():
                rows = list(work(handed[number]))
                yield pa.RecordBatch.from_arrays(
                    [pa.array([row[n] for row in rows], _TEXT) for n in range(3)], schema=_TOLD
                )

    told = spark.range(0, len(handed), 1, len(handed)).mapInArrow(kernel, "kind string, name string, content string")
    return [(row["kind"], row["name"], row["content"]) for row in told.collect()]


def _of(kind: str, told: Iterable[Told]) -> tuple[Pair, ...]:
    return tuple((name, content) for one, name, content in told if one == kind)


def _packed(splits: Sequence[Split]) -> list[list[Split]]:
    """Splits in packs of about the same size, the largest first."""
    weights = {split: split.size + _EACH for split in splits}
    most = min(max(sum(weights.values()) // 2 + 1, _LEAST), _MOST)
    packs: list[list[Split]] = []
    held: list[int] = []
    for split in sorted(splits, key=lambda s: (-s.size, s.source, s.number)):
        place = next((n for n, weight in enumerate(held) if weight + weights[split] <= most), len(packs))
        if place == len(packs):
            packs.append([])
            held.append(0)
        packs[place].append(split)
        held[place] += weights[split]
    return packs
