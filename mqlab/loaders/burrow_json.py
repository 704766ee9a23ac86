"""Burrow's answers about consumer groups, ``/v3/kafka/<cluster>/consumer/<group>/status`` and ``/lag`` → POSITIONS.

Sample line (v2 has the same parts, but no owner and no current lag)::

    {"error":false,"message":"consumer status returned","status":{"cluster":"c","group":"g","status":"WARN",
    "partitions":[{"topic":"t","partition":0,"owner":"/10.0.0.1","client_id":"c-1","status":"STOP",
    "start":{"offset":5,"timestamp":1795263301560,"lag":1},"end":{"offset":9,"timestamp":1795263361560,"lag":3},
    "current_lag":3,…

One answer a line, or one a file over many lines. The first and the last commit of Burrow's window are a position
each, at the moment of the commit; its end is the offset and the lag that Burrow noted then, for the last commit the
current lag where it noted none. ``/status`` tells only of partitions that Burrow finds bad. The owner is that of the
answer's moment, who committed is not told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import matches, quoted, replaced
from mqlab.tables import EVENTS, POSITIONS, Table

FORMAT = "burrow-json"
TABLES: tuple[Table, ...] = (POSITIONS, EVENTS)
READING = Reading.TABLE

_SAYS = r'"message"\s*:\s*"(?:consumer (?:group )?(?:status|lag) returned|cluster or consumer not found)"'
_ANSWER = rf'^\{{\s*"error"\s*:\s*(?:true|false)\s*,\s*{_SAYS}'
_PART = r"^\s*(?:[{}\[\]]|\"[\w-]+\"\s*:|-?\d+,?\s*$)"
"""A line of an answer that was laid out over many lines."""
_CUT = r",\{[^{}]*(?:\{[^{}]*\}[^{}]*)*(?:\{[^{}]*)?…$"
_COMMIT = "struct<offset bigint, `timestamp` bigint, lag bigint>"
_SCHEMA = (
    "error boolean, message string, status struct<`group` string, partitions array<struct<topic string, "
    f"partition string, current_lag bigint, `start` {_COMMIT}, `end` {_COMMIT}>>>"
)
_LONGEST = 501
"""Characters of an answer that its rows keep: one more than evidence shows."""


def recognise(head: Head) -> bool:
    """True for an answer about a group."""
    return re.match(_ANSWER, head.text.lstrip("\ufeff \r\n")) is not None


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """Positions of every partition that an answer tells of; an answer that there is no such group is an event."""
    alone = matches("plain", _ANSWER)
    lines = rows.where(alone).selectExpr("source", "line", "at", "text", "plain AS answer")
    spread = (
        rows.where(f"NOT {alone}")
        .groupBy("source")
        .agg(F.expr("min(line) AS line"), F.expr("min(at) AS at"), F.expr(f"{_JOINED} AS answer"))
        .selectExpr("source", "line", "at", "answer AS text", "answer")
    )
    closed = f"CASE WHEN endswith(answer, '…') THEN {replaced('answer', _CUT, ']}}')} ELSE answer END"
    told = lines.unionByName(spread).selectExpr(
        "source", "line", "at", f"substring(text, 1, {_LONGEST}) AS text",
        f"from_json({closed}, {quoted(_SCHEMA)}) AS told",
    )  # fmt: skip
    missing = {"at": "at", "system": "'kafka'", "kind": "'tool-error'", "reason": "told.message"}
    return {POSITIONS: _positions(told), EVENTS: EVENTS.rows(told.where("told.error"), missing)}


def line_class(text: str) -> str:
    """Answers are data, however they are laid out."""
    line = console.plain(text)
    return f"CASE WHEN {matches(line, f'{_ANSWER}|{_PART}')} THEN 'data' ELSE {console.remark_class(line)} END"


_JOINED = "array_join(transform(array_sort(collect_list(struct(line, plain))), one -> one.plain), '\\n')"


def _positions(told: DataFrame) -> DataFrame:
    each = told.selectExpr("source", "line", "text", "told.status.`group` AS `group`", "inline(told.status.partitions)")
    ends = (("`start`", "`start`.lag"), ("`end`", "coalesce(`end`.lag, current_lag)"))
    commits = ", ".join(
        f"named_struct('at', {name}.`timestamp`, 'committed', {name}.offset, 'lag', {lag})" for name, lag in ends
    )
    columns = {
        "at": "timestamp_millis(seen)",
        "group": "`group`",
        "topic": "topic",
        "queue": "partition",
        "committed": "committed",
        "end": "committed + lag",
    }
    found = each.selectExpr("* EXCEPT (`start`, `end`)", f"inline(array({commits}))")
    return POSITIONS.rows(found.withColumnRenamed("at", "seen").where("committed IS NOT NULL"), columns)
