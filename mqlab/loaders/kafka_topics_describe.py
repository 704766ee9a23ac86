"""``kafka-topics.sh --describe`` (0.8 … 4.x) → SETTINGS of topics, EVENTS of kind ``partition-state``.

Sample lines::

    Topic: t  TopicId: 5bPS6_FGSAekOv5SqRCxcg  PartitionCount: 1  ReplicationFactor: 3  Configs: cleanup.policy=compact
        Topic: t  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2  Elr: N/A  LastKnownElr: N/A

The cells are parted by tabs. A leader ``none`` or ``-1`` means the partition is offline. Values among Configs may
hold commas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import EVENTS, SETTINGS, Table

FORMAT = "kafka-topics-describe"
TABLES: tuple[Table, ...] = (SETTINGS, EVENTS)
READING = Reading.TABLE

_TOPIC = (
    r"^\s*Topic:\s*(\S+)\s+(?:TopicId:\s*\S+\s+)?PartitionCount:\s*(\d+)\s+ReplicationFactor:\s*(\d+)"
    r"(?:\s+Configs:\s*(.*?))?(?:\s*MarkedForDeletion:\s*\w+)?\s*$"
)
_PARTITION = r"^\s*Topic:\s*(\S+)\s+Partition:\s*(\d+)\s+Leader:\s*(\S+).*?\s+Replicas:\s*([\d,]*)\s+Isr:\s*([\d,]*)"
_NEXT_KEY = r",(?=[a-z][a-z.]*=)"
_SAID = r"executing topic command|TopicCommand"


def recognise(head: Head) -> bool:
    """True for topic or partition lines of the tool."""
    lines = console.plain_lines(head)
    found = any(re.search(f"{_TOPIC}|{_PARTITION}", line) for line in lines)
    return found or console.only_errors(head, _SAID, r"topics-describe|kafka-topics")


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Replication and configs of each topic; leader and in-sync replicas of each partition."""
    return {SETTINGS: _settings(rows), EVENTS: _partitions(rows)}


def line_class(text: Column) -> Column:
    """Topics and partitions are data."""
    line = console.plain(text)
    return F.when(line.rlike(f"{_TOPIC}|{_PARTITION}"), F.lit("data")).otherwise(console.remark_class(line))


def _settings(lines: DataFrame) -> DataFrame:
    counts = F.array(
        F.concat(F.lit("partitions="), F.regexp_extract("plain", _TOPIC, 2)),
        F.concat(F.lit("replication.factor="), F.regexp_extract("plain", _TOPIC, 3)),
    )
    configs = F.split(F.regexp_extract("plain", _TOPIC, 4), _NEXT_KEY)
    pairs = F.filter(F.concat(counts, configs), lambda pair: pair.contains("="))
    topics = lines.where(F.col("plain").rlike(_TOPIC)).select("*", F.explode(pairs).alias("pair"))
    return topics.select(
        "source", "line", "text", "at", F.lit("topic").alias("scope"), F.lit("describe").alias("origin"),
        F.regexp_extract("plain", _TOPIC, 1).alias("owner"),
        F.substring_index("pair", "=", 1).alias("key"),
        F.regexp_extract("pair", r"^[^=]*=(.*)$", 1).alias("value"),
    ).transform(SETTINGS.conform)  # fmt: skip


def _partitions(lines: DataFrame) -> DataFrame:
    replicas, in_sync = F.regexp_extract("plain", _PARTITION, 4), F.regexp_extract("plain", _PARTITION, 5)
    leader = F.regexp_extract("plain", _PARTITION, 3)
    return lines.where(F.col("plain").rlike(_PARTITION)).select(
        "source", "line", "text", "at", F.lit("kafka").alias("system"), F.lit("partition-state").alias("kind"),
        F.regexp_extract("plain", _PARTITION, 1).alias("topic"),
        F.regexp_extract("plain", _PARTITION, 2).alias("queue"),
        F.when(leader == "-1", F.lit("none")).otherwise(leader).alias("peer"),
        F.concat(F.lit("replicas="), replicas, F.lit(" isr="), in_sync).alias("reason"),
        F.size(F.filter(F.split(in_sync, ","), lambda member: member != "")).alias("value"),
    ).transform(EVENTS.conform)  # fmt: skip
