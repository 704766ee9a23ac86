"""The one pass over raw bytes: every line of every source becomes a kept row or part of a count.

One Spark action reads each file once and writes one tagged Parquet:

========  ==========================================================================================
``tag``   a row is
========  ==========================================================================================
event     a log line that a signature selects, verbatim
setting   a line of a settings block in a log, verbatim
row       a line of a command output, a properties file, a text metric or CSV, verbatim
count     all other lines of one source, minute, level and shape: how many, how many bytes, the first
metric    one sample from a JSON document
answer    an error that a JSON document holds
document  one JSON document: how many lines, whether it was understood
========  ==========================================================================================

``inner`` is the line without its envelope, where it wears one. ``line`` is the 1-based number of the (first) line. Spark numbers rows, not lines, and reads large files in blocks;
the number follows from the rows' order within a block and the counts of the blocks before it.
Secrets are masked here, before anything is written.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from mqlab import envelopes, secrets
from mqlab.loaders import prometheus_json
from mqlab.loaders.layouts import level, minute
from mqlab.loaders.logs import SETTING, kept, union
from mqlab.sources import Envelope, Reading, Source
from mqlab.tables import EVENTS, METRICS

SORTED_LABELS = "to_json(map_from_entries(array_sort(map_entries(labels))))"
"""A map of labels as JSON with sorted keys, so that the same labels are the same text."""

LONGEST = 16_384
"""Characters kept of one line; longer ones end in an ellipsis."""

TAGGED = (
    "tag string, file string, line bigint, minute string, level string, shape string, text string, inner string, "
    "lines bigint, bytes bigint, at timestamp, name string, labels string, value double"
)
"""Columns of the tagged Parquet; ``labels`` is a JSON object with sorted keys."""

_SHAPE = 96
_IDS = (
    (r"[0-9a-fA-F#]{8}-[0-9a-fA-F#]{4}-[0-9a-fA-F#]{4}-[0-9a-fA-F#]{4}-[0-9a-fA-F#]{2,12}", "<id>"),
    (r"\b(?=[A-Za-z_-]*#)[A-Za-z0-9_#-]{20,24}\b", "<id>"),
    (r"\b0x[0-9a-fA-F#]+\b", "#"),
    (r"#(?:[#.,:]*#)*", "#"),
)


def scan(spark: SparkSession, links: Path, sources: Sequence[Source], out: Path) -> None:
    """Read everything under *links* once and write the tagged Parquet to *out*."""
    readings = {s.reading for s in sources if s.format not in ("empty", "unreadable")}
    parts = []
    if readings - {Reading.DOCUMENT}:
        worn = {s.envelope for s in sources}
        parts.append(lines(spark.read.option("lineSep", "\n").text(str(links / "lines")), worn))
    if Reading.DOCUMENT in readings:
        parts += documents(spark.read.option("wholetext", True).text(str(links / "documents")))
    rows = union(parts)
    known = set(rows.columns)
    columns = [(name, kind) for name, kind in (column.split() for column in TAGGED.split(", "))]
    whole = rows.selectExpr(*[f"CAST({n if n in known else 'NULL'} AS {kind}) AS {n}" for n, kind in columns])
    whole.write.mode("overwrite").parquet(str(out))


def tagged(spark: SparkSession, path: Path) -> DataFrame:
    """The rows that ``scan`` wrote to *path*."""
    return spark.read.schema(TAGGED).parquet(str(path))


def lines(read: DataFrame, worn: Collection[Envelope]) -> DataFrame:
    """Tagged rows of line-oriented sources, which wear some of these envelopes."""
    located = read.select(
        F.col("value"),
        F.col("_metadata.file_name").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("seq"),
    )
    reading, envelope = F.substring("file", 1, 1), F.substring("file", 2, 1)
    inner = envelopes.peeled(F.col("value"), envelope, worn)
    read_lines = located.select("*", reading.alias("reading"), inner.alias("inner"))
    leveled = read_lines.withColumn("level", F.when(F.col("reading") == "L", level(F.col("inner"))))
    tagged = leveled.withColumn("tag", _tag())
    is_kept, counted = F.col("tag") != "count", F.col("tag") == "count"
    in_log = counted & (F.col("reading") == "L")
    grouped = tagged.groupBy(
        "file",
        "block",
        "tag",
        F.when(in_log, minute(F.col("inner"))).alias("minute"),
        F.when(in_log, F.col("level")).alias("level"),
        F.when(in_log, _rough_shape(F.col("inner"), F.col("level"))).alias("shape"),
        F.when(is_kept, F.col("seq")).alias("row"),
        F.when(is_kept, _cut(F.col("value"))).alias("text"),
        F.when(is_kept & (F.col("inner") != F.col("value")), _cut(F.col("inner"))).alias("inner"),
    ).agg(*_sums(F.lit(1), F.octet_length("value") + 1, F.col("seq")))
    fine = grouped.groupBy(
        "file", "block", "tag", "minute", "level", "row", _shape("shape").alias("shape"), "text", "inner"
    ).agg(*_sums(F.col("lines"), F.col("bytes"), F.col("first")))
    public = _numbered(fine).withColumn("kept", F.coalesce("text", "shape")).withColumn("masked", secrets.masked("kept"))
    return public.select(
        "tag",
        "file",
        "line",
        "minute",
        "level",
        F.when(counted, F.col("masked")).alias("shape"),
        F.when(~counted, F.col("masked")).alias("text"),
        (secrets.masked("inner") if set(worn) - {Envelope.NONE} else F.col("inner")).alias("inner"),
        "lines",
        "bytes",
    )


def documents(read: DataFrame) -> list[DataFrame]:
    """Tagged rows of JSON documents: samples, errors, and one row a document."""
    whole = read.select(F.col("value").alias("text"), F.col("_metadata.file_name").alias("source"))
    tables = prometheus_json.load(whole)
    breaks = F.length("text") - F.length(F.translate("text", "\n", ""))
    counted = whole.select(
        F.lit("document").alias("tag"),
        F.col("source").alias("file"),
        F.when(prometheus_json.understood(F.col("text")), F.lit("data")).alias("shape"),
        (breaks + F.when(F.col("text").endswith("\n"), 0).otherwise(1)).cast("long").alias("lines"),
        F.octet_length("text").cast("long").alias("bytes"),
        F.substring("text", 1, 200).alias("text"),
    ).withColumn("text", secrets.masked("text"))
    samples = tables[METRICS].select(
        F.lit("metric").alias("tag"), F.col("source").alias("file"), "line", "at", "name", "value",
        F.expr(SORTED_LABELS).alias("labels"),
    ).withColumn("labels", secrets.masked("labels"))  # fmt: skip
    parts = [counted, samples]
    if EVENTS in tables:
        parts.append(
            tables[EVENTS]
            .select(F.lit("answer").alias("tag"), F.col("source").alias("file"), "line", "at", "text")
            .withColumn("text", secrets.masked("text"))
        )
    return parts


def _tag() -> Column:
    reading, inner = F.col("reading"), F.col("inner")
    return (
        F.when((reading == "T") & (F.trim(inner) != ""), "row")
        .when((reading == "L") & kept(inner, F.col("level")), "event")
        .when((reading == "L") & F.substring(inner, 1, 1).isin("\t", " ") & inner.rlike(SETTING), "setting")
        .otherwise("count")
    )


def _cut(text: Column) -> Column:
    return F.when(F.length(text) > LONGEST, F.concat(F.substring(text, 1, LONGEST), F.lit("…"))).otherwise(text)


def _sums(how_many: Column, size: Column, first: Column) -> list[Column]:
    return [F.sum(how_many).alias("lines"), F.sum(size).alias("bytes"), F.min(first).alias("first")]


def _rough_shape(line: Column, at_level: Column) -> Column:
    """The message's beginning with digits masked: cheap, done on every line."""
    after = F.when(line.startswith("["), F.lit(27)).otherwise(F.lit(25))
    body = F.when(at_level.isNull(), F.substring(line, 1, _SHAPE)).otherwise(F.substring(line, after, F.lit(_SHAPE)))
    return F.translate(body, "0123456789", "##########")


def _shape(rough: str) -> Column:
    """The shape proper, done on the few rough ones: numbers, ids and addresses masked, stack frames as one."""
    shape = F.when(F.col(rough).rlike(r"^\s+(?:at |\.\.\. )"), F.lit("\tat …")).otherwise(F.col(rough))
    for pattern, name in _IDS:
        shape = F.regexp_replace(shape, pattern, name)
    return shape


def _numbered(rows: DataFrame) -> DataFrame:
    by_file = Window.partitionBy("file").orderBy("block")
    in_block = Window.partitionBy("file", "block")
    earlier = F.coalesce(F.sum("lines").over(by_file.rangeBetween(Window.unboundedPreceding, -1)), F.lit(0))
    return rows.withColumns(
        {"earlier": earlier, "start": F.min("first").over(in_block)}
    ).withColumn("line", F.col("first") - F.col("start") + F.col("earlier") + 1)
