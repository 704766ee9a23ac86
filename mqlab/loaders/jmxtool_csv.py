"""CSV of Kafka's JmxTool → METRICS.

Sample lines::

    "time","kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=orders:Count"
    1729764000000,1048576

A column is named ``mbean:attribute``. ``type`` and ``name`` stay in the metric's name,
``kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:Count``; the other properties become labels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console, samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches, quoted
from mqlab.tables import METRICS, Table

FORMAT = "jmxtool-csv"
TABLES: tuple[Table, ...] = (METRICS,)
READING = Reading.TABLE

_HEADER = r'^"?time"?,\s*"?[\w.]+:[\w-]+='
_ROW = r'^"?(\d{13}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^",]*)"?,'
_NEXT_COLUMN = r'"?,\s*"?(?=[\w.]+:[\w-]+=)'
_NEXT_PROPERTY = r",(?=[\w-]+=)"
_OF_NAME = "pair RLIKE '^(?:type|name)='"
_NAME = f"""concat_ws(':', substring_index(header, ':', 1),
    array_join(filter(properties, pair -> {_OF_NAME}), ','), substring_index(header, ':', -1))"""
_OTHERS = f"""transform(filter(properties, pair -> contains(pair, '=') AND NOT {_OF_NAME}),
    pair -> named_struct('key', substring_index(pair, '=', 1), 'value', {group("pair", "^[^=]*=(.*)$")}))"""


def recognise(head: Head) -> bool:
    """True for a first column of times and mbeans behind it."""
    return any(re.search(_HEADER, line) for line in console.plain_lines(head)[:5])


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a cell that holds a finite number."""
    names = f"slice(split(rtrim('\"', plain), {quoted(_NEXT_COLUMN)}), 2, 100000)"
    header = f"CASE WHEN {matches('plain', _HEADER)} THEN {names} END"
    lines = rows.selectExpr("source", "line", "text", "plain", f"{console.nearest_above(header)} AS header")
    time = group("plain", _ROW)
    cells = lines.where(matches("plain", _ROW)).selectExpr(
        "source", "line", "text", "header",
        f"coalesce({samples.instant(time)}, try_cast({time} AS TIMESTAMP)) AS at",
        "slice(split(translate(plain, '\"', ''), ','), 2, 100000) AS cell",
    )  # fmt: skip
    found = cells.selectExpr("source", "line", "text", "at", "inline(arrays_zip(header, cell))").selectExpr(
        "*", f"split({group('header', '^[^:]+:(.*):[^:]+$')}, {quoted(_NEXT_PROPERTY)}) AS properties"
    )
    columns = {"at": "at", "name": _NAME, "labels": samples.unique(_OTHERS), "value": samples.finite("cell")}
    return {METRICS: METRICS.rows(found, columns).where("value IS NOT NULL")}


def line_class(text: str) -> str:
    """Rows are data, headers noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, _ROW)} THEN 'data'
        WHEN {matches(line, _HEADER)} OR ({console.remark_class(line)}) IS NOT NULL THEN 'noise' END"""
