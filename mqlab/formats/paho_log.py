"""Logs of MQTT clients: paho for Go, Java and Python, mosquitto_sub, ESP-IDF, and the applications around them.

Sample lines::

    time="2026-11-21T12:02:03Z" level=info msg="integration/mqtt: connected to mqtt broker"
    [CRITICAL] 2026/11/21 12:02:02.573631 [pinger]   pingresp not received, disconnecting
    [DEBUG] 2026/11/21 12:02:03.573631 [client]   Reconnect failed, slept for 4 seconds: network Error : EOF
    time=2026-11-21T12:02:03Z level=DEBUG msg="Reconnect failed, slept for" seconds=4 component=[client]
    2026-11-21 12:02:03,100 DEBUG Sending CONNECT (u0, p0, wr0, wq0, wf0, c1, k60) client_id=b'gw-1'
    2026-11-21 12:02:03,104 DEBUG Received CONNACK (0, 0)
    Nov 22, 2026 7:21:50 AM lab.Dev$2 connectionLost
    WARNING: Connection lost
    Connection lost (32109) - java.io.EOFException
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

``java.util.logging`` dates a record in a line of its own, with the method that wrote it: callbacks of paho for Java are
told by their names, ``connectionLost`` of ``MqttCallback`` and ``connectComplete`` of ``MqttCallbackExtended``.

What the Go client says of a lost connection besides, such as ``error triggered EOF``, repeats what the application's
callback prints at the same moment, and is no event of its own. Words of the libraries are those of ``client.go`` and
``ping.go`` (paho.mqtt.golang), ``client.py`` (paho.mqtt.python), ``logcat.properties`` (paho.mqtt.java), ``lib/`` of
mosquitto and ``mqtt_client.c`` of ESP-IDF.

paho's Python client 2.x calls back twice when its ping is not answered: what tells of a second loss, of a connection of
0.0 s, is ``ping-unanswered``. A map of several filters is one line and so one event: its topic is the first of them.
"""

from __future__ import annotations

import re

from mqlab.formats import other_clients
from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("mqtt-client-log", Role.CLIENT_LOG, (EVENTS, VOLUME), "mqtt", Reading.LOG, "mqtt")

SCHEME = r"(?:tcp|ssl|tls|mqtts?|wss?)://"
_STARTING = r"[\w.@/-]+ (?:\S+ )?starting (?:on \S+ )?(?:client_)?id="
_CLEAN = r"\bclean(?:_session|_start)?="
_CONFIGURED = (
    r"starting (?:on \S+ )?(?:client_)?id=(?P<client_id>.*?)(?= clean_session=| clean_start=| broker=| keepalive=)"
    r"|\bkeep_?alive=(?P<value>\d+)"
)
_PART = r"(?:[\w/.-]+: ){0,2}"
"""The part of a program that speaks, such as ``integration/mqtt: ``."""
_NORMAL = r"(?:0\b|Success|Normal disconnection)"
"""Result 0 of a callback: the client itself closed its connection."""
SILENT = "Keep alive timeout"
"""What paho's Python client calls MQTT_ERR_KEEPALIVE, 16: no answer to its ping."""
_AFTER = r" after (?P<value>\d[\d.]*) ?s\b"
_MAP = r"subscribe(?:d| result| ok) map\[(?P<topic>.*?):"
_QOS = r"[,;]? \(?(?:with )?[Qq][Oo][Ss][ =:]{1,2}"
_SUBSCRIBED = rf"[Ss]ubscribed(?: to)?:? '?\"?(?P<topic>[^\s'\",;]{{1,1000}})'?\"?{_QOS}"
_CONNECT = r"Sending CONNECT \(u\d, p\d, wr\d, wq\d, wf\d, "
_KEPT = r"(?:k(?P<value>\d+)\)(?: client_id=b?['\"]?(?P<client_id>.*?)['\"]?(?: properties=|$))?)?"
_SLEPT = r"slept for(?:\"? (?:seconds=)?(?P<value>\d+))?"
_CALLED = r"^[A-Z][a-z]{2} \d{1,2}, \d{4},? [\d:]{7,8}\W[AP]M \S+ "

SIGNATURES: tuple[Signature, ...] = (
    Signature("client-configured", begins=rf"{_STARTING}.*{_CLEAN}(?:[Tt]rue|1)", also=_CONFIGURED, told="clean"),
    Signature("client-configured", begins=rf"{_STARTING}.*{_CLEAN}(?:[Ff]alse|0)", also=_CONFIGURED, told="persistent"),
    Signature("client-configured", begins=rf"{_STARTING}.*\bkeep_?alive=\d", also=_CONFIGURED),
    Signature(
        "connection-made",
        begins=rf"connected to (?P<reason>{SCHEME}\S+) as (?:(?P<client_id>.+) \(connection #(?P<value>\d+)\))?",
    ),
    Signature("connection-made", begins=rf"{_PART}[Cc]onnected to (?:the )?(?:mqtt|MQTT) (?:[Bb]roker|[Ss]erver)\b"),
    Signature("connection-made", begins=r"connected rc=(?:Success|0)\b(?:.*?\bconnection=(?P<value>\d+))?"),
    Signature("connection-made", begins=r"\[(?P<client_id>[^\[\]]+)\] connected\s*$"),
    Signature(
        "connection-lost",
        begins=r"[Cc]onnection lost(?: after (?:(?P<value>\d[\d.]*) ?s|\d+[hm][\dhm.]*s))?: (?P<reason>.*)"
        r"|[Oo]nConnectionLost was called with error: (?P<reason2>.*)",
        also=r":\d\d(?:[.,]\d+)? \[(?P<client_id>[^\[\]]+)\] connection lost: |(?:read|write) tcp (?P<peer>[^\s>]+)->",
    ),
    Signature("connection-lost", begins=r"[Cc]onnection lost,? (?:err|error|reason|cause)=\"?(?P<reason>[^\"]*)"),
    Signature("connection-lost", begins=rf"{_PART}connection (?:error|lost)\b.*?\berr(?:or)?=\"?(?P<reason>[^\"]*)"),
    Signature("connection-closed", begins=rf"disconnected rc={_NORMAL}", told="normal"),
    Signature("ping-unanswered", begins=rf"disconnected rc=(?:16|{SILENT}) after 0\.0+ ?s\b", told=SILENT),
    Signature("connection-lost", begins=rf"disconnected rc=(?:16|{SILENT})(?:[^\w.]|$)", also=_AFTER, told=SILENT),
    Signature("connection-lost", begins=r"disconnected rc=(?P<reason>.*?)(?: from_server=| after \d|$)", also=_AFTER),
    Signature("subscribe-denied", begins=rf"{_MAP}(?:\d+[ \]].*:)?128[\] ]", told="128"),
    Signature("client-subscribed", begins=rf"{_MAP}(?P<value>[012])(?: .*)?\] err=<nil>"),
    Signature("subscribe-denied", begins=rf"{_SUBSCRIBED}128\b", told="128"),
    Signature("client-subscribed", begins=rf"{_SUBSCRIBED}(?P<value>[012])\b"),
    Signature("subscribe-denied", begins=r"suback mid=\d+ \[.*'(?P<reason>Not authorized|Unspecified error)'"),
    Signature("client-subscribed", begins=r"suback mid=\d+ \['Granted QoS (?P<value>\d)"),
    Signature("subscribe-denied", begins=r"subscription mid=\d+ granted \[.*\b128\b", told="128"),
    Signature("app-stopping", begins=r"shutting down, \w+=\d", system="os"),
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
    Signature("connection-lost", contains=r"\(32109\)(?: - (?P<reason>\S+))?"),
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
    Signature(
        "connection-lost",
        begins=r"(?:esp_)?mqtt\w*: transport_read\(\) error: (?P<reason>errno=-?\d+)"
        r"|Writing failed: (?P<reason2>errno=\d+)|Poll (?:read|write) error: (?P<reason3>\d+), aborting",
    ),
    Signature("connection-made", begins=r"MQTT_EVENT_CONNECTED\b"),
    *other_clients.MQTT,
)

_OURS = re.compile(
    r"\[(?:client|net|pinger|store|msgids|router|state)\] {2,}\w|\bcomponent=\[?(?:client|net|pinger|store)\b"
    rf"|(?:connected|reconnecting) to {SCHEME}\S+ as |starting (?:on \S+ )?(?:client_)?id=\S.* keepalive=\d"
    r"|\borg\.eclipse\.paho\.|Sending CONNECT \(u\d, p\d|Received CONNACK \(|\b(?:mqtt5?_client|MQTT_CLIENT): "
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
