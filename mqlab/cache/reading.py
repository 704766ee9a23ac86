"""From paths to rows: only what no earlier run has read is scanned, and the rows of all are thinned.

Files are known by their content (``fingerprints``), so that one that was renamed or rotated is not read again. A file
that has grown is another one: it is read as a whole, and its earlier rows are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from mqlab import intake, scan, signals
from mqlab.cache import batches, dependence, entries, storage, tidying, workspace
from mqlab.cache.batches import Batch, Place
from mqlab.cache.entries import Material, State
from mqlab.ledgers.mapping import NO_MAP, LedgerMap
from mqlab.loaders import LOADERS
from mqlab.material import quoting
from mqlab.material.remote_path import RemotePath
from mqlab.scanning import completeness
from mqlab.session import generating
from mqlab.sources import Source
from mqlab.tuning import TINY

CHANGED = "It changed while it was read: what was added since is not in here, and the next run reads it again."
_THINNER = 10
"""Bytes of material for each byte of rows that are thinned, at least."""


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
    file = entries.place(desk.cache, paths, dependence.rows_version() + desk.ledgers.version)
    known = entries.state(paths)
    found = entries.load(file, known) if known is not None else None
    if found and batches.use(desk.cache, found.places.batches, desk.hold):
        storage.touch(file)
        return found
    tidying.tidy(desk.cache)
    with workspace.scratch(desk.cache) as scratch:
        material = _made(paths, known, scratch, desk)
    if known is not None and known == entries.state(paths):
        before = entries.batches_of(file)
        entries.store(desk.cache, file, known, material)
        tidying.unneeded(desk.cache, before)
    return material


def _made(paths: Sequence[str], known: State | None, scratch: Path, desk: Desk) -> Material:
    """The material recognised, scanned where no earlier run did, and thinned."""
    desk.progress("looking at the files")
    sources = intake.gather(paths, scratch / "unpacked", LOADERS, desk.ledgers)
    there, by_link, fresh = _standing(sources, desk)
    size = sum(s.unpacked if s in fresh else s.unpacked // _THINNER for s in sources)
    spark = _started(desk, size)
    batch = _batch(fresh, desk) if fresh else None
    if batch:
        there, by_link = [*there, batch], by_link | {link: (batch.name, link) for link in batch.links}
    places = batches.places(by_link, there)
    early = places.alone and not isinstance(desk.cache, RemotePath)
    with ThreadPoolExecutor(1) as beside:
        planned = beside.submit(_plan, places.rows(spark, desk.cache), sources, size) if early else None
        if batch:
            desk.progress(f"reading {len(fresh)} files")
            links = desk.cache / scratch.name / "links"
            intake.link_sources(list(fresh), links)
            scan.scan(spark, links, list(fresh), batches.tagged(desk.cache, batch.name))
            batch = replace(batch, changed=_changed(fresh, known, paths))
            if known is not None:
                batches.finish(desk.cache, batch, desk.hold)
            sources = [_noted(s) if s.link in batch.changed else s for s in sources]
        batches.use(desk.cache, places.batches, desk.hold)
        desk.progress("thinning")
        plan = planned.result() if planned else _plan(places.rows(spark, desk.cache), sources, size)
    places.refresh(spark)
    rows = _collected(plan, [name for name in places.batches if not batch or name != batch.name], desk)
    if rows is None:
        return _made(paths, known, scratch / "again", desk)
    rows += _messages(places.rows(spark, desk.cache), sources, size)
    sources = completeness.checked(sources, rows)
    return Material(tuple(sources), (*rows, *quoting.first_lines(rows, sources)), places)


def _started(desk: Desk, size: int) -> SparkSession:
    desk.progress("starting Spark")
    return desk.session(size)


def _plan(rows: DataFrame, sources: Sequence[Source], size: int) -> DataFrame:
    """What is to be thinned, as a plan: Spark takes seconds to make it, so it is made while the scan runs."""
    return signals.facts(_few(rows, size), frozenset(s.format for s in sources))


def _messages(rows: DataFrame, sources: Sequence[Source], size: int) -> list[tuple[str, str]]:
    """The rows about single messages."""
    layouts = {s.link: s.layout for s in sources if s.layout}
    with generating(rows.sparkSession):
        plan = signals.messages(_few(rows, size), frozenset(s.format for s in sources), layouts)
        return [] if plan is None else [(row["fact"], row["payload"]) for row in plan.collect()]


def _few(rows: DataFrame, size: int) -> DataFrame:
    return rows.coalesce(1) if size < TINY else rows


def _collected(plan: DataFrame, earlier: Collection[str], desk: Desk) -> list[tuple[str, str]] | None:
    """The rows of *plan*; None where one of the *earlier* batches cannot be read, and so counts no more."""
    try:
        return [(row["fact"], row["payload"]) for row in plan.collect()]
    except Exception:
        if batches.drop_damaged(plan.sparkSession, desk.cache, earlier):
            return None
        raise


def _standing(sources: Sequence[Source], desk: Desk) -> tuple[list[Batch], dict[str, Place], frozenset[Source]]:
    """What earlier runs scanned: their batches, where rows of *sources* stand in them, and the sources left to scan."""
    wanted = [source for source in sources if source.has_content]
    there = batches.finished(desk.cache, desk.hold)
    by_link = batches.placed(there, wanted, dependence.scan_versions())
    return there, by_link, frozenset(source for source in wanted if source.link not in by_link)


def _batch(sources: Collection[Source], desk: Desk) -> Batch:
    """A new batch for the rows of *sources*."""
    versions = {reading.value: version for reading, version in dependence.scan_versions().items()}
    return Batch(batches.new(desk.cache, desk.hold), frozenset(s.link for s in sources), frozenset(), versions)


def _changed(sources: Collection[Source], known: State | None, paths: Sequence[str]) -> frozenset[str]:
    """Links of the sources whose files on disk are no longer as they were, or never were in the *known* state."""
    now = entries.state(paths)
    if known is None or now is None:
        return frozenset()
    same = {file for file, state in known.items() if now.get(file) == state}
    return frozenset(source.link for source in sources if source.origin not in same)


def _noted(source: Source) -> Source:
    return replace(source, problem=f"{source.problem} {CHANGED}" if source.problem else CHANGED)
