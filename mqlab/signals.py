"""From the tagged Parquet to canonical tables, and from those to facts: the last thing that Spark does.

Every table is thinned where it is large and left as it is where it is small:

* EVENTS: one row per kind, actor and ten seconds, with count, extrema, first and last line; of the lives of consumer
  groups and of replicas every line (``EXACT``); polls that were worked off are summed by themselves (``polls``);
* SETTINGS: a value that repeats the one printed before it is dropped;
* METRICS: one row a series, only series that mqlab knows by name;
* LEDGER: counts per queue and ten seconds, and what became of messages, as runs of those of which the same is told
  (``ledgers``, ``fates``);
* VOLUME: one row per source, level and shape; how each log grew, minute by minute (``volumes``).

It leaves Spark in one action, and what is told of messages in another, as rows of (fact, payload), payload being
JSON. Moments of log lines are still on the line's own clock (``wall``); ``offset`` is set where the line writes its
zone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab import scan
from mqlab.loaders import (
    LOADERS,
    application_log,
    batch_lines,
    console,
    kafka_assignments,
    kafka_client_log,
    layouts,
    ledger_rows,
    metric_names,
    rocketmq_allocations,
    rocketmq_client_log,
)
from mqlab.loaders.base import LaidOut, TableLoader
from mqlab.loaders.logs import SETTING, beginning, events, union
from mqlab.sources import Reading
from mqlab.sql import quoted
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, LEDGER, METRICS, POSITIONS, SETTINGS, Table
from mqlab.thinning import ledgers, polls, volumes

EPISODE = 10
"""Seconds that one episode spans."""
EXACT = frozenset({
    "rebalance-started", "rebalance-stabilized", "rebalance-assigned", "group-emptied", "member-expired",
    "member-dropped", "member-left", "member-joined", "group-epoch-bumped", "target-assigned", "group-loaded",
    "group-unloaded", "offsets-expired", "static-member-replaced", "static-member-fenced",
    "join-started", "join-requested", "join-completed", "sync-completed", "partitions-assigned", "partitions-revoked",
    "partitions-lost", "assignment-made", "poll-timeout", "leave-sent", "heartbeat-failed", "generation-reset",
    "coordinator-lost", "coordinator-found", "session-timeout", "commit-failed", "commit-deferred", "offset-set",
    "offset-missing", "offset-reset", "offset-reset-to", "offset-sought", "subscribed", "consumer-closed",
    "record-failed", "call-failed", "request-cancelled", "app-stopping", "app-started", "group-metadata",
    "leader-started", "follower-started", "isr-shrunk", "isr-updated", "log-truncated", "truncation-asked",
    "truncation-idle", "below-watermark", "fetch-offset-reset", "unclean-election", "leader-elected", "no-leader",
    "broker-failed", "broker-fenced", "truncation-detected",
    "client-connected", "client-disconnected", "session-takeover", "session-resumed", "session-expired",
    "client-subscribed", "client-unsubscribed", "broker-starting", "bridge-connecting", "connection-made",
    "connection-closed", "connection-lost", "ping-unanswered", "client-configured", "proxied-connection",
    "flapping-detected", "session-killed",
})  # fmt: skip
"""Kinds of which every line is an episode: the life of a consumer group, of a log and of MQTT connections."""
ENDING = "kind IN ('publish-denied', 'subscribe-denied') AND reason = 'not-authorized'"
"""SQL: true for a refusal with which a connection ended; each of them is an episode, as every other end is."""
PAUSE = 0.1
"""Seconds from which a pause of a whole process is an episode of its own; collectors make many shorter ones."""
NOT_READ = ("unrecognised", "binary", "empty", "unreadable")
"""Formats of sources that nobody understands."""
SHAPES = 300
"""Shapes kept per source; the rest is counted under coverage only."""

Raw = Mapping[Table, DataFrame]
"""Canonical tables whose log moments are on their own clocks: columns ``wall`` and ``offset`` instead of ``at``."""

Layouts = Mapping[str, str]
"""Layouts of ledgers by link (``Source.layout``)."""
_LEDGERS = frozenset(loader.FORMAT for loader in LOADERS if loader.TABLES == (LEDGER,))
"""Formats of ledgers and dumps: their rows are many, and are followed by messages in a second step."""
_DUMPS = frozenset(loader.FORMAT for loader in LOADERS if loader.FORMAT in _LEDGERS and not isinstance(loader, LaidOut))
_NAMES = ("system", "node", "client_id", "group", "topic", "queue", "member_id", "peer")
_FORMAT = "split_part(source, '.', 2)"
_IN_ORDER = "OVER (PARTITION BY source ORDER BY line)"
_INNER = "rtrim('\r', coalesce(inner, text))"


def raw_tables(rows: DataFrame, formats: frozenset[str], ledgers_as: Layouts = MappingProxyType({})) -> Raw:
    """Every table that the tagged *rows* can feed; *formats* are those present in the material."""
    found: dict[Table, list[DataFrame]] = {}
    named = rows.withColumnRenamed("file", "source")
    if any(loader.FORMAT in formats for loader in LOADERS if loader.READING is Reading.LOG):
        log_rows = _log_rows(rows)
        lines = log_rows.where("tag = 'event'")
        happened = events(lines)
        found = {EVENTS: [happened], SETTINGS: [_printed(log_rows)], METRICS: [_counters(lines)]}
        if rocketmq_client_log.FORMAT in formats:
            found[ASSIGNMENTS] = [rocketmq_allocations.allocations(happened)]
        if kafka_client_log.FORMAT in formats:
            made = beginning(lines, kafka_assignments.KIND)
            found.setdefault(ASSIGNMENTS, []).append(kafka_assignments.assignments(made))
    if "prometheus-json" in formats:
        found.setdefault(METRICS, []).append(_samples(named))
        found.setdefault(EVENTS, []).append(_answers(named))
    loaders = _table_loaders(formats)
    if loaders:
        table_rows = console.dated(_table_rows(named))
        found.setdefault(EVENTS, []).append(_dated(EVENTS, console.tool_errors(table_rows)))
        for loader in loaders:
            own = _laid_out(table_rows.where(f"{_FORMAT} = '{loader.FORMAT}'"), loader, ledgers_as)
            for table, frame in loader.load(own).items():
                found.setdefault(table, []).append(_dated(table, frame))
    return {table: union(frames) for table, frames in found.items()}


def _laid_out(rows: DataFrame, loader: TableLoader, ledgers_as: Layouts) -> DataFrame:
    """*rows* with the layout of their source, where the loader needs one; ledgers without any give no rows."""
    if not isinstance(loader, LaidOut):
        return rows
    known_as = rows.sparkSession.sql(ledger_rows.layouts(ledgers_as))
    return rows.join(F.broadcast(known_as), "source")


def _log_rows(rows: DataFrame) -> DataFrame:
    """Lines of logs that say something, and of printed settings."""
    return rows.where("tag IN ('event', 'setting')").selectExpr(
        "file AS source", "line", "text", "tag", f"{_INNER} AS inner", "at", "lines"
    )


def facts(rows: DataFrame, formats: frozenset[str]) -> DataFrame:
    """(fact, payload) rows from the tagged *rows*: everything the detectors may look at but messages."""
    tables = raw_tables(rows, formats - _LEDGERS)
    makers = {
        EVENTS: episodes, SETTINGS: settings, POSITIONS: _as_it_is, METRICS: series, CLIENTS: _as_it_is,
        ASSIGNMENTS: _as_it_is,
    }  # fmt: skip
    parts = [_payload(table.name, makers[table](tables[table])) for table in makers if table in tables]
    parts += [_payload("coverage", _coverage(rows, formats)), _payload("volume", shapes(rows))]
    if any(loader.FORMAT in formats for loader in LOADERS if loader.READING is Reading.LOG):
        parts += [
            _payload("batches", polls.batches(batch_lines.batches(beginning(_log_rows(rows), batch_lines.KIND)))),
            _payload("log", volumes.volumes(rows)),
        ]
    return union(parts)


def messages(rows: DataFrame, formats: frozenset[str], ledgers_as: Layouts = MappingProxyType({})) -> DataFrame | None:
    """(fact, payload) rows about single messages, where there are ledgers or dumps; runs Spark once to parse them."""
    tables = raw_tables(rows, formats & _LEDGERS, ledgers_as)
    if LEDGER not in tables:
        return None
    mqtt = frozenset(link for link, layout in ledgers_as.items() if json.loads(layout).get("mqtt"))
    others = len(mqtt) < len(ledgers_as) or not formats.isdisjoint(_DUMPS)
    thinned = ledgers.thinned(tables[LEDGER], mqtt, others=others)
    return union([_payload(fact, frame) for fact, frame in thinned.items()])


def volume(rows: DataFrame) -> DataFrame:
    """VOLUME on the lines' own clocks."""
    return rows.where("tag = 'count'").selectExpr(
        "file AS source", "try_cast(minute AS TIMESTAMP) AS wall", "level", "shape", "lines", "bytes", "line"
    )


def episodes(happened: DataFrame) -> DataFrame:
    """Events thinned: one row per kind, actor and ten seconds; one row a line where the kind is exact."""
    who = ["kind", "source", "system", "node", "client_id", "group", "topic", "queue", "member_id", "peer", "reason",
           "offset"]  # fmt: skip
    exact = ", ".join(quoted(kind) for kind in sorted(EXACT))
    alone = f"kind IN ({exact}) OR (kind = 'gc-pause' AND value >= {PAUSE}) OR ({ENDING})"
    bucket = f"CASE WHEN {alone} THEN line ELSE floor(unix_seconds(wall) / {EPISODE}) END AS bucket"
    known = happened.selectExpr("*", bucket)
    return known.groupBy(*who, "bucket").agg(
        F.expr("sum(coalesce(lines, 1)) AS count"),
        F.expr("unix_micros(min(wall)) AS first_at"),
        F.expr("unix_micros(max(wall)) AS last_at"),
        F.expr("min(struct(line, text)) AS first"),
        F.expr("max(struct(line, text)) AS last"),
        F.expr("min(value) AS value_min"),
        F.expr("max(value) AS value_max"),
    )


def settings(values: DataFrame) -> DataFrame:
    """Settings without those that repeat the value printed before."""
    before = "lag(coalesce(value, '')) OVER (PARTITION BY source, scope, owner, key ORDER BY line)"
    return (
        values.selectExpr("*", f"{before} AS before")
        .where("before IS NULL OR before <> coalesce(value, '')")
        .selectExpr(
            "source", "line", "text", "scope", "owner", "key", "value", "origin", "version", "offset",
            "unix_micros(wall) AS wall",
        )
    )  # fmt: skip


def series(samples: DataFrame) -> DataFrame:
    """One row a series: its points (at, value, line) by time."""
    known = samples.where(
        f"(name RLIKE {quoted(metric_names.known())} OR name LIKE 'app.%') AND value IS NOT NULL"
    ).selectExpr(
        "source",
        "name",
        f"{scan.SORTED_LABELS} AS labels",
        "offset",
        "struct(unix_micros(wall) AS at, value, line) AS point",
    )
    return known.groupBy("source", "name", "labels", "offset").agg(F.expr("sort_array(collect_list(point)) AS points"))


def shapes(rows: DataFrame) -> DataFrame:
    """Line shapes of each source, the most frequent ones and all that warn."""
    rank = (
        "row_number() OVER (PARTITION BY source ORDER BY coalesce(level, '') IN ('WARN', 'ERROR', 'FATAL') DESC, "
        "lines DESC, shape) AS rank"
    )
    counted = rows.where("tag = 'count' AND shape IS NOT NULL").withColumnRenamed("file", "source")
    grouped = counted.groupBy("source", "level", "shape").agg(
        F.expr("sum(lines) AS lines"),
        F.expr("sum(bytes) AS bytes"),
        F.expr("min(minute) AS first_minute"),
        F.expr("max(minute) AS last_minute"),
        F.expr("min(line) AS line"),
    )
    return grouped.selectExpr("*", rank).where(f"rank <= {SHAPES}").drop("rank")


def _coverage(rows: DataFrame, formats: frozenset[str]) -> DataFrame:
    """Lines and bytes per source and class: data, noise, or null for what nobody understands."""
    named = rows.where("tag NOT IN ('metric', 'answer')").withColumnRenamed("file", "source")
    readings = named.selectExpr("*", f"{_INNER} AS plain")
    loaders = _table_loaders(formats)
    cases = [f"WHEN {_FORMAT} = '{loader.FORMAT}' THEN {loader.line_class('plain')}" for loader in loaders]
    table_class = f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS STRING)"
    unread = ", ".join(f"'{name}'" for name in NOT_READ)
    line_class = (
        "CASE WHEN tag IN ('event', 'setting') THEN 'data' "
        "WHEN tag = 'row' THEN table_class WHEN tag = 'document' THEN shape "
        f"WHEN {_FORMAT} NOT IN ({unread}) THEN 'noise' END AS class"
    )
    classed = readings.selectExpr("*", f"{table_class} AS table_class")
    return classed.selectExpr("source", "lines", "bytes", "minute", "line", "text", line_class).groupBy(
        "source", "class"
    ).agg(
        F.expr("sum(lines) AS lines"),
        F.expr("sum(bytes) AS bytes"),
        F.expr("min(minute) AS first_minute"),
        F.expr("max(minute) AS last_minute"),
        F.expr("min(CASE WHEN class IS NULL THEN struct(line, text) END) AS sample"),
    )  # fmt: skip


def _printed(log_rows: DataFrame) -> DataFrame:
    """SETTINGS from the blocks that clients and brokers print when they start."""
    head = "nullif(regexp_extract(inner, '\\\\b(\\\\w+)Config values:', 1), '')"
    marked = log_rows.selectExpr(
        "source", "line", "text", "tag", f"{layouts.wall('inner')} AS own", f"{layouts.offset('inner')} AS offset",
        f"{head} AS head",
        f"nullif(regexp_extract(inner, {quoted(SETTING)}, 1), '') AS key",
        f"regexp_extract(inner, {quoted(SETTING)}, 2) AS value",
    )  # fmt: skip
    placed = marked.selectExpr(
        "source", "line", "text", "tag", "offset", "key", "value",
        f"last(head, true) {_IN_ORDER} AS printer",
        f"last(CASE WHEN head IS NOT NULL THEN own END, true) {_IN_ORDER} AS wall",
        f"last(CASE WHEN head IS NOT NULL THEN line END, true) {_IN_ORDER} AS block",
    ).where("tag = 'setting' AND block IS NOT NULL")  # fmt: skip
    owners = ", ".join(
        f"max(CASE WHEN key = '{key}' THEN nullif(value, '') END) OVER (PARTITION BY source, block)"
        for key in ("client.id", "group.id", "broker.id", "node.id")
    )
    return placed.selectExpr(
        "source", "line", "text", "key", "value", "wall", "offset", f"coalesce({owners}) AS owner",
        "CASE printer WHEN 'Kafka' THEN 'broker' ELSE lower(printer) END AS scope",
        "'printed' AS origin",
        "CAST(NULL AS STRING) AS version",
    )  # fmt: skip


def _counters(lines: DataFrame) -> DataFrame:
    """METRICS from the counters that applications print, such as ``app.received``."""
    pairs = f"explode(regexp_extract_all(text, {quoted(application_log.COUNTER)}, 0)) AS pair"
    told = beginning(lines, application_log.COUNTERS)
    printed = told.selectExpr("source", "line", "text", "wall", "offset", pairs)
    return printed.selectExpr(
        "source", "line", "text", "wall", "offset",
        "concat('app.', split_part(pair, '=', 1)) AS name",
        "CAST(map() AS MAP<STRING, STRING>) AS labels",
        "try_cast(split_part(pair, '=', 2) AS DOUBLE) AS value",
    )  # fmt: skip


def _samples(named: DataFrame) -> DataFrame:
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
    return named.where("tag = 'answer'").selectExpr(
        "source", "line", "lines", "text", "at AS wall", "0 AS offset", "'tool-error' AS kind",
        "substring(text, 1, 200) AS reason", "CAST(NULL AS DOUBLE) AS value",
        *[f"CAST(NULL AS STRING) AS `{n}`" for n in _NAMES],
    )  # fmt: skip


def _table_rows(named: DataFrame) -> DataFrame:
    return named.where("tag = 'row'").selectExpr(
        "source",
        "line",
        f"{_INNER} AS text",
        "regexp_extract(source, '^[^.]*[.][^.]*[.][^.]*[.](.*)$', 1) AS name",
        "timestamp_millis(try_cast(split_part(source, '.', 3) AS BIGINT)) AS snapshot_at",
    )


def _dated(table: Table, frame: DataFrame) -> DataFrame:
    """Rows of *table* with their UTC ``at`` as ``wall`` and offset 0; a message's own offset is its ``position``."""
    renamed = {"at": "at AS wall", "offset": "`offset` AS position"}
    names = [renamed.get(name, f"`{name}`") for name in table.schema.names]
    return frame.selectExpr(*names, "0 AS offset")


def _as_it_is(frame: DataFrame) -> DataFrame:
    return frame.withColumn("wall", F.expr("unix_micros(wall)"))


def _payload(fact: str, frame: DataFrame) -> DataFrame:
    return frame.selectExpr(f"'{fact}' AS fact", "to_json(struct(*)) AS payload")


def _table_loaders(formats: frozenset[str]) -> Sequence[TableLoader]:
    return [
        loader  # type: ignore[misc]
        for loader in LOADERS
        if loader.READING is Reading.TABLE and loader.FORMAT in formats
    ]
