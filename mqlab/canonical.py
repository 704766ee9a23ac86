"""From the tagged rows of the scan to canonical tables: each loader is given the rows of its format.

Moments of log lines are still on the line's own clock (``wall``); ``offset`` is set where the line writes its zone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import (
    LOADERS,
    app_counters,
    console,
    kafka_assignments,
    kafka_client_log,
    ledger_rows,
    noted_lines,
    printed_settings,
    prometheus_json,
    rocketmq_allocations,
    rocketmq_client_log,
)
from mqlab.loaders.base import LaidOut, TableLoader
from mqlab.loaders.logs import beginning, events
from mqlab.sources import Reading
from mqlab.tables import ASSIGNMENTS, EVENTS, LEDGER, METRICS, SETTINGS, Table, union

Raw = Mapping[Table, DataFrame]
"""Canonical tables whose log moments are on their own clocks: columns ``wall`` and ``offset`` instead of ``at``."""

Layouts = Mapping[str, str]
"""Layouts of ledgers by link (``Source.layout``)."""

INNER = "rtrim('\\r', coalesce(inner, text))"
"""SQL: the line of a tagged row without its envelope and without the carriage return at its end."""
FORMAT = "split_part(source, '.', 2)"
"""SQL: the format of a row's source, by its link."""
_NAMES = ("system", "node", "client_id", "group", "topic", "queue", "member_id", "peer")


def raw_tables(rows: DataFrame, formats: frozenset[str], ledgers_as: Layouts = MappingProxyType({})) -> Raw:
    """Every table that the tagged *rows* can feed; *formats* are those present in the material."""
    named = rows.withColumnRenamed("file", "source")
    found: dict[Table, list[DataFrame]] = defaultdict(list)
    for table, frame in (
        *_of_logs(rows, formats),
        *_of_documents(named, formats),
        *_of_tables(named, table_loaders(formats), ledgers_as),
        *_of_notes(named, noted_lines.of_logs(ledgers_as)),
    ):
        found[table].append(frame)
    return {table: union(frames) for table, frames in found.items()}


def volume(rows: DataFrame) -> DataFrame:
    """VOLUME on the lines' own clocks."""
    return rows.where("tag = 'count'").selectExpr(
        "file AS source", "try_cast(minute AS TIMESTAMP) AS wall", "level", "shape", "lines", "bytes", "line"
    )


def log_rows(rows: DataFrame) -> DataFrame:
    """Lines of logs that say something, and of printed settings."""
    return rows.where("tag IN ('event', 'setting')").selectExpr(
        "file AS source", "line", "text", "tag", f"{INNER} AS inner", "at", "lines"
    )


def has_logs(formats: frozenset[str]) -> bool:
    """True where one of *formats* is that of a log."""
    return any(loader.FORMAT in formats for loader in LOADERS if loader.READING is Reading.LOG)


def table_loaders(formats: frozenset[str]) -> Sequence[TableLoader]:
    """The loaders of tables that one of *formats* needs."""
    return [
        loader  # type: ignore[misc]
        for loader in LOADERS
        if loader.READING is Reading.TABLE and loader.FORMAT in formats
    ]


def _of_logs(rows: DataFrame, formats: frozenset[str]) -> Iterator[tuple[Table, DataFrame]]:
    if not has_logs(formats):
        return
    kept = log_rows(rows)
    lines = kept.where("tag = 'event'")
    happened = events(lines)
    yield EVENTS, happened
    yield SETTINGS, printed_settings.settings(kept)
    yield METRICS, app_counters.counters(lines)
    if rocketmq_client_log.FORMAT in formats:
        yield ASSIGNMENTS, rocketmq_allocations.allocations(happened)
    if kafka_client_log.FORMAT in formats:
        yield ASSIGNMENTS, kafka_assignments.assignments(beginning(lines, kafka_assignments.KIND))


def _of_documents(named: DataFrame, formats: frozenset[str]) -> Iterator[tuple[Table, DataFrame]]:
    if prometheus_json.FORMAT in formats:
        yield METRICS, _samples(named)
        yield EVENTS, _answers(named)


def _of_tables(
    named: DataFrame, loaders: Sequence[TableLoader], ledgers_as: Layouts
) -> Iterator[tuple[Table, DataFrame]]:
    if not loaders:
        return
    rows = console.dated(_table_rows(named))
    yield EVENTS, _dated(EVENTS, console.tool_errors(rows))
    for loader in loaders:
        own = _laid_out(rows.where(f"{FORMAT} = '{loader.FORMAT}'"), loader, ledgers_as)
        for table, frame in loader.load(own).items():
            yield table, _dated(table, frame)


def _laid_out(rows: DataFrame, loader: TableLoader, ledgers_as: Layouts) -> DataFrame:
    """*rows* with the layout of their source, where the loader needs one; ledgers without any give no rows."""
    if not isinstance(loader, LaidOut):
        return rows
    known_as = rows.sparkSession.sql(ledger_rows.layouts(ledgers_as))
    return rows.join(F.broadcast(known_as), "source")


def _samples(named: DataFrame) -> DataFrame:
    """METRICS from the samples that the scan took out of documents."""
    return named.where("tag = 'metric'").selectExpr(
        "source",
        "line",
        "at AS wall",
        "0 AS offset",
        "name",
        "from_json(labels, 'map<string,string>') AS labels",
        "value",
    )


def _answers(named: DataFrame) -> DataFrame:
    """EVENTS from documents in which a metrics server says why it has no samples."""
    return named.where("tag = 'answer'").selectExpr(
        "source", "line", "lines", "text", "at AS wall", "0 AS offset", "'tool-error' AS kind",
        "substring(text, 1, 200) AS reason", "CAST(NULL AS DOUBLE) AS value",
        *[f"CAST(NULL AS STRING) AS `{n}`" for n in _NAMES],
    )  # fmt: skip


def _of_notes(named: DataFrame, layouts: Layouts) -> Iterator[tuple[Table, DataFrame]]:
    """LEDGER from lines of logs that have *layouts*."""
    if layouts:
        rows = named.where("tag = 'row'").selectExpr("source", "line", "text", f"{INNER} AS inner", "at")
        yield LEDGER, _dated(LEDGER, noted_lines.load(rows, layouts))


def _table_rows(named: DataFrame) -> DataFrame:
    """Rows of table files, with the name of the file and the moment that it is a snapshot of (UTC, or null)."""
    return named.where(f"tag = 'row' AND source LIKE '{Reading.TABLE.value}%'").selectExpr(
        "source",
        "line",
        f"{INNER} AS text",
        "regexp_extract(source, '^[^.]*[.][^.]*[.][^.]*[.](.*)$', 1) AS name",
        "timestamp_millis(try_cast(split_part(source, '.', 3) AS BIGINT)) AS snapshot_at",
    )


def _dated(table: Table, frame: DataFrame) -> DataFrame:
    """Rows of *table* with their UTC ``at`` as ``wall`` and offset 0; a message's own offset is its ``position``."""
    renamed = {"at": "at AS wall", "offset": "`offset` AS position"}
    names = [renamed.get(name, f"`{name}`") for name in table.schema.names]
    return frame.selectExpr(*names, "0 AS offset")
