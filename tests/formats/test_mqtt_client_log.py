# ruff: noqa: E501 - lines of clients stay in one piece
"""What MQTT clients and the applications around them say of their connections."""

import re
import time

import pytest
from log_lines import events, kept, picked, tables

from mqlab.formats import paho_log
from mqlab.formats.base import Head
from mqlab.formats.signatures import LOG_FORMATS
from mqlab.tables import METRICS

FORM = paho_log.FORMAT.name
GO = "2026/11/21 11:40:24.482480 "
PYTHON = "2026-11-21 11:40:24,482 "

# line, kind, value, reason, names
LINES = (
    (f"{GO}ingest 2.0.0 starting on ingest-1 client_id=ingest-v2-a clean_session=false keepalive=30 ping_timeout=10 broker=tcp://mqtt-1:1883",
     "client-configured", 30.0, "persistent", {"client_id": "ingest-v2-a"}),
    (f"{GO}panel 1.0.0 starting on app-1 client_id=app 1 clean_session=true keepalive=60 ping_timeout=10 broker=tcp://mqtt-1:1883",
     "client-configured", 60.0, "clean", {"client_id": "app 1"}),
    (f"{GO}connected to tcp://mqtt-1:1883 as ingest-v2-a (connection #3)",
     "connection-made", 3.0, "tcp://mqtt-1:1883", {"client_id": "ingest-v2-a"}),
    (f"{GO}[node1-012] connected", "connection-made", None, None, {"client_id": "node1-012"}),
    (f"{GO}subscribed map[$share/ingest/plant/+/t:1] err=<nil>",
     "client-subscribed", 1.0, None, {"topic": "$share/ingest/plant/+/t"}),
    (f"{GO}subscribed map[a/#:0 b/#:1] err=<nil>", "client-subscribed", 0.0, None, {"topic": "a/#"}),
    (f"{GO}subscribed map[secret/#:128] err=<nil>", "subscribe-denied", None, "128", {"topic": "secret/#"}),
    (f"{GO}connection lost after 35.0s: pingresp not received, disconnecting",
     "connection-lost", 35.0, "pingresp not received, disconnecting", {}),
    (f"{GO}[node1-012] connection lost: EOF", "connection-lost", None, "EOF", {"client_id": "node1-012"}),
    (f"{GO}connection lost after 1.5s: read tcp 10.0.0.7:53412->10.0.0.1:1883: i/o timeout",
     "connection-lost", 1.5, "read tcp 10.0.0.7:53412->10.0.0.1:1883: i/o timeout", {"peer": "10.0.0.7:53412"}),
    (f'{GO}Connection lost error="EOF"', "connection-lost", None, "EOF", {}),
    (f"[CRITICAL] {GO}[pinger]   pingresp not received, disconnecting", "ping-unanswered", None, "pingresp not received", {}),
    ('time="2018-11-20T14:42:13Z" level=info msg="[pinger]   pingresp not received, disconnecting"',
     "ping-unanswered", None, "pingresp not received", {}),
    (f"[DEBUG] {GO}[client]   Reconnect failed, slept for 4 seconds: network Error : EOF", "reconnect-waiting", 4.0, "failed", {}),
    (f"[DEBUG] {GO}[client]   Detect continual connection lost after reconnect, slept for 2 seconds",
     "reconnect-waiting", 2.0, "lost again", {}),
    ('time=2026-11-21T11:40:24.482Z level=DEBUG msg="Reconnect failed, slept for" seconds=8 error=EOF component=[client]',
     "reconnect-waiting", 8.0, "failed", {}),
    ('time=2026-11-21T11:40:24.482Z level=ERROR msg="pingresp not received, disconnecting" component=[pinger]',
     "ping-unanswered", None, "pingresp not received", {}),
    (f"{PYTHON}INFO gateway starting id=press-line-07 broker=mqtt-1:1883 keepalive=30",
     "client-configured", 30.0, None, {"client_id": "press-line-07"}),
    (f"{PYTHON}INFO connected rc=Success session_present=False connection=3", "connection-made", 3.0, None, {}),
    (f"{PYTHON}WARNING disconnected rc=Unspecified error from_server=False", "connection-lost", None, "Unspecified error", {}),
    (f"{PYTHON}WARNING disconnected rc=Keep alive timeout from_server=False", "connection-lost", None, "Keep alive timeout", {}),
    (f"{PYTHON}WARNING disconnected rc=7", "connection-lost", None, "7", {}),
    (f"{PYTHON}WARNING disconnected rc=7 after 1.5s", "connection-lost", 1.5, "7", {}),
    (f"{PYTHON}WARNING disconnected rc=16 after 24.0s", "connection-lost", 24.0, "Keep alive timeout", {}),
    (f"{PYTHON}WARNING disconnected rc=16 after 0.0s", "ping-unanswered", None, "Keep alive timeout", {}),
    ("1795330392.863 INFO connected rc=Success session_present=False connection=1", "connection-made", 1.0, None, {}),
    ("1795330392.863 DEBUG Sending SUBSCRIBE (d0, m1) [(b'$share/climate/house/+/sensor', 1)]",
     "client-subscribed", 1.0, None, {"topic": "$share/climate/house/+/sensor"}),
    (f"{PYTHON}INFO disconnected rc=Normal disconnection from_server=False", "connection-closed", None, "normal", {}),
    (f"{PYTHON}INFO suback mid=1 ['Granted QoS 1', 'Granted QoS 0']", "client-subscribed", 1.0, None, {}),
    (f"{PYTHON}INFO suback mid=1 ['Not authorized']", "subscribe-denied", None, "Not authorized", {}),
    (f"{PYTHON}DEBUG Sending CONNECT (u1, p1, wr0, wq0, wf0, c1, k60) client_id=b'gw <b>1</b>'",
     "client-configured", 60.0, "clean", {"client_id": "gw <b>1</b>"}),
    (f"{PYTHON}DEBUG paho: Sending CONNECT (u0, p0, wr0, wq0, wf0, c0, k15) client_id=b'gw' properties=None",
     "client-configured", 15.0, "persistent", {"client_id": "gw"}),
    (f"{PYTHON}DEBUG Received CONNACK (0, 0)", "connection-made", None, None, {}),
    (f"{PYTHON}DEBUG Received CONNACK (1, Success) properties=[]", "connection-made", None, None, {}),
    (f"{PYTHON}DEBUG Sending SUBSCRIBE (d0, m1) [(b't/#', {{QoS=1, NoLocal=False, RetainAsPublished=False, retainHandling=0}})]",
     "client-subscribed", 1.0, None, {"topic": "t/#"}),
    (f"{PYTHON}DEBUG Sending SUBSCRIBE (d0, m1) [(b't/#', 2)]", "client-subscribed", 2.0, None, {"topic": "t/#"}),
    (f"{PYTHON}DEBUG Sending DISCONNECT", "connection-closed", None, "normal", {}),
    ("2026-11-21T11:40:24Z Client mosq-Ab1 received CONNACK (0)", "connection-made", None, None, {"client_id": "mosq-Ab1"}),
    ("2026-11-21T11:40:24Z Client mosq-Ab1 sending SUBSCRIBE (Mid: 1, Topic: a/#, QoS: 1, Options: 0x00)",
     "client-subscribed", 1.0, None, {"client_id": "mosq-Ab1", "topic": "a/#"}),
    ("2026-11-21T11:40:24Z Subscribed (mid: 1): 128", "subscribe-denied", None, "128", {}),
    (f"{PYTHON}SEVERE gw: Timed out as no activity, keepAlive=60,000 lastOutboundActivity=1", "ping-unanswered", None, "Timed out as no activity", {}),
    (f"{PYTHON}WARN App - lost: Connection lost (32109) - java.io.EOFException", "connection-lost", None, "java.io.EOFException", {}),
    ("E (799044) mqtt_client: No PING_RESP, disconnected", "ping-unanswered", None, "No PING_RESP", {}),
    (f"{PYTHON}FINE gw: Start reconnect timer for client: gw-1, delay: 128,000", "reconnect-waiting", 128.0, "failed", {"client_id": "gw-1"}),
    (f"{GO}INFO subscribe result map[cat/#:1] err=<nil>", "client-subscribed", 1.0, None, {"topic": "cat/#"}),
    ("22.11.2026 05:43:08,931 subscribed crane/+/weight qos=1", "client-subscribed", 1.0, None, {"topic": "crane/+/weight"}),
    ("2026-11-22T11:38:54.351+02:00 info subscribed $share/in/bus/+/pos qos=1",
     "client-subscribed", 1.0, None, {"topic": "$share/in/bus/+/pos"}),
    (f"{PYTHON}INFO Subscribed to 'a/<b>/#' (QoS 2)", "client-subscribed", 2.0, None, {"topic": "a/<b>/#"}),
    (f"{PYTHON}INFO Subscribed to: a/b with QoS 0", "client-subscribed", 0.0, None, {"topic": "a/b"}),
    (f"{PYTHON}WARN subscribed a/b qos=128", "subscribe-denied", None, "128", {"topic": "a/b"}),
)  # fmt: skip

NOTHING = (
    f"{GO}reconnecting to tcp://mqtt-1:1883 as ingest-v2-a",
    f"[ERROR] {GO}[client]   Connect comms goroutine - error triggered EOF",
    f"[WARN] {GO}[store]    memorystore wiped",
    f"{GO}kafka writer ready brokers=kafka-1:9092 topic=telemetry acks=all",
    f"{PYTHON}DEBUG Received CONNACK (0, 5)",
    f"{PYTHON}DEBUG Received SUBACK",
    f"{GO}subscribed orders by 3 members",
    f"{GO}subscribed a/b at qos level of choice",
    f"{GO}subscribed map[a/#:0] err=connection lost before Subscribe completed",
)
COUNTED = (
    (f"{GO}progress received=200", {"received": 200.0}),
    (
        f"{GO}progress published=401 acknowledged=400 failed=1",
        {"published": 401.0, "acknowledged": 400.0, "failed": 1.0},
    ),
    (f"{GO}finished acknowledged=14 failed=0 elapsed=3.1s", {"acknowledged": 14.0, "failed": 0.0}),
    (f"{GO}shutting down, received=540", {"received": 540.0}),
)


def test_each_line_says_what_became_of_which_connection():
    expected = [
        {
            name: told
            for name, told in (("kind", kind), *names.items(), ("value", value), ("reason", reason))
            if told is not None
        }
        for _, kind, value, reason, names in LINES
    ]
    found = events([line for line, *_ in LINES], FORM)
    assert [{name: told for name, told in row.items() if name != "system"} for row in found] == expected
    assert {row["system"] for row in found} == {"mqtt"}


def test_attempts_refusals_and_what_only_repeats_the_application_are_no_events():
    assert kept(NOTHING, FORM) == [False] * len(NOTHING)


def test_counters_of_applications_are_metrics_whatever_the_system():
    lines = [line for line, _ in COUNTED]
    flags, rows = tables(lines, FORM)
    assert flags == [True] * len(lines)
    expected = [
        (n, f"app.{name}", value)
        for n, (_, counters) in enumerate(COUNTED, 1)
        for name, value in sorted(counters.items())
    ]
    assert sorted(picked(rows[METRICS], "line name value")) == expected


def test_a_log_in_which_a_client_speaks_is_recognised():
    for line in (LINES[0][0], LINES[2][0], LINES[11][0], LINES[30][0]):
        assert paho_log.recognise(Head("x.log", f"{GO}something else\n{line}\n", 99))


def test_a_log_of_another_application_is_none():
    lines = [f"{PYTHON}INFO worker starting", f"{PYTHON}INFO connected to postgres://db as app", "Client started"]
    assert not paho_log.recognise(Head("x.log", "\n".join(lines), 99))


JAVA = """
Nov 22, 2026 7:21:40 AM lab.Dev main
INFO: crate-agent 3.0 starting clientId=crate-agent keepAlive=30
Nov 22, 2026 7:21:40 AM lab.Dev$2 connectComplete
INFO: Connected to tcp://10.161.0.4:1883 clientId=crate-agent reconnect=false
Nov 22, 2026 7:21:50 AM lab.Dev$2 connectionLost
WARNING: Connection lost
Connection lost (32109) - java.io.EOFException
\tat org.eclipse.paho.client.mqttv3.internal.CommsReceiver.run(CommsReceiver.java:197)
Nov 22, 2026 7:21:52 AM org.eclipse.paho.client.mqttv3.internal.ClientState checkForActivity
SEVERE: gate: Timed out as no activity, keepAlive=10,000,000,000 lastOutboundActivity=63,154 lastInboundActivity=63,135"""


def test_records_of_java_util_logging_are_events_of_their_first_line():
    text = JAVA[1:]
    assert paho_log.recognise(Head("agent.log", text, len(text)))
    told = [(e["kind"], e.get("reason")) for e in events(text.split("\n"), FORM)]
    assert told == [("connection-made", None), ("connection-lost", "connectionLost"), ("ping-unanswered", None)]


@pytest.mark.parametrize("name", ["x" * 4096, "[" * 4096, "Client ID: " * 400, "a b, " * 800, "<b>" * 1300, "'" * 4096])
def test_a_long_name_does_not_cost_its_square(name):
    formats = [form for form in LOG_FORMATS if form.FORMAT.system == "mqtt"]
    told = {s.also for form in formats for s in form.SIGNATURES}
    patterns = {form.FORMAT.layout for form in formats} | told | {s.begins or s.contains for s in paho_log.SIGNATURES}
    lines = (
        f"{GO}connected to tcp://a:1 as {name}",
        f"{GO}subscribed map[{name}",
        f"Client ID: {name}",
        f"{GO}[{name}",
    )
    begun = time.process_time()
    for line in lines:
        for pattern in patterns:
            re.search(pattern, line)
    assert time.process_time() - begun < 5
