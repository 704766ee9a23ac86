"""Logs of MQTT clients: paho for Go, Java and Python, mosquitto_sub, ESP-IDF, and the applications around them.

Sample lines::

    [CRITICAL] 2026/11/21 12:02:02.573631 [pinger]   pingresp not received, disconnecting
    [DEBUG] 2026/11/21 12:02:03.573631 [client]   Reconnect failed, slept for 4 seconds: network Error : EOF
    time=2026-11-21T12:02:03Z level=DEBUG msg="Reconnect failed, slept for" seconds=4 component=[client]
    2026-11-21 12:02:03,100 DEBUG Sending CONNECT (u0, p0, wr0, wq0, wf0, c1, k60) client_id=b'gw-1'
    2026-11-21 12:02:03,104 DEBUG Received CONNACK (0, 0)
    Nov 22, 2026 7:21:50 AM lab.Dev$2 connectionLost
    WARNING: Connection lost
    Connection lost (32109) - java.io.EOFException

``java.util.logging`` dates a record in a line of its own, with the method that wrote it: callbacks of paho for Java are
told by their names, ``connectionLost`` of ``MqttCallback`` and ``connectComplete`` of ``MqttCallbackExtended``.

What the Go client says of a lost connection besides, such as ``error triggered EOF``, repeats what the application's
callback prints at the same moment, and is no event of its own. Words of the libraries are those of ``client.go`` and
``ping.go`` (paho.mqtt.golang), ``client.py`` (paho.mqtt.python), ``logcat.properties`` (paho.mqtt.java), ``lib/`` of
mosquitto and ``mqtt_client.c`` of ESP-IDF.
"""

from __future__ import annotations

import re

from mqlab.formats import application_lines
from mqlab.formats.application_lines import SCHEME
from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("mqtt-client-log", Role.CLIENT_LOG, (EVENTS, VOLUME), "mqtt", Reading.LOG, "mqtt")

_CONNECT = r"Sending CONNECT \(u\d, p\d, wr\d, wq\d, wf\d, "
_KEPT = r"(?:k(?P<value>\d+)\)(?: client_id=b?['\"]?(?P<client_id>.*?)['\"]?(?: properties=|$))?)?"
_SLEPT = r"slept for(?:\"? (?:seconds=)?(?P<value>\d+))?"
_CALLED = r"^[A-Z][a-z]{2} \d{1,2}, \d{4},? [\d:]{7,8}\W[AP]M \S+ "

SIGNATURES: tuple[Signature, ...] = (
    *application_lines.MQTT_SIGNATURES,
    Signature("client-configured", begins=rf"{_CONNECT}c1, {_KEPT}", told="clean"),
    Signature("client-configured", begins=rf"{_CONNECT}c0, {_KEPT}", told="persistent"),
    Signature("connection-made", begins=r"Received CONNACK \(\d+, (?:0|Success)\)"),
    Signature("connection-made", contains=r"Client (?P<client_id>.*) received CONNACK \(0\)"),
    Signature("connection-closed", begins=r"Sending DISCONNECT(?:\s*$| reasonCode=)", told="normal"),
    Signature("connection-closed", contains=r"Client (?P<client_id>.*) sending DISCONNECT\s*$", told="normal"),
    Signature(
        "connection-lost",
        contains=rf"{_CALLED}(?P<reason>connectionLost)\s*$|^WARNING: (?P<reason2>Connection lost)\s*$",
    ),
    Signature("connection-made", contains=rf"{_CALLED}connectComplete\s*$"),
    Signature(
        "ping-unanswered",
        contains=r"[AP]M org\.eclipse\.paho\.client\.mqttv3\.internal\.ClientState checkForActivity\s*$",
    ),
    Signature("connection-lost", contains=r"Connection lost \(32109\)(?: - (?P<reason>\S+))?"),
    Signature(
        "client-subscribed",
        begins=r"Sending SUBSCRIBE \(d\d, m\d+\) \[\(b['\"](?:(?P<topic>.*?)['\"], (?:\{QoS=)?(?P<value>[012])[,)])?",
    ),
    Signature(
        "client-subscribed",
        contains=r"Client (?P<client_id>.*) sending SUBSCRIBE \(Mid: \d+, Topic: (?P<topic>.*), QoS: (?P<value>\d)",
    ),
    Signature(
        "subscribe-denied",
        contains=r"Subscribed \(mid: \d+\): (?:\d+, )*128\b|All subscription requests were denied",
        told="128",
    ),
    Signature(
        "ping-unanswered",
        contains=r"(?:\[pinger\] +|msg=\")(?P<reason>pingresp not received)"
        r"|(?P<reason2>Timed out as no (?:write )?activity), keepAlive=|(?P<reason3>No PING_RESP), disconnected",
    ),
    Signature("reconnect-waiting", begins=rf"(?:msg=\")?Reconnect failed, {_SLEPT}", told="failed"),
    Signature(
        "reconnect-waiting",
        begins=rf"(?:msg=\")?Detect continual connection lost after reconnect, {_SLEPT}",
        told="lost again",
    ),
    Signature(
        "reconnect-waiting",
        begins=r"(?:\S+: )?Start reconnect timer for client: (?P<client_id>.*), delay: (?P<value>\d+),000\s*$",
        told="failed",
    ),
    Signature("reconnect-waiting", begins=r"Reconnect after (?P<value>\d+) ms", scale=0.001, told="failed"),
)

_OURS = re.compile(
    r"\[(?:client|net|pinger|store|msgids|router|state)\] {2,}\w|\bcomponent=\[?(?:client|net|pinger|store)\b"
    rf"|(?:connected|reconnecting) to {SCHEME}\S+ as |starting (?:on \S+ )?(?:client_)?id=\S.* keepalive=\d"
    r"|\borg\.eclipse\.paho\.|Sending CONNECT \(u\d, p\d|Received CONNACK \(|\bmqtt_client: "
    r"|[AP]M \S+ (?:connectionLost|connectComplete)\s*$|clientId=\S+ keepAlive=\d"
    r"|Client \S+ (?:sending CONNECT|received CONNACK)|\(32109\)"
)
_DATED = re.compile(
    r"^(?:\[?[A-Z]+\]? |time=)?\W{0,2}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^[A-Z] \(\d+\) |^Client "
    r"|^[A-Z][a-z]{2} \d{1,2}, \d{4},? \d{1,2}:\d\d:\d\d\W[AP]M |^1\d{9}\.\d{3}\d{0,6} "
)


def recognise(head: Head) -> bool:
    """True when the head holds a line that only MQTT clients print, in a file of dated lines."""
    lines = head.lines[:2000]
    return any(_OURS.search(line[:4000]) for line in lines) and any(_DATED.match(line) for line in lines)
