"""Batches: the rows that one run read, for later runs to start from.

A batch is a folder with Parquet by table and an index. The index is written last: it says which files' rows are
whole, under which links, and which code read them. A batch without one is being written, or was left by a run that
was killed.
"""

from __future__ import annotations

import json
import secrets
import stat
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.cache import storage, workspace
from mqlab.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from mqlab.canonical import Stored
    from mqlab.tables import Table

_PREFIX, _INDEX, _ROWS = "scan-", "index.json", "rows"


@dataclass(frozen=True)
class Batch:
    """One batch and what lies in it."""

    name: str
    links: frozenset[str]
    changed: frozenset[str]
    """Those of the links whose files changed while they were read: good for that run, but for no other."""
    version: str
    """Of the code that read it."""
    cut: frozenset[str] = frozenset()
    """Those of the links whose files were read in several splits."""
    files: tuple[tuple[str, str], ...] = ()
    """Tables and names of the files with rows."""


@dataclass(frozen=True)
class Places:
    """Where the rows of some sources stand."""

    by_link: Mapping[str, str]
    """Name of the batch."""
    alone: bool
    """All of them in one batch, with nothing else in it."""
    cut: frozenset[str] = frozenset()
    """Those that were read in several splits."""
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By table, where the files with rows lie in the workspace."""

    @property
    def batches(self) -> list[str]:
        """Names of the batches they stand in."""
        return sorted(set(self.by_link.values()))

    def stored(self, spark: SparkSession | None, cache: Path) -> Stored:
        """The rows of these sources and of no other."""
        from mqlab.canonical import Stored

        files = {table: [str(cache / name) for name in names] for table, names in self.files.items()}
        return Stored(spark, files, None if self.alone else frozenset(self.by_link), self.cut)

    def count(self, cache: Path, table: Table) -> int:
        """Rows of *table* about these sources."""
        from mqlab.material.files import count_rows

        locations = [str(cache / name) for name in self.files.get(table.name, ())]
        return count_rows(locations, None if self.alone else frozenset(self.by_link))


def rows(cache: Path, name: str) -> Path:
    """Where the rows of the batch called *name* stand, table by table."""
    return cache / name / _ROWS


def new(cache: Path, hold: workspace.Hold) -> str:
    """The name of a new batch, held from the beginning; it goes with the hold unless it is finished."""
    name = f"{_PREFIX}{secrets.token_hex(8)}"
    hold.add(name)
    hold.temporary.add(cache / name)
    (cache / name).mkdir(mode=stat.S_IRWXU)
    return name


def finish(cache: Path, batch: Batch, hold: workspace.Hold) -> None:
    """Write the index of *batch*: from now on its rows count for every run."""
    index = {
        "version": batch.version,
        "links": sorted(batch.links),
        "changed": sorted(batch.changed),
        "cut": sorted(batch.cut),
        "parts": {f"{table}/{name}": _size(cache, batch.name, table, name) for table, name in batch.files},
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


def placed(batches: Sequence[Batch], sources: Sequence[Source], version: str) -> dict[str, str]:
    """The batch of each of *sources*, by link, as far as code of this *version* read them: as few as it takes."""
    wanted = {source.link for source in sources}
    valid = {batch.name: batch.links - batch.changed for batch in batches if batch.version == version}
    found: dict[str, str] = {}
    while wanted and valid:
        best = max(sorted(valid), key=lambda name: len(valid[name] & wanted))
        taken = valid.pop(best) & wanted
        found |= dict.fromkeys(taken, best)
        wanted -= taken
    return found


def places(by_link: Mapping[str, str], batches: Collection[Batch]) -> Places:
    """*by_link* with what is known about these *batches*."""
    used = set(by_link.values())
    there = [batch for batch in batches if batch.name in used]
    files: dict[str, list[str]] = defaultdict(list)
    for batch in there:
        for table, name in batch.files:
            files[table].append(f"{batch.name}/{_ROWS}/{table}/{name}")
    alone = len(used) == 1 and any(batch.links == by_link.keys() for batch in there)
    cut = frozenset(by_link) & frozenset().union(*(batch.cut for batch in there))
    return Places(by_link, alone, cut, {table: sorted(names) for table, names in files.items()})


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


def drop_damaged(cache: Path, chosen: Collection[str]) -> bool:
    """Take out of use those of these batches that cannot be read; True where there are any."""
    damaged = [name for name in chosen if not _is_readable(cache, name)]
    for name in damaged:
        storage.remove(cache / name / _INDEX)
    return bool(damaged)


def _is_readable(cache: Path, name: str) -> bool:
    from mqlab.material import files

    batch = _read(cache, name)
    try:
        for table, file in batch.files if batch else ():
            files.check_parquet(str(rows(cache, name) / table / file))
    except OSError:
        return False
    return batch is not None


def _read(cache: Path, name: str) -> Batch | None:
    content = storage.get(cache / name / _INDEX)
    try:
        index = json.loads(content or b"")
        parts = {tuple(part.split("/")): size for part, size in index["parts"].items()}
        if any(_size(cache, name, *part) != size for part, size in parts.items()):
            return None
        links, changed, cut = (frozenset(index[part]) for part in ("links", "changed", "cut"))
        return Batch(name, links, changed, index["version"], cut, tuple(sorted(parts)))
    except (ValueError, KeyError, TypeError, OSError):
        return None


def _size(cache: Path, name: str, table: str, file: str) -> int:
    """Bytes of a file with rows: a machine that lost its power may hold an index and no rows."""
    return (rows(cache, name) / table / file).stat().st_size
