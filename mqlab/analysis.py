"""From paths to a capture: the one function behind triage, report and notebooks.

``open_capture(paths)`` gathers, scans, thins and diagnoses. What Spark found is kept in the workspace, so that a
notebook after a triage needs no session until it asks for a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from mqlab import intake, scan, signals, workspace
from mqlab.assemble import Gathered, assemble
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts, narrowed
from mqlab.loaders import LOADERS
from mqlab.notes import IncidentNotes, read_notes
from mqlab.session import spark_session
from mqlab.sources import Source
from mqlab.tables import VOLUME, Table
from mqlab.verdict import diagnose


@dataclass(frozen=True)
class Options:
    """What the user may choose; the names are those of the command line."""

    since: float | None = None
    until: float | None = None
    group: str | None = None
    topic: str | None = None
    client: str | None = None
    log_tz: tuple[tuple[str, str], ...] = ()
    """(glob, zone) pairs; the glob ``*`` means all."""
    master: str | None = None
    remote: str | None = None
    workspace: str | None = None


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
    tagged: Path = field(repr=False)

    def table(self, table: Table) -> DataFrame:
        """A canonical table of this material as a Spark DataFrame; starts a session where none runs."""
        spark = self.spark()
        formats = frozenset(s.format for s in self.sources)
        rows = scan.tagged(spark, self.tagged)
        if table == VOLUME:
            raw = signals.volume(rows)
        else:
            raw = signals.raw_tables(rows, formats).get(table) or spark.createDataFrame([], table.schema)
        return self._dated(spark, raw).transform(table.conform)

    def spark(self) -> SparkSession:
        """The session this capture's tables live in."""
        size = sum(s.size for s in self.sources)
        return spark_session(size=size, master=self.options.master, remote=self.options.remote, cache=self.cache)

    def _dated(self, spark: SparkSession, raw: DataFrame) -> DataFrame:
        if "source" not in raw.columns or "wall" not in raw.columns:
            return raw
        labels = {c.source: "UTC" if c.zone == "as written" else c.zone for c in self.facts.coverage}
        known = [(s.link, s.path, labels.get(s.path, "UTC")) for s in self.sources]
        places = spark.createDataFrame(known, "source string, path string, zone string")
        written = F.col("offset") if "offset" in raw.columns else F.lit(None).cast("int")
        at = F.when(written.isNotNull(), F.timestamp_micros(F.unix_micros("wall") - written * 1_000_000)).otherwise(
            F.to_utc_timestamp("wall", F.col("zone"))
        )
        return raw.join(F.broadcast(places), "source").withColumn("at", at).drop("source").withColumnRenamed(
            "path", "source"
        )  # fmt: skip


def open_capture(
    paths: Sequence[str] | str, *, options: Options | None = None, progress: Callable[[str], None] = lambda _: None
) -> Capture:
    """The capture behind *paths*: files, folders, globs, archives or ``-``.

    Raises:
        MqlabError: nothing readable, no such path, no Java, a workspace that cannot be written.
    """
    chosen = options or Options()
    given = (paths,) if isinstance(paths, str) else tuple(paths)
    notes = read_notes(given)
    cache = workspace.cache_folder(chosen.workspace)
    name = workspace.key(given)
    entry = workspace.existing(cache, name)
    if entry is None:
        with workspace.preparing(cache, name) as fresh:
            rows, sources = _read(given, fresh, chosen, cache, progress)
            fresh.store(sources, rows)
        entry = workspace.existing(cache, name)
    else:
        rows, sources = entry.rows(), entry.sources()
    wanted = (*chosen.log_tz, *notes.zones)
    facts = assemble(Gathered.of(rows, sources), wanted)
    facts = narrowed(facts, chosen.since, chosen.until, chosen.group, chosen.topic, chosen.client)
    tagged = entry.tagged if entry else cache
    return Capture(given, facts, diagnose(facts, [d.id for d in notes.dismissed]), notes, chosen, tuple(sources), cache, tagged)


def _read(
    paths: Sequence[str], entry: workspace.Entry, options: Options, cache: Path, progress: Callable[[str], None]
) -> tuple[list[tuple[str, str]], list[Source]]:
    progress("looking at the files")
    entry.scratch.mkdir()
    sources = intake.gather(paths, entry.scratch, LOADERS)
    intake.link_sources(sources, entry.links)
    progress("starting Spark")
    size = sum(s.size for s in sources)
    spark = spark_session(size=size, master=options.master, remote=options.remote, cache=cache)
    progress(f"reading {len(sources)} files")
    scan.scan(spark, entry.links, sources, entry.tagged)
    progress("thinning")
    formats = frozenset(s.format for s in sources)
    rows = signals.facts(scan.tagged(spark, entry.tagged), formats).collect()
    return [(row["fact"], row["payload"]) for row in rows], sources
