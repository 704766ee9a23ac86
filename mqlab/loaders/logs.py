"""Dated lines → EVENTS: which lines are kept by the scan, and what a kept line says.

The scan keeps a line when a signature selects it; the rest is only counted. Kept lines are few, so their parts are
taken out afterwards by a handful of general patterns that hold for every broker and client.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from mqlab.loaders import application_log, kafka_broker_log, kafka_client_log, layouts, librdkafka_log, process_log
from mqlab.loaders.base import LogLoader, Signature

LOG_LOADERS: tuple[LogLoader, ...] = (
    kafka_client_log,
    kafka_broker_log,
    librdkafka_log,
    process_log,
    application_log,
)
"""Formats of dated lines, in the order in which they are tried."""

SIGNATURES: tuple[Signature, ...] = tuple(s for loader in LOG_LOADERS for s in loader.SIGNATURES)

_BEGINS = "|".join(s.begins for s in SIGNATURES if s.begins)
_CONTAINS = "|".join(s.contains for s in SIGNATURES if s.contains)
_AFTER_LEVEL = r"^(?:[A-Z]+ +)?(?:\[[^\]]*\]:? ?)*"
_AFTER_ANYTHING = r"(?:[\]:\-)]|INFO|WARN|ERROR|DEBUG) +(?:\[[^\]]*\]:? ?)*"
SETTING = r"^\s+([a-z][\w.-]+) = (.*)$"
"""A line of the settings block that Java clients and brokers print."""

TOPIC_QUEUE = r"(?:topic-partition|for partition|on partition|for|partition=|Partition) ([\w.-]+)-(\d+)\b"
_GROUP = r"(?:groupId=|GroupId |[Gg]roup )([\w.-]+)"
_CLIENT = r"clientId=([^,\]\s]+)|kafka-producer-network-thread \| ([^\],]+)"
_MEMBER = r"[Mm]ember (?:MemberMetadata\(memberId=|with unknown member id )?([\w.-]+-[0-9a-f]{8}-[0-9a-f-]{27}|[\w-]{22})"
_NODE = r"(?:[Bb]roker ?[iI]?d?[= ]|Controller id=|KafkaServer id=|nodeId=|BrokerServer id=|GroupCoordinator (?:id=)?)(\d+)"
_PEER = r"(?:/|from )(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?"
_NAMED_TOPIC = r"(?:topics/|Updating topic |send to |topic )([\w.-]+)"


def kept(line: Column, level: Column) -> Column:
    """True for a line that some signature selects."""
    undated_or_bad = level.isNull() | level.isin("WARN", "ERROR", "FATAL")
    head = F.substring(line, 27, 200)
    begins = F.when(layouts.bracketed(line), head.rlike(f"{_AFTER_LEVEL}(?:{_BEGINS})")).otherwise(
        F.substring(line, 1, 400).rlike(f"{_AFTER_ANYTHING}(?:{_BEGINS})")
    )
    return begins | (undated_or_bad & line.rlike(_CONTAINS))


def events(rows: DataFrame) -> DataFrame:
    """EVENTS with the moment still on the line's own clock.

    *rows* has source, line, inner (the line without its envelope) and text; the result adds ``wall`` (timestamp),
    ``offset`` (seconds east of UTC where the line writes it) to the columns of EVENTS. An exception that repeats
    what its own header line says, or a ``Caused by`` of a record already counted, is no second event.
    """
    inner = F.col("inner")
    in_order = Window.partitionBy("source").orderBy("line")
    parsed = rows.select(
        "source",
        "line",
        "text",
        "inner",
        _signature(inner).alias("signature"),
        layouts.wall(inner).alias("own"),
        layouts.offset(inner).alias("offset"),
    ).withColumn("kind", _by_signature([F.lit(s.kind) for s in SIGNATURES]))
    placed = parsed.withColumns(
        {
            "wall": F.coalesce("own", F.last("own", ignorenulls=True).over(in_order)),
            "before": F.lag("kind").over(in_order),
            "gap": F.col("line") - F.lag("line").over(in_order),
        }
    )
    same = F.col("own").isNull() & (F.col("before") == F.col("kind"))
    limit = F.when(inner.startswith("Caused by"), 100).otherwise(1)
    repeated = F.coalesce(same & (F.col("gap") <= limit), F.lit(False))
    return placed.filter(~repeated).select(
        "source", "line", "text", "wall", "offset", "kind", F.lit(None).cast("string").alias("cluster"), *_parts(inner)
    )


def _parts(inner: Column) -> list[Column]:
    value = _by_signature([F.regexp_extract(inner, s.value, 1) if s.value else None for s in SIGNATURES])
    reason = _by_signature([_one_of(inner, s.reason) if s.reason else None for s in SIGNATURES])
    topic = F.coalesce(_one_of(inner, TOPIC_QUEUE), _one_of(inner, _NAMED_TOPIC))
    return [
        _one_of(inner, _NODE).alias("node"),
        F.when(F.col("kind").startswith("process"), "os").otherwise("kafka").alias("system"),
        _one_of(inner, _GROUP).alias("group"),
        topic.alias("topic"),
        _present(F.regexp_extract(inner, TOPIC_QUEUE, 2)).alias("queue"),
        _one_of(inner, _CLIENT).alias("client_id"),
        _one_of(inner, _MEMBER).alias("member_id"),
        _one_of(inner, _PEER).alias("peer"),
        _present(reason).alias("reason"),
        value.try_cast("double").alias("value"),
    ]


def _signature(inner: Column) -> Column:
    """Number of the first signature found in the line."""
    chosen = F.lit(None).cast("int")
    for number, signature in reversed(list(enumerate(SIGNATURES))):
        chosen = F.when(inner.rlike(_pattern(signature)), F.lit(number)).otherwise(chosen)
    return chosen


def _by_signature(columns: Sequence[Column | None]) -> Column:
    chosen = F.lit(None).cast("string")
    for number, column in enumerate(columns):
        if column is not None:
            chosen = F.when(F.col("signature") == number, column).otherwise(chosen)
    return chosen


def _pattern(signature: Signature) -> str:
    return f"(?:^|{_AFTER_ANYTHING})(?:{signature.begins})" if signature.begins else signature.contains


def _one_of(text: Column, pattern: str) -> Column:
    """The first group of *pattern* that holds something."""
    groups = max(1, pattern.count("(") - pattern.count("(?") - pattern.count(r"\("))
    return F.coalesce(*[_present(F.regexp_extract(text, pattern, n + 1)) for n in range(groups)])


def _present(text: Column) -> Column:
    return F.nullif(F.trim(text), F.lit(""))


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of *frames* (at least one), by name, missing columns as null."""
    return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), frames)
