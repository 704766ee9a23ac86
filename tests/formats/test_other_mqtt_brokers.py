# ruff: noqa: E501 - lines of brokers stay in one piece
"""What HiveMQ, RabbitMQ's MQTT plugin and VerneMQ say of the connections of clients."""

import pytest
from log_lines import events, kept

from mqlab import secrets
from mqlab.formats import hivemq_log, rabbitmq_log, vernemq_log
from mqlab.formats.base import Head

HIVE = "2026-11-21 12:00:00,123 - "
RABBIT = "2024-01-01 10:00:00.123456+00:00 [{level}] <0.1012.0> "
LAGER = "2020-08-04 10:36:03.858 [warning] <0.4739.33>@vmq_mqtt_fsm:connected:442 "
OLD, NEW = RABBIT.format(level="info"), RABBIT.format(level="error")
PEER = "10.0.0.1:4277"
CONNECTION = f"{PEER} -> 10.0.0.2:1883"

# line, kind, reason, names
HIVEMQ = (
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1, Clean Start: true, Session Expiry: 0 connected.",
     "client-connected", "clean", {"client_id": "gw-1", "peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: gw, 1 <b>, IP: 10.0.0.1, Clean Start: false, Session Expiry: 4294967295 connected.",
     "client-connected", "persistent", {"client_id": "gw, 1 <b>", "peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: gw-1, IP: 2001:db8::1 disconnected gracefully. Reason given by client: bye",
     "client-disconnected", "normal", {"client_id": "gw-1", "peer": "2001:db8::1"}),
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1 disconnected ungracefully.",
     "client-disconnected", "closed", {"client_id": "gw-1", "peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1 disconnected ungracefully from TCP Listener on port: 1883.",
     "client-disconnected", "closed", {"client_id": "gw-1", "peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1 was disconnected. reason: Not authorized to publish on topic 'mix/2/it's' with QoS '1' and retain 'false'.",
     "publish-denied", "not-authorized", {"client_id": "gw-1", "peer": "10.0.0.1", "topic": "mix/2/it's"}),
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1 was disconnected. reason: Not authorized to subscribe to topic 'mix/#' with QoS '1'.",
     "subscribe-denied", "not-authorized", {"client_id": "gw-1", "peer": "10.0.0.1", "topic": "mix/#"}),
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1 was disconnected. reason: Not authorized to connect.",
     "client-disconnected", "not-authorized", {"client_id": "gw-1", "peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1 was disconnected. reason: Another client connected with the same client id..",
     "session-takeover", "Another client connected with the same client id", {"client_id": "gw-1", "peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: gw-1, IP: 10.0.0.1 was disconnected. reason: Client was idle for too long.",
     "client-disconnected", "keep-alive", {"client_id": "gw-1", "peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: UNKNOWN, IP: 10.0.0.1 was disconnected. reason: No CONNECT sent in time.",
     "client-disconnected", "idle", {"peer": "10.0.0.1"}),
    (f"{HIVE}Client ID: gw-1, IP: UNKNOWN was disconnected. reason: Protocol error.",
     "client-disconnected", "Protocol error", {"client_id": "gw-1"}),
    (f"{HIVE}Client ID: gw-1 session has expired at 2026-11-21 11:00:00. All persistent data for this client has been removed.",
     "session-expired", None, {"client_id": "gw-1"}),
    (f"{HIVE}Outgoing publish message was dropped. Receiving client: hist, topic: a/b, qos: 1, reason: The client message queue is full.",
     "session-queue-dropping", "The client message queue is full", {"client_id": "hist", "topic": "a/b"}),
    (f"{HIVE}Outgoing publish message was dropped. Receiving shared subscription group: g, topic: a/b, qos: 1, reason: The shared subscription message queue is full.",
     "session-queue-dropping", "The shared subscription message queue is full", {"group": "g", "topic": "a/b"}),
    ("2026-11-21 12:00:00,123 INFO  - Starting HiveMQ Community Edition Server", "broker-starting", None, {}),
    ("2026-11-21 12:00:00,123 INFO  - HiveMQ version: 2021.1", "broker-starting", "2021.1", {}),
    ("2026-11-21 12:00:00,123 INFO  - Shutting down HiveMQ", "broker-stopping", None, {}),
)  # fmt: skip
RABBITMQ = (
    (f"{OLD}accepting MQTT connection <0.1012.0> ({CONNECTION}, client id: gw 1)",
     "client-connected", None, {"client_id": "gw 1", "peer": PEER}),
    (f"2021-10-11 10:13:02.519 [info] <0.1012.0> accepting MQTT connection <0.1012.0> ({CONNECTION}, client id: gw-1)",
     "client-connected", None, {"client_id": "gw-1", "peer": PEER}),
    (f"{OLD}Accepted MQTT connection {CONNECTION} for client ID gw <b>1</b>",
     "client-connected", None, {"client_id": "gw <b>1</b>", "peer": PEER}),
    (f"{NEW}MQTT disconnecting client <<\"{CONNECTION}\">> with duplicate id 'gw-1'",
     "session-takeover", "duplicate id", {"client_id": "gw-1", "peer": PEER}),
    (f"{NEW}MQTT disconnecting client \"{CONNECTION}\" with duplicate id 'gw-1'",
     "session-takeover", "duplicate id", {"client_id": "gw-1", "peer": PEER}),
    (f"{NEW}MQTT disconnecting client <<\"{CONNECTION}\">> with client ID 'gw-1', reason: maintenance",
     "client-disconnected", "broker-stopped", {"client_id": "gw-1", "peer": PEER}),
    (f"{NEW}closing MQTT connection <<\"{CONNECTION}\">> (keepalive timeout)", "client-disconnected", "keep-alive", {"peer": PEER}),
    (f"{NEW}closing MQTT connection \"{CONNECTION}\" (keepalive timeout)", "client-disconnected", "keep-alive", {"peer": PEER}),
    (f"{NEW}closing MQTT connection <<\"{CONNECTION}\">> (login timeout)", "client-disconnected", "idle", {"peer": PEER}),
    (f"{OLD}closing MQTT connection <0.1012.0> ({CONNECTION})", "client-disconnected", "normal", {"peer": PEER}),
    (f"{OLD}MQTT connection <<\"{CONNECTION}\">> will terminate because peer closed TCP connection",
     "client-disconnected", "closed", {"peer": PEER}),
    (f"{OLD}MQTT detected network error for <<\"{CONNECTION}\">>: etimedout", "client-disconnected", "closed", {"peer": PEER}),
    (f"{NEW}MQTT connection {CONNECTION} is closing due to an authorization failure", "client-disconnected", "not-authorized", {"peer": PEER}),
    (f"{NEW}MQTT protocol error on connection {CONNECTION}: connect_expected", "client-disconnected", "protocol-error", {"peer": PEER}),
    (f"{NEW}MQTT protocol error on connection {CONNECTION}: subscribe_error", "client-disconnected", "protocol-error", {"peer": PEER}),
    (f"{NEW}MQTT detected a framing error on connection {CONNECTION}: invalid", "client-disconnected", "protocol-error", {"peer": PEER}),
    (f"{NEW}MQTT topic access refused: write access to topic 'a.b' in exchange 'amq.topic' in vhost '/' refused for user 'ops'",
     "publish-denied", "access refused", {"topic": "a/b", "member_id": "ops"}),
    (f"{NEW}MQTT topic access refused: read access to topic 'press.2.*.v1/1.#' in exchange 'amq.topic' in vhost '/' refused for user 'ops'",
     "subscribe-denied", "access refused", {"topic": "press/2/+/v1.1/#", "member_id": "ops"}),
    (f"{OLD} Starting RabbitMQ 3.9.5 on Erlang 24.0.5 [jit]", "broker-starting", "3.9.5", {}),
    (f"{OLD}RabbitMQ is asked to stop...", "broker-stopping", None, {}),
    (f"{NEW}memory resource limit alarm set on node rabbit@a.", "alarm-raised", "memory", {}),
    (f"{NEW}disk resource limit alarm cleared on node rabbit@a.", "alarm-cleared", "disk", {}),
)  # fmt: skip
VERNEMQ = (
    (LAGER + 'client {[],<<"gw-1">>} with username <<"ops">> stopped due to keepalive expired',
     "client-disconnected", "keep-alive", {"client_id": "gw-1", "member_id": "ops"}),
    ('2020-08-04 10:36:03.858 [debug] <0.225.0>@vmq_queue:online:221 client {[],<<"gw 1">>} disconnected due to multiple sessions not allowed',
     "session-takeover", "multiple sessions not allowed", {"client_id": "gw 1"}),
    ('2020-08-04 10:36:03.858 [error] <0.1.0>@vmq_mqtt_fsm:auth_on_publish:877 can\'t auth publish [<<"ops">>,{[],<<"gw-1">>},1,[<<"a">>,<<"b">>],<<"x">>,false] due to not_authorized',
     "publish-denied", "not_authorized", {"client_id": "gw-1", "member_id": "ops"}),
    ("2020-08-04 10:36:03.858 [info] <0.31.0> Application vmq_server started on node 'VerneMQ@127.0.0.1'", "broker-starting", None, {}),
)  # fmt: skip
BROKERS = ((hivemq_log, HIVEMQ), (rabbitmq_log, RABBITMQ), (vernemq_log, VERNEMQ))
OTHERS = (
    f"{OLD}accepting AMQP connection <0.28299.435> (10.200.25.7:22241 -> 10.200.25.7:5672)",
    f"{OLD}closing AMQP connection <0.28299.435> (10.200.25.7:22241 -> 10.200.25.7:5672, vhost: 'v', user: 'u')",
    f"{NEW}Rejected MQTT connection {CONNECTION} with Connect Reason Code 135",
    "2026-11-21 12:00:00,123 INFO  - Started TCP Listener on address 0.0.0.0 and on port 1883",
    "2026-11-21 12:00:00,123 WARN  - Client ID was refused",
)


@pytest.mark.parametrize(("form", "lines"), BROKERS, ids=["HiveMQ", "RabbitMQ", "VerneMQ"])
def test_each_line_says_what_became_of_whose_connection(form, lines):
    expected = [
        {"kind": kind, **names} | ({"reason": reason} if reason else {}) | {"system": "mqtt"}
        for _, kind, reason, names in lines
    ]
    assert events([line for line, *_ in lines], form.FORMAT.name) == expected


def test_other_protocols_refusals_and_ordinary_lines_are_no_events():
    assert kept(OTHERS, rabbitmq_log.FORMAT.name) == [False] * len(OTHERS)


@pytest.mark.parametrize(("form", "lines"), BROKERS, ids=["HiveMQ", "RabbitMQ", "VerneMQ"])
def test_a_broker_s_log_is_recognised_by_any_of_its_lines_and_by_no_other_loader(form, lines):
    for line, *_ in lines[:4]:
        head = Head("x.log", f"{line}\n", 99)
        assert [other.recognise(head) for other, _ in BROKERS] == [other is form for other, _ in BROKERS]


@pytest.mark.parametrize("payload", ['<<"speed=17, ok">>', "<<1,2,255>>", '<<"a],false] due to x">>'])
def test_the_payload_of_a_message_that_was_refused_is_masked(payload):
    refused = (
        f'can\'t auth publish [<<"ops">>,{{[],<<"gw">>}},1,[<<"a">>,<<"b">>],{payload},false] due to not_authorized'
    )
    assert secrets.mask(refused) == refused.replace(payload, "[masked]")
