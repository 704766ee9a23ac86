"""``kafka-consumer-groups.sh --describe --members [--verbose]`` (1.1 … 4.x) → ASSIGNMENTS, CLIENTS.

Sample lines::

    GROUP           CONSUMER-ID                                    HOST         CLIENT-ID   #PARTITIONS  ASSIGNMENT
    entity-extract  extract-c-315903da-2cfa-4657-a276-65af22e5865a /10.22.0.15  extract-c   3            news.articles(6,7,8)

4.x writes ``news.articles:6,7,8`` with epochs around it. 3.8 and 3.9 lose the topic, ``(6,7,8)``: no ASSIGNMENTS then.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import ASSIGNMENTS, CLIENTS, Table

FORMAT = "kafka-consumer-groups-members"
TABLES: tuple[Table, ...] = (ASSIGNMENTS, CLIENTS)
READING = Reading.TABLE

_HEADER = r"^\s*(?:GROUP\s+)?CONSUMER-ID\s+(?:GROUP-INSTANCE-ID\s+)?HOST\s+CLIENT-ID\s+#PARTITIONS"
_ROW = r"^\s*(\S+(?:\s+\S+){0,2}?)\s+/(\S+)\s+(.*?)\s+(\d+)(?:\s+(\S.*))?\s*$"
_SHARE = r"[A-Za-z0-9._-]+[:(][0-9,]+"
"""Partitions of one topic, in either notation."""


def recognise(head: Head) -> bool:
    """True for a members table, or for errors in a file named after it."""
    if any(re.search(_HEADER, line) for line in console.plain_lines(head)):
        return True
    return "members" in head.name and console.only_errors(head, r"\A\Z", r"group.*members")


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Who was in the group, and which partitions they held where the tool names the topic."""
    header = F.when(F.col("plain").rlike(_HEADER), F.trim("plain"))
    lines = rows.withColumn("header", F.last(header, True).over(console.upward()))
    members = _members(lines)
    shares = members.select("*", F.explode(F.regexp_extract_all("held", F.lit(_SHARE), F.lit(0))).alias("share"))
    queues = shares.select(
        "*",
        F.regexp_extract("share", r"^[^:(]+", 0).alias("topic"),
        F.explode(F.split(F.regexp_extract("share", r"[0-9,]+$", 0), ",")).alias("queue"),
    )
    return {
        ASSIGNMENTS: queues.transform(ASSIGNMENTS.conform),
        CLIENTS: members.withColumn("system", F.lit("kafka")).transform(CLIENTS.conform),
    }


def line_class(text: Column) -> Column:
    """Members are data, headers noise."""
    line = console.plain(text)
    return (
        F.when(line.rlike(_HEADER), F.lit("noise"))
        .when(line.rlike(_ROW), F.lit("data"))
        .otherwise(console.remark_class(line))
    )


def _members(lines: DataFrame) -> DataFrame:
    first = F.split(_cell(1), r"\s+")
    grouped = F.col("header").startswith("GROUP")
    rest = F.split(_cell(5), r"\s+")
    held = F.when(F.col("header").contains("CURRENT-ASSIGNMENT"), F.get(rest, F.lit(1))).otherwise(_cell(5))
    return lines.where(F.col("plain").rlike(_ROW) & F.col("header").isNotNull()).select(
        "source", "line", "text", "at",
        F.when(grouped, F.get(first, F.lit(0))).otherwise(F.col("named")).alias("group"),
        F.get(first, F.when(grouped, F.lit(1)).otherwise(F.lit(0))).alias("member_id"),
        _cell(2).alias("peer"),
        F.nullif(_cell(3), F.lit("")).alias("client_id"),
        held.alias("held"),
    )  # fmt: skip


def _cell(part: int) -> Column:
    return F.regexp_extract("plain", _ROW, part)
