"""A line by itself tells which software wrote it."""

import pytest

from mqlab.formats.registry import BY_NAME, FORMATS
from mqlab.material.pasted import parts
from mqlab.sources import Role
from mqlab.verbs.explaining import explained

LINES = {
    "kafka-client-log": (
        '{"level":"ERROR","logger":"kafkajs","message":"[Consumer] Crash: KafkaJSNumberOfRetriesExceeded: timeout"}',
        "[sarama] 2024/05/01 12:18:43 client/metadata fetching metadata for all topics from broker b-1:9092",
        'level=warn ts=2024-05-01T12:18:43Z msg="heartbeat errored" source=kgo group=billing err=UNKNOWN_MEMBER_ID',
        "OffsetCommit failed for group g due to group error ([Error 25] UnknownMemberIdError: g), will rejoin",
        "WARNING:aiokafka.consumer.group_coordinator:Heartbeat failed: local member_id was not recognized",
        "2024-05-01 12:18:43.427  WARN 1 --- [ntainer#0-0-C-1] o.a.k.clients.NetworkClient : Bootstrap broker down",
        "12:18:43.427 [a-StreamThread-1] ERROR o.a.kafka.streams.KafkaStreams - stream-thread [a-StreamThread-1] x",
        "[2024-05-01 12:18:43,427] ERROR WorkerSinkTask{id=es} Commit timed out (org.apache.kafka.connect)",
        "[2024-05-01T12:18:43,427][WARN ][org.apache.kafka.clients.NetworkClient][main] Connection to node -1 failed",
        "2024-05-01T12:18:43.427Z\tERROR\tkafka/client.go:317\tKafka (topic=logs): dropping invalid message",
        "24/05/01 12:18:43 WARN KafkaDataConsumer: KafkaConsumer cache hitting max capacity, o.a.spark.kafka010.x",
        "2024-05-01 12:18:43,427 WARN  io.debezium.connector.mysql.BinlogReader - lost",
        "12:18:43,427 ERROR MaxwellKafkaProducer - RecordTooLargeException @ Position[x]",
        "E0501 12:18:43.123456   7 sink.go:64] kafka server: Message was too large, server rejected it",
        "Exception in thread main org.apache.kafka.common.errors.RecordTooLargeException: The message is 1048676 bytes",
    ),
    "mqtt-client-log": (
        "12:18:43 MQT: Connect failed to 10.0.4.17:1883, rc -2. Retry in 10 sec",
        "E (64102) MQTT_CLIENT: mqtt_message_receive: transport_read() error: errno=119",
        "[2024-05-01 12:18:43] error: \tz2m: Not connected to MQTT server!",
        "2024-05-01 12:18:43.427 WARNING (MainThread) [homeassistant.components.mqtt.client] Disconnected",
        "1 May 12:18:43 - [info] [mqtt-broker:plant] Disconnected from broker: mqtt://10.0.4.17:1883",
        "ERROR:root:aiomqtt.exceptions.MqttError: Disconnected during message iteration",
    ),
    "rocketmq-client-log": (
        'time="2024-05-01T12:18:43+08:00" level=warning msg="broker gone" consumerGroup=billing topic=orders',
        "2024-05-01 12:18:43,427 WARN RocketmqClient - the pull request offset illegal, PullRequest [consumerGroup=g]",
    ),
    "librdkafka-log": ("%4|1714565923.427|MAXPOLL|c-1#consumer-1| [thrd:main]: Application maximum poll interval",),
    "kafka-broker-log": (
        "[2024-05-01 12:18:43,427] INFO [GroupCoordinator 1]: Member c-1-77f0 in group billing has failed, removing it "
        "from the group (kafka.coordinator.group.GroupCoordinator)",
    ),
    "mosquitto-log": ("1714565923: New connection from 10.41.3.40:46436 on port 1883.",),
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in LINES.items() for line in lines])
def test_a_line_is_of_its_software(name, line):
    assert [part.known.format for part in parts(line.encode(), "-", FORMATS, "")] == [name]


@pytest.mark.parametrize(
    "line", ["we restarted the broker at noon", "Can anybody help?", "lag: 300k", "- item one", "a: b"]
)
def test_a_sentence_is_of_none(line):
    assert parts(line.encode(), "-", FORMATS, "") == []


def test_software_and_role_come_with_it():
    (part,) = parts(LINES["mqtt-client-log"][0].encode(), "-", FORMATS, "")
    form = BY_NAME[part.known.format].FORMAT
    assert (form.software, form.role) == ("mqtt", Role.CLIENT_LOG)


def test_an_explanation_says_whose_line_it_is_and_what_it_says():
    said = explained(LINES["mqtt-client-log"][0])
    assert said.startswith("From a log of a client (mqtt).\n\n## mqtt-device-no-answer\n")
