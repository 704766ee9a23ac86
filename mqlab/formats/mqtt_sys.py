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
setting. Messages of other topics are noise, and what they hold is nobody's business. A ``Z`` before an offset, which
``mosquitto_sub`` writes behind the local time, says nothing.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import epoch, instant, real
from mqlab.sources import Role
from mqlab.tables import METRICS, SETTINGS, Row

FORMAT = Spec("mqtt-sys", Role.METRICS, (METRICS, SETTINGS), "mqtt")

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?Z| ?[+-]\d\d:?\d\d)?"
_SECONDS = r"1\d{9}(?:\d{3}|\.\d{1,9})?"
_MOMENT = rf"\[?(?P<written>{_ISO}|{_SECONDS})\]?:?"
_KNOWN = r"\$SYS/broker/(?:retained messages/count|heap/current size)"
_BREAK = r"\s*[,;|]\s*"
_ROWS = (
    regex(rf"^(?:{_MOMENT}\s+)?(?P<topic>{_KNOWN}|\$SYS/[^\s\"]*[^\s\":=])[:=]?(?:\s+(?P<payload>\S(?:.*\S)?))?\s*$"),
    regex(
        rf"^\"?{_MOMENT}\"?{_BREAK}\"?(?P<topic>{_KNOWN}|\$SYS/[^\s\",;|]+)\"?"
        rf"(?:{_BREAK}\"?(?P<payload>\S(?:.*\S)?))?\"?\s*$"
    ),
)
"""Moment, topic and value, parted by blanks, or as cells of a table."""
_HEADER = regex(r"(?i)^\"?#? ?[a-z_]+\"?(?:[,;|\t] ?\"?[a-z_ ]+\"?)*[,;|\t] ?\"?(?:topic|value|payload|message)\b")
_AFTER = regex(rf"\s{_MOMENT}$")
"""The moment behind a payload."""
_JSON = regex(r'^\s*\{.*"topic"\s*:\s*"\$SYS/[^"]+".*\}\s*$')
_OTHER = regex(
    rf'^"?(?:{_MOMENT}"?(?:{_BREAK}|\s+)"?)?[^\s$/{{,;|"][^\s/]*/\S*(?:\s.*)?$|^\s*\{{.*"topic"\s*:\s*"[^"]*".*\}}\s*$'
)
_NUMBER = regex(r"^(-?\d+(?:\.\d+)?)(?: seconds?| bytes)?$")
_VERSION = regex(r"^(?:\w+ version )?(\d+\.\d+[\w.\-]*)$")
_NODE = regex(r"^\$SYS/brokers/([^/]+)/")
_LIKELY = 0.5


class _Message(NamedTuple):
    topic: str
    payload: str
    written: str
    """The moment as the line shows it; empty where it shows none."""


def recognise(head: Head) -> bool:
    """True when at least half of the lines are values of ``$SYS``."""
    lines = console.plain_lines(head)[:400]
    return bool(lines) and sum(_is_row(line) for line in lines) >= _LIKELY * len(lines)


def parse(lines: Lines, about: About) -> Items:
    """One sample a value that is a number, and the broker's version."""
    for one in console.shown(lines, about):
        if _is_row(one.plain):
            message = _message(one.plain)
            yield Data(one.line, _told(message, one.at)) if message else Reject(one.line)
        elif _OTHER.search(one.plain) or _HEADER.search(one.plain):
            yield Noise(one.line)
        else:
            yield console.remark(one)


def _is_row(line: str) -> bool:
    return any(row.search(line) for row in (*_ROWS, _JSON))


def _message(line: str) -> _Message | None:
    if line.lstrip().startswith("{"):
        return _from_json(line)
    row = next((found for row in _ROWS if (found := row.search(line))), None)
    return _Message(row["topic"], (row["payload"] or "").removesuffix('"'), row["written"] or "") if row else None


def _from_json(line: str) -> _Message | None:
    """The message that an object of JSON tells; None where the object is damaged or its topic none of ``$SYS``."""
    try:
        told = json.loads(line, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    topic = told.get("topic")
    if not isinstance(topic, str) or not topic.startswith("$SYS/"):
        return None
    written = next((told[name] for name in ("tst", "ts", "time", "timestamp") if told.get(name)), "")
    return _Message(topic, str(told.get("payload", "")), str(written))


def _told(message: _Message, at: int | None) -> list[Row]:
    after = _AFTER.search(message.payload)
    said = message.payload[: after.start()].rstrip() if after else message.payload
    moment = _instant(message.written or (after["written"] if after else ""))
    at = at if moment is None else moment
    rows = []
    number, version = _NUMBER.search(said), _VERSION.search(said)
    value = real(number[1]) if number else None
    if value is not None:
        node = _NODE.search(message.topic)
        name = _NODE.sub(r"$SYS/brokers/*/", message.topic)
        rows.append(METRICS.row(at=at, name=name, labels={"node": node[1]} if node else {}, value=value))
    if version and message.topic.endswith("/version"):
        told = {"scope": "broker", "origin": "describe", "key": "version"}
        rows.append(SETTINGS.row(at=at, **told, value=version[1], version=version[1]))
    return rows


def _instant(written: str) -> int | None:
    if re.fullmatch(_SECONDS, written, re.ASCII):
        return epoch(written)
    return instant(re.sub(r"Z(?=[+-]\d{4}$)", "", written))
