r"""What brokers of MQTT publish about themselves below ``$SYS``, as ``mosquitto_sub`` prints it → METRICS.

Sample lines::

    2026-11-21T11:39:46+0000 $SYS/broker/clients/total 12
    1795261185.250000000 $SYS/broker/retained messages/count 40
    1795340585.850175018,$SYS/broker/clients/total,12
    $SYS/broker/uptime 31 seconds
    $SYS/broker/messages/received 511 2026-11-21T11:39:46Z
    {"tst":"2026-11-21T11:39:46.1Z+0000","topic":"$SYS/broker/clients/total","qos":0,"payload":"12"}

A metric is named by its topic. Of a topic such as ``$SYS/brokers/emqx@10.0.0.1/metrics/messages/sent`` the node becomes
a label, and its place ``*``. A value is published when it changes: one that is missing is as it was. The version is a
setting. Messages of other topics are noise, and what they hold is nobody's business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console, samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, replaced
from mqlab.tables import METRICS, SETTINGS, Table

FORMAT = "mqtt-sys"
TABLES: tuple[Table, ...] = (METRICS, SETTINGS)
READING = Reading.TABLE

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z| ?[+-]\d\d:?\d\d)?"
_EPOCH = r"1\d{9}(?:\d{3}|\.\d{1,9})?"
_MOMENT = rf"\[?({_ISO}|{_EPOCH})\]?:?"
_KNOWN = r"\$SYS/broker/(?:retained messages/count|heap/current size)"
_TOPIC = rf"({_KNOWN}|\$SYS/[^\s\"]*[^\s\":=])"
_CELL = rf"({_KNOWN}|\$SYS/[^\s\",;|]+)"
_BREAK = r"\s*[,;|]\s*"
_ROW = (
    rf"^(?:{_MOMENT}\s+)?{_TOPIC}[:=]?(?:\s+(\S.*?))?\s*$"
    rf"|^\"?{_MOMENT}\"?{_BREAK}\"?{_CELL}\"?(?:{_BREAK}\"?(\S.*?))?\"?\s*$"
)
"""Moment, topic and value, parted by blanks, or as cells of a table."""
_HEADER = r"(?i)^\"?#? ?[a-z_]+\"?(?:[,;|\t] ?\"?[a-z_ ]+\"?)*[,;|\t] ?\"?(?:topic|value|payload|message)\b"
_AFTER = rf"^(.*?)\s+{_MOMENT}$"
"""A payload with the moment behind it."""
_JSON = r'^\s*\{.*"topic"\s*:\s*"(\$SYS/[^"]+)".*\}\s*$'
_JSON_MOMENT = r'"(?:tst|ts|time|timestamp)"\s*:\s*"?([\d:T.+-]+)'
_JSON_VALUE = r'"payload"\s*:\s*"?([^",}]*)'
_OTHER = (
    rf'^"?(?:{_MOMENT}"?(?:{_BREAK}|\s+)"?)?[^\s$/{{,;|"][^\s/]*/\S*(?:\s.*)?$|^\s*\{{.*"topic"\s*:\s*"[^"]*".*\}}\s*$'
)
_NUMBER = r"^(-?\d+(?:\.\d+)?)(?: seconds?| bytes)?$"
_VERSION = r"^(?:\w+ version )?(\d+\.\d+[\w.\-]*)$"
_NODE = r"^\$SYS/brokers/([^/]+)/"
_LIKELY = 0.5


def recognise(head: Head) -> bool:
    """True when at least half of the lines are values of ``$SYS``."""
    lines = console.plain_lines(head)[:400]
    return bool(lines) and sum(bool(re.search(f"{_ROW}|{_JSON}", line)) for line in lines) >= _LIKELY * len(lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One sample a value that is a number, and the broker's version."""
    json = "startswith(ltrim(plain), '{')"
    cut = rows.where(_is_row("plain")).selectExpr(
        "source", "line", "text", "at",
        f"CASE WHEN {json} THEN {group('plain', _JSON)} ELSE {_cell(2)} END AS topic",
        f"CASE WHEN {json} THEN {group('plain', _JSON_VALUE)} ELSE {_cell(3)} END AS payload",
        f"CASE WHEN {json} THEN {group('plain', _JSON_MOMENT)} ELSE {_cell(1)} END AS before",
    )  # fmt: skip
    told = cut.selectExpr(
        "source", "line", "text", "at", "topic",
        f"CASE WHEN {matches('payload', _AFTER)} THEN {group('payload', _AFTER)} ELSE payload END AS said",
        f"coalesce({filled('before')}, {filled(group('payload', _AFTER, 2))}) AS written",
    ).selectExpr("* EXCEPT (at)", f"coalesce({_instant()}, at) AS at")  # fmt: skip
    metrics = {
        "at": "at",
        "name": replaced("topic", _NODE, r"\$SYS/brokers/*/"),
        "labels": f"CASE WHEN {matches('topic', _NODE)} THEN map('node', {group('topic', _NODE)}) "
        "ELSE CAST(map() AS MAP<STRING, STRING>) END",
        "value": samples.finite(group("said", _NUMBER)),
    }
    settings = {
        "at": "at",
        "scope": "'broker'",
        "origin": "'describe'",
        "key": "'version'",
        "value": group("said", _VERSION),
        "version": group("said", _VERSION),
    }
    versions = told.where(f"topic LIKE '%/version' AND {matches('said', _VERSION)}")
    return {
        METRICS: METRICS.rows(told, metrics).where("value IS NOT NULL"),
        SETTINGS: SETTINGS.rows(versions, settings),
    }


def line_class(text: str) -> str:
    """Values of ``$SYS`` are data, messages of other topics noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {_is_row(line)} THEN 'data'
        WHEN {matches(line, f"{_OTHER}|{_HEADER}")} OR ({console.remark_class(line)}) IS NOT NULL THEN 'noise' END"""


def _cell(number: int) -> str:
    """SQL: the same part of either kind of row."""
    return f"concat({group('plain', _ROW, number)}, {group('plain', _ROW, number + 3)})"


def _is_row(line: str) -> str:
    return f"({matches(line, _ROW)} OR {matches(line, _JSON)})"


def _instant() -> str:
    zoned = replaced(replaced("written", r"Z\+0000$", "Z"), r" ?([+-]\d\d):?(\d\d)$", "$1:$2")
    iso = replaced(zoned, r"(\d),(\d)", "$1.$2")
    return f"""CASE WHEN {matches("written", f"^{_EPOCH}$")} THEN {samples.instant("written")}
        ELSE try_cast({iso} AS TIMESTAMP) END"""
