"""From paths to a capture: the one function behind triage, report and notebooks.

``open_capture(paths)`` gathers, scans, thins and diagnoses. What Spark found is kept in the workspace, so that a
notebook after a triage needs no session until it asks for a table.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from mqlab import clusters, early, intake, units
from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.cache import reading, workspace
from mqlab.cache.batches import Places
from mqlab.clocks.zones import parse_zone
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.formats.registry import FORMATS
from mqlab.kernel.output import COUNTS
from mqlab.ledgers.mapping import read_map
from mqlab.material import remote
from mqlab.material.walking import STDIN
from mqlab.narrowing import narrowed
from mqlab.notes import IncidentNotes, read_notes
from mqlab.session import spark_session
from mqlab.sources import Source
from mqlab.tables import EVENTS, SETTINGS, VOLUME, Table
from mqlab.verdict import diagnose


@dataclass(frozen=True)
class Options:
    """What the user may choose; the names are those of the command line.

    Moments are ISO text (UTC unless a zone is written) or epoch seconds.
    """

    since: str | float | None = None
    until: str | float | None = None
    group: str | None = None
    topic: str | None = None
    client: str | None = None
    log_tz: Sequence[str | tuple[str, str]] = ()
    """``ZONE``, ``GLOB=ZONE`` or (glob, zone); later ones win."""
    master: str | None = None
    remote: str | None = None
    workspace: str | None = None
    ledger: str | None = None
    """A file that says which files are ledgers and what stands in them (``ledgers.mapping``)."""

    def zones(self) -> tuple[tuple[str, str], ...]:
        """``log_tz`` as (glob, zone) pairs.

        Raises:
            BadTimeZoneError: one of them names no zone.
        """
        given = (self.log_tz,) if isinstance(self.log_tz, str) else self.log_tz
        pairs = [text.rpartition("=")[::2] if isinstance(text, str) else text for text in given]
        for _, zone in pairs:
            parse_zone(zone)
        return tuple((glob or "*", zone) for glob, zone in pairs)


@dataclass(frozen=True)
class Capture:
    """One material, read and diagnosed."""

    paths: tuple[str, ...]
    facts: Facts
    diagnosis: Diagnosis
    notes: IncidentNotes
    options: Options
    sources: tuple[Source, ...]
    cache: Path
    places: Places = field(repr=False)

    def table(self, table: Table) -> DataFrame:
        """A canonical table of this material as a Spark DataFrame; starts a session where none runs."""
        spark = self.spark()
        stored = self.places.stored(spark, self.cache)
        raw = stored.table(COUNTS if table is VOLUME else table)
        if raw is None:
            return spark.createDataFrame([], table.schema)
        if table is VOLUME:
            raw = raw.where("NOT kept").withColumn("at", F.expr("try_cast(minute AS TIMESTAMP)"))
        named = _named(raw, stored.table(SETTINGS)) if table is EVENTS else raw
        return self._dated(spark, named).transform(table.conform)

    def spark(self) -> SparkSession:
        """The session this capture's tables live in."""
        return _session(self.options, self.cache, sum(s.unpacked for s in self.sources))

    @contextmanager
    def readable(self) -> Iterator[tuple[Source, ...]]:
        """The sources, with what was unpacked unpacked once more for as long as the block lasts.

        The workspace keeps no copy of the material; standard input is gone for good.
        """
        if STDIN in self.paths or all(s.format == "unreadable" or remote.is_there(s.location) for s in self.sources):
            yield self.sources
            return
        with workspace.scratch(self.cache) as folder:
            yield tuple(intake.gather(self.paths, folder, FORMATS, read_map(self.options.ledger)))

    def _dated(self, spark: SparkSession, raw: DataFrame) -> DataFrame:
        """*raw* with paths for links and moments in UTC."""
        labels = {c.source: "UTC" if c.zone == "as written" else c.zone for c in self.facts.coverage}
        known = [(s.link, s.path, labels.get(s.path, "UTC")) for s in self.sources]
        places = spark.createDataFrame(known, "source string, path string, zone string")
        east = F.col("east") if "east" in raw.columns else F.lit(None).cast("int")
        written = F.timestamp_micros(F.unix_micros("at") - east * 1_000_000)
        at = F.when(east.isNotNull(), written).otherwise(F.to_utc_timestamp("at", F.col("zone")))
        dated = raw.join(F.broadcast(places), "source").withColumn("at", at).drop("source")
        return dated.withColumnRenamed("path", "source")


def _named(events: DataFrame, settings: DataFrame | None) -> DataFrame:
    """*events* with the node that wrote them, where their file names one only, in a line or in a broker's settings."""
    told = events.select("source", "node")
    if settings is not None:
        own = settings.where("scope = 'broker' AND origin = 'printed'")
        told = told.union(own.select("source", F.col("owner").alias("node")))
    only = told.groupBy("source").agg(F.expr("CASE WHEN min(node) = max(node) THEN min(node) END AS only"))
    return events.join(F.broadcast(only), "source").withColumn("node", F.expr("coalesce(node, only)")).drop("only")


def open_capture(
    paths: Sequence[str | Path] | str | Path,
    *,
    options: Options | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Capture:
    """The capture behind *paths*: files, folders, globs, archives or ``-``.

    Raises:
        MqlabError: nothing readable, no such path, no Java, a workspace that cannot be written.
    """
    chosen = options or Options()
    since, until, zones = units.epoch(chosen.since), units.epoch(chosen.until), chosen.zones()
    given = (str(paths),) if isinstance(paths, str | Path) else tuple(map(str, paths))
    notes = read_notes(given)
    ledgers = read_map(chosen.ledger)
    cache = workspace.cache_folder(chosen.workspace)
    hold = workspace.Hold(cache)
    try:
        desk = reading.Desk(cache, hold, partial(_session, chosen, cache), progress, ledgers)
        with clusters.told(chosen.master, chosen.remote):
            material = reading.read(given, desk)
        progress("looking for causes")
        facts = assemble(Gathered.of(material.rows, material.sources), (*notes.zones, *zones))
        facts = narrowed(facts, since, until, chosen.group, chosen.topic, chosen.client)
        diagnosis = diagnose(facts, [d.id for d in notes.dismissed])
        capture = Capture(given, facts, diagnosis, notes, chosen, material.sources, cache, material.places)
    except BaseException:
        hold.release()
        raise
    weakref.finalize(capture, hold.release)
    return capture


def _session(options: Options, cache: Path, size: int) -> SparkSession:
    local = workspace.local_folder(cache)
    early.wait()
    return spark_session(size=size, master=options.master, remote=options.remote, cache=local)
