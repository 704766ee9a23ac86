"""``kafka-consumer-groups.sh --describe --members [--verbose]`` (1.1 … 4.x) → ASSIGNMENTS, CLIENTS.

Sample lines::

    GROUP           CONSUMER-ID                                    HOST         CLIENT-ID   #PARTITIONS  ASSIGNMENT
    entity-extract  extract-c-315903da-2cfa-4657-a276-65af22e5865a /10.22.0.15  extract-c   3            news.articles(6,7,8)

4.x writes ``news.articles:6,7,8`` with epochs around it. 3.8 and 3.9 lose the topic, ``(6,7,8)``: no ASSIGNMENTS then;
they also end without a line break, so that what is printed next sticks to the last row.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted, replaced
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
    header = f"CASE WHEN {matches('plain', _HEADER)} THEN trim(plain) END"
    members = _members(rows.selectExpr("*", f"{console.nearest_above(header)} AS header"))
    shares = members.selectExpr("*", f"explode(regexp_extract_all(held, {quoted(_SHARE)}, 0)) AS share")
    queues = shares.selectExpr(
        "*",
        f"{group('share', '^[^:(]+', 0)} AS topic",
        f"explode(split({group('share', '[0-9,]+$', 0)}, ',')) AS queue",
    )
    who = {name: name for name in ("at", "group", "member_id", "client_id", "peer")}
    return {
        ASSIGNMENTS: ASSIGNMENTS.rows(queues, {**who, "topic": "topic", "queue": "queue"}),
        CLIENTS: CLIENTS.rows(members, {**who, "system": "'kafka'"}),
    }


def line_class(text: str) -> str:
    """Members are data, headers noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, _HEADER)} THEN 'noise'
        WHEN {matches(_tidy(line), _ROW)} THEN 'data'
        ELSE {console.remark_class(line)} END"""


def _members(lines: DataFrame) -> DataFrame:
    first, rest = (f"split({_cell(part)}, '\\\\s+')" for part in (1, 5))
    grouped = "startswith(header, 'GROUP')"
    tidy = lines.selectExpr("* EXCEPT (plain)", f"{_tidy('plain')} AS plain")
    return tidy.where(f"{matches('plain', _ROW)} AND header IS NOT NULL").selectExpr(
        "source", "line", "text", "at",
        f"CASE WHEN {grouped} THEN get({first}, 0) ELSE named END AS group",
        f"get({first}, CASE WHEN {grouped} THEN 1 ELSE 0 END) AS member_id",
        f"{_cell(2)} AS peer",
        f"{filled(_cell(3))} AS client_id",
        f"CASE WHEN contains(header, 'CURRENT-ASSIGNMENT') THEN get({rest}, 1) ELSE {_cell(5)} END AS held",
    )  # fmt: skip


def _tidy(line: str) -> str:
    return replaced(line, console.GLUED)


def _cell(part: int) -> str:
    return group("plain", _ROW, part)
