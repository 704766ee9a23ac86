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

from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("hivemq-log", Role.BROKER_LOG, (EVENTS, VOLUME), "hivemq", Reading.LOG, "mqtt")

_CLIENT = r"Client ID: (?:UNKNOWN|(?P<client_id>.*)), IP: (?:(?P<peer>[0-9A-Fa-f.:]+)|\S+?),?"
"""An event without a client says UNKNOWN, which is nobody's name."""
_ENDED = rf"{_CLIENT} was disconnected\. reason: "


def _refused(kind: str, verb: str) -> Signature:
    said = rf"{_ENDED}(?:Sent .{{0,60}})?[Nn]ot authorized to {verb}(?:(?P<topic>.*)' with QoS '\d')?"
    return Signature(kind, contains=said, told="not-authorized")


def _disconnected(reason: str, told: str) -> Signature:
    return Signature("client-disconnected", contains=f"{_ENDED}{reason}", told=told)


SIGNATURES: tuple[Signature, ...] = (
    Signature("client-connected", contains=rf"{_CLIENT} Clean Start: \w+, Session Expiry: 0 connected\.", told="clean"),
    Signature(
        "client-connected",
        contains=rf"{_CLIENT} Clean Start: \w+, Session Expiry: [1-9]\d* connected\.",
        told="persistent",
    ),
    Signature("client-connected", contains=rf"{_CLIENT} Clean Start: .* connected\."),
    Signature(
        "session-takeover", contains=rf"{_ENDED}(?P<reason>Another client connected with the same client id.*?)\.*\s*$"
    ),
    _refused("publish-denied", r"publish (?:on|to) topic '"),
    _refused("subscribe-denied", r"subscribe to topic(?: filter)? '"),
    _disconnected("(?:Client|The client) was idle for too long", "keep-alive"),
    _disconnected("No CONNECT sent in time", "idle"),
    _disconnected(".*[Nn]ot authorized", "not-authorized"),
    Signature("client-disconnected", contains=rf"{_ENDED}(?P<reason>.*?)\.*\s*$"),
    Signature("client-disconnected", contains=rf"{_CLIENT} disconnected gracefully(?:\.| from )", told="normal"),
    Signature("client-disconnected", contains=rf"{_CLIENT} disconnected ungracefully(?:\.| from )", told="closed"),
    Signature("session-expired", contains=r"Client ID: (?P<client_id>.*) session has expired at \d"),
    Signature(
        "session-queue-dropping",
        contains=r"Outgoing (?:publish message|MQTT packet) was dropped\. Receiving "
        r"(?:client: (?:UNKNOWN|(?P<client_id>.*?))|shared subscription group: (?P<group>.*?)), "
        r"(?:topic: (?P<topic>.*), qos: \d|messageType: )(?:.*?, reason: (?P<reason>.*?)\.*\s*$)?",
    ),
    Signature(
        "broker-starting", begins=r"HiveMQ version: (?P<reason>\S+)|Starting HiveMQ (?:Community Edition |Edge )?Server"
    ),
    Signature("broker-stopping", begins=r"Shutting down HiveMQ"),
)

_OURS = re.compile(
    r"Client ID: .*, IP: \S|Client ID: .* session has expired at "
    r"|Outgoing (?:publish message|MQTT packet) was dropped\. |\bHiveMQ\b|\bcom\.hivemq\."
)
_DATED = re.compile(r"^\W{0,2}\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_SHARE = 5


def recognise(head: Head) -> bool:
    """True when at least a fifth of the dated lines are events of clients, or one names HiveMQ."""
    dated = [line[:4000] for line in head.lines[:2000] if _DATED.match(line)]
    events = sum(bool(_OURS.search(line)) for line in dated)
    named = any(re.search(r"\d -? *(?:INFO +- )?(?:Starting|Started) HiveMQ|HiveMQ version: ", line) for line in dated)
    return named or (bool(dated) and events * _SHARE >= len(dated))
