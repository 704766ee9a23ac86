"""CSV of Kafka's JmxTool → METRICS.

Sample lines::

    "time","kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=orders:Count"
    1729764000000,1048576

A column is named ``mbean:attribute``. ``type`` and ``name`` stay in the metric's name,
``kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:Count``; the other properties become labels. A header may
come without quotes, so it is cut where the next mbean begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.formats.values import cells, first_of_each, moment, real
from mqlab.sources import Role
from mqlab.tables import METRICS, Row

FORMAT = Spec("jmxtool-csv", Role.METRICS, (METRICS,))

_HEADER = regex(r'^"?time"?,\s*"?[\w.]+:[\w-]+=')
_ROW = regex(r'^"?(?:\d{13}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^",]*)"?,')
_NEXT_COLUMN = regex(r'"?,\s*"?(?=[\w.]+:[\w-]+=)')
_NEXT_PROPERTY = regex(r",(?=[\w-]+=)")
_COLUMN = re.compile(r"(?P<domain>[^:]+):(?P<properties>.*):(?P<attribute>[^:]+)")
_Series = tuple[str, dict[str, str]]
"""Name and labels."""


def recognise(head: Head) -> bool:
    """True for a first column of times and mbeans behind it."""
    return any(_HEADER.search(line) for line in console.plain_lines(head)[:5])


def parse(lines: Lines, about: About) -> Items:
    """One sample a cell that holds a finite number."""
    columns: list[_Series] = []
    for one in console.shown(lines, about):
        if _ROW.search(one.plain):
            yield Data(one.line, tuple(_samples(cells(one.plain), columns)))
        elif _HEADER.search(one.plain):
            columns = [_series(column) for column in _NEXT_COLUMN.split(one.plain.rstrip('"'))[1:]]
            yield Noise(one.line)
        else:
            yield console.remark(one)


def _series(column: str) -> _Series:
    found = _COLUMN.fullmatch(column)
    if not found:
        return column, {}
    pairs = [pair.partition("=") for pair in _NEXT_PROPERTY.split(found["properties"])]
    named = ",".join("".join(pair) for pair in pairs if pair[0] in ("type", "name") and pair[1])
    others = ((key, value) for key, equals, value in pairs if equals and key not in ("type", "name"))
    return f"{found['domain']}:{named}:{found['attribute']}", first_of_each(others)


def _samples(row: list[str], columns: list[_Series]) -> Iterator[Row]:
    for (name, labels), cell in zip(columns, row[1:], strict=False):
        if (value := real(cell)) is not None:
            yield METRICS.row(at=moment(row[0]), name=name, labels=labels, value=value)
