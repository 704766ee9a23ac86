"""Clients beside Java's own, and what stands around them: what tells their logs, and in which words they say the same.

Sample lines::

    {"level":"ERROR","logger":"kafkajs","message":"[Runner] The coordinator is not aware of this member, re-joining …
    [sarama] 2024/05/01 12:18:43 client/metadata fetching metadata for all topics from broker b-1:9092
    2024-05-01 12:18:43,636 - kafka.coordinator - ERROR - OffsetCommit failed for group g due to group error (…
    [[billing] {orders: 0, 1}:] Error sending heartbeat: Kafka::UnknownMemberId
    12:18:43 MQT: Connect failed to 10.0.4.17:1883, rc -2. Retry in 10 sec
    Attempting MQTT connection...failed, rc=-2 try again in 5 seconds
    [2024-05-01 12:18:43] error: z2m: Not connected to MQTT server!
    1 May 12:18:43 - [info] [mqtt-broker:plant] Disconnected from broker: mqtt://10.0.4.17:1883

Kafka: kafkajs, Sarama, franz-go, kafka-go, kafka-python, aiokafka, pykafka, ruby-kafka, confluent's, and Spring Kafka,
Streams, Connect, MirrorMaker, Flink, Spark, Logstash, Filebeat, Debezium, Maxwell, ksqlDB. RocketMQ: Go, C++, Rust,
Node.js, Spring. MQTT: MQTT.js, aedes, aiomqtt, ESP-IDF, Tasmota, Zigbee2MQTT, Home Assistant, Node-RED.
"""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.formats.base import Signature, regex

_MARKS: Mapping[str, str] = {
    "rocketmq-client-log": r"\bRocketmq(?:Client|Remoting)\b|(?:apache|alibaba)[./]rocketmq|rocketmq-client"
    r"|DefaultMQPushConsumer|\bRocketMQ(?:Template|Listener|MessageListener)\w*|updateConsumeOffsetToBroker"
    r"|queueId=\d+\].{0,40}offset"
    r"|\bSendResult \[sendStatus=|\bconsumerGroup=\S+ .*\btopic=|\brocketmq[.:]",
    "kafka-client-log": r"\bkafkajs\b|KafkaJS\w+|\b[Ss]arama\b|kafka server: |client/metadata |\bfranz-go\b"
    r"|\bkgo\b|consumergroup/session/|\bkafka: (?:client|error|invalid|Failed|Producer|broker)|\baiokafka\b|AIOKafka\w+"
    r"|Unable to update metadata from \[|\bpykafka\b"
    r"|\bkafka\.(?:coordinator|consumer|producer|conn|client|cluster|metrics)\b|<(?:Broker|AIOKafka)Connection "
    r"|Kafka::[A-Z]\w+|\brdkafka\b|librdkafka|\[thrd:\w|KafkaError\{code=|kafka/(?:client|log|writer|reader)\.go"
    r"|springframework\.kafka|\bo\.[as]\.k(?:afka)?\.|KafkaMessageListenerContainer|org\.apache\.kafka\.|\bkafka\.common\.\w+Exception\b"
    r"|connector\.kafka|\.kafka010\.|KafkaSourceReader|FlinkKafka\w+|\[?logstash\.(?:in|out)puts\.kafka|io\.debezium"
    r"|\bKSQL\b|^ksql> "
    r"|zendesk\.maxwell|MaxwellKafka|io\.confluent|Worker(?:Source|Sink)Task|MirrorSourceConnector|stream-thread \["
    r"|\[(?:Worker|Consumer|Producer|AdminClient) clientId=",
    "mqtt-client-log": r"\bMQT: |\bMQTT_(?:CLIENT|EVENT)|\bz2m:|[Zz]igbee2(?:mqtt|MQTT)|homeassistant\.\w+\.mqtt"
    r"|\[mqtt(?:-broker| in| out)?:|mqttjs\b|\baedes\b|\b(?:aio|asyncio_)mqtt\b|MqttError\b|\bPubSubClient\b"
    r"|\bcom\.hivemq\.client\.|\bmqtt\.\d+ \(\d+\) |\bMqttClient::|\bmqtt5?_client: "
    r"|paho\.mqtt|\bmqtt\.js\b|\bMQTT (?:server|[Bb]roker|client|connection)\b"
    r"|\bconnect(?:ed|ing) to (?:the )?mqtt (?:server|broker)\b"
    r"|\bpaho\.client\.mqtt"
    r"|MqttTransportHandler\b|\bSYSTEM_EVENT_STA_|\bSTA_(?:DIS)?CONNECTED\b",
}
_COMPILED = {name: regex(marks) for name, marks in _MARKS.items()}
SURE = regex(
    r"\[thrd:|KafkaJS\w+Error\b|KafkaError\{code=|org\.apache\.kafka\.[\w.]+Exception: |\bkafka\.common\.\w+Exception\b"
)
"""What nobody but a client of Kafka prints, whatever stands around it."""
_FEW = 200
"""Lines of a log that are looked at."""


def format_of(text: str) -> str | None:
    """The format whose clients most of the first lines of *text* name; None where none is named."""
    lines = text.split("\n")[:_FEW]
    counts = {name: sum(marks.search(line) is not None for line in lines) for name, marks in _COMPILED.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


def is_mostly(text: str) -> bool:
    """Whether a third of the first lines at least name such a client."""
    lines = [line for line in text.split("\n")[:_FEW] if line.strip()]
    return 3 * max(sum(marks.search(line) is not None for line in lines) for marks in _COMPILED.values()) >= len(lines)


_GROUP = r"(?P<group>[\w.-]*[\w-])"
_OF = rf"\bgroup(?:Id|_id)?[=:] ?'?{_GROUP}|\bmemberId=(?P<member_id>[^\s,\]]+)"

KAFKA: tuple[Signature, ...] = (
    Signature(
        "records-held",
        begins=r"consumer/broker/\d+ abandoned subscription to (?P<topic>\S+)/(?P<queue>\d+)"
        r" because consuming was taking too long",
    ),
    Signature(
        "heartbeat-failed",
        begins=r"(?P<reason>The coordinator is not aware of this member), re-"
        r"|Heartbeat failed: (?P<reason2>local member_id was not recognized)"
        r"|(?:Error sending heartbeat: |heartbeat errored\b(?:.*?\berr[=:] ?)?)(?P<reason3>.*)",
        also=rf"{_OF}|\[\[{_GROUP.replace('group', 'group2')}\] \{{",
    ),
    Signature(
        "heartbeat-failed",
        contains=r"kafka server: (?P<reason>[Tt]he provided member is not known in the current generation"
        r"|[Tt]he provided generation id is not the current generation)",
    ),
    Signature(
        "request-timeout",
        contains=r"(?:error while consuming (?P<topic>[\w.-]+)/(?P<queue>\d+): )?"
        r"(?:kafka server: Request exceeded the user-specified time limit|RequestTimedOutError"
        r"|Broker: Request timed out|Timed out while (?:writing to|reading from|waiting for response)"
        r"|REQUEST_TIMED_OUT: |Request Timed Out: |errors\.TimeoutException: The request timed out"
        r"|\"error\":\"The request timed out)",
    ),
    Signature("request-timeout", contains=r"Request (?P<reason>\w+)\(key: \d+, version: \d+\) timed out"),
    Signature(
        "heartbeat-failed",
        contains=r"Response (?:Heartbeat|JoinGroup|SyncGroup|OffsetCommit)\(.*\berror\b.{0,3}"
        r"(?P<reason>The group is rebalancing|The coordinator is not aware of this member"
        r"|Specified group generation id is not valid)",
        also=_OF,
    ),
    Signature(
        "leader-moved",
        contains=r"NotLeaderForPartitionError|failed due to \[?[\w.-]+,\d+\]?: kafka\.common\.(?P<reason>\w+)"
        r"|Broker: Not leader for partition|code=NOT_LEADER_FOR_PARTITION|Not Leader For Partition: "
        r"|kafka server: Tried to send a message to a replica that is not the leader|Kafka::NotLeaderForPartition"
        r"|\"error\":\"This server is not the leader for that topic-partition",
    ),
    Signature("rebalance-failed", contains=r"(?P<client_id>[\w.-]+) can't rebalance after (?P<value>\d+) retries"),
    Signature("join-requested", begins=r"The group is rebalancing, re-joining(?P<reason>.*)", also=_OF),
    Signature("join-started", begins=rf"Joining group [`']{_GROUP}[`']"),
    Signature(
        "join-completed",
        begins=r"(?:Consumer has joined the group\b|[Jj]oined group [`']?(?P<group>[\w.-]*[\w-])[`']?"
        r"(?: as member (?P<member_id2>\S+) in generation (?P<value>\d+)"
        r"| \(generation (?P<value2>\d+)\) with member_id (?P<member_id3>\S+)"
        r"| with member id [`'](?P<member_id4>[^`']+)))",
        also=_OF.replace("group>", "group3>"),
    ),
    Signature(
        "commit-failed",
        begins=rf"OffsetCommit failed for group {_GROUP} due to group error (?P<reason>.*?),? will rejoin",
    ),
    Signature(
        "offset-reset",
        contains=r"(?:error while consuming (?P<topic>[\w.-]+)/(?P<queue>\d+): )?"
        r"(?P<reason>kafka server: The requested offset is outside the range"
        r"|OffsetOutOfRangeError|kafka\.common\.OffsetOutOfRangeException"
        r"|Offset Out Of Range: |fetch request with offset out of range"
        r"|requested offset is not within the range of offsets|Broker: Offset out of range)",
    ),
    Signature(
        "offset-reset",
        contains=r"topic=(?P<topic>[\w.-]+) partition=(?P<queue>\d+) offset=(?P<value>\d+)\)\. Reason: :"
        r"(?P<reason>offset_out_of_range)",
    ),
    Signature("offset-reset", begins=r"Offset out of range, resetting to (?P<reason>\w+) offset"),
    Signature("batches-aborted", contains=r"Aborting producer batches due to fatal error: (?P<reason>.*)"),
    Signature(
        "record-too-large",
        contains=r"(?P<reason>kafka server: Message was too large|larger than configured Producer\.MaxMessageBytes"
        r"|MESSAGE_TOO_LARGE: |MessageSizeTooLargeError|Kafka::MessageSizeTooLarge|Message Size Too Large: "
        r"|larger than the max message size the server"
        r"|RecordListTooLarge|RECORD_LIST_TOO_LARGE|message batch larger than (?:the )?configured"
        r"|Record List Too Large: )",
    ),
    Signature(
        "record-too-large",
        contains=r"Kafka \(topic=(?P<topic>[^)]+)\): dropping (?P<reason>too large message) of size (?P<value>\d+)",
    ),
    Signature(
        "not-enough-replicas",
        contains=r"(?:\[retrying\] on (?P<topic>[\w.-]+)/(?P<queue>\d+) because )?"
        r"(?:kafka server: Messages are (?:rejected|written to the log, but)"
        r"|NotEnoughReplicas(?:AfterAppend)?(?:Error|Exception: Me)"
        r"|Not Enough Replicas(?: After Append)?: |NOT_ENOUGH_REPLICAS(?:_AFTER_APPEND)?: "
        r"|fewer in-sync replicas than required"
        r"|insufficient number of in-sync replicas)",
    ),
    Signature(
        "poll-timeout",
        contains=r"Application maximum poll interval \((?:\d+)ms\) exceeded by (?P<value>\d+)ms",
        scale=0.001,
    ),
    Signature(
        "heartbeat-failed",
        contains=r"(?P<reason>kafka server: A rebalance for the group is in progress|RebalanceInProgressError"
        r"|Rebalance In Progress: |UnknownMemberIdE|IllegalGenerationE|UNKNOWN_MEMBER_ID: |ILLEGAL_GENERATION: "
        r"|Unknown Member ID: |Illegal Generation: )",
    ),
)
"""What Kafka's other clients print."""

_MQTT = r"\b(?:mqtt|MQTT)(?: client| broker| server| connection)?:? "
_LAST = r"(?: \+\d+ms|\W*$)"
"""The whole of what a program says, before the milliseconds that Node's ``debug`` counts."""

MQTT: tuple[Signature, ...] = (
    Signature(
        "connection-lost",
        contains=r"DUPLICATE_CLIENT_?ID|SESSION_TAKEN_OVER|SessionTakenOver|reason ?[Cc]ode[=: ]+(?:142|0x8[eE])\b"
        r"|new connection was established with the same client ?ID|another client (?:has )?connected with the same",
        told="Session taken over",
    ),
    Signature(
        "connection-lost",
        begins=r"(?:Disconnected from (?:MQTT |mqtt )?(?:server|broker)|MQTT [Dd]isconnected"
        r"|\[CONN(?:ECTION)? CLOSE\w*|Disconnected from MQTT\b|MQTT [Bb]roker (?:got )?disconnected"
        r"|(?:MQTT )?Unexpected disconnection|Disconnected during message iteration)(?:[ :.,]+(?P<reason>.*))?",
    ),
    Signature(
        "connection-lost",
        begins=r"Disconnected from (?P<peer>(?:[\w-]+\.)+[a-z]{2,12}(?::\d+)?|[\w.-]+:\d+)(?:: (?P<reason>\w+))?\s*$",
    ),
    Signature(
        "connection-lost",
        begins=r"(?:MQTT )?[Cc]onnection interrupted\b.*?(?:error:? |error_code[=: ]+)`?(?P<reason>.*)",
    ),
    Signature("connection-made", begins=r"(?:MQTT )?[Cc]onnection resumed\b"),
    Signature(
        "client-disconnected", begins=r"Client Close: (?:(?P<peer>[\d.]+) )?\((?P<client_id>[^()]+)\)", told="closed"
    ),
    Signature("connection-made", begins=r"Connected to (?P<peer>(?:[\w-]+\.)+[a-z]{2,12}(?::\d+)?)\s*$"),
    Signature(
        "connection-lost",
        begins=r"(?:WIF: (?:Connect failed|Disconnected)|(?:WiFi|Wi-Fi|wifi)\W{1,2}"
        r"(?:[Dd]isconnected|[Cc]onnection lost)|Disconnected from the network|SYSTEM_EVENT_STA_DISCONNECTED"
        r"|_arduino_event_cb\(\): STA Disconnected)",
        told="Wi-Fi",
    ),
    Signature(
        "reconnect-waiting",
        contains=r"(?:MQTT?: .{3,60} |Connect (?:failed|FAILED) to )(?P<peer>[\w.-]+:\d+), rc ?(?P<reason>-?\d+)"
        r"(?:\. \D{3,40}(?P<value>\d+))?",
    ),
    Signature(
        "reconnect-waiting",
        contains=r"Attempting MQTT connection\.{2,4} ?failed, rc=(?P<reason>-?\d+) try again in (?P<value>\d+) seconds",
    ),
    Signature(
        "connection-made",
        begins=r"(?:Connected to (?:MQTT (?:server|broker)|broker: \S+)|MQT: Connected\b|\[CONNECTION MADE\]"
        r"|MQTT [Bb]roker connected with result code 0\b)",
    ),
    Signature(
        "client-disconnected",
        contains=r"Did not receive data from /?(?P<peer>\S*\d) within the [\d,]+ ?ms connection TTL",
        told="keep-alive",
    ),
    Signature("connection-lost", begins=r"Thing 'mqtt:\S+' changed from ONLINE to OFFLINE(?P<reason>.*)"),
    Signature("connection-made", begins=r"Thing 'mqtt:\S+' changed from \w+.* to ONLINE"),
    Signature("connection-made", contains=rf"{_MQTT}(?:is )?(?:[Rr]ec|[Cc])onnected{_LAST}"),
    Signature("client-connected", begins=r"\[[\da-f-]{36}\] Client connected!"),
    Signature("client-disconnected", begins=r"\[[\da-f-]{36}\] Client disconnected!"),
    Signature(
        "connection-lost", contains=rf"{_MQTT}(?:got |was |is )?(?:offline|closed?|disconnect(?:ed)?|lost){_LAST}"
    ),
    Signature("connection-made", contains=r"\[inputs\.mqtt_consumer\S*\] Connected \["),
    Signature(
        "connection-lost",
        contains=r"\[(?:inputs\.mqtt_consumer|outputs\.mqtt)\S*\].{0,40}[Cc]onnection lost: (?P<reason>.*)"
        r"|Could not gracefully disconnect due to \"(?P<reason2>.*?)\""
        r"|[Ee]rror: \[code:7\] (?P<reason3>The connection was lost)",
    ),
)
"""What other MQTT clients, and the applications around them, print."""
