r"""RocketMQ's stores and routes in fastjson's dialect, whose numeric keys wear no quotes → POSITIONS, SETTINGS.

Sample lines of ``consumerOffset.json``::

    {
        "offsetTable":{
            "ORDER_EVENTS@order_sync_mongo":{0:265,1:264,2:188

consumerOffset.json, also as RocksDB exports it, and a broadcast client's ``offsets.json``, whose keys are objects, give
POSITIONS without an end; topics.json, subscriptionGroup.json and the answer of topicRoute SETTINGS.
consumerFilter.json, delayOffset.json and other files of the broker's store are read and not used. A broker's file does
not say which broker wrote it: there the queue is a bare number. A queue that was never committed is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from mqlab.formats import console, rocketmq_lines
from mqlab.formats.base import About, Data, Head, Item, Items, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import whole
from mqlab.sources import Role
from mqlab.tables import POSITIONS, SETTINGS, Row

FORMAT = Spec("rocketmq-store", Role.STORE, (POSITIONS, SETTINGS), "rocketmq")

_TABLES = (
    r"offsetTable|topicConfigTable|subscriptionGroupTable|brokerDatas|queueDatas|filterServerTable|filterDataByTopic"
    r"|topicQueueMappingInfoMap|messageRequestModeMap|forbiddenTable|orderedInfo|orderTable|lmqOffsetTable|timingCount"
)
_VERSION = r'"dataVersion"\s*:\s*\{[^{}]*\}\s*,\s*'
_DOCUMENT = re.compile(
    rf'^[^\S\n]*(?:\{{\s*(?:{_VERSION})?"(?:{_TABLES})"\s*:|"(?:{_TABLES})"\s*:\s*[{{\[])', re.ASCII | re.MULTILINE
)
_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_END = r"(?=\s*(?:[,}\]]|$))"
_PIECE = regex(
    r"\s*(?:"
    rf"(?P<closed>[}}\]])(?:\s*:\s*(?P<offset>-?\d+){_END})?"
    rf"|(?P<key>{_TEXT}|\d+)\s*:\s*(?:(?P<opened>[{{\[])|(?P<value>{_TEXT}|[\w.+-]+){_END}|$)"
    rf"|(?P<bare>[{{\[])|,|:|(?:{_TEXT}|-?\d[\w.+-]*|true|false|null){_END}"
    r")\s*"
)
"""An end, with the offset whose key the object is; a key with what it has; a beginning; an element."""
_NUMBER = regex(r"-?\d+")
_ENTRY = re.compile(r"(?P<topic>[^@]+)@(?P<group>[^@]+)")
"""The broker itself reads no other keys."""
_OWNERS = {"topicConfigTable": "topic", "subscriptionGroupTable": "group"}


def recognise(head: Head) -> bool:
    """True when one of the store's or the route's tables is opened at the beginning of a line."""
    return bool(_DOCUMENT.search(head.text[:16_384]))


def parse(lines: Lines, about: About) -> Items:
    """Lines with values are data, those that only open and close noise; of a broken one what can be read."""
    document = _Document(console.named_after("topic[-_]?route", about))
    told: list[Item] = []
    for one in console.shown(lines, about):
        if asked := rocketmq_lines.TOPIC.search(one.plain):
            document.topic = asked["topic"]
        pieces, rest = _pieces(one.plain)
        item = console.remark(one) if rest else None
        if item is None or isinstance(item, Reject):
            document.read(one, pieces)
        valued = any(piece["value"] or piece["offset"] for piece in pieces)
        told.append(item or (Data(one.line) if valued else Noise(one.line)))
    document.finish()
    for item in told:
        rows = document.rows.get(item.line.number)
        yield Data(item.line, rows) if rows else item


def _pieces(line: str) -> tuple[list[re.Match[str]], str]:
    """Pieces of a line, and the rest that is none."""
    pieces: list[re.Match[str]] = []
    place = 0
    while piece := _PIECE.match(line, place):
        pieces.append(piece)
        place = piece.end()
    return pieces, line[place:]


class _Field(NamedTuple):
    shown: console.Shown
    key: str
    value: str


@dataclass
class _Object:
    """What is open: the key that it stands under, and its values so far."""

    name: str
    fields: list[_Field] = field(default_factory=list)


@dataclass
class _Document:
    """What stands open at a place: the root, one of its tables, an entry, and what that has."""

    topic: str | None
    """What a route was asked of."""
    path: list[_Object] = field(default_factory=list)
    name: str = ""
    """A key whose value begins on the next line."""
    rows: dict[int, list[Row]] = field(default_factory=dict)
    """By line."""

    def read(self, one: console.Shown, pieces: Iterable[re.Match[str]]) -> None:
        """Open, fill and close what the pieces say."""
        for piece in pieces:
            key, value = _unquoted(piece["key"] or self.name), piece["value"]
            self.name = ""
            if piece["closed"]:
                self.close(_Field(one, "", piece["offset"]) if piece["offset"] else None)
            elif piece["opened"] or piece["bare"]:
                self.path.append(_Object(key))
            elif value and self.path:
                self.path[-1].fields.append(_Field(one, key, _unquoted(value)))
            elif piece["key"]:
                self.name = key

    def close(self, offset: _Field | None = None) -> None:
        """An entry of a table tells its rows when it is complete."""
        entry = self.path.pop() if self.path else None
        if entry and len(self.path) == 2:
            for one, row in _told(self.path[1].name, entry, offset, self.topic):
                self.rows.setdefault(one.line.number, []).append(row)

    def finish(self) -> None:
        """Close what a file that was cut leaves open."""
        while self.path:
            self.close()


def _unquoted(text: str) -> str:
    return text[1:-1] if text.startswith('"') else text


_Told = Iterator[tuple[console.Shown, Row]]
"""Rows, each with its line."""


def _told(table: str, entry: _Object, offset: _Field | None, topic: str | None) -> _Told:
    if table in _OWNERS:
        for one, key, value in entry.fields:
            row = SETTINGS.row(at=one.at, scope=_OWNERS[table], owner=entry.name, key=key, value=value, origin="file")
            yield one, row
    elif table == "queueDatas":
        yield from _route(entry, topic)
    elif table == "offsetTable":
        yield from _broadcast(entry, offset) if offset else _committed(entry)


def _route(entry: _Object, topic: str | None) -> _Told:
    """The queues of a topic on one broker."""
    broker = next((value for _, key, value in entry.fields if key == "brokerName"), None)
    for one, key, value in entry.fields if broker else ():
        if key != "brokerName":
            row = SETTINGS.row(
                at=one.at, scope="topic", owner=topic, key=f"{broker}.{key}", value=value, origin="describe"
            )
            yield one, row


def _committed(entry: _Object) -> _Told:
    """Of a broker's file the positions of a group in the queues of a topic."""
    named = _ENTRY.fullmatch(entry.name)
    for one, queue, offset in entry.fields if named else ():
        if named and _NUMBER.fullmatch(queue) and _NUMBER.fullmatch(offset):
            yield one, POSITIONS.row(at=one.at, queue=queue, committed=whole(offset), **named.groupdict())


def _broadcast(queue: _Object, offset: _Field) -> _Told:
    """Of a client's file the position in one queue; the group, its own, is the name of the file's folder."""
    told = {key: value for _, key, value in queue.fields}
    broker, number = told.get("brokerName"), told.get("queueId")
    yield (
        offset.shown,
        POSITIONS.row(
            at=offset.shown.at,
            topic=told.get("topic"),
            queue=f"{broker}/{number}" if broker and number else None,
            committed=whole(offset.value),
        ),
    )
