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

``inner`` is the line without its envelope, where it wears one, and ``at`` the envelope's own clock.
``line`` is the 1-based number of the (first) line. Spark numbers rows, not lines, and reads large files in blocks; the
number follows from the rows' order within a block and the counts of the blocks before it.
Secrets are masked here, before anything is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from mqlab import secrets
from mqlab.loaders import layouts, noted_lines, prometheus_json
from mqlab.loaders.base import DocumentLoader
from mqlab.material import envelopes, remote
from mqlab.material.content import content
from mqlab.scanning import bounding, shapes, tagging
from mqlab.sources import Envelope, Reading, Source
from mqlab.sql import quoted
from mqlab.tables import EVENTS, METRICS, union

SORTED_LABELS = "to_json(map_from_entries(array_sort(map_entries(labels))))"
"""A map of labels as JSON with sorted keys, so that the same labels are the same text."""

FLOODED = 32 << 20
"""Bytes of a file from which floods of kept lines are bounded; less can be kept as it is."""
HUGE = 1 << 20
"""Bytes from which a line is looked at only as far as this many characters: copies of it would fill the memory."""

TAGGED = (
    "tag string, file string, line bigint, minute string, level string, shape string, text string, inner string, "
    "lines bigint, bytes bigint, at timestamp, name string, labels string, value double"
)
"""Columns of the tagged Parquet; ``labels`` is a JSON object with sorted keys."""

_DOCUMENTS: DocumentLoader = prometheus_json


def scan(spark: SparkSession, links: Path, sources: Sequence[Source], out: Path) -> None:
    """Read *sources* once, those of this machine under *links*, and write the tagged Parquet to *out*."""
    whole = [s for s in sources if s.has_content and s.reading is Reading.DOCUMENT]
    by_line = [s for s in sources if s.has_content and s.reading is not Reading.DOCUMENT]
    parts = []
    if by_line:
        worn = {s.envelope for s in sources}
        read = content(spark, f"{links}/lines", by_line, {"lineSep": "\n"})
        noted = noted_lines.in_words({s.link: s.layout for s in by_line})
        parts.append(lines(read, worn, {s.link for s in by_line if s.unpacked >= FLOODED}, noted))
    if whole:
        parts += documents(content(spark, f"{links}/documents", whole, {"wholetext": "true"}))
    _public(union(parts)).write.mode("overwrite").parquet(remote.written_by_spark(str(out)))


def _public(rows: DataFrame) -> DataFrame:
    """*rows* as they are written: what they keep is masked, once for all kinds of rows."""
    masked = rows.withColumn("kept", secrets.masked("kept"))
    if "inner" in rows.columns:
        masked = masked.withColumn("inner", secrets.masked("inner"))
    understood = "understood" if "understood" in rows.columns else "NULL"
    placed = {
        "shape": f"CASE tag WHEN 'count' THEN kept WHEN 'document' THEN {understood} END",
        "labels": "CASE WHEN tag = 'metric' THEN kept END",
        "text": "CASE WHEN tag NOT IN ('count', 'metric') THEN kept END",
    }
    known = set(rows.columns)
    columns = [(name, kind) for name, kind in (column.split() for column in TAGGED.split(", "))]
    return masked.selectExpr(
        *[f"CAST({placed.get(n, n if n in known else 'NULL')} AS {kind}) AS {n}" for n, kind in columns]
    )


def tagged(spark: SparkSession, *paths: Path) -> DataFrame:
    """The rows that ``scan`` wrote to *paths*; a damaged file is an error here, and not skipped as the user's are."""
    return (
        spark.read.option("ignoreCorruptFiles", "false")
        .schema(TAGGED)
        .parquet(*[remote.for_spark(str(path)) for path in paths])
    )


def lines(
    read: DataFrame,
    worn: Collection[Envelope],
    large: Collection[str] = (),
    noted: Mapping[str, str] = MappingProxyType({}),
) -> DataFrame:
    """Tagged rows of line-oriented sources, which wear some of these envelopes.

    Floods are bounded in those whose links are *large*; *noted* are the layouts of logs with lines of ledgers, by link.
    """
    located = read.selectExpr(
        f"CASE WHEN octet_length(value) > {HUGE} THEN substring(value, 1, {HUGE}) ELSE value END AS value",
        "octet_length(value) + 1 AS size",
        "file",
        "block",
        "monotonically_increasing_id() AS seq",
    )
    wears = set(worn) - {Envelope.NONE}
    if wears:
        letter = F.expr("substring(file, 2, 1)")
        located = located.withColumn("inner", envelopes.peeled(F.col("value"), letter, worn))
        located = located.withColumn("clock", envelopes.outer_clock(F.col("value"), letter))
    else:
        located = located.selectExpr("*", "value AS inner", "CAST(NULL AS TIMESTAMP) AS clock")
    tagged_lines = tagging.tagged(located, noted)
    numbered = _numbered(tagged_lines.groupBy(*_KEYS, "block").agg(*_sums("1", "size", "seq", "first")))
    few = bounding.bounded(numbered, large) if large else numbered
    fine = few.withColumn("shape", F.expr(shapes.fine("shape"))).groupBy(*_KEYS)
    return _named(fine.agg(*_sums("lines", "bytes", "line", "line")), ["inner", "at"] if wears else [])


_KEYS = ("file", "tag", "minute", "level", "shape", "row", "text", "inner", "at")
"""What rows are grouped by; ``row`` tells kept lines apart."""


def documents(read: DataFrame) -> list[DataFrame]:
    """Tagged rows of JSON documents: samples, errors, and one row a document."""
    whole = read.selectExpr("value AS text", "file AS source")
    tables = _DOCUMENTS.load(whole)
    counted = whole.selectExpr("*", f"{_DOCUMENTS.understood('text')} AS understood").selectExpr(
        "'document' AS tag",
        "source AS file",
        "CASE WHEN understood THEN 'data' END AS understood",
        "length(text) - length(translate(text, '\\n', '')) + CASE WHEN text LIKE '%\\n' THEN 0 ELSE 1 END AS lines",
        "octet_length(text) AS bytes",
        "substring(text, 1, 200) AS kept",
    )
    samples = tables[METRICS].selectExpr(
        "'metric' AS tag", "source AS file", "line", "at", "name", "value", f"{SORTED_LABELS} AS kept"
    )
    answers = tables[EVENTS].selectExpr("'answer' AS tag", "source AS file", "line", "at", "text AS kept")
    return [counted, samples, answers]


def _sums(how_many: str, size: str, first: str, name: str) -> list[Column]:
    columns = {"lines": f"sum({how_many})", "bytes": f"sum({size})", name: f"min({first})"}
    return [F.expr(f"{expression} AS {alias}") for alias, expression in columns.items()]


def _numbered(rows: DataFrame) -> DataFrame:
    """*rows* with the number of their first ``line`` in the file; blocks matter no more."""
    blocks_before = "PARTITION BY file ORDER BY block RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
    earlier = f"coalesce(sum(lines) OVER ({blocks_before}), 0)"
    start = "min(first) OVER (PARTITION BY file, block)"
    return rows.selectExpr(*_KEYS, "lines", "bytes", f"first - {start} + {earlier} + 1 AS line")


def _named(rows: DataFrame, worn: Sequence[str]) -> DataFrame:
    """*rows* with words for numbers, and with what they ``kept``: a line verbatim, or a shape."""
    tag = f"element_at(array({', '.join(map(quoted, tagging.TAGS))}), tag + 1) AS tag"
    level = f"{layouts.level_name('level')} AS level"
    return rows.selectExpr(
        tag, "file", "minute", level, "lines", "bytes", "coalesce(text, shape) AS kept", "line", *worn
    )
