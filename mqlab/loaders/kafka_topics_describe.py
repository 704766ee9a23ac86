"""``kafka-topics.sh --describe`` (0.8 … 4.x) → SETTINGS of topics, EVENTS of kind ``partition-described``.

Sample lines::

    Topic: t  TopicId: 5bPS6_FGSAekOv5SqRCxcg  PartitionCount: 1  ReplicationFactor: 3  Configs: cleanup.policy=compact
        Topic: t  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2  Elr: N/A  LastKnownElr: N/A

The cells are parted by tabs. A leader ``none`` or ``-1`` means the partition is offline. Values among Configs may
hold commas.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches, quoted
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


def line_class(text: str) -> str:
    """Topics and partitions are data."""
    line = console.plain(text)
    data = matches(line, f"{_TOPIC}|{_PARTITION}")
    return f"CASE WHEN {data} THEN 'data' ELSE {console.remark_class(line)} END"


def _settings(lines: DataFrame) -> DataFrame:
    owner, partitions, replicas, configs = (group("plain", _TOPIC, part) for part in (1, 2, 3, 4))
    counts = f"array(concat('partitions=', {partitions}), concat('replication.factor=', {replicas}))"
    pairs = f"filter(concat({counts}, split({configs}, {quoted(_NEXT_KEY)})), pair -> contains(pair, '='))"
    topics = lines.where(matches("plain", _TOPIC)).selectExpr("*", f"explode({pairs}) AS pair")
    columns = {
        "at": "at",
        "scope": "'topic'",
        "origin": "'describe'",
        "owner": owner,
        "key": "substring_index(pair, '=', 1)",
        "value": group("pair", "^[^=]*=(.*)$"),
    }
    return SETTINGS.rows(topics, columns)


def _partitions(lines: DataFrame) -> DataFrame:
    topic, queue, leader, replicas, in_sync = (group("plain", _PARTITION, part) for part in (1, 2, 3, 4, 5))
    columns = {
        "at": "at",
        "system": "'kafka'",
        "kind": "'partition-described'",
        "topic": topic,
        "queue": queue,
        "peer": f"CASE {leader} WHEN '-1' THEN 'none' ELSE {leader} END",
        "reason": f"rtrim(concat('replicas ', {replicas}, ' isr ', {in_sync}))",
        "value": f"try_cast(CASE {leader} WHEN 'none' THEN '-1' ELSE {leader} END AS DOUBLE)",
    }
    return EVENTS.rows(lines.where(matches("plain", _PARTITION)), columns)
