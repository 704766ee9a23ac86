"""What applications log, MQTT's clients among them.

What applications write in their own words: starts and stops, queues of their own, records and calls that failed.

Sample lines::

    … ERROR [main] Worker - record invoices.xml-1@499 failed, will retry
    … WARN  [main] Worker - entity service call for documents.raw-3@1204 failed after 812 ms: HTTP 500 (attempt 1 of 3)
    … INFO  [main] Worker - queued 5 records, backlog 5589
    … INFO  [main] Worker - worker stopping

What applications say of their connections to MQTT brokers, in the words that callbacks of clients suggest.

Sample lines::

    2026/11/21 11:40:24.482480 ingest 2.0.0 starting on in-1 client_id=ingest-a clean_session=false keepalive=30 …
    2026/11/21 11:40:24.483640 connected to tcp://mqtt-1:1883 as ingest-a (connection #1)
    2026/11/21 11:40:24.484080 subscribed map[$share/ingest/plant/+/t:1] err=<nil>
    2026/11/21 12:02:02.573924 connection lost after 35.0s: pingresp not received, disconnecting
    22.11.2026 05:43:08,931 subscribed crane/+/weight qos=1
    2026-11-22T10:46:15.287+01:00 INFO subscribe result map[cat/#:1] err=<nil>
    2026/11/21 11:48:34.765535 [node1-012] connected
    2026-11-21 11:39:47,134 INFO gateway starting id=press-line-07 broker=mqtt-1:1883 keepalive=30
    2026-11-21 11:40:16,645 WARNING disconnected rc=Unspecified error from_server=False
    2026-11-22 07:18:26,019 WARNING disconnected rc=16 after 24.0s
    2026-11-21 11:39:47,139 INFO suback mid=1 ['Granted QoS 1']

paho's Python client 2.x calls back twice when its ping is not answered: what tells of a second loss, of a connection of
0.0 s, is ``ping-unanswered``. A map of several filters is one line and so one event: its topic is the first of them.
"""

from __future__ import annotations

from mqlab.formats.base import Signature

_WHO = ("worker", "consumer", "application", "service", "process")
_STARTS = ("starting", "started", "is starting")
_STOPS = ("stopping", "is stopping", "shutting down", "is shutting down")


def _said(endings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{who} {end}" for name in _WHO for who in (name, name.capitalize()) for end in endings)


_LAST_WORDS = (
    *("Commencing graceful shutdown", "Received SIGTERM", "received SIGTERM", "Caught SIGTERM", "caught SIGTERM"),
    *("Received signal SIGTERM", "received signal SIGTERM", "Shutting down gracefully", "shutting down gracefully"),
)
_FAILURE = r"(?:ailed|ailure|rror\b|xception|annot |ould not|nable to|etrying|nvalid|kipp)"
_RECORD = (
    r"(?:(?:^|[^\w.-])[\w.-]+(?:-\d+(?:@| at offset | offset[ =])| ?\[\d+\] ?@ ?)\d"
    r"|\b[Pp]artition ?[=:] ?\d+\b.{0,120}\b[Oo]ffset ?[=:] ?\d)"
)
_MILLIS = r"\b(?:after|in|took) (?P<value>\d+) ?ms"
_LATE = r"(?:timed out|[Tt]ime-?out)"
_HTTP = r"HTTP(?:/[\d.]+)?(?: status| code)*[ :=]+[45]\d\d\b"
_STATUS = r"status(?: code)?[=: ]+[45]\d\d\b"

_HANDS_OVER = tuple(word for verb in ("queued", "enqueued", "submitted", "dispatched") for word in (verb, verb.title()))
_WAITING = r"(?:backlog|queue(?: size| depth| length|Size|Depth)|pending|waiting|in flight)[ =:]+(?P<value>\d+)"


def _record(offset: str) -> str:
    """How applications and clients other than Java's name a record; *offset* is a regex for its offset."""
    return (
        r"(?<![\w.-])(?P<topic>[\w.-]+)(?:-(?P<queue>\d+)(?:@| at offset | offset[ =])| ?\[(?P<queue2>\d+)\] ?@ ?)"
        rf"{offset}|\btopic ?[=:] ?'?(?P<topic2>[\w.-]+)'?,? partition ?[=:] ?(?P<queue3>\d+)"
    )


_CALL = rf"{_MILLIS}|{_record('[0-9]')}"

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "handed-over",
        begins=rf"(?:{'|'.join(_HANDS_OVER)}) \d+ (?:records|messages|events|tasks|jobs)\b.*\b{_WAITING}",
    ),
    Signature("app-started", begins=rf"(?:{'|'.join(_said(_STARTS))}|Started \w+ in \d[\d.]* seconds)"),
    Signature("app-stopping", begins=rf"(?:{'|'.join((*_said(_STOPS), *_LAST_WORDS))})"),
    Signature("call-failed", contains=rf"(?P<reason>{_HTTP}|{_STATUS})", also=_CALL),
    Signature("call-failed", contains=rf"https?://.*{_LATE}|{_LATE}.*https?://", also=_CALL, told="timeout"),
    Signature(
        "call-failed",
        contains=r"https?://.*[Cc]onnection (?:refused|reset)|[Cc]onnection (?:refused|reset).*https?://",
        also=_CALL,
        told="connection refused",
    ),
    Signature(
        "record-failed",
        contains=rf"{_FAILURE}.*{_RECORD}|{_RECORD}.*{_FAILURE}",
        rare=r"-\d*(?:[0-9]@[0-9]|[0-9] at offset |[0-9] offset[ =])|\] ?@|artition ?[=:] ?[0-9]",
        also=rf"{_record('(?P<value>[0-9]+)')}|\b[Oo]ffset ?[=:] ?(?P<value2>\d+)|failed(?:,|:) (?=(?P<reason>.*))"
        r"|(?<![\w$.])(?=(?P<reason2>(?:[\w$]+\.)+\w*(?:Exception|Error)\b.*))",
    ),
)
"""Lines of applications, in the order in which they are tried."""


SCHEME = r"(?:tcp|ssl|tls|mqtts?|wss?)://"
_STARTING = r"[\w.@/-]+ (?:\S+ )?starting (?:on \S+ )?(?:client_)?id="
_CLEAN = r"\bclean(?:_session|_start)?="
_CONFIGURED = (
    r"starting (?:on \S+ )?(?:client_)?id=(?P<client_id>.*?)(?= clean_session=| clean_start=| broker=| keepalive=)"
    r"|\bkeep_?alive=(?P<value>\d+)"
)
_NORMAL = r"(?:0\b|Success|Normal disconnection)"
"""Result 0 of a callback: the client itself closed its connection."""
SILENT = "Keep alive timeout"
"""What paho's Python client calls MQTT_ERR_KEEPALIVE, 16: no answer to its ping."""
_AFTER = r" after (?P<value>\d[\d.]*) ?s\b"
_MAP = r"subscribe(?:d| result| ok) map\[(?P<topic>.*?):"
_QOS = r"[,;]? \(?(?:with )?[Qq][Oo][Ss][ =:]{1,2}"
_SUBSCRIBED = rf"[Ss]ubscribed(?: to)?:? '?\"?(?P<topic>[^\s'\",;]{{1,1000}})'?\"?{_QOS}"

MQTT_SIGNATURES: tuple[Signature, ...] = (
    Signature("client-configured", begins=rf"{_STARTING}.*{_CLEAN}(?:[Tt]rue|1)", also=_CONFIGURED, told="clean"),
    Signature("client-configured", begins=rf"{_STARTING}.*{_CLEAN}(?:[Ff]alse|0)", also=_CONFIGURED, told="persistent"),
    Signature("client-configured", begins=rf"{_STARTING}.*\bkeep_?alive=\d", also=_CONFIGURED),
    Signature(
        "connection-made",
        begins=rf"connected to (?P<reason>{SCHEME}\S+) as (?:(?P<client_id>.+) \(connection #(?P<value>\d+)\))?",
    ),
    Signature("connection-made", begins=r"connected rc=(?:Success|0)\b(?:.*?\bconnection=(?P<value>\d+))?"),
    Signature("connection-made", begins=r"\[(?P<client_id>[^\[\]]+)\] connected\s*$"),
    Signature(
        "connection-lost",
        begins=r"[Cc]onnection lost(?: after (?P<value>\d[\d.]*) ?s)?: (?P<reason>.*)",
        also=r":\d\d(?:[.,]\d+)? \[(?P<client_id>[^\[\]]+)\] connection lost: |(?:read|write) tcp (?P<peer>[^\s>]+)->",
    ),
    Signature(
        "connection-lost",
        begins=r"[Cc]onnection lost,? (?:err|error|reason|cause)=\"?(?P<reason>[^\"]*)",
    ),
    Signature("connection-closed", begins=rf"disconnected rc={_NORMAL}", told="normal"),
    Signature("ping-unanswered", begins=rf"disconnected rc=(?:16|{SILENT}) after 0\.0+ ?s\b", told=SILENT),
    Signature("connection-lost", begins=rf"disconnected rc=(?:16|{SILENT})(?:[^\w.]|$)", also=_AFTER, told=SILENT),
    Signature(
        "connection-lost",
        begins=r"disconnected rc=(?P<reason>.*?)(?: from_server=| after \d|$)",
        also=_AFTER,
    ),
    Signature("subscribe-denied", begins=rf"{_MAP}(?:\d+[ \]].*:)?128[\] ]", told="128"),
    Signature("client-subscribed", begins=rf"{_MAP}(?P<value>[012])(?: .*)?\] err=<nil>"),
    Signature("subscribe-denied", begins=rf"{_SUBSCRIBED}128\b", told="128"),
    Signature("client-subscribed", begins=rf"{_SUBSCRIBED}(?P<value>[012])\b"),
    Signature("subscribe-denied", begins=r"suback mid=\d+ \[.*'(?P<reason>Not authorized|Unspecified error)'"),
    Signature("client-subscribed", begins=r"suback mid=\d+ \['Granted QoS (?P<value>\d)"),
    Signature("subscribe-denied", begins=r"subscription mid=\d+ granted \[.*\b128\b", told="128"),
    Signature("app-stopping", begins=r"shutting down, \w+=\d", system="os"),
)
"""In the order in which they are tried; a SUBACK's refusals are 0x87 and 0x80 (MQTT 5, section 3.9.3)."""
