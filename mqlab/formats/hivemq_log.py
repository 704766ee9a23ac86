"""Logs of HiveMQ: hivemq.log, event.log and what its broker dropped.

Sample lines::

    2026-11-21 12:00:00,123 INFO  - Starting HiveMQ Community Edition Server
    2026-11-21 12:00:00,123 - Client ID: gw-1, IP: 10.0.0.1, Clean Start: true, Session Expiry: 0 connected.
    2026-11-21 12:00:00,123 - Client ID: gw-1, IP: 10.0.0.1 disconnected ungracefully from TCP Listener on port: 1883.
    2026-11-21 12:00:00,123 - Client ID: gw-1, IP: 10.0.0.1 was disconnected. reason: Client was idle for too long.
    2026-11-21 12:00:00,123 - Client ID: gw-1, IP: 10.0.0.1 was disconnected. reason: Not authorized to publish on topic
    'a/b' with QoS '1' and retain 'false'.
    2026-11-21 12:00:00,123 - Outgoing publish message was dropped. Receiving client: hist, topic: a/b, qos: 1,
    reason: The client message queue is full.

A publish or a subscription that is refused ends the connection of a client of MQTT 3.1.1, in one line: it is the event
``publish-denied`` or ``subscribe-denied``, whose reason ``not-authorized`` says that the connection ended with it.

The words are those of ``EventLog``, ``ReasonStrings``, ``KeepAliveDisconnector`` and ``MessageDroppedServiceImpl`` of
the community edition 2019 to 2025. A session that expires at once is a clean one (MQTT 5, section 3.1.2.11.2).
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME, Table

FORMAT = "hivemq-log"
SOFTWARE = "hivemq"
ROLE = Role.BROKER_LOG
SYSTEM = "mqtt"
TABLES: tuple[Table, ...] = (EVENTS, VOLUME)
READING = Reading.LOG

_CLIENT = r"Client ID: .*, IP: \S+"
_WORDS = ("Client ID: ",)
_REASON = r" was disconnected\. reason: (.*?)\.*\s*$"
_DROPPED = r"Outgoing (?:publish message|MQTT packet) was dropped\. Receiving (?:client|shared subscription group): "


def _refused(kind: str, verb: str) -> Signature:
    said = rf"{_CLIENT} was disconnected\. reason: (?:Sent .{{0,60}})?[Nn]ot authorized to {verb}"
    return Signature(kind, contains=said, told="not-authorized")


def _disconnected(reason: str, told: str) -> Signature:
    said = rf"{_CLIENT} was disconnected\. reason: {reason}"
    return Signature("client-disconnected", contains=said, told=told)


SIGNATURES: tuple[Signature, ...] = (
    Signature("client-connected", contains=rf"{_CLIENT} Clean Start: \w+, Session Expiry: 0 connected\.", told="clean"),
    Signature(
        "client-connected",
        contains=rf"{_CLIENT} Clean Start: \w+, Session Expiry: [1-9]\d* connected\.",
        told="persistent",
    ),
    Signature("client-connected", contains=rf"{_CLIENT} Clean Start: .* connected\."),
    Signature(
        "session-takeover",
        contains=rf"{_CLIENT} was disconnected\. reason: Another client connected with the same client id",
        reason=_REASON,
    ),
    _refused("publish-denied", r"publish (?:on|to) topic '"),
    _refused("subscribe-denied", r"subscribe to topic(?: filter)? '"),
    _disconnected("(?:Client|The client) was idle for too long", "keep-alive"),
    _disconnected("No CONNECT sent in time", "idle"),
    _disconnected(".*[Nn]ot authorized", "not-authorized"),
    Signature("client-disconnected", contains=rf"{_CLIENT} was disconnected\. reason: ", reason=_REASON),
    Signature("client-disconnected", contains=rf"{_CLIENT} disconnected gracefully(?:\.| from )", told="normal"),
    Signature("client-disconnected", contains=rf"{_CLIENT} disconnected ungracefully(?:\.| from )", told="closed"),
    Signature("session-expired", contains=r"Client ID: .* session has expired at \d"),
    Signature("session-queue-dropping", contains=_DROPPED, reason=r", reason: (.*?)\.*\s*$"),
    Signature(
        "broker-starting",
        begins=r"HiveMQ version: \d|Starting HiveMQ (?:Community Edition |Edge )?Server",
        reason=r"HiveMQ version: (\S+)",
    ),
    Signature("broker-stopping", begins=r"Shutting down HiveMQ"),
)

CLIENT_IDS = (
    r"Client ID: (?!UNKNOWN, IP: )(.*), IP: ",
    r"Client ID: (.*) session has expired at \d",
    r"was dropped\. Receiving client: (?!UNKNOWN, )(.*?), (?:topic|messageType): ",
)
"""An event without a client says UNKNOWN, which is nobody's name."""
TOPICS = (
    r"was disconnected\. reason: .{0,80}ot authorized to \w+ (?:on|to) topic(?: filter)? '(.*)' with QoS '\d'",
    r"was dropped\. Receiving .*?, topic: (.*), qos: \d",
)
GROUPS = (r"was dropped\. Receiving shared subscription group: (.*?), topic: ",)
PEERS = (r"Client ID: .*, IP: ([0-9A-Fa-f.:]+)(?:,| )",)

_OURS = re.compile(rf"{_CLIENT}|Client ID: .* session has expired at |{_DROPPED}|\bHiveMQ\b|\bcom\.hivemq\.")
_DATED = re.compile(r"^\W{0,2}\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_SHARE = 5


def recognise(head: Head) -> bool:
    """True when at least a fifth of the dated lines are events of clients, or one names HiveMQ."""
    dated = [line[:4000] for line in head.lines[:2000] if _DATED.match(line)]
    events = sum(bool(_OURS.search(line)) for line in dated)
    named = any(re.search(r"\d -? *(?:INFO +- )?(?:Starting|Started) HiveMQ|HiveMQ version: ", line) for line in dated)
    return named or (bool(dated) and events * _SHARE >= len(dated))
