r"""RocketMQ's stores and routes in fastjson's dialect, whose numeric keys wear no quotes → POSITIONS, SETTINGS.

Sample lines of ``consumerOffset.json``::

    {
        "offsetTable":{
            "ORDER_EVENTS@order_sync_mongo":{0:265,1:264,2:188

consumerOffset.json, also as RocksDB exports it, and a broadcast client's ``offsets.json`` give POSITIONS without an
end; topics.json, subscriptionGroup.json and the answer of topicRoute SETTINGS. consumerFilter.json, delayOffset.json
and other files of the broker's store are read and not used. A broker's file does not say which broker wrote it: there
the queue is a bare number. A queue that was never committed is absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console, rocketmq_lines
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, replaced
from mqlab.tables import POSITIONS, SETTINGS, Table

FORMAT = "rocketmq-store"
TABLES: tuple[Table, ...] = (POSITIONS, SETTINGS)
READING = Reading.TABLE

_TABLES = (
    r"offsetTable|topicConfigTable|subscriptionGroupTable|brokerDatas|queueDatas|filterServerTable|filterDataByTopic"
    r"|topicQueueMappingInfoMap|messageRequestModeMap|forbiddenTable|orderedInfo|orderTable|lmqOffsetTable|timingCount"
)
_VERSION = r'"dataVersion"\s*:\s*\{[^{}]*\}\s*,\s*'
_DOCUMENT = rf'^\s*\{{\s*(?:{_VERSION})?"(?:{_TABLES})"\s*:|^\s*"(?:{_TABLES})"\s*:\s*[{{\[]'
_OPENED = r"([{\[])"
_CLOSED = r"([}\]])"
_NEXT = r",(?=\s*(?:[\"{]|\d+\s*:))"
_BEGINS = r'^\s*"([^"]*)"\s*:\s*[{\[]\s*$'
_QUEUE = r'^\s*"?(\d+)"?\s*:\s*(-?\d+)\s*,?\s*$'
_KEY = r"^[^@]+@[^@]+$"
"""``topic@group``; the broker itself reads no other keys."""
_FIELD = r'^\s*"([^"]+)"\s*:\s*"?([^"{}\[\]]*?)"?\s*,?\s*$'
_OFFSET = r"^\s*\}\s*:\s*(-?\d+)\s*,?\s*$"
_VALUED = r'\d+"?\s*:\s*-?\d|"\s*:\s*(?:"|-?\d|true|false|null)|\}\s*:\s*-?\d'
_JSON = r'^\s*(?:[{}\[\]]|"[^"]*"\s*[:,]|"[^"]*"\s*$|\d+\s*:|:)'
_PIECES = "PARTITION BY source ORDER BY line, place"
_BEFORE = f"OVER ({_PIECES} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
_UPWARD = f"OVER ({_PIECES} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"


def recognise(head: Head) -> bool:
    """True when one of the store's or the route's tables is opened at the beginning of a line."""
    return bool(re.search(_DOCUMENT, head.text[:16_384], re.M))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """POSITIONS of every queue, SETTINGS of every topic and group."""
    pieces = _pieces(rows)
    return {POSITIONS: _positions(pieces), SETTINGS: _settings(pieces)}


def line_class(text: str) -> str:
    """Lines with values are data, those that only open and close noise; one that was cut is not understood."""
    line = console.plain(text)
    return f"""CASE
        WHEN endswith({line}, '…') THEN NULL
        WHEN {matches(line, _JSON)} THEN CASE WHEN {matches(line, _VALUED)} THEN 'data' ELSE 'noise' END
        ELSE {console.remark_class(line)} END"""


def _pieces(rows: DataFrame) -> DataFrame:
    """One row an opening, a closing or a value, with the table and the entry that it stands in.

    ``depth`` is how many brackets are open before it; ``object`` numbers the brackets.
    """
    opened = replaced("plain", _OPENED, "$1\n")
    parted = replaced(replaced(opened, _CLOSED, "\n$1"), _NEXT, ",\n")
    told = rows.where(f"{matches('plain', _JSON)} OR contains(plain, 'mqadmin')")
    split = told.selectExpr(
        "source", "line", "text", "name", "at", "named",
        f"{filled(group('plain', rocketmq_lines.TOPIC))} AS told",
        f"posexplode(split({parted}, '\\n')) AS (place, piece)",
    ).where("trim(piece) != ''")  # fmt: skip
    steps = "length(translate(piece, '}]', '')) - length(translate(piece, '{[', ''))"
    placed = split.selectExpr(
        "*",
        f"coalesce(sum({steps}) {_BEFORE}, 0) AS depth",
        f"sum(CAST({matches('piece', _OPENED)} AS INT)) {_UPWARD} AS object",
        f"last(told, true) {_UPWARD} AS topic",
        f"{filled(group('piece', _BEGINS))} AS opens",
    )
    return placed.selectExpr(
        "* EXCEPT (opens, told)",
        f"last(CASE WHEN depth = 1 THEN opens END, true) {_UPWARD} AS part",
        f"last(CASE WHEN depth = 2 THEN opens END, true) {_UPWARD} AS entry",
    )


def _positions(pieces: DataFrame) -> DataFrame:
    """Of a broker's file those of every group, of a client's file those of its own, whose name its folder has."""
    last = {
        name: f"last({filled(_field(name))}, true) {_UPWARD} AS {name}" for name in ("brokerName", "queueId", "topic")
    }
    fields = pieces.where("part = 'offsetTable'").selectExpr(
        "source", "line", "text", "at", "piece", "entry", "place", *last.values()
    )
    told = fields.where(f"{matches('piece', _OFFSET)} OR ({matches('entry', _KEY)} AND {matches('piece', _QUEUE)})")
    broadcast = matches("piece", _OFFSET)
    columns = {
        "at": "at",
        "group": f"CASE WHEN NOT {broadcast} THEN substring_index(entry, '@', -1) END",
        "topic": f"CASE WHEN {broadcast} THEN topic ELSE substring_index(entry, '@', 1) END",
        "queue": f"CASE WHEN {broadcast} THEN concat(brokerName, '/', queueId) ELSE {group('piece', _QUEUE)} END",
        "committed": f"""try_cast(CASE WHEN {broadcast} THEN {group("piece", _OFFSET)}
            ELSE {group("piece", _QUEUE, 2)} END AS BIGINT)""",
    }
    return POSITIONS.rows(told, columns)


def _settings(pieces: DataFrame) -> DataFrame:
    """What is configured of topics and groups, and the queues of a topic on each broker."""
    tables = "part IN ('topicConfigTable', 'subscriptionGroupTable', 'queueDatas')"
    fields = pieces.where(f"{tables} AND depth = 3 AND {matches('piece', _FIELD)}").selectExpr(
        "*",
        f"{group('piece', _FIELD)} AS key",
        f"max({filled(_field('brokerName'))}) OVER (PARTITION BY source, object) AS broker",
    )
    of_route = "part = 'queueDatas'"
    named = console.named_after("topic[-_]?route")
    columns = {
        "at": "at",
        "scope": "CASE part WHEN 'subscriptionGroupTable' THEN 'group' ELSE 'topic' END",
        "owner": f"CASE WHEN {of_route} THEN coalesce(topic, {named}) ELSE entry END",
        "key": f"CASE WHEN {of_route} THEN concat(broker, '.', key) ELSE key END",
        "value": group("piece", _FIELD, 2),
        "origin": f"CASE WHEN {of_route} THEN 'describe' ELSE 'file' END",
    }
    return SETTINGS.rows(fields.where(f"NOT ({of_route} AND key = 'brokerName')"), columns)


def _field(name: str) -> str:
    return group("piece", rf'^\s*"{name}"\s*:\s*"?([^",{{}}]*)')
