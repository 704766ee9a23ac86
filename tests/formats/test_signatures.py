# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""What lines say that no other test shows: the kind, and every column that a line fills."""

import re

import pytest
from log_lines import read

from mqlab.formats.signatures import LOG_FORMATS
from mqlab.tables import EVENTS

U = "c-1-70ebc5e2-e681-4f66-ab08-ee2e9c490eb4"
V = "c-2-70ebc5e2-e681-4f66-ab08-ee2e9c490eb4"
COORDINATOR = "INFO [GroupCoordinator 1]: "
CHANNEL = "ClientChannelInfo [channel=[id: 0x1, L:/10.0.0.1:10911 ! R:/10.0.4.17:58570], clientId=10.0.4.17@9, language=JAVA, version=401]"
FOUR = "[warning] pump-7@127.0.0.1:57105 "
PUMP = {"client_id": "pump-7", "peer": "127.0.0.1:57105"}

# format, line behind the moment, kind, columns
LINES = (
    ("kafka-client-log", "INFO kafka.coordinator Heartbeat failed for group g because it is rebalancing", "heartbeat-failed", {"group": "g", "reason": "it is rebalancing"}),
    ("kafka-client-log", "WARN kafka.coordinator Heartbeat: local member_id was not recognized; this consumer needs to re-join", "heartbeat-failed", {"reason": "local member_id was not recognized; this consumer needs to re-join"}),
    ("kafka-client-log", "WARN rdkafka: SESSTMOUT [c-1#consumer-4] [thrd:main]: Consumer group session timed out (in join-state steady) after 6003 ms without a successful response", "session-timeout", {"client_id": "c-1", "value": 6003.0}),
    ("kafka-client-log", "ERROR consumer: Commit failed: Broker: Unknown member", "commit-failed", {"reason": "Unknown member"}),
    ("kafka-client-log", "WARN [main] Coordinator - [Consumer clientId=c-1, groupId=g] Auto offset commit for group g failed: Commit cannot be completed", "commit-failed", {"client_id": "c-1", "group": "g", "reason": "Commit cannot be completed"}),
    ("kafka-client-log", "ERROR [main] Coordinator - instance id i-1 has been fenced by partition t-3", "static-member-fenced", {"reason": "i-1", "topic": "t", "queue": "3"}),
    ("kafka-client-log", "ERROR [main] App - delivery failed: NOT_ENOUGH_REPLICAS_AFTER_APPEND", "send-failed", {"reason": "NOT_ENOUGH_REPLICAS_AFTER_APPEND"}),
    ("kafka-client-log", "WARN rdkafka: REQTMOUT [p#producer-1] [thrd:b1/1]: b1/1: Timed out 2 in-flight, 0 retry-queued", "request-timeout", {"client_id": "p", "value": 2.0}),
    ("kafka-broker-log", f"{COORDINATOR}Static member with groupInstanceId=i and unknown member id joins group g in Stable state. Replacing previously mapped member {U} with this groupInstanceId. (kafka.x)", "static-member-replaced", {"node": "1", "group": "g", "member_id": U, "reason": "i"}),
    ("kafka-broker-log", f"{COORDINATOR}Request memberId={U} for static member with groupInstanceId=i is fenced by current memberId={V} (kafka.x)", "static-member-fenced", {"node": "1", "member_id": U, "reason": "i"}),
    ("kafka-broker-log", "INFO Partition [t.x,1] on broker 3: Expanding ISR for partition [t.x,1] from 3 to 3,2 (kafka.cluster.Partition)", "isr-updated", {"node": "3", "topic": "t.x", "queue": "1", "value": 2.0, "reason": "3,2"}),
    ("kafka-broker-log", "INFO Incrementing log start offset of partition t.x-1 to 95 (kafka.log.Log)", "log-start-moved", {"topic": "t.x", "queue": "1", "value": 95.0}),
    ("kafka-broker-log", "DEBUG [OfflinePartitionLeaderSelector]: Controller 1 epoch 3 elected leader 2 for Offline partition [t.x,1] (state.change.logger)", "leader-elected", {"node": "1", "topic": "t.x", "queue": "1", "value": 2.0, "reason": "elected leader 2 for Offline partition"}),
    ("rocketmq-broker-log", f"WARN T_1 - SCAN: remove expired channel from ConsumerManager consumerTable. channel={CHANNEL}, consumerGroup=billing", "consumer-disconnected", {"group": "billing", "client_id": "10.0.4.17@9", "peer": "10.0.4.17:58570", "reason": "expired"}),
    ("rocketmq-broker-log", "WARN T_1 - the consumer's subscription not latest, group: billing, topic: ORDERS", "subscription-missing", {"group": "billing", "topic": "ORDERS", "reason": "not latest"}),
    ("rocketmq-client-log", "WARN RocketmqClient - the consumer message buffer is full, so do flow control, minOffset=1, maxOffset=9, size=8, pullRequest=PullRequest [consumerGroup=billing, messageQueue=MessageQueue [topic=ORDERS, brokerName=broker-a, queueId=8], nextOffset=9], flowControlTimes=1", "flow-control", {"group": "billing", "topic": "ORDERS", "queue": "broker-a/8", "value": 1.0, "reason": "buffer"}),
    ("emqx-log", f"{FOUR}[Session] Dropped qos0 msg: Message(Id=1, QoS=0, Topic=plant/a, From=gw)", "session-queue-dropping", PUMP | {"topic": "plant/a", "reason": "qos 0"}),
    ("emqx-log", f"{FOUR}[Channel] Cannot subscribe plant/# due to Not authorized.", "subscribe-denied", PUMP | {"topic": "plant/#", "reason": "Not authorized"}),
    ("emqx-log", "[warning] clientid: pump-7, msg: cannot_subscribe_topic_filter, peername: 127.0.0.1:57105, username: ops, topic: plant/#, reason: not_authorized", "subscribe-denied", PUMP | {"member_id": "ops", "topic": "plant/#", "reason": "not_authorized"}),
    ("emqx-log", "[warning] msg: flapping_detected, client: pump-7, detect_cnt: 15", "flapping-detected", {"value": 15.0}),
    ("emqx-log", f"{FOUR}[Connection] mailbox_overflow", "session-killed", PUMP | {"reason": "mailbox_overflow"}),
    ("emqx-log", f"{FOUR}[Connection] terminated, reason: {{shutdown,kicked}}", "client-disconnected", PUMP | {"reason": "kicked"}),
    ("emqx-log", "[warning] Alarm too_many_processes is activated, Usage 81.2%", "alarm-raised", {"reason": "too_many_processes"}),
    ("rabbitmq-mqtt-log", '[error] <0.1012.0> MQTT disconnecting client <<"10.0.0.1:4277 -> 10.0.0.2:1883">> with client ID \'gw-1\', reason: credential expired', "client-disconnected", {"client_id": "gw-1", "peer": "10.0.0.1:4277", "reason": "credential expired"}),
    ("vernemq-log", '[error] <0.1.0>@vmq_mqtt_fsm:connected:442 stopped connected session for client {[],<<"gw-1">>} due to unexpected frame type publish', "client-disconnected", {"client_id": "gw-1", "reason": "protocol-error"}),
    ("mqtt-client-log", "WARN mosquitto_sub: Client sensor 7 sending DISCONNECT", "connection-closed", {"client_id": "sensor 7", "reason": "normal"}),
    ("mqtt-client-log", "WARN Reconnect after 10000 ms", "reconnect-waiting", {"value": 10.0, "reason": "failed"}),
    ("application-log", "WARN [main] App - POST http://ner:8080/x for t-3@12 failed after 8 ms: Connection refused", "call-failed", {"topic": "t", "queue": "3", "value": 8.0, "reason": "connection refused"}),
)  # fmt: skip


def test_a_list_counts_and_is_told_to_its_end_however_long_it_is():
    held = ", ".join(f"orders-{number}" for number in range(400))
    line = f"2026-11-21 12:20:44,201 INFO [main] Coordinator - [Consumer clientId=c, groupId=g] Adding newly assigned partitions: {held}"
    _, events = read([line], "kafka-client-log")
    assert [(one["value"], one["reason"]) for one in events] == [(400.0, held)]


@pytest.mark.parametrize(
    ("form", "line", "kind", "columns"), LINES, ids=[f"{kind} of {form}" for form, _, kind, _ in LINES]
)
def test_a_line_says_what_the_groups_of_its_signature_hold(form, line, kind, columns):
    dated = f"[2026-11-21 12:20:44,201] {line}" if form == "kafka-broker-log" else f"2026-11-21 12:20:44,201 {line}"
    _, events = read([dated], form)
    told = ("node", "group", "topic", "queue", "client_id", "member_id", "peer", "value", "reason")
    assert [(one["kind"], {c: one[c] for c in told if one.get(c) is not None}) for one in events] == [(kind, columns)]


@pytest.mark.parametrize("form", LOG_FORMATS, ids=lambda form: form.FORMAT.name)
def test_every_group_is_a_column_of_events_or_becomes_one(form):
    patterns = [form.FORMAT.layout, *(p for s in form.SIGNATURES for p in (s.begins or s.contains, s.also))]
    named = {name.rstrip("0123456789") for pattern in patterns for name in re.compile(pattern).groupindex}
    assert named - {"broker", "entries", "dotted"} <= set(EVENTS.names) - {
        "source",
        "line",
        "text",
        "at",
        "system",
        "kind",
    }
