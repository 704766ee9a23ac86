"""The tables of a capture as a data source of Spark: ``spark.read.format("mqlab")``.

::

    mqlab.register(spark)
    spark.read.format("mqlab").option("table", "events").load("bundle.tar.gz")
    spark.sql("CREATE TEMPORARY VIEW events USING mqlab OPTIONS (table 'events', path 'bundle.tar.gz')")

Spark asks a Python process beside its driver for the columns (``schema``), which is when material is looked up in the
workspace, or read into it by ``mqlab triage`` as a process of its own: no Python of a data source has a Spark to read
with. Workers then read the rows from the files of the workspace, a partition each. Filters are not pushed down: a
reader that takes them is refused wherever ``spark.sql.python.filterPushdown.enabled`` is off, as it is by default.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from mqlab import plugins
from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.cache import entries, reading, workspace
from mqlab.cache.typed import Rows, Typed, placed
from mqlab.errors import DataSourceError
from mqlab.ledgers.mapping import read_map
from mqlab.material import remote
from mqlab.notes import read_notes
from mqlab.plugin_faults import taken
from mqlab.spark import guest
from mqlab.tables import TABLES, Table
from mqlab.units import parse_zone

if TYPE_CHECKING:
    import pyarrow as pa

_OPTIONS = ("ledger", "log_tz", "path", "plugins", "table", "workspace")


def register(spark: SparkSession | None = None) -> None:
    """Let *spark*, without it the active session, read captures: ``spark.read.format("mqlab")``, also from SQL.

    ``.load(PATH)`` takes files, folders, globs and archives, one or a list, and gives the table that
    ``option("table", …)`` names with the columns, types and rows that ``open_capture`` gives it. Material that the
    workspace does not hold yet is read first, with a Spark of its own beside the driver. The options ``log_tz``,
    ``ledger``, ``plugins`` and ``workspace`` are those of ``open_capture``; several values are a JSON list.

    Nothing else of the session changes. With Spark Connect, paths and the workspace are the server's, and mqlab must be
    installed there to read what is new; on a cluster, workers must see the workspace.

    Raises:
        DataSourceError: no session is active.
    """
    session = spark or guest.active()
    if session is None:
        raise DataSourceError("no Spark session is active; start one, or pass yours: mqlab.register(spark)")
    with guest.spoken_to(session), guest.equipped(session):
        session.dataSource.register(MqlabDataSource)


class MqlabDataSource(DataSource):
    """One table of the capture behind some paths."""

    _rows: Rows | None = None

    @classmethod
    def name(cls) -> str:
        """What it is called in ``format``."""
        return "mqlab"

    def schema(self) -> StructType:
        """The columns of the table.

        Raises:
            MqlabError: a bad option, no such path, nothing readable.
        """
        self._rows = _Asked.of(self.options).rows()
        return self._rows.table.schema

    def reader(self, schema: StructType) -> _Reader:
        """Who reads the rows; where columns were given in advance, they are looked up now.

        Raises:
            MqlabError: as ``schema``, or columns that are not those of the table.
        """
        rows = self._rows or _Asked.of(self.options).rows()
        if [(one.name, one.dataType) for one in schema] != [(one.name, one.dataType) for one in rows.table.schema]:
            raise DataSourceError(f"the columns of {rows.table.name} are fixed; leave out schema(…), and use select")
        return _Reader(rows)


class _Reader(DataSourceReader):
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(file) for file in self._rows.files]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # what Spark makes of no partition
            return
        try:
            yield from self._rows.read(partition.value)
        except FileNotFoundError as error:
            raise DataSourceError(
                f"{partition.value} of the workspace is gone, or not visible to this worker; load the material again"
            ) from error


@dataclass(frozen=True)
class _Asked:
    """What was asked for with options."""

    table: Table
    paths: tuple[str, ...]
    cache: Path
    zones: tuple[tuple[str, str], ...] = ()
    ledger: str | None = None
    plugins: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: MutableMapping[str, str]) -> _Asked:
        """The *options* read."""
        given = {name: value for name, value in options.items() if name != "paths"}
        if any(name.startswith("option.") for name in given):
            raise DataSourceError("catalog tables outlive the session; write CREATE TEMPORARY VIEW … USING mqlab")
        for name in given:
            if name not in _OPTIONS:
                raise DataSourceError(
                    f"it has no option {name!r}; known: {', '.join(_OPTIONS)}. Filter rows with where(…)"
                )
        named = {table.name: table for table in TABLES}
        table = named.get(given.get("table", "").lower())
        if table is None:
            asked = f"there is no table {given['table']!r}" if "table" in given else "no table is given"
            raise DataSourceError(f'{asked}: write .option("table", …) with one of {", ".join(named)}')
        paths = _several(options.get("paths", given.get("path", "")))
        if not paths:
            raise DataSourceError('no path is given: write .load("bundle/")')
        zones = tuple(
            (glob or "*", zone) for glob, _, zone in (t.rpartition("=") for t in _several(given.get("log_tz")))
        )
        for _, zone in zones:
            parse_zone(zone)
        cache = workspace.cache_folder(given.get("workspace"))
        return cls(table, paths, cache, zones, given.get("ledger"), _several(given.get("plugins")))

    def rows(self) -> Rows:
        """The rows of the table, from the workspace; read now where they are not there."""
        for path in self.paths:
            if not (remote.is_uri(path) or os.path.lexists(path) or glob(path, recursive=True, include_hidden=True)):  # noqa: PTH207
                raise DataSourceError(f"there is no {path!r}; relative paths are below {Path.cwd()}")
        if entries.state(self.paths) is None:
            raise DataSourceError(f"{', '.join(self.paths)} cannot be read twice; give a file, folder, glob or archive")
        taken(self.plugins)
        hold = workspace.Hold(self.cache)
        try:
            material = self._found(hold)
            if material is None:
                self._read()
                material = self._found(hold)
        finally:
            hold.release()
        if material is None:
            raise DataSourceError(f"{', '.join(self.paths)} changed while it was read; load it again when complete")
        facts = assemble(Gathered.of(material.rows, material.sources), (*read_notes(self.paths).zones, *self.zones))
        return Typed(self.cache, material.places, placed(material.sources, facts.coverage)).table(self.table)

    def _found(self, hold: workspace.Hold) -> entries.Material | None:
        return reading.found(self.paths, self.cache, hold, read_map(self.ledger))

    def _read(self) -> None:
        """Read the material into the workspace, in a process that has a Spark of its own."""
        flags = ["--workspace", str(self.cache)]
        flags += ["--ledger", self.ledger] if self.ledger else []
        flags += [word for name in plugins.named(self.plugins) for word in ("--plugins", name)]
        done = subprocess.run(
            [sys.executable, "-m", "mqlab", "triage", *flags, "--", *self.paths],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("mqlab: ")
            raise DataSourceError(f"{', '.join(self.paths)} cannot be read: {said.rstrip('.')}")


def _several(value: str | None) -> tuple[str, ...]:
    """One value, or those of a JSON list, as Spark writes several paths."""
    if not value:
        return ()
    if value.startswith("["):
        try:
            return tuple(map(str, json.loads(value)))
        except ValueError:
            pass
    return (value,)


def _environment() -> dict[str, str]:
    """The environment without what Spark tells its Python: another Spark is to start, on this machine."""
    told = ("SPARK_", "PYSPARK_", "_PYSPARK_", "PYTHON_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(told)}
    folders = [place for place in kept.get("PYTHONPATH", "").split(os.pathsep) if not place.endswith((".zip", ".jar"))]
    own = str(Path(__file__).parents[2])
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, [*folders, own]))}
