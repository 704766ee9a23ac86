"""From the tagged Parquet to canonical tables, and from those to facts: the last thing that Spark does.

Every table is thinned where it is large and left as it is where it is small:

* EVENTS: one row per kind, actor and ten seconds, with count, extrema, first and last line;
* SETTINGS: a value that repeats the one printed before it is dropped;
* METRICS: one row a series, only series that mqlab knows by name;
* VOLUME: one row per source, level and shape.

All of it leaves Spark in one action, as rows of (fact, payload), payload being JSON. Moments of log lines are still
on the line's own clock (``wall``); ``offset`` is set where the line writes its zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from mqlab import scan
from mqlab.loaders import LOADERS, application_log, console, metric_names
from mqlab.loaders.base import TableLoader
from mqlab.loaders.logs import SETTING, events, union
from mqlab.sources import Reading
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS, METRICS, POSITIONS, REJECTS, SETTINGS, VOLUME, Table

EPISODE = 10
"""Seconds that one episode spans."""
NOT_READ = ("unrecognised", "binary", "empty", "unreadable")
"""Formats of sources that nobody understands."""
SHAPES = 300
"""Shapes kept per source; the rest is counted under coverage only."""

Raw = Mapping[Table, DataFrame]
"""Canonical tables whose log moments are on their own clocks: columns ``wall`` and ``offset`` instead of ``at``."""


def raw_tables(spark: SparkSession, tagged: Path, formats: frozenset[str]) -> Raw:
    """Every table that the material can feed; *formats* are those present in it."""
    rows = scan.tagged(spark, tagged)
    found: dict[Table, list[DataFrame]] = {}
    log_rows = rows.filter(F.col("tag").isin("event", "setting")).select(
        F.col("file").alias("source"), "line", "text", "tag", _inner().alias("inner")
    )
    if any(loader.FORMAT in formats for loader in LOADERS if loader.READING is Reading.LOG):
        happened = events(log_rows.filter("tag = 'event'"))
        found[EVENTS] = [happened]
        found[SETTINGS] = [_printed(log_rows)]
        found[METRICS] = [_counters(happened)]
    if "prometheus-json" in formats:
        found.setdefault(METRICS, []).append(_samples(rows))
        found.setdefault(EVENTS, []).append(_answers(rows))
    table_rows = console.dated(_table_rows(rows))
    for loader in _table_loaders(formats):
        of_format = F.split_part("source", F.lit("."), F.lit(2)) == loader.FORMAT
        for table, frame in loader.load(table_rows.filter(of_format)).items():
            found.setdefault(table, []).append(_dated(frame))
    if _table_loaders(formats):
        found.setdefault(EVENTS, []).append(_dated(console.tool_errors(table_rows)))
    return {table: union(frames) for table, frames in found.items()}


def facts(spark: SparkSession, tagged: Path, formats: frozenset[str]) -> DataFrame:
    """(fact, payload) rows: everything the detectors may look at."""
    rows = scan.tagged(spark, tagged)
    tables = raw_tables(spark, tagged, formats)
    makers = {EVENTS: episodes, SETTINGS: settings, POSITIONS: _as_it_is, METRICS: series}
    parts = [_payload(table.name, makers[table](tables[table])) for table in makers if table in tables]
    parts += [_payload("coverage", _coverage(rows, formats)), _payload("volume", shapes(rows))]
    return union(parts)


def volume(spark: SparkSession, tagged: Path) -> DataFrame:
    """VOLUME on the lines' own clocks."""
    counted = scan.tagged(spark, tagged).filter("tag = 'count'")
    return counted.select(
        F.col("file").alias("source"),
        F.col("minute").try_cast("timestamp").alias("wall"),
        *[F.col(name) for name in VOLUME.schema.names if name not in ("source", "at")],
    )


def episodes(happened: DataFrame) -> DataFrame:
    """Events thinned: one row per kind, actor and ten seconds."""
    who = ["kind", "source", "system", "node", "client_id", "group", "topic", "queue", "peer", "reason", "offset"]
    bucket = F.floor(F.unix_seconds("wall") / EPISODE)
    place = F.struct("line", "text")
    return happened.groupBy(*who, bucket.alias("bucket")).agg(
        F.count(F.lit(1)).alias("count"),
        F.unix_micros(F.min("wall")).alias("first_at"),
        F.unix_micros(F.max("wall")).alias("last_at"),
        F.min(place).alias("first"),
        F.max(place).alias("last"),
        F.min("value").alias("value_min"),
        F.max("value").alias("value_max"),
    )


def settings(values: DataFrame) -> DataFrame:
    """Settings without those that repeat the value printed before."""
    history = Window.partitionBy("source", "scope", "owner", "key").orderBy("line")
    before = F.lag(F.coalesce("value", F.lit(""))).over(history)
    return (
        values.withColumn("before", before)
        .filter(F.col("before").isNull() | (F.col("before") != F.coalesce("value", F.lit(""))))
        .select("source", "line", "text", "scope", "owner", "key", "value", "origin", "version", "offset", _micros("wall"))
    )


def series(samples: DataFrame) -> DataFrame:
    """One row a series: its points (at, value, line) by time."""
    point = F.struct(F.unix_micros("wall").alias("at"), "value", "line")
    known = samples.filter(F.col("name").rlike(metric_names.known()) & F.col("value").isNotNull())
    labels = F.expr(scan.SORTED_LABELS)
    return known.groupBy("source", "name", labels.alias("labels"), "offset").agg(
        F.sort_array(F.collect_list(point)).alias("points")
    )


def shapes(rows: DataFrame) -> DataFrame:
    """Line shapes of each source, the most frequent ones and all that warn."""
    bad = F.col("level").isin("WARN", "ERROR", "FATAL")
    by_weight = Window.partitionBy("source").orderBy(bad.desc(), F.desc("lines"), "shape")
    grouped = (
        rows.filter("tag = 'count' and shape is not null")
        .groupBy(F.col("file").alias("source"), "level", "shape")
        .agg(
            F.sum("lines").alias("lines"),
            F.sum("bytes").alias("bytes"),
            F.min("minute").alias("first_minute"),
            F.max("minute").alias("last_minute"),
            F.min("line").alias("line"),
        )
    )
    return grouped.withColumn("rank", F.row_number().over(by_weight)).filter(F.col("rank") <= SHAPES).drop("rank")


def _coverage(rows: DataFrame, formats: frozenset[str]) -> DataFrame:
    """Lines and bytes per source and class: data, noise, or null for what nobody understands."""
    table_class = F.lit(None).cast("string")
    for loader in _table_loaders(formats):
        is_it = F.split_part("file", F.lit("."), F.lit(2)) == loader.FORMAT
        table_class = F.when(is_it, loader.line_class(_inner())).otherwise(table_class)
    of_log = F.when(F.substring("file", 1, 1) == "L", F.lit("noise"))
    line_class = (
        F.when(F.col("tag").isin("event", "setting"), "data")
        .when(F.col("tag") == "row", table_class)
        .when(F.col("tag") == "document", F.col("shape"))
        .when(F.substring("file", 1, 1) == "T", "noise")
        .when(~F.split_part("file", F.lit("."), F.lit(2)).isin(*NOT_READ), "noise")
        .otherwise(of_log)
    )
    counted = rows.filter(~F.col("tag").isin("metric", "answer")).withColumn("class", line_class)
    place = F.struct("line", "text")
    return counted.groupBy(F.col("file").alias("source"), "class").agg(
        F.sum("lines").alias("lines"),
        F.sum("bytes").alias("bytes"),
        F.min("minute").alias("first_minute"),
        F.max("minute").alias("last_minute"),
        F.min(F.when(F.col("class").isNull(), place)).alias("sample"),
    )


def _printed(log_rows: DataFrame) -> DataFrame:
    """SETTINGS from the blocks that clients and brokers print when they start."""
    in_order = Window.partitionBy("source").orderBy("line")
    head = F.regexp_extract("inner", r"(\w+)Config values:", 1)
    marked = events_clock(log_rows).withColumns(
        {
            "head": F.when(head != "", head),
            "key": F.nullif(F.regexp_extract("inner", SETTING, 1), F.lit("")),
            "value": F.regexp_extract("inner", SETTING, 2),
        }
    )
    placed = marked.withColumns(
        {
            "scope": F.last("head", ignorenulls=True).over(in_order),
            "wall": F.last(F.when(F.col("head").isNotNull(), F.col("own")), ignorenulls=True).over(in_order),
            "block": F.last(F.when(F.col("head").isNotNull(), F.col("line")), ignorenulls=True).over(in_order),
        }
    ).filter("tag = 'setting' and block is not null")
    block = Window.partitionBy("source", "block")
    owner = [
        F.max(F.when(F.col("key") == key, F.nullif(F.col("value"), F.lit("")))).over(block)
        for key in ("client.id", "group.id", "broker.id", "node.id")
    ]
    scope = F.when(F.col("scope") == "Kafka", "broker").otherwise(F.lower("scope"))
    return placed.withColumn("owner", F.coalesce(*owner)).select(
        "source", "line", "text", "key", "value", "wall", "offset", "owner",
        scope.alias("scope"),
        F.lit("printed").alias("origin"),
        F.lit(None).cast("string").alias("version"),
    )  # fmt: skip


def events_clock(log_rows: DataFrame) -> DataFrame:
    """*log_rows* with ``own`` and ``offset``: the line's moment and, where written, its zone."""
    from mqlab.loaders.layouts import offset, wall

    return log_rows.withColumns({"own": wall(F.col("inner")), "offset": offset(F.col("inner"))})


def _counters(happened: DataFrame) -> DataFrame:
    """METRICS from the counters that applications print: ``app.received``, ``app.failed`` …"""
    pairs = F.expr(f"regexp_extract_all(text, r'{application_log.COUNTER}', 0)")
    printed = happened.filter("kind = 'app-counters'").select(
        "source", "line", "text", "wall", "offset", F.explode(pairs).alias("pair")
    )
    return printed.select(
        "source",
        "line",
        "text",
        "wall",
        "offset",
        F.concat(F.lit("app."), F.split_part("pair", F.lit("="), F.lit(1))).alias("name"),
        F.create_map().cast("map<string,string>").alias("labels"),
        F.split_part("pair", F.lit("="), F.lit(2)).try_cast("double").alias("value"),
    )


def _samples(rows: DataFrame) -> DataFrame:
    return _dated(
        rows.filter("tag = 'metric'").selectExpr(
            "file AS source", "line", "at", "name", "from_json(labels, 'map<string,string>') AS labels", "value"
        )
    )


def _answers(rows: DataFrame) -> DataFrame:
    return rows.filter("tag = 'answer'").select(
        F.col("file").alias("source"),
        "line",
        "text",
        F.col("at").alias("wall"),
        F.lit(0).alias("offset"),
        F.lit("tool-error").alias("kind"),
        F.substring("text", 1, 200).alias("reason"),
    )


def _table_rows(rows: DataFrame) -> DataFrame:
    return rows.filter("tag = 'row'").select(
        F.col("file").alias("source"),
        "line",
        _inner().alias("text"),
        F.regexp_extract("file", r"^[^.]*\.[^.]*\.[^.]*\.(.*)$", 1).alias("name"),
        F.expr("timestamp_millis(try_cast(split_part(file, '.', 3) AS BIGINT))").alias("snapshot_at"),
    )


def _inner() -> Column:
    return F.rtrim(F.coalesce(F.col("inner"), F.col("text")), F.lit("\r"))


def _dated(frame: DataFrame) -> DataFrame:
    """*frame* with its UTC ``at`` as ``wall`` and offset 0."""
    return frame.withColumnsRenamed({"at": "wall"}).withColumn("offset", F.lit(0))


def _as_it_is(frame: DataFrame) -> DataFrame:
    return frame.withColumn("wall", F.unix_micros("wall"))


def _micros(name: str) -> Column:
    return F.unix_micros(name).alias(name)


def _payload(fact: str, frame: DataFrame) -> DataFrame:
    return frame.select(F.lit(fact).alias("fact"), F.to_json(F.struct("*")).alias("payload"))


def _table_loaders(formats: frozenset[str]) -> Sequence[TableLoader]:
    return [
        loader  # type: ignore[misc]
        for loader in LOADERS
        if loader.READING is Reading.TABLE and loader.FORMAT in formats
    ]


__all__ = ["ASSIGNMENTS", "CLIENTS", "REJECTS", "Raw", "episodes", "facts", "raw_tables", "series", "settings", "shapes", "volume"]
