"""Batches: the rows that one run scanned, for later runs to start from.

A batch is a folder with the tagged Parquet and an index. The index is written last: it says which files' rows are
whole, under which links, and which code read them. A batch without one is being written, or was left by a run that
was killed.
"""

from __future__ import annotations

import json
import secrets
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from mqlab import scan
from mqlab.cache import storage, workspace
from mqlab.sources import Reading, Source

_PREFIX, _INDEX = "scan-", "index.json"

Place = tuple[str, str]
"""Name of a batch, and the link by which its rows know their file."""


@dataclass(frozen=True)
class Batch:
    """One batch and what lies in it."""

    name: str
    links: frozenset[str]
    changed: frozenset[str]
    """Those of the links whose files changed while they were read: good for that run, but for no other."""
    versions: Mapping[str, str]
    """Version of the code that read it, by reading."""

    def valid(self, versions: Mapping[Reading, str]) -> dict[str, str]:
        """Links whose rows are what the code of these *versions* would find, by identity."""
        same = {reading.value for reading, version in versions.items() if self.versions.get(reading.value) == version}
        return {link.split(".")[0]: link for link in self.links - self.changed if link[0] in same}


@dataclass(frozen=True)
class Places:
    """Where the rows of some sources stand."""

    by_link: Mapping[str, Place]
    """By the link that the source has now; a file may have had another name when it was read."""
    alone: bool
    """All of them in one batch, under the same links, with nothing else in it."""

    @property
    def batches(self) -> list[str]:
        """Names of the batches they stand in."""
        return sorted({name for name, _ in self.by_link.values()})

    def rows(self, spark: SparkSession, cache: Path) -> DataFrame:
        """The tagged rows of these sources and of no other, under the links of today."""
        rows = scan.tagged(spark, *[tagged(cache, name) for name in self.batches])
        if self.alone:
            rows.createOrReplaceTempView(self._view)
            return spark.table(self._view)
        wanted = [(batch, file, link) for link, (batch, file) in sorted(self.by_link.items())]
        places = spark.createDataFrame(wanted, "batch string, file string, link string")
        placed = rows.selectExpr("*", "element_at(split(_metadata.file_path, '/'), -3) AS batch")
        found = placed.join(F.broadcast(places), ["batch", "file"])
        return found.drop("batch", "file").withColumnRenamed("link", "file")

    def refresh(self, spark: SparkSession) -> None:
        """Let ``rows``, asked for while the batch was being written, know what was written."""
        if self.alone:
            spark.catalog.refreshTable(self._view)

    @property
    def _view(self) -> str:
        """A view's plan is analysed once and its files are listed once, however often it is used."""
        return self.batches[0].replace("-", "_")


def tagged(cache: Path, name: str) -> Path:
    """The Parquet of the batch called *name*."""
    return cache / name / "tagged"


def new(cache: Path, hold: workspace.Hold) -> str:
    """The name of a new batch, held from the beginning; it goes with the hold unless it is finished."""
    name = f"{_PREFIX}{secrets.token_hex(8)}"
    hold.add(name)
    hold.temporary.add(cache / name)
    (cache / name).mkdir(mode=stat.S_IRWXU)
    tagged(cache, name).mkdir()
    return name


def finish(cache: Path, batch: Batch, hold: workspace.Hold) -> None:
    """Write the index of *batch*: from now on its rows count for every run."""
    index = {
        "versions": dict(batch.versions),
        "links": sorted(batch.links),
        "changed": sorted(batch.changed),
        "parts": _parts(cache, batch.name),
    }
    workspace.put(cache, cache / batch.name / _INDEX, json.dumps(index).encode())
    hold.temporary.discard(cache / batch.name)


def finished(cache: Path, hold: workspace.Hold) -> list[Batch]:
    """Every batch that is whole, held so that it stays."""
    found = []
    for name in names(cache):
        hold.add(name)
        if batch := _read(cache, name):
            found.append(batch)
    return found


def names(cache: Path) -> list[str]:
    """Names of all batches, whole or not."""
    return sorted(folder.name for folder in cache.glob(f"{_PREFIX}*"))


def age(cache: Path, name: str) -> float | None:
    """Seconds since the batch was last used; None for one that is not whole."""
    return storage.age(cache / name / _INDEX)


def placed(batches: Sequence[Batch], sources: Sequence[Source], versions: Mapping[Reading, str]) -> dict[str, Place]:
    """Where the rows of *sources* stand, by link, as far as they do: in as few batches as it takes."""
    wanted = {source.identity: source.link for source in sources}
    valid = {batch.name: batch.valid(versions) for batch in batches}
    found: dict[str, Place] = {}
    while wanted and valid:
        best = max(sorted(valid), key=lambda name: len(valid[name].keys() & wanted.keys()))
        held = valid.pop(best)
        for identity in held.keys() & wanted.keys():
            found[wanted.pop(identity)] = (best, held[identity])
    return found


def places(by_link: Mapping[str, Place], batches: Collection[Batch]) -> Places:
    """*by_link* with what is known about these *batches*."""
    used = {name for name, _ in by_link.values()}
    own = all(link == file for link, (_, file) in by_link.items())
    alone = len(used) == 1 and own and any(b.name in used and b.links == by_link.keys() for b in batches)
    return Places(by_link, alone)


def use(cache: Path, chosen: Collection[str], hold: workspace.Hold) -> bool:
    """Hold these batches and mark them as used; False where one of them is gone."""
    hold.add(*chosen)
    hold.only(chosen)
    for name in chosen:
        storage.touch(cache / name / _INDEX)
    return all(age(cache, name) is not None for name in chosen)


def remove(cache: Path, name: str) -> None:
    """Remove a batch, unless somebody looks at it.

    The index goes first. Whoever holds a batch does so before reading its index, so that nobody can come in between.
    """
    if name not in workspace.held(cache):
        storage.remove(cache / name / _INDEX)
        if name not in workspace.held(cache):
            storage.remove(cache / name)


def drop_damaged(spark: SparkSession, cache: Path, chosen: Collection[str]) -> bool:
    """Take out of use those of these batches that cannot be read; True where there are any."""
    damaged = [name for name in chosen if not _is_readable(spark, cache, name)]
    for name in damaged:
        storage.remove(cache / name / _INDEX)
    return bool(damaged)


def _is_readable(spark: SparkSession, cache: Path, name: str) -> bool:
    try:
        scan.tagged(spark, tagged(cache, name)).write.format("noop").mode("overwrite").save()
    except Exception:  # Spark has one class of errors for each way to reach it
        return False
    return True


def _read(cache: Path, name: str) -> Batch | None:
    content = storage.get(cache / name / _INDEX)
    try:
        index = json.loads(content or b"")
        if index["parts"] != _parts(cache, name):
            return None
        return Batch(name, frozenset(index["links"]), frozenset(index["changed"]), index["versions"])
    except (ValueError, KeyError, TypeError):
        return None


def _parts(cache: Path, name: str) -> dict[str, int]:
    """Bytes of each file with rows: a machine that lost its power may hold an index and no rows."""
    return storage.sizes(tagged(cache, name), "*.parquet")
