"""Log entries and lifecycle events of AWS IoT Core."""

import json

from mqlab.formats import aws_iot, ledger_json
from mqlab.formats.base import Head
from mqlab.formats.registry import FORMATS
from mqlab.tables import EVENTS

LOGGED = {
    "timestamp": "2017-08-10 15:37:23.476", "logLevel": "INFO", "traceId": "20b23f3f", "accountId": "123456789012",
    "status": "Success", "protocol": "MQTT", "clientId": "gw-1", "principalId": "145179c4",
    "sourceIp": "205.251.233.181", "sourcePort": 13490,
}  # fmt: skip
HAPPENED = {"clientId": "gw-1", "timestamp": 1502379443476, "sessionIdentifier": "a4666d2a", "versionNumber": 1}
PEER = "205.251.233.181:13490"
COLUMNS = "at kind client_id peer topic reason"


def logged(event, **fields):
    return json.dumps(LOGGED | {"eventType": event} | fields)


def happened(event, **fields):
    return json.dumps(HAPPENED | {"eventType": event} | fields, separators=(",", ":"))


# line, kind, peer, topic, reason
LINES = (
    (logged("Connect"), "client-connected", PEER, None, None),
    (logged("Disconnect", disconnectReason="CONNECTION_LOST"), "client-disconnected", PEER, None, "closed"),
    (logged("Disconnect", reason="DUPLICATE_CLIENT_ID", details="A new connection was established"),
     "session-takeover", PEER, None, "DUPLICATE_CLIENT_ID"),
    (logged("Disconnect"), "client-disconnected", PEER, None, None),
    (logged("Disconnect", disconnectReason="THROTTLED"), "client-disconnected", PEER, None, "THROTTLED"),
    (logged("Subscribe", topicName="a/#"), "client-subscribed", PEER, "a/#", None),
    (logged("Subscribe", topicName="a/#", status="Failure", details="Authorization Failure"),
     "subscribe-denied", PEER, "a/#", "Authorization Failure"),
    (logged("Publish-In", topicName="a/b"), "publish-received", PEER, "a/b", None),
    (logged("Publish-In", topicName="a/b", status="Failure", reason="AUTHORIZATION_FAILURE"),
     "publish-denied", PEER, "a/b", "AUTHORIZATION_FAILURE"),
    ("2017-08-10T15:37:24.100Z " + logged("Publish-Out", topicName="a/b"), "publish-sent", PEER, "a/b", None),
    ("$aws/events/presence/connected/gw-1 " + happened("connected", ipAddress="10.0.0.1"),
     "client-connected", "10.0.0.1", None, None),
    (happened("disconnected", clientInitiatedDisconnect=False, disconnectReason="MQTT_KEEP_ALIVE_TIMEOUT"),
     "client-disconnected", None, None, "keep-alive"),
    (happened("disconnected", disconnectReason="DUPLICATE_CLIENTID"),
     "session-takeover", None, None, "DUPLICATE_CLIENTID"),
)  # fmt: skip


def test_entries_and_events_say_what_became_of_a_connection(loaded):
    rows = loaded(aws_iot, EVENTS, COLUMNS, "\n".join(line for line, *_ in LINES))
    assert rows == [("15:37:23", kind, "gw-1", *told) for _, kind, *told in LINES]


def test_each_topic_of_one_subscription_is_an_event(loaded):
    rows = loaded(aws_iot, EVENTS, "kind client_id topic", happened("subscribed", topics=["a/#", "b/+"]))
    assert sorted(rows) == [("client-subscribed", "gw-1", "a/#"), ("client-subscribed", "gw-1", "b/+")]


def test_a_refused_connect_and_what_has_no_kind_are_data_without_an_event(loaded, classes):
    lines = [logged("Connect", status="Failure"), logged("Ping"), logged("Queued", topicName="a/b")]
    assert loaded(aws_iot, EVENTS, "kind", "\n".join(lines)) == []
    assert classes(aws_iot, "\n".join(lines)) == ["data"] * 3


def test_any_text_may_be_a_client_id(loaded):
    ids = ["gw 1, sourceIp", '<b onload="x">', "x" * 4096, "{}"]
    rows = loaded(aws_iot, EVENTS, "client_id", "\n".join(logged("Connect", clientId=name) for name in ids))
    assert rows == [(name,) for name in ids]


def test_lines_of_other_things_are_not_understood(classes):
    lines = [logged("RuleExecution"), '{"eventType": "Connect", "name": "x"}', "something", ""]
    assert classes(aws_iot, "\n".join(lines)) == [None, None, None, "noise"]


def test_what_is_no_json_or_too_deep_is_data_without_an_event(tables, classes):
    lines = ['{"eventType": "Connect", "logLevel": }', logged("Connect", deep=1).replace("1}", "[" * 9999 + "}")]
    assert classes(aws_iot, "\n".join(lines)) == ["data"] * 2
    assert tables(aws_iot, "\n".join(lines)).get(EVENTS, []) == []


def first(text):
    return next(form for form in FORMATS if form.recognise(Head("log.json", text, len(text))))


def test_a_file_of_entries_is_recognised_and_a_ledger_is_none():
    assert first("\n".join(line for line, *_ in LINES)) is aws_iot
    ledger = "\n".join(json.dumps({"ts": 1502379443 + n, "topic": "a/b", "id": f"m-{n}"}) for n in range(5))
    assert first(ledger) is ledger_json
