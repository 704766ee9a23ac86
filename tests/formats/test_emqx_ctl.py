"""emqx_ctl: clients, subscriptions, counters and listeners of 4.x and 5.x."""

from mqlab.formats import emqx_ctl as loader
from mqlab.formats.base import Head
from mqlab.tables import CLIENTS, EVENTS, METRICS, SETTINGS

CLIENTS_4_AND_5 = """
$ emqx_ctl clients list
Client (mosqsub/90475-airlee.lo, username=test1, peername=127.0.0.1:64964, clean_start=true, keepalive=60, session_expiry_interval=0, subscriptions=0, inflight=0, awaiting_rel=0, delivered_msgs=0, enqueued_msgs=0, dropped_msgs=0, connected=true, created_at=1582249657, connected_at=1582249657)
Client(pump, 7, username=undefined, peername=10.0.0.7:59441, clean_start=false, keepalive=60, session_expiry_interval=7200, subscriptions=1, inflight=32, awaiting_rel=0, delivered_msgs=4530, enqueued_msgs=1000, dropped_msgs=17, connected=false, created_at=1684736435155, connected_at=1684736435155, disconnected_at=1684736499155)"""  # noqa: E501
SUBSCRIPTIONS = """
mosqsub/90475-airlee.lo -> t/+/x:2
ingest-1 -> $share/ingest/plant/a:b:1
emqx_a -> topic:t/1 qos:0 nl:0 rh:0 rap:0
emqx_b -> topic:$share/g/t qos:2 nl:0 rh:0 rap:0"""
COUNTERS = """
bytes.received                : 97
messages.dropped.no_subscriber: 17
session.takeovered            : 3
memory/binary                 : 8388608
oddity"""
LISTENERS = """
mqtt:tcp:external
  listen_on       : 0.0.0.0:1883
  acceptors       : 8
  max_conns       : 1024000
  current_conn    : 2
  shutdown_count  : [{keepalive_timeout,3},{takeovered,12}]
tcp:default
  listen_on       : 0.0.0.0:1883
  running         : true"""


def test_a_client_id_ends_where_the_user_name_begins(loaded):
    columns = "line system client_id peer connected clean expiry queued dropped"
    assert loaded(loader, CLIENTS, columns, CLIENTS_4_AND_5, snapshot_at="2026-11-21 12:00:00") == [
        (2, "mqtt", "mosqsub/90475-airlee.lo", "127.0.0.1:64964", "true", "true", 0, 0, 0),
        (3, "mqtt", "pump, 7", "10.0.0.7:59441", "false", "false", 7200, 1000, 17),
    ]


def test_a_filter_may_hold_colons(loaded):
    assert loaded(loader, EVENTS, "line kind client_id topic value", SUBSCRIPTIONS) == [
        (1, "client-subscribed", "mosqsub/90475-airlee.lo", "t/+/x", 2.0),
        (2, "client-subscribed", "ingest-1", "$share/ingest/plant/a:b", 1.0),
        (3, "client-subscribed", "emqx_a", "t/1", 0.0),
        (4, "client-subscribed", "emqx_b", "$share/g/t", 2.0),
    ]


def test_counters_keep_the_names_that_are_printed(loaded):
    assert loaded(loader, METRICS, "line name value", COUNTERS) == [
        (1, "emqx.bytes.received", 97.0), (2, "emqx.messages.dropped.no_subscriber", 17.0),
        (3, "emqx.session.takeovered", 3.0), (4, "emqx.memory/binary", 8388608.0),
    ]  # fmt: skip


def test_a_listener_tells_how_its_connections_ended(loaded):
    assert loaded(loader, METRICS, "line name labels value", LISTENERS) == [
        (6, "emqx.shutdown_count", {"listener": "mqtt:tcp:external", "reason": "keepalive_timeout"}, 3.0),
        (6, "emqx.shutdown_count", {"listener": "mqtt:tcp:external", "reason": "takeovered"}, 12.0),
    ]
    assert loaded(loader, SETTINGS, "line scope owner key value origin", LISTENERS) == [
        (2, "broker", "mqtt:tcp:external", "listener.listen_on", "0.0.0.0:1883", "describe"),
        (3, "broker", "mqtt:tcp:external", "listener.acceptors", "8", "describe"),
        (4, "broker", "mqtt:tcp:external", "listener.max_conns", "1024000", "describe"),
        (5, "broker", "mqtt:tcp:external", "listener.current_conn", "2", "describe"),
        (8, "broker", "tcp:default", "listener.listen_on", "0.0.0.0:1883", "describe"),
        (9, "broker", "tcp:default", "listener.running", "true", "describe"),
    ]


def test_what_is_a_row_and_what_stands_around(classes):
    assert classes(loader, COUNTERS) == ["data", "data", "data", "data", None]
    assert classes(loader, LISTENERS) == ["noise", *["data"] * 5, "noise", "data", "data"]


def test_each_command_is_recognised_and_others_are_not():
    for text in (CLIENTS_4_AND_5, SUBSCRIPTIONS, COUNTERS, LISTENERS):
        assert loader.recognise(Head("out.txt", text.lstrip("\n"), len(text)))
    for text in ("a: 1\nb: 2\n", "GROUP TOPIC PARTITION\ng -> t:0\n", "listen_on : 1\n", ""):
        assert not loader.recognise(Head("out.txt", text, len(text)))
