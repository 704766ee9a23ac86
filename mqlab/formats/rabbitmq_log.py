"""Logs of RabbitMQ with its MQTT plugin, 3.7 to 4.x.

Sample lines::

    2021-10-11 10:13:02.519 [info] <0.30633.509> accepting MQTT connection <0.30633.509> (10.0.126.0:4277 ->
    10.0.112.108:1883, client id: gw-1)
    2024-01-01 10:00:00.123456+00:00 [info] <0.1.0> Accepted MQTT connection 10.0.0.1:4277 -> 10.0.0.2:1883 for client
    ID gw-1
    2024-01-01 10:00:00.123456+00:00 [warning] <0.1.0> MQTT disconnecting client <<"10.0.0.1:4277 -> 10.0.0.2:1883">>
    with duplicate id 'gw-1'
    2024-01-01 10:00:00.123456+00:00 [error] <0.1.0> closing MQTT connection <<"10.0.0.1:4277 -> …">> (keepalive
    timeout)

The words are those of ``rabbit_mqtt_reader`` and ``rabbit_mqtt_processor``. The end of a connection names its
addresses, not its client. A topic or filter that was refused is written with dots, as AMQP writes it; it is told as
MQTT writes it: ``press.*.#`` is ``press/+/#`` (the plugin's ``mqtt2amqp``). A refused subscription closes the
connection, which the line behind it says.
"""

from __future__ import annotations

import re

from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("rabbitmq-mqtt-log", Role.BROKER_LOG, (EVENTS, VOLUME), "rabbitmq", Reading.LOG, "mqtt")

_CONNECTION = r"[^()]*[0-9]"
"""The addresses of a connection, as a string or as a binary."""

_PEER = r"[ (\"](?P<peer>[0-9A-Fa-f.:\[\]]+:\d+) -> "
_REFUSED = r"access to topic '(?:(?P<dotted>.*)' in exchange .*refused for user '(?P<member_id>.*)')?"


def _ended(begins: str, told: str = "") -> Signature:
    return Signature("client-disconnected", begins=begins, also=_PEER, told=told)


SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "client-connected",
        begins=r"(?:accepting MQTT connection (?:<[\d.]+> )?\(|Accepted MQTT connection )\S+ -> [^\s,]+"
        r"(?:, client id: (?P<client_id>.*)\)| for client ID (?P<client_id2>.*))?",
        also=_PEER,
    ),
    Signature(
        "session-takeover",
        begins=r"(?:Web )?MQTT disconnecting (?:a )?client .{0,200}with duplicate id ?'(?:(?P<client_id>.*)')?",
        also=_PEER,
        told="duplicate id",
    ),
    _ended(
        r"MQTT disconnecting client .{0,200}?(?: with client ID '(?P<client_id>.*)', )?reason: maintenance",
        "broker-stopped",
    ),
    _ended(
        r"MQTT disconnecting client .{0,200}with client ID '(?:(?P<client_id>.*)')?"
        r"(?:.*?(?:reason: (?P<reason>.*)|(?P<reason2>decommissioned)))?"
    ),
    _ended(rf"closing MQTT connection {_CONNECTION}\"?(?:>>)? \(keepalive timeout\)", "keep-alive"),
    _ended(rf"closing MQTT connection {_CONNECTION}\"?(?:>>)? \(login timeout\)", "idle"),
    _ended(r"closing MQTT connection (?:<[\d.]+> )?\(", "normal"),
    _ended(r"MQTT connection .{0,200} will terminate because peer closed", "closed"),
    _ended(r"MQTT detected (?:a )?network error (?:for|on) ", "closed"),
    _ended(r"MQTT connection .{0,200} is closing due to an authorization failure", "not-authorized"),
    _ended(r"MQTT protocol error on connection ", "protocol-error"),
    _ended(r"MQTT detected a (?:framing|packet) error on connection ", "protocol-error"),
    _ended(r"Unparseable MQTT packet received from connection ", "protocol-error"),
    Signature("publish-denied", begins=rf"MQTT topic access refused: write {_REFUSED}", told="access refused"),
    Signature("subscribe-denied", begins=rf"MQTT topic access refused: read {_REFUSED}", told="access refused"),
    Signature("alarm-raised", begins=r"(?P<reason>memory|disk) resource limit alarm set on node "),
    Signature("alarm-cleared", begins=r"(?P<reason>memory|disk) resource limit alarm cleared on node "),
    Signature("broker-starting", begins=r"Starting RabbitMQ (?P<reason>\d\S*)"),
    Signature("broker-stopping", begins=r"RabbitMQ is asked to stop"),
)

_OURS = re.compile(
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+.{0,6} \[\w+\] <[\d.]+> .*\b(?:MQTT|RabbitMQ)\b"
    r"|\brabbit_mqtt_\w+|\brabbitmq_mqtt\b|accepting MQTT connection |Accepted MQTT connection "
)


def recognise(head: Head) -> bool:
    """True when a line is one of RabbitMQ's own about itself or MQTT."""
    return any(_OURS.search(line[:2000]) for line in head.lines[:2000])
