"""What brokers publish below $SYS, as mosquitto_sub writes it down."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import exporters, mqtt_sys
from mqlab.formats.base import Head
from mqlab.tables import METRICS, SETTINGS

LINES = """
2026-11-21T11:39:46+0000 $SYS/broker/clients/total 12
2026-11-21T12:39:46.250+01:00 $SYS/broker/retained messages/count 40
2026-11-21 11:39:46 $SYS/broker/load/messages/received/1min 0.25
2026-11-21T11:39:46+0000 $SYS/broker/uptime 31 seconds
[2026-11-21T11:39:46Z] $SYS/broker/heap/current size 33424 bytes
1795261186.250000000 $SYS/broker/messages/sent 511
1795261186 $SYS/broker/messages/received 512
1795261186250 $SYS/broker/bytes/sent: 9
$SYS/broker/bytes/received 10 2026-11-21T11:39:46Z
$SYS/broker/bytes/received 11 1795261186
{"tst":"2026-11-21T11:39:46.123456Z+0000","topic":"$SYS/broker/clients/connected","qos":0,"payloadlen":1,"payload":"7"}
2026-11-21T11:39:46+0000 $SYS/brokers/emqx@10.0.0.1/metrics/messages/received 3
2026-11-21T11:39:46+0000 $SYS/broker/connection/<b> x/state 1
2026-11-21T11:39:46+0000 $SYS/broker/version mosquitto version 2.0.11
2026-11-21T11:39:46+0000 $SYS/broker/clients/total NaN
2026-11-21T11:39:46+0000 $SYS/broker/clients/total"""


def test_each_value_is_a_sample_named_by_its_topic(loaded):
    at = "11:39:46"
    assert loaded(mqtt_sys, METRICS, "line at name value", LINES) == [
        (1, at, "$SYS/broker/clients/total", 12.0),
        (2, at, "$SYS/broker/retained messages/count", 40.0),
        (3, at, "$SYS/broker/load/messages/received/1min", 0.25),
        (4, at, "$SYS/broker/uptime", 31.0),
        (5, at, "$SYS/broker/heap/current size", 33424.0),
        (6, at, "$SYS/broker/messages/sent", 511.0),
        (7, at, "$SYS/broker/messages/received", 512.0),
        (8, at, "$SYS/broker/bytes/sent", 9.0),
        (9, at, "$SYS/broker/bytes/received", 10.0),
        (10, at, "$SYS/broker/bytes/received", 11.0),
        (11, at, "$SYS/broker/clients/connected", 7.0),
        (12, at, "$SYS/brokers/*/metrics/messages/received", 3.0),
    ]
    assert [row[1] for row in loaded(mqtt_sys, METRICS, "line labels", LINES) if row[1]] == [{"node": "emqx@10.0.0.1"}]


CSV = """time,topic,value
1795261186.850252963,$SYS/broker/uptime,31 seconds
1795261186250;$SYS/broker/retained messages/count;40
2026-11-21T11:39:46+0000 | $SYS/broker/messages/sent | 511
"2026-11-21T11:39:46,250+0000","$SYS/broker/version","mosquitto version 2.0.11"
"2026-11-21T11:39:46Z","$SYS/broker/clients/total","12"
$SYS/broker/bytes/received\t11\t1795261186
1795261186.5,plant/t,21.5"""


def test_values_may_be_cells_of_a_table(loaded, classes):
    at = "11:39:46"
    assert loaded(mqtt_sys, METRICS, "line at name value", CSV) == [
        (2, at, "$SYS/broker/uptime", 31.0),
        (3, at, "$SYS/broker/retained messages/count", 40.0),
        (4, at, "$SYS/broker/messages/sent", 511.0),
        (6, at, "$SYS/broker/clients/total", 12.0),
        (7, at, "$SYS/broker/bytes/received", 11.0),
    ]
    assert loaded(mqtt_sys, SETTINGS, "line key value", CSV) == [(5, "version", "2.0.11")]
    assert classes(mqtt_sys, CSV) == ["noise", *["data"] * 6, "noise"]
    assert mqtt_sys.recognise(Head("sys.csv", CSV, len(CSV)))


def test_a_z_before_the_offset_of_a_local_time_says_nothing(loaded):
    text = '{"tst":"2026-11-21T12:39:46.5Z+0100","topic":"$SYS/broker/uptime","qos":0,"payload":"31 seconds"}'
    assert loaded(mqtt_sys, METRICS, "at value", text) == [("11:39:46", 31.0)]


def test_a_damaged_object_is_not_understood(classes):
    assert classes(mqtt_sys, '{"topic":"$SYS/broker/uptime","payload":"a"b"}') == [None]


def test_the_version_is_a_setting(loaded):
    assert loaded(mqtt_sys, SETTINGS, "line at scope key value version origin", LINES) == [
        (14, "11:39:46", "broker", "version", "2.0.11", "2.0.11", "describe")
    ]


def test_values_without_a_moment_have_that_of_the_snapshot(loaded):
    text = "$SYS/broker/clients/total 12\n$SYS/broker/uptime 31 seconds"
    assert loaded(mqtt_sys, METRICS, "at value", text, snapshot_at="2026-11-21 10:00:00") == [
        ("10:00:00", 12.0),
        ("10:00:00", 31.0),
    ]


def test_messages_of_other_topics_are_noise_and_no_line_is_lost(classes):
    assert classes(mqtt_sys, LINES) == ["data"] * 16
    others = "2026-11-21T11:39:46+0000 plant/line 1/t 21.5\nplant/t 3\n\n%%%"
    assert classes(mqtt_sys, others) == ["noise", "noise", "noise", None]


def test_a_capture_is_recognised_by_its_topics():
    for text in (LINES[1:], "$SYS/broker/clients/total 12\nplant/t 3\n", LINES.split("\n")[11]):
        assert mqtt_sys.recognise(Head("sys.log", text, len(text)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1795265264: Sending PUBLISH to ops (d0, q0, r1, m0, '$SYS/broker/uptime', ... (9 bytes))\n",
        "plant/t 3\n",
        "2026-11-21T11:39:46Z INFO subscribed to $SYS/broker/#\n",
    ],
)
def test_other_files_are_not(text):
    assert not mqtt_sys.recognise(Head("sys.log", text, len(text)))


@given(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=30), st.floats())
def test_any_topic_and_value_below_sys_is_recognised(topic, value):
    line = f"2026-11-21T11:39:46+0000 $SYS/{topic.replace(chr(34), '')}x {value}"
    assert mqtt_sys.recognise(Head("sys.log", line, len(line)))


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("clients/total", "mqtt.clients_total"),
        ("clients/connected", "mqtt.clients_connected"),
        ("clients/disconnected", "mqtt.clients_disconnected"),
        ("clients/active", None),
        ("messages/received", "mqtt.messages_received"),
        ("messages/stored", None),
        ("messages/inflight", "mqtt.inflight_messages"),
        ("store/messages/count", "mqtt.stored_messages"),
        ("store/messages/bytes", "mqtt.stored_bytes"),
        ("retained messages/count", "mqtt.retained_messages"),
        ("publish/messages/dropped", "mqtt.publish_dropped"),
        ("publish/messages/received", "mqtt.publish_received"),
        ("publish/messages/sent", "mqtt.publish_sent"),
        ("publish/bytes/sent", None),
        ("bytes/sent", "mqtt.bytes_sent"),
        ("subscriptions/count", "mqtt.subscriptions"),
        ("shared_subscriptions/count", "mqtt.shared_subscriptions"),
        ("heap/current", "mqtt.heap_bytes"),
        ("heap/current size", "mqtt.heap_bytes"),
        ("heap/maximum", None),
        ("uptime", "mqtt.uptime_seconds"),
        ("load/messages/received/1min", None),
    ],
)
def test_each_topic_has_the_name_of_what_it_counts(topic, name):
    names = [known for known, regex in exporters.MQTT.items() if re.fullmatch(regex, f"$SYS/broker/{topic}")]
    assert names == ([name] if name else [])


def test_no_two_topics_of_a_broker_count_for_one_name():
    assert len(set(exporters.MQTT.values())) == len(exporters.MQTT)
