r"""AWS IoT Core: log entries of the message broker from CloudWatch, and lifecycle events.

Sample lines::

    {"timestamp": "2017-08-10 15:37:23.476", "logLevel": "INFO", "status": "Success", "eventType": "Connect",
    "protocol": "MQTT", "clientId": "gw-1", "sourceIp": "205.251.233.181", "sourcePort": 13490}
    2017-08-10T15:37:23.476Z {"timestamp": "2017-08-10 15:37:23.476", … "eventType": "Disconnect", …
    "disconnectReason": "DUPLICATE_CLIENTID"}
    $aws/events/presence/disconnected/gw-1 {"clientId":"gw-1","timestamp":1573002340451,"eventType":"disconnected",
    "clientInitiatedDisconnect":false,"disconnectReason":"MQTT_KEEP_ALIVE_TIMEOUT","versionNumber":1}

The fields are those of the developer guide, "CloudWatch Logs AWS IoT log entries" and "Lifecycle events"; moments are
in UTC. Of two connections with one client id the line about the older one is the takeover. Certificates and accounts
are not taken.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Spec, regex
from mqlab.formats.values import filled, instant, whole
from mqlab.sources import Role
from mqlab.tables import EVENTS, Row

FORMAT = Spec("aws-iot-log", Role.BROKER_LOG, (EVENTS,), "aws")

_TYPES = (
    *("Connect", "Disconnect", "Subscribe", "Unsubscribe", "Publish-In", "Publish-Out", "Queued", "Ping"),
    *("connected", "disconnected", "subscribed", "unsubscribed"),
)
_NAMED = rf'"eventType"\s*:\s*"(?:{"|".join(_TYPES)})"'
_ENTRY = r'"(?:logLevel|traceId|sessionIdentifier|versionNumber|principalIdentifier|accountId)"\s*:'
_ROW = regex(rf"^[^{{]*\{{(?=.*{_NAMED})(?=.*{_ENTRY}).*\}}\s*$")
_JSON = json.JSONDecoder(strict=False)
_TOLD = (
    *("timestamp", "status", "eventType", "clientId", "sourceIp", "sourcePort", "ipAddress", "topicName", "reason"),
    *("details", "disconnectReason"),
)
_ENDED = ("disconnect", "disconnected")
_TAKEN_OVER = ("DUPLICATE_CLIENTID", "DUPLICATE_CLIENT_ID")
_REASONS = {
    "CLIENT_INITIATED_DISCONNECT": "normal",
    "CONNECTION_LOST": "closed",
    "MQTT_KEEP_ALIVE_TIMEOUT": "keep-alive",
    "AUTH_ERROR": "not-authorized",
    "FORBIDDEN_ACCESS": "not-authorized",
    "CLIENT_ERROR": "protocol-error",
    "API_INITIATED_DISCONNECT": "kicked",
}
"""The guide's table of reasons; others stay as they are."""
_KINDS = {
    ("connect", True): "client-connected",
    ("connected", True): "client-connected",
    ("subscribe", True): "client-subscribed",
    ("subscribed", True): "client-subscribed",
    ("subscribe", False): "subscribe-denied",
    ("unsubscribe", True): "client-unsubscribed",
    ("unsubscribed", True): "client-unsubscribed",
    ("publish-in", True): "publish-received",
    ("publish-in", False): "publish-denied",
    ("publish-out", True): "publish-sent",
}
_LIKELY = 0.5
_LONGEST = 200
"""Characters of a reason."""


def recognise(head: Head) -> bool:
    """True when at least half of the lines are entries."""
    lines = console.plain_lines(head)[:200]
    return bool(lines) and sum(bool(_ROW.search(line)) for line in lines) >= _LIKELY * len(lines)


def parse(lines: Lines, about: About) -> Items:
    """One event an entry, one a topic where several are subscribed at once."""
    for one in console.shown(lines, about):
        yield Data(one.line, _events(_entry(one.plain))) if _ROW.search(one.plain) else console.remark(one)


def _entry(line: str) -> Mapping[str, Any]:
    try:
        return _JSON.raw_decode(line, line.index("{"))[0]  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        return {}


def _events(entry: Mapping[str, Any]) -> Sequence[Row]:
    told = {name: _text(entry.get(name)) for name in _TOLD}
    event, why = (told["eventType"] or "").lower(), told["disconnectReason"] or told["reason"]
    well = (told["status"] or "success").lower() == "success"
    kind = _kind(event, why, well)
    if kind is None:
        return ()
    peer = ":".join(part for part in (told["sourceIp"] or told["ipAddress"], told["sourcePort"]) if part)
    known = {
        "at": _at(told["timestamp"]),
        "system": "mqtt",
        "kind": kind,
        "client_id": None if told["clientId"] == "N/A" else told["clientId"],
        "peer": filled(peer),
        "reason": _ended(why) if event in _ENDED else None if well else _short(why or told["details"]),
    }
    topics = entry.get("topics")
    subjects = topics if isinstance(topics, list) else [told["topicName"]]
    return [EVENTS.row(topic=_text(subject), **known) for subject in subjects or [None]]


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _at(text: str | None) -> int | None:
    millis = whole(text)
    return instant(text) if millis is None else millis * 1000


def _kind(event: str, why: str | None, well: bool) -> str | None:
    if event in _ENDED:
        return "session-takeover" if why in _TAKEN_OVER else "client-disconnected"
    return _KINDS.get((event, well))


def _ended(why: str | None) -> str | None:
    return _REASONS.get(why, why) if why else why


def _short(why: str | None) -> str | None:
    return why and why[:_LONGEST]
