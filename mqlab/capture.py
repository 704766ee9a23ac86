"""A capture: material read and diagnosed, for people who type.

::

    import mqlab

    capture = mqlab.open_capture("bundle.tar.gz", since="2026-11-21T12:20Z")
    capture                                     # a card: verdict, findings, tables, what to type next
    capture.show("F1")                          # what proves the first finding, with the lines around it
    capture.events.where("kind = 'member-expired'")
    capture.plot.timeline()

``open_capture`` is the one function behind triage, report and notebooks. What was read is kept in the workspace, so
that a notebook after a triage needs no Spark until it asks for a table.
"""

from __future__ import annotations

import json
import re
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructField, StructType, TimestampType

from mqlab import bundled, intake, languages, plugins, units
from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.cache import reading
from mqlab.cache import workspace as kept
from mqlab.cache.batches import Places
from mqlab.cache.entries import Material
from mqlab.diagnosis import Diagnosis
from mqlab.errors import UnknownFindingError, UnknownSourceError, UnknownUnitError
from mqlab.facts import Facts
from mqlab.findings import Finding, Rows
from mqlab.formats.registry import FORMATS
from mqlab.kernel.output import COUNTS
from mqlab.ledgers.mapping import read_map
from mqlab.material import remote as material_remote
from mqlab.material.walking import STDIN
from mqlab.narrowing import narrowed
from mqlab.notes import IncidentNotes, read_notes
from mqlab.plugin_faults import taken
from mqlab.plugins import named
from mqlab.sources import Source
from mqlab.spark import clusters, early, guest
from mqlab.spark.session import OWN, at_work, spark_session, was_stopped
from mqlab.tables import (
    ASSIGNMENTS,
    CLIENTS,
    EVENTS,
    LEDGER,
    METRICS,
    POSITIONS,
    REJECTS,
    SETTINGS,
    TABLES,
    VOLUME,
    Table,
)
from mqlab.units import parse_zone
from mqlab.verdict import diagnose_within

if TYPE_CHECKING:
    import pandas as pd

    from mqlab.plots import Plots


class Text(str):
    """Text that a notebook shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Options:
    """What the user chose: see ``open_capture``."""

    since: str | float | None = None
    until: str | float | None = None
    group: str | None = None
    topic: str | None = None
    client: str | None = None
    log_tz: str | Sequence[str | tuple[str, str]] = ()
    master: str | None = None
    remote: str | None = None
    workspace: str | None = None
    ledger: str | None = None
    plugins: Sequence[str] = ()
    spark: SparkSession | None = None

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


_PLACES = ArrayType(StructType([StructField(name, StringType()) for name in ("source", "path", "zone")]))
"""Where rows stand, for people, and the zone of their clock."""


@dataclass(frozen=True, repr=False)
class Capture:
    """One material, read and diagnosed.

    The tables (``events``, ``metrics``, ``positions``, ``clients``, ``assignments``, ``settings``, ``ledger``,
    ``volume``, ``rejects``) are Spark DataFrames; docs/tables.md says what stands in their columns. Everything else is
    plain Python and needs no Spark.
    """

    paths: tuple[str, ...]
    facts: Facts
    diagnosis: Diagnosis
    notes: IncidentNotes
    options: Options
    sources: tuple[Source, ...]
    cache: Path
    places: Places = field(repr=False)
    extended: tuple[plugins.Plugin, ...] = field(default=(), repr=False)
    """The plug-ins that it was read and diagnosed with; they are in force again where it is asked something."""

    def __repr__(self) -> str:
        from mqlab.card import text

        plugins.use(self.extended)
        return text(self.diagnosis, self.sizes())

    def _repr_html_(self) -> str:
        from mqlab.card import html

        plugins.use(self.extended)
        return html(self.diagnosis, self.sizes())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, the worst first; ``show("F1")`` tells more of the first."""
        return self.diagnosis.findings

    @property
    def plot(self) -> Plots:
        """Every figure, as a method: ``capture.plot.timeline()``."""
        from mqlab.plots import Plots

        plugins.use(self.extended)
        return Plots(self.facts, self.diagnosis, self.options.group, self.options.topic, self.options.client)

    # -- tables ------------------------------------------------------------------------------------------------------

    @property
    def events(self) -> DataFrame:
        """What log lines say happened, a row each."""
        return self.table(EVENTS)

    @property
    def metrics(self) -> DataFrame:
        """Samples of metrics, a row each."""
        return self.table(METRICS)

    @property
    def positions(self) -> DataFrame:
        """Positions of groups in partitions and queues at moments."""
        return self.table(POSITIONS)

    @property
    def clients(self) -> DataFrame:
        """Clients and sessions as snapshots and connect lines saw them."""
        return self.table(CLIENTS)

    @property
    def assignments(self) -> DataFrame:
        """Queues given to members, by snapshot."""
        return self.table(ASSIGNMENTS)

    @property
    def settings(self) -> DataFrame:
        """Configured values as seen at moments."""
        return self.table(SETTINGS)

    @property
    def ledger(self) -> DataFrame:
        """Messages that somebody says were sent, acknowledged, stored, consumed, processed or committed."""
        return self.table(LEDGER)

    @property
    def volume(self) -> DataFrame:
        """Lines and bytes per source, minute, level and line shape."""
        return self.table(VOLUME)

    @property
    def rejects(self) -> DataFrame:
        """Files and line shapes that no format understood."""
        return self.table(REJECTS)

    def table(self, table: Table) -> DataFrame:
        """One of ``mqlab.tables.TABLES`` as a Spark DataFrame, as ``events`` is; starts a session where none runs."""
        return self._table(self.spark(), table)

    def sql(self, query: str) -> DataFrame:
        """The answer to *query*; the tables are views: ``select kind, count(*) from events group by kind``.

        In somebody else's session it is asked in a session beside that, so that no view is replaced there.
        """
        spark = self.spark()
        if spark not in OWN:
            spark = guest.answering(spark, self._size)
        words = set(re.findall(r"\w+", query.lower()))
        for table in TABLES:
            if table.name in words:
                self._table(spark, table).createOrReplaceTempView(table.name)
        return spark.sql(query)

    def sizes(self) -> dict[str, int]:
        """Rows of each table, counted without Spark; a flood's lines that one row stands for count as that row."""
        return {table.name: self.places.count(self.cache, table) for table in TABLES if table is not VOLUME}

    def spark(self) -> SparkSession:
        """The session this capture's tables live in: yours where there is one, see ``open_capture``."""
        return _host(self.options) or _session(self.options, self.cache, self._size)

    @property
    def _size(self) -> int:
        return sum(s.unpacked for s in self.sources)

    # -- lines -------------------------------------------------------------------------------------------------------

    def show(self, finding: str, lines: int = 3) -> Text:
        """What a finding (its id, its class, or F1, F2 …) says, and each place that proves it with lines around it.

        Raises:
            UnknownFindingError: no finding is called so.
        """
        from mqlab.material.context import shown

        numbered = {f"F{number}": one for number, one in enumerate(self.findings, start=1)}
        named = (one for one in self.findings if finding in (one.id, one.incident))
        chosen = numbered.get(finding.upper()) or next(named, None)
        if chosen is None:
            raise UnknownFindingError(finding, [one.id for one in self.findings])
        with self.readable() as sources:
            return Text(shown(chosen, sources, lines))

    def lines(self, source: str, line: int, around: int = 10) -> Text:
        """The raw lines of *source* around *line*, secrets masked; the end of its path is enough of a name.

        Raises:
            UnknownSourceError: no source, or more than one, is called so.
        """
        from mqlab.material.context import excerpt

        with self.readable() as sources:
            known = [one for one in sources if one.path == source] or [
                one for one in sources if f"/{one.path}".endswith(f"/{source}")
            ]
            if len(known) != 1:
                alike = [one.path for one in sources if Path(one.path).name == Path(source).name]
                raise UnknownSourceError(source, alike)
            return Text("\n".join(excerpt(known[0], line, around)))

    def between(self, since: str | float, until: str | float, node: str | None = None) -> pd.DataFrame:
        """What log lines say happened from *since* to *until*, by time; of one broker or client with *node*.

        Lines that mean nothing to mqlab are only counted, in ``volume``; ``lines`` shows them around a place.
        """
        from mqlab import frames
        from mqlab.shared.table import Table

        begin, end, events = units.epoch(since), units.epoch(until), self.events
        with guest.spoken_to(events.sparkSession):
            at = F.unix_micros("at")
            inside = at.between(int((begin or 0.0) * 1e6), int((end or 0.0) * 1e6))
            rows = events.where(inside if node is None else inside & (F.col("node") == node))
            told = rows.select(at.alias("at"), "node", "kind", "text", "source", "line")
            found = Table(told.orderBy("at", "source", "line").toPandas())
        return found.assign(at=frames.moments(found["at"]))

    @overload
    def lag(
        self, group: str, topic: str, partition: int | str | None = None, unit: Literal["messages"] = "messages"
    ) -> pd.Series[int]: ...
    @overload
    def lag(
        self, group: str, topic: str, partition: int | str | None = None, *, unit: Literal["s"]
    ) -> pd.DataFrame: ...
    def lag(
        self, group: str, topic: str, partition: int | str | None = None, unit: str = "messages"
    ) -> pd.Series[int] | pd.DataFrame:
        """How many messages waited, by moment (UTC): in one partition or queue, else in all of the topic.

        A total is given for moments at which every queue is told. Empty where no position is of this group and topic:
        ``capture.positions.select("group", "topic").distinct().show()`` lists those that are.

        With ``unit="s"`` it is how long the oldest of them had waited, of all queues the longest: ``lag_s``, between
        ``at_least_s`` and ``at_most_s``. It came in between two samples of the end offset, at a steady pace for
        ``lag_s``. Where it is older than the first sample, only ``at_least_s`` is known and the others are NaN; all
        are NaN where the end offset went back in between. ``trend`` is how many seconds ``lag_s`` grew per second since
        the moment before: 1 where nothing is read, below 0 where the group catches up.

        Raises:
            UnknownUnitError: *unit* is neither ``messages`` nor ``s``.
        """
        import pandas as pd

        from mqlab import frames
        from mqlab.shared import lag, queues

        if unit not in ("messages", "s"):
            raise UnknownUnitError(unit)
        known = queues.of_groups(self.facts).get((group, topic), {})
        if partition is not None:
            known = {queue: points for queue, points in known.items() if queue == str(partition)}
        if unit == "s":
            return frames.lag_seconds(lag.ages(known))
        points = queues.totals(known)
        index = frames.moments(round(at * 1e6) for at, _, _ in points)
        waiting = [waits for _, waits, _ in points]
        return pd.Series(waiting, index=index, name=f"lag of {group} in {topic}", dtype="int64")

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write every table to *folder*, as ``events.parquet`` and ``events.csv`` …; the files that were written.

        They stand there all or not at all, and may take the place of tables that were saved there before, but of
        nothing else. Rows are written piece by piece, without Spark, by this process: the folder is on this machine,
        wherever Spark runs. In CSV moments are ISO 8601 in UTC, labels are JSON, and a text that a spreadsheet would
        take for a formula has an apostrophe before it; Parquet has every value as it is.

        Raises:
            CannotSaveError: the folder holds something else, is in the material, or cannot be written.
        """
        from mqlab.cache.typed import Typed, placed
        from mqlab.saving import save

        typed = Typed(self.cache, self.places, placed(self.sources, self.facts.coverage))
        return save(Path(folder), [typed.table(table) for table in TABLES], self.paths)

    # -- less of it --------------------------------------------------------------------------------------------------

    def where(
        self,
        *,
        since: str | float | None = None,
        until: str | float | None = None,
        group: str | None = None,
        topic: str | None = None,
        client: str | None = None,
    ) -> Capture:
        """The capture within a time and about one group, topic or client, diagnosed anew; its tables stay whole."""
        plugins.use(self.extended)
        about, dismissed = narrowed(self.facts, None, None, group, topic, client), [d.id for d in self.notes.dismissed]
        facts, found = diagnose_within(about, units.epoch(since), units.epoch(until), dismissed)
        told = {"since": since, "until": until, "group": group, "topic": topic, "client": client}
        options = replace(self.options, **{name: value for name, value in told.items() if value is not None})  # type: ignore[arg-type]
        return replace(self, facts=facts, diagnosis=found, options=options)

    @contextmanager
    def readable(self) -> Iterator[tuple[Source, ...]]:
        """The sources, with what was unpacked unpacked once more for as long as the block lasts.

        The workspace keeps no copy of the material; standard input is gone for good.
        """
        plugins.use(self.extended)
        if STDIN in self.paths or all(
            s.format == "unreadable" or material_remote.is_there(s.location) for s in self.sources
        ):
            yield self.sources
            return
        with kept.scratch(self.cache) as folder:
            yield tuple(intake.gather(self.paths, folder, FORMATS, read_map(self.options.ledger)))

    def _table(self, spark: SparkSession, table: Table) -> DataFrame:
        with guest.spoken_to(spark):
            stored = self.places.stored(spark, self.cache)
            raw = stored.table(COUNTS if table is VOLUME else table)
            if raw is None:
                return table.conform(spark.range(0))
            if table is VOLUME:
                minute = F.concat("minute", F.lit(":00Z")).try_cast(TimestampType())
                raw = raw.where(~F.col("kept")).withColumn("at", minute)
            named = _named(raw, stored.table(SETTINGS)) if table is EVENTS else raw
            return self._dated(spark, named).transform(table.conform)

    def _dated(self, spark: SparkSession, raw: DataFrame) -> DataFrame:
        """*raw* with paths for links and moments in UTC."""
        from mqlab.cache.typed import placed

        told = placed(self.sources, self.facts.coverage)
        known = [{"source": link, "path": path, "zone": zone} for link, (path, zone) in told.items()]
        places = spark.range(1).select(F.inline(F.from_json(F.lit(json.dumps(known)), _PLACES)))
        east = F.col("east") if "east" in raw.columns else F.lit(None).cast("int")
        written = F.timestamp_micros(F.unix_micros("at") - east * 1_000_000)
        at = F.when(east.isNotNull(), written).otherwise(F.to_utc_timestamp("at", F.col("zone")))
        dated = raw.join(F.broadcast(places), "source").withColumn("at", at).drop("source")
        return dated.withColumnRenamed("path", "source")


def _named(events: DataFrame, settings: DataFrame | None) -> DataFrame:
    """*events* with the node that wrote them, where their file names one only, in a line or in a broker's settings."""
    told = events.select("source", "node")
    if settings is not None:
        own = settings.where((F.col("scope") == "broker") & (F.col("origin") == "printed"))
        told = told.union(own.select("source", F.col("owner").alias("node")))
    least = F.min("node")
    only = told.groupBy("source").agg(F.when(least == F.max("node"), least).alias("only"))
    return events.join(F.broadcast(only), "source").withColumn("node", F.coalesce("node", "only")).drop("only")


def open_capture(  # noqa: PLR0913 - the one function that people type, its options have names
    paths: Sequence[str | Path] | str | Path,
    *,
    since: str | float | None = None,
    until: str | float | None = None,
    group: str | None = None,
    topic: str | None = None,
    client: str | None = None,
    log_tz: str | Sequence[str | tuple[str, str]] = (),
    ledger: str | None = None,
    plugins: str | Sequence[str] = (),
    workspace: str | None = None,
    master: str | None = None,
    remote: str | None = None,
    spark: SparkSession | None = None,
    progress: Callable[[str], None] | None = None,
) -> Capture:
    """The capture behind *paths*: files, folders, globs, archives or ``-``; or the name of a sample.

    *since* and *until* (ISO text, UTC unless a zone is written, or epoch seconds), *group*, *topic* and *client* leave
    out what is about something else. *log_tz* names the zone of logs that do not write theirs: ``ZONE`` or
    ``GLOB=ZONE``, later ones win. *ledger* is a file that says which files are ledgers (docs/ledgers.md). *plugins* are
    folders or packages of your own code (docs/plugins.md; default: ``$MQLAB_PLUGINS``). *workspace* is the folder in
    which what was read is kept. *progress* is told each step.

    *spark* is a session of your own, classic or Spark Connect; without it the active one of this process is used, if
    mqlab did not make it. It stays as it is: material is read in a session beside it that ends with the reading, and
    ``capture.events`` and the other tables are DataFrames of yours, for joins with your own; they say the same whatever
    it is set to. Where there is none, mqlab starts its own: here, or where *master* or *remote* say; to ask for these
    beside a session of yours is an error.

    Raises:
        MqlabError: nothing readable, no such path, no Java, a plug-in, a workspace or a session that cannot be used.
    """
    names = named((plugins,) if isinstance(plugins, str) else plugins)
    extended = taken(names)
    options = Options(since, until, group, topic, client, log_tz, master, remote, workspace, ledger, names, spark)
    host = _host(options)
    begin, end, zones = units.epoch(since), units.epoch(until), options.zones()
    each = (paths,) if isinstance(paths, str | Path) else paths
    given = tuple(bundled.sample_or_path(str(path)) for path in each)
    notes, ledgers = read_notes(given), read_map(ledger)
    hold = kept.Hold(cache := kept.cache_folder(workspace))
    with shown(progress) as tell:
        try:
            with guest.beside(host) if host else _own(options, cache) as session:
                material = _read(given, reading.Desk(cache, hold, session, tell, ledgers))
            tell("looking for causes")
            facts = assemble(Gathered.of(material.rows, material.sources), (*notes.zones, *zones))
            about = narrowed(facts, None, None, group, topic, client)
            languages.keep(about)
            facts, found = diagnose_within(about, begin, end, [d.id for d in notes.dismissed])
            sources = Rows(material.sources)
            capture = Capture(given, facts, found, notes, options, sources, cache, material.places, extended)
        except BaseException:
            hold.release()
            raise
    weakref.finalize(capture.places, hold.release)
    return capture


@contextmanager
def shown(progress: Callable[[str], None] | None) -> Iterator[Callable[[str], None]]:
    """*progress*, else a line below the cell of a notebook that goes when all is done, else nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if progress is not None or shell is None or not hasattr(shell, "kernel"):
        yield progress or (lambda _: None)
        return
    from IPython.display import DisplayHandle

    place = DisplayHandle()  # type: ignore[no-untyped-call]
    place.display({"text/plain": "reading …"}, raw=True)  # type: ignore[no-untyped-call]
    yield lambda step: place.update({"text/plain": f"{step} …"}, raw=True)  # type: ignore[no-untyped-call]
    place.update({"text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]


def _read(given: Sequence[str], desk: reading.Desk) -> Material:
    """The material behind the paths; once more with a Spark of its own where the warm one is stopped meanwhile."""
    try:
        return reading.read(given, desk)
    except Exception:  # a stopped server shows as whatever Spark or its channel makes of it
        if STDIN in given or not was_stopped():
            raise
        desk.progress("the warm session was stopped: starting Spark")
        return reading.read(given, desk)


def _host(options: Options) -> SparkSession | None:
    """The session of somebody else that is used, if any."""
    return None if early.is_begun() else guest.host(options.spark, options.master, options.remote)


@contextmanager
def _own(options: Options, cache: Path) -> Iterator[Callable[[int], SparkSession]]:
    """What starts a session of mqlab's own; what stops its work is told in a sentence."""
    with at_work(), clusters.told(options.master, options.remote):
        yield partial(_session, options, cache)


def _session(options: Options, cache: Path, size: int) -> SparkSession:
    local = kept.local_folder(cache)
    early.wait()
    return spark_session(size=size, master=options.master, remote=options.remote, cache=local)
