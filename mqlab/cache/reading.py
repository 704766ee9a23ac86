"""From paths to rows: only what no earlier run has read is read; what nobody used for a month goes.

Files are known by their content (``material.names``), so that one that was renamed or rotated is not read again. A file
that has grown is another one: it is read as a whole, and its earlier rows are left out.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from mqlab import intake, signals
from mqlab.cache import batches, dependence, entries, storage, workspace
from mqlab.cache.batches import Batch
from mqlab.cache.entries import Material, State
from mqlab.errors import WorkspaceError
from mqlab.formats.base import LaidOut
from mqlab.formats.registry import BUILT_IN, FORMATS
from mqlab.kernel import job
from mqlab.kernel.splits import splits
from mqlab.ledgers.mapping import NO_MAP, LedgerMap
from mqlab.material import quoting, remote, small
from mqlab.material.remote_path import RemotePath
from mqlab.sources import CHANGED, Source
from mqlab.tables import LEDGER

UNUSED = 30 * 86400
"""Seconds after which what was not used is removed."""


def tidy(cache: Path) -> None:
    """Remove what is left behind or was not used for 30 days; nothing that a running process looks at."""
    workspace.bury(cache)
    for file in entries.files(cache):
        if (storage.age(file) or 0) > UNUSED:
            storage.remove(file)
    whole = {name: batches.age(cache, name) for name in batches.names(cache)}
    unneeded(cache, [name for name, age in whole.items() if age is None or age > UNUSED])


def unneeded(cache: Path, names: Collection[str]) -> None:
    """Remove those of these batches that no entry refers to."""
    if names:
        needed = {name for file in entries.files(cache) for name in entries.batches_of(file)}
        for name in names:
            if name not in needed:
                batches.remove(cache, name)


_THINNER = 10
"""Bytes of material for each byte of rows that are thinned, at least."""
_DUMPS = frozenset(f.FORMAT.name for f in BUILT_IN if f.FORMAT.tables == (LEDGER,) and not isinstance(f, LaidOut))
"""Formats of dumps: what is stored, by offset."""


@dataclass(frozen=True)
class Desk:
    """Where and with what a run works."""

    cache: Path
    hold: workspace.Hold
    session: Callable[[int], SparkSession]
    """Starts a session for so many bytes."""
    progress: Callable[[str], None]
    ledgers: LedgerMap = NO_MAP
    """Files that the user says are ledgers."""


def read(paths: Sequence[str], desk: Desk) -> Material:
    """The material behind *paths*, from the workspace as far as it is there.

    Raises:
        MqlabError: nothing readable, no such path, no Java, a workspace that cannot be written.
    """
    file, known = _entry(paths, desk.cache, desk.ledgers), entries.state(paths)
    if there := found(paths, desk.cache, desk.hold, desk.ledgers):
        return there
    tidy(desk.cache)
    with _full(desk.cache):
        with workspace.scratch(desk.cache) as scratch:
            material = _made(paths, known, scratch, desk)
        if known is not None and known == entries.state(paths):
            before = entries.batches_of(file)
            entries.store(desk.cache, file, known, material)
            unneeded(desk.cache, before)
    return material


def found(paths: Sequence[str], cache: Path, hold: workspace.Hold, ledgers: LedgerMap = NO_MAP) -> Material | None:
    """The material behind *paths* as it is now, where the workspace holds it already.

    Raises:
        MqlabError: another file system cannot be reached.
    """
    known = entries.state(paths)
    file = _entry(paths, cache, ledgers)
    there = entries.load(file, known) if known is not None else None
    if there is None or not batches.use(cache, there.places.batches, hold):
        return None
    storage.touch(file)
    return there


def _entry(paths: Sequence[str], cache: Path, ledgers: LedgerMap) -> Path:
    return entries.place(cache, paths, dependence.version(dependence.THINNING) + ledgers.version)


@contextmanager
def _full(cache: Path) -> Iterator[None]:
    """A disk that fills up in a worker of Spark shows in the words of its error only."""
    try:
        yield
    except Exception as error:
        for because in map(os.strerror, (errno.ENOSPC, errno.EDQUOT)):
            if because in str(error):
                raise WorkspaceError(str(cache), because) from error
        raise


def _made(paths: Sequence[str], known: State | None, scratch: Path, desk: Desk) -> Material:
    """The material recognised, read where no earlier run did, and thinned."""
    desk.progress("looking at the files")
    sources = intake.gather(paths, scratch / "unpacked", FORMATS, desk.ledgers)
    there, by_link, fresh = _standing(sources, desk)
    size = sum(s.unpacked if s in fresh else s.unpacked // _THINNER for s in sources)
    spark = None if small.is_small(sources) else _session(desk, size)
    earlier = dict(by_link)
    facts: tuple[job.Pair, ...] = ()
    if fresh:
        batch, facts = _read(_within_reach(fresh, desk.cache / scratch.name), spark, desk, known, paths)
        there, by_link = [*there, batch], by_link | dict.fromkeys(batch.links, batch.name)
        sources = [_noted(s) if s.link in batch.changed else s for s in sources]
    places = batches.places(by_link, there)
    batches.use(desk.cache, places.batches, desk.hold)
    desk.progress("thinning")
    stored = places.stored(spark, desk.cache)
    try:
        rows = [*facts, *signals.facts(stored, batches.places(earlier, there).stored(spark, desk.cache))]
        rows += signals.messages(stored, sources, dumps=any(s.format in _DUMPS for s in sources))
    except Exception:  # a damaged batch shows as whatever Arrow, the worker's Python or Spark make of it
        if batches.drop_damaged(desk.cache, sorted(set(earlier.values()))):
            return _made(paths, known, scratch / "again", desk)
        raise
    sources = entries.checked(sources, rows)
    return Material(tuple(sources), (*rows, *quoting.first_lines(rows, sources)), places)


def _session(desk: Desk, size: int) -> SparkSession:
    desk.progress("starting Spark")
    return desk.session(size)


def _read(
    fresh: Collection[Source], spark: SparkSession | None, desk: Desk, known: State | None, paths: Sequence[str]
) -> tuple[Batch, tuple[job.Pair, ...]]:
    """A new batch with the rows of the *fresh* sources, and their facts."""
    desk.progress(f"reading {len(fresh)} files")
    pieces = list(splits(sorted(fresh, key=lambda s: s.link)))
    name = batches.new(desk.cache, desk.hold)
    found = job.read(spark, pieces, str(batches.rows(desk.cache, name)))
    links = frozenset(s.link for s in fresh)
    cut = frozenset(piece.source for piece in pieces if piece.number)
    changed = _changed(fresh, known, paths)
    batch = Batch(name, links, changed, dependence.version(dependence.READING), cut, found.files)
    if known is not None:
        batches.finish(desk.cache, batch, desk.hold)
    return batch, found.facts


def _within_reach(sources: Collection[Source], folder: Path) -> list[Source]:
    """*sources* where workers can read them: those of this machine are copied to a workspace that is elsewhere."""
    if not isinstance(folder, RemotePath):
        return list(sources)
    folder.mkdir(exist_ok=True)
    found = []
    for source in sources:
        if not remote.is_uri(source.location):
            copy = f"{folder}/{source.link}"
            remote.put(Path(source.location), copy)
            source = replace(source, location=copy)
        if source.part:
            lines = f"{folder}/{source.link}.part"
            remote.put(Path(source.part), lines)
            source = replace(source, part=lines)
        found.append(source)
    return found


def _standing(sources: Sequence[Source], desk: Desk) -> tuple[list[Batch], dict[str, str], frozenset[Source]]:
    """What earlier runs read: their batches, where rows of *sources* stand in them, and the sources left to read."""
    wanted = [source for source in sources if source.has_content]
    there = batches.finished(desk.cache, desk.hold)
    by_link = batches.placed(there, wanted, dependence.version(dependence.READING))
    return there, by_link, frozenset(source for source in wanted if source.link not in by_link)


def _changed(sources: Collection[Source], known: State | None, paths: Sequence[str]) -> frozenset[str]:
    """Links of the sources whose files on disk are no longer as they were, or never were in the *known* state."""
    now = entries.state(paths)
    if known is None or now is None:
        return frozenset()
    same = {file for file, state in known.items() if now.get(file) == state}
    return frozenset(source.link for source in sources if source.origin not in same)


def _noted(source: Source) -> Source:
    return replace(source, problem=f"{source.problem} {CHANGED}" if source.problem else CHANGED)
