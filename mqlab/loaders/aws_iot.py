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

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import matches, quoted
from mqlab.tables import EVENTS, Table

FORMAT = "aws-iot-log"
TABLES: tuple[Table, ...] = (EVENTS,)
READING = Reading.TABLE

_TYPES = (
    *("Connect", "Disconnect", "Subscribe", "Unsubscribe", "Publish-In", "Publish-Out", "Queued", "Ping"),
    *("connected", "disconnected", "subscribed", "unsubscribed"),
)
_NAMED = rf'"eventType"\s*:\s*"(?:{"|".join(_TYPES)})"'
_ENTRY = r'"(?:logLevel|traceId|sessionIdentifier|versionNumber|principalIdentifier|accountId)"\s*:'
_ROW = rf"^[^{{]*\{{(?=.*{_NAMED})(?=.*{_ENTRY}).*\}}\s*$"
_SCHEMA = (
    "timestamp string, status string, eventType string, clientId string, sourceIp string, sourcePort string, "
    "ipAddress string, topicName string, topics array<string>, reason string, details string, disconnectReason string"
)
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


def recognise(head: Head) -> bool:
    """True when at least half of the lines are entries."""
    lines = console.plain_lines(head)[:200]
    return bool(lines) and sum(bool(re.search(_ROW, line)) for line in lines) >= _LIKELY * len(lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One event an entry, one a topic where several are subscribed at once."""
    entries = rows.where(matches("plain", _ROW)).selectExpr(
        "source", "line", "text", f"from_json(substring(plain, locate('{{', plain)), {quoted(_SCHEMA)}) AS entry"
    )
    flat = entries.selectExpr(
        "source", "line", "text", "entry.*",
        "lower(entry.eventType) AS event",
        "coalesce(entry.disconnectReason, entry.reason) AS why",
        "coalesce(lower(entry.status) = 'success', true) AS well",
        "explode_outer(coalesce(entry.topics, array(entry.topicName))) AS subject",
    )  # fmt: skip
    columns = {
        "at": _at(),
        "system": "'mqtt'",
        "kind": _kind(),
        "client_id": "nullif(clientId, 'N/A')",
        "topic": "subject",
        "peer": "concat_ws(':', coalesce(sourceIp, ipAddress), sourcePort)",
        "reason": _reason(),
    }
    events = EVENTS.rows(flat, columns | {"peer": f"nullif({columns['peer']}, '')"})
    return {EVENTS: events.where("kind IS NOT NULL")}


def line_class(text: str) -> str:
    """Entries are data, what a tool says besides is noise."""
    plain = console.plain(text)
    remark = console.remark_class(plain)
    return f"CASE WHEN {matches(plain, _ROW)} THEN 'data' WHEN ({remark}) IS NOT NULL THEN 'noise' END"


def _at() -> str:
    millis = "timestamp_millis(try_cast(timestamp AS BIGINT))"
    return f"coalesce({millis}, try_cast(timestamp AS TIMESTAMP))"


def _kind() -> str:
    over = ", ".join(map(quoted, _TAKEN_OVER))
    cases = " ".join(
        f"WHEN event = {quoted(event)} AND {'well' if well else 'NOT well'} THEN {quoted(kind)}"
        for (event, well), kind in _KINDS.items()
    )
    ended = f"CASE WHEN why IN ({over}) THEN 'session-takeover' ELSE 'client-disconnected' END"
    return f"CASE WHEN event IN ('disconnect', 'disconnected') THEN {ended} {cases} END"


def _reason() -> str:
    named = " ".join(f"WHEN {quoted(word)} THEN {quoted(reason)}" for word, reason in _REASONS.items())
    denied = "substring(coalesce(why, details), 1, 200)"
    return (
        f"CASE WHEN event IN ('disconnect', 'disconnected') THEN CASE why {named} ELSE why END "
        f"WHEN NOT well THEN {denied} END"
    )
