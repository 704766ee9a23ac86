# ruff: noqa: E501 - lines of brokers stay in one piece
"""mosquitto's log, in the words of every version."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_lines import picked, read

from mqlab.formats import mosquitto_log
from mqlab.formats.base import Head
from mqlab.formats.registry import FORMATS
from mqlab.material import envelopes
from mqlab.material.recognition import recognise
from mqlab.sources import Envelope, Reading

PLAIN, OTHER = "1795261186: ", "application-log"
LONG = "Client x has exceeded timeout, disconnecting. " * 80
"""A name of nearly four thousand characters, each piece of which looks like the end of a line."""

# version, line, kind, client_id, peer, member_id, topic, value, reason
SAID = (
    ("1.4", "mosquitto version 1.4.8 (build date Fri, 19 Feb 2016 12:03:16 +0100) starting", "broker-starting", None, None, None, None, None, "1.4.8"),
    ("2.0", "mosquitto version 2.0.11 starting", "broker-starting", None, None, None, None, None, "2.0.11"),
    ("2.0", "mosquitto version 2.0.11 terminating", "broker-stopping", None, None, None, None, None, "2.0.11"),
    ("1.4", "New client connected from 72.53.209.21 as mosq-kwcmiG (c1, k60).", "client-connected", "mosq-kwcmiG", "72.53.209.21", None, None, 60.0, "clean"),
    ("1.5", "New client connected from 24.114.80.91 as R1 (c0, k15, u'patb').", "client-connected", "R1", "24.114.80.91", "patb", None, 15.0, "persistent"),
    ("1.6", "New client connected from 10.0.0.9 as m5 (p2, c1, k0).", "client-connected", "m5", "10.0.0.9", None, None, 0.0, "clean"),
    ("2.0", "New client connected from 10.41.3.40:46436 as ops-1 (p2, c1, k60, u'ops').", "client-connected", "ops-1", "10.41.3.40:46436", "ops", None, 60.0, "clean"),
    ("2.0", "New client connected from 2001:db8::1:6275 as v6 (p5, c0, k30).", "client-connected", "v6", "2001:db8::1:6275", None, None, 30.0, "persistent"),
    ("2.0", "New client connected from path:0 as unix (p2, c1, k60).", "client-connected", "unix", "path:0", None, None, 60.0, "clean"),
    ("2.0", "New bridge connected from 10.0.0.2:1884 as east (p2, c0, k60, u'br').", "client-connected", "east", "10.0.0.2:1884", "br", None, 60.0, "persistent"),
    ("2.0", "Client edge-1 already connected, closing old connection.", "session-takeover", "edge-1", None, None, None, None, "already connected"),
    ("2.1", "Client edge-1 [117.61.110.182:8785] disconnected: session taken over.", "session-takeover", "edge-1", "117.61.110.182:8785", None, None, None, "session taken over"),
    ("2.1", "Client edge-1 [(null):0] disconnected: session taken over.", "session-resumed", "edge-1", None, None, None, None, "session taken over"),
    ("2.0", "Client edge-1 disconnected.", "client-disconnected", "edge-1", None, None, None, None, "normal"),
    ("2.1", "Client edge-1 [192.168.68.135:1] disconnected.", "client-disconnected", "edge-1", "192.168.68.135:1", None, None, None, "normal"),
    ("1.6", "Socket error on client edge-1, disconnecting.", "client-disconnected", "edge-1", None, None, None, None, "closed"),
    ("1.6", "Socket error on client <unknown>, disconnecting.", "client-disconnected", None, None, None, None, None, "closed"),
    ("2.0", "Client edge-1 closed its connection.", "client-disconnected", "edge-1", None, None, None, None, "closed"),
    ("2.0", "Client edge-1 disconnected: Connection reset by peer.", "client-disconnected", "edge-1", None, None, None, None, "closed"),
    ("2.0", "Bad socket read/write on client edge-1: Invalid function arguments provided.", "client-disconnected", "edge-1", None, None, None, None, "closed"),
    ("2.1", "Client edge-1 [::1:50000] disconnected: connection closed by client.", "client-disconnected", "edge-1", "::1:50000", None, None, None, "closed"),
    ("2.0", "Client edge-1 has exceeded timeout, disconnecting.", "client-disconnected", "edge-1", None, None, None, None, "keep-alive"),
    ("2.1", "Client edge-1 [79.107.86.91:59838] disconnected: exceeded timeout.", "client-disconnected", "edge-1", "79.107.86.91:59838", None, None, None, "keep-alive"),
    ("1.6", "Client edge-1 disconnected, no longer authorised.", "client-disconnected", "edge-1", None, None, None, None, "not-authorized"),
    ("2.0", "Client edge-1 disconnected, not authorised.", "client-disconnected", "edge-1", None, None, None, None, "not-authorized"),
    ("2.1", "Client edge-1 [1.2.3.4:5] disconnected: not authorised.", "client-disconnected", "edge-1", "1.2.3.4:5", None, None, None, "not-authorized"),
    ("2.0", "Client edge-1 disconnected due to protocol error.", "client-disconnected", "edge-1", None, None, None, None, "protocol-error"),
    ("2.0", "Client edge-1 disconnected due to malformed packet.", "client-disconnected", "edge-1", None, None, None, None, "protocol-error"),
    ("2.1", "Client edge-1 [1.2.3.4:5] disconnected: malformed packet.", "client-disconnected", "edge-1", "1.2.3.4:5", None, None, None, "protocol-error"),
    ("2.0", "Client edge-1 disconnected due to oversize packet.", "client-disconnected", "edge-1", None, None, None, None, "frame-too-large"),
    ("2.1", "Client edge-1 [1.2.3.4:5] disconnected: oversize packet.", "client-disconnected", "edge-1", "1.2.3.4:5", None, None, None, "frame-too-large"),
    ("2.0", "Client edge-1 been disconnected by administrative action.", "client-disconnected", "edge-1", None, None, None, None, "kicked"),
    ("2.0", "Client edge-1 disconnected due to out of memory.", "client-disconnected", "edge-1", None, None, None, None, "out of memory"),
    ("1.6", "Expiring persistent client edge-1 due to timeout.", "session-expired", "edge-1", None, None, None, None, None),
    ("2.0", "Expiring client edge-1 due to timeout.", "session-expired", "edge-1", None, None, None, None, None),
    ("2.0", "Outgoing messages are being dropped for client historian.", "session-queue-dropping", "historian", None, None, None, None, "queue full"),
    ("2.0", "Denied PUBLISH from edge-1 (d0, q1, r0, m7, 'site/b/t', ... (21 bytes))", "publish-denied", "edge-1", None, None, "site/b/t", None, None),
    ("2.0", "Received PUBLISH from edge-1 (d0, q1, r0, m7, 'site/b/t', ... (21 bytes))", "publish-received", "edge-1", None, None, "site/b/t", 21.0, None),
    ("2.0", "Received PUBLISH from edge-1 (d1, q1, r0, m7, 'site/b/t', ... (21 bytes))", "publish-received", "edge-1", None, None, "site/b/t", 21.0, "dup"),
    ("2.0", "Sending PUBLISH to edge-1 (d0, q0, r1, m0, '$SYS/broker/retained messages/count', ... (2 bytes))", "publish-sent", "edge-1", None, None, "$SYS/broker/retained messages/count", 2.0, "retained"),
    ("2.0", "Sending PUBLISH to edge-1 (d1, q2, r1, m7, 'site/b's', ... (0 bytes))", "publish-sent", "edge-1", None, None, "site/b's", 0.0, "dup retained"),
    ("2.0", "edge-1 1 $share/plant/+/t", "client-subscribed", "edge-1", None, None, "$share/plant/+/t", 1.0, None),
    ("2.0", "edge-1 128 #", "subscribe-denied", "edge-1", None, None, "#", None, None),
    ("2.0", "Received UNSUBSCRIBE from edge-1", "client-unsubscribed", "edge-1", None, None, None, None, None),
    ("1.6", "Connecting bridge east-to-west (mqtt-west:21883)", "bridge-connecting", "east-to-west", None, None, None, None, "mqtt-west:21883"),
    ("2.0", "Connecting bridge (step 1) east-to-west (mqtt-west:21883)", "bridge-connecting", "east-to-west", None, None, None, None, "mqtt-west:21883"),
)  # fmt: skip
UNKNOWN = (
    "Config loaded from /etc/mosquitto/mosquitto.conf.",
    "New connection from 10.41.3.40:46436 on port 1883.", "Opening ipv4 listen socket on port 21883.",
    "Saving in-memory database to /var/lib/mosquitto//mosquitto.db.", "No will message specified.",
    "Connecting bridge (step 2) east-to-west (mqtt-west:21883)",
    "Received SUBSCRIBE from edge-1", "\tgrid/# (QoS 1)", "Sending SUBACK to edge-1", "Received PINGREQ from edge-1",
    "Sending PUBACK to edge-1 (m800, rc0)", "Received PUBACK from edge-1 (Mid: 800, RC:0)",
    "Sending CONNACK to evil: Client admin disconnected. (0, 0)",
    "Received PINGREQ from evil: Client admin disconnected.", "Received PINGREQ from sensor 1 north",
    "Sending PINGRESP to New client connected from 1.2.3.4:5 as admin (p2, c1, k60).",
    "Client tls-1 negotiated TLSv1.3 cipher TLS_AES_256_GCM_SHA384", "",
)  # fmt: skip
NAMES = (
    "two words", "a,b", "a@b", "it's", '"quoted"', "<script>alert(1)</script>", "Client admin disconnected.", "1 #",
    "(p2, c1, k60)", "x (p2, c1, k1).", "[1.2.3.4:5]", "DEBUG", "WARN ERROR", "ünï 日本 🦄", "$1 \\1", "a disconnected: b",
    "u'root'", ": New client connected from 9.9.9.9:9 as admin", LONG,
)  # fmt: skip
ABOUT_A_NAME = (
    ("New client connected from 10.0.0.1:1 as {} (p2, c1, k60, u'u').", "client-connected"),
    ("New client connected from 10.0.0.1:1 as {} (p2, c0, k60).", "client-connected"),
    ("Client {} already connected, closing old connection.", "session-takeover"),
    ("Client {} [10.0.0.1:1] disconnected: session taken over.", "session-takeover"),
    ("Client {} disconnected.", "client-disconnected"),
    ("Client {} has exceeded timeout, disconnecting.", "client-disconnected"),
    ("Client {} closed its connection.", "client-disconnected"),
    ("Socket error on client {}, disconnecting.", "client-disconnected"),
    ("Expiring client {} due to timeout.", "session-expired"),
    ("Outgoing messages are being dropped for client {}.", "session-queue-dropping"),
    ("Denied PUBLISH from {} (d0, q1, r0, m7, 'a/b', ... (21 bytes))", "publish-denied"),
    ("Sending PUBLISH to {} (d0, q1, r0, m7, 'a/b', ... (21 bytes))", "publish-sent"),
)


def _read(lines, form=mosquitto_log.FORMAT.name):
    return read(lines, form)


def test_each_line_says_what_happened_to_whom_in_every_version_and_behind_every_moment():
    prefixes = (PLAIN, "2026-11-21T11:39:46: ", "Nov 21 11:39:46 mosquitto: ")
    kept, events = _read([prefix + line for prefix in prefixes for _, line, *_ in SAID])
    assert kept == [True] * len(SAID) * 3
    assert (
        picked(events, "kind client_id peer member_id topic value reason")
        == [tuple(expected) for _, _, *expected in SAID] * 3
    )
    assert {e["system"] for e in events} == {"mqtt"}


def test_all_other_lines_are_counted_only():
    assert _read([PLAIN + line for line in UNKNOWN]) == ([False] * len(UNKNOWN), [])


def test_a_clients_name_may_hold_anything():
    lines = [(f"{PLAIN}{form.format(name)}", kind, name) for form, kind in ABOUT_A_NAME for name in NAMES]
    kept, events = _read([line for line, _, _ in lines])
    assert kept == [True] * len(lines)
    assert picked(events, "kind client_id") == [(kind, name.strip()) for _, kind, name in lines]


def test_a_subscription_of_a_client_whose_name_is_a_sentence_is_nobodys_disconnect():
    _, events = _read([f"{PLAIN}Client admin disconnected. 1 a/b", f"{PLAIN}sensor 1 north 2 plant/#"])
    assert picked(events, "kind client_id topic") == [("client-subscribed", "sensor 1 north", "plant/#")]


def test_in_files_of_others_the_same_lines_are_nothing():
    kept, events = _read([PLAIN + line for _, line, *_ in SAID], OTHER)
    assert (kept, events) == ([False] * len(SAID), [])


def test_moments_are_those_of_the_broker():
    stamps = (PLAIN, "2026-11-21T11:39:46: ", "2026-11-21T11:39:46+0100: ", "Nov 21 11:39:46 mosquitto: ")
    _, events = _read([f"{stamp}Client a disconnected." for stamp in stamps])
    assert [(f"{e['at']:%Y-%m-%d %H:%M:%S}", e["east"]) for e in events] == [
        ("2026-11-21 11:39:46", 0), ("2026-11-21 11:39:46", None), ("2026-11-21 11:39:46", 3600),
        ("1972-11-21 11:39:46", None),
    ]  # fmt: skip


def test_lines_without_a_moment_are_all_told():
    kept, events = _read(["Client a disconnected.", "Client b disconnected."])
    assert (kept, picked(events, "client_id")) == ([True, True], [("a",), ("b",)])


@pytest.mark.parametrize(
    ("line", "inner"),
    [
        ("Nov 21 12:00:00 host mosquitto[12]: Client a disconnected.", "Nov 21 12:00:00 mosquitto: Client a disconnected."),
        ("Nov 21 12:00:00 host mosquitto[12]: 1795261186: Client a disconnected.", "1795261186: Client a disconnected."),
        ("2026-11-21T12:00:00+00:00 host mosquitto[12]: Client a disconnected.",
         "2026-11-21T12:00:00+00:00 mosquitto: Client a disconnected."),
    ],
)  # fmt: skip
def test_syslogs_moment_stays_where_the_broker_wrote_none(line, inner):
    assert envelopes.peel(line, Envelope.SYSLOG) == inner


@pytest.mark.parametrize(
    "prefix",
    [
        PLAIN,
        "2026-11-21T11:39:46: ",
        "",
        "Nov 21 11:39:46 host mosquitto[7]: ",
        "22/Nov/2026:10:46:14 +0100: ",
        "Sun Nov 22 10:46:14 2026: ",
        "2026-11-22 10:46:14 CET: ",
        "18:54:07 22.11.2026: ",
        "[22 Nov 2026 10:46:14] : ",
    ],
)
def test_its_log_is_recognised(prefix):
    text = "\n".join(prefix + line for line in ["Client a disconnected.", *UNKNOWN[:14]])
    found = recognise(text.encode(), "x.log", len(text), FORMATS)
    assert (found.format, found.reading) == ("mosquitto-log", Reading.LOG)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n".join(["2026-11-21 12:00:00 INFO broker said: 1795261186: Client a disconnected."] * 9),
        "\n".join(f"1795261186: worker {n} did something" for n in range(9)),
        "\n".join(["2026-11-21T12:00:00Z connection lost after 35.0s: pingresp not received, disconnecting"] * 9),
    ],
)
def test_other_logs_are_not(text):
    assert not mosquitto_log.recognise(Head("mosquitto.log", text, len(text)))


def test_seconds_are_said_to_be_written_with_their_zone():
    text = "\n".join(PLAIN + line for _, line, *_ in SAID)
    assert recognise(text.encode(), "x.log", len(text), FORMATS).zone_written


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), min_size=1, max_size=40), st.integers(0, 9))
def test_whatever_a_client_is_called_its_lines_are_the_brokers(name, number):
    form, _ = ABOUT_A_NAME[number]
    assert mosquitto_log.recognise(Head("x.log", PLAIN + form.format(name), 80))
