"""Answers of a small Kafka cluster as confluent-kafka gives them, and a client that gives nothing else."""

from concurrent.futures import Future
from types import SimpleNamespace

from confluent_kafka import ConsumerGroupState, IsolationLevel, KafkaError, KafkaException, Node, TopicPartition
from confluent_kafka.admin import ConfigSource, OffsetSpec


def entry(name, value, source=ConfigSource.DEFAULT_CONFIG, sensitive=False, below=()):
    return SimpleNamespace(
        name=name, value=value, source=source.value, is_default=source is ConfigSource.DEFAULT_CONFIG,
        is_sensitive=sensitive, synonyms={one.name: one for one in below},
    )  # fmt: skip


def partition(number, leader, replicas, isrs):
    return SimpleNamespace(id=number, leader=leader, replicas=replicas, isrs=isrs)


def member(client, held, host="10.60.1.13", instance=None):
    places = [TopicPartition(topic, number) for topic, number in held]
    return SimpleNamespace(
        member_id=f"{client}-76138202", client_id=client, host=host, group_instance_id=instance,
        assignment=SimpleNamespace(topic_partitions=places),
    )  # fmt: skip


def group(name, *members, state=ConsumerGroupState.STABLE, assignor="range"):
    return SimpleNamespace(
        group_id=name, state=state, partition_assignor=assignor, members=list(members),
        coordinator=Node(1, "kafka-1", 9092),
    )  # fmt: skip


METADATA = SimpleNamespace(
    cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
    controller_id=1,
    brokers={1: SimpleNamespace(id=1, host="kafka-1", port=9092)},
    topics={
        "orders": SimpleNamespace(
            partitions={
                0: partition(0, 1, [1, 2, 3], [1, 2]),
                1: partition(1, -1, [2], []),
                2: partition(2, 3, [3], [3]),
            }
        )
    },
)
SETTINGS = {
    ("topic", "orders"): {
        "retention.ms": entry("retention.ms", "3600000", ConfigSource.DYNAMIC_TOPIC_CONFIG,
                              below=(entry("log.retention.ms", "604800000"),)),
        "max.message.bytes": entry("max.message.bytes", "1048588"),
        "min.insync.replicas": entry("min.insync.replicas", "2", ConfigSource.STATIC_BROKER_CONFIG),
    },
    ("broker", "1"): {
        "num.partitions": entry("num.partitions", "1"),
        "ssl.keystore.password": entry("ssl.keystore.password", "x", ConfigSource.STATIC_BROKER_CONFIG, sensitive=True),
    },
}  # fmt: skip
GROUPS = (
    group("billing", member("billing-1", [("orders", 0)]), member("billing-2", [("orders", 2)], instance="b-2")),
    group("idle", state=ConsumerGroupState.EMPTY, assignor=""),
)
COMMITTED = {"billing": {("orders", 0): 709}, "idle": {("orders", 0): 5}}
ENDS = {("orders", 0): 718, ("orders", 2): 40}
UNKNOWN = -1001
"""The offset that the client gives where a broker did not answer."""


def failed(code=KafkaError._TIMED_OUT, text="Failed while waiting for response"):
    return KafkaException(KafkaError(code, text))


def future(value):
    made = Future()
    made.set_exception(value) if isinstance(value, Exception) else made.set_result(value)
    return made


class Admin:
    """What a capture calls of the client; a list in *lost* makes these calls fail."""

    def __init__(self, lost=()):
        self.lost = set(lost)
        self.asked = []

    def _answer(self, call, value):
        self.asked.append(call)
        if call in self.lost:
            raise failed()
        return value

    def list_topics(self, **_):
        topics = dict(METADATA.topics)
        return self._answer("list_topics", SimpleNamespace(**vars(METADATA) | {"topics": topics}))

    def describe_configs(self, resources, **_):
        told = {one: SETTINGS[one.restype.name.lower(), one.name] for one in resources}
        return self._answer("describe_configs", {one: future(entries) for one, entries in told.items()})

    def list_consumer_groups(self, **_):
        listed = SimpleNamespace(valid=[SimpleNamespace(group_id=one.group_id) for one in GROUPS], errors=[])
        return self._answer("list_consumer_groups", future(listed))

    def list_groups(self, **_):
        told = [SimpleNamespace(id=one.group_id, state="Stable", protocol_type="consumer") for one in GROUPS]
        return self._answer("list_groups", told)

    def describe_consumer_groups(self, names, **_):
        known = {one.group_id: one for one in GROUPS}
        return self._answer("describe_consumer_groups", {name: future(known[name]) for name in names})

    def list_consumer_group_offsets(self, asked, **_):
        (one,) = asked
        places = []
        for (topic, number), offset in COMMITTED[one.group_id].items():
            places.append(TopicPartition(topic, number, offset))
        places.append(TopicPartition("orders", 1, -1001))
        told = future(SimpleNamespace(topic_partitions=places))
        return self._answer("list_consumer_group_offsets", {one.group_id: told})

    def list_offsets(self, asked, isolation_level, **_):
        def told(place, spec):
            if spec._value == OffsetSpec.earliest()._value:
                return 3
            end = ENDS[place.topic, place.partition]
            if "partition 2" in self.lost and place.partition == 2:
                return UNKNOWN
            return end - (2 if isolation_level is IsolationLevel.READ_COMMITTED and place.partition == 2 else 0)

        answers = {place: future(SimpleNamespace(offset=told(place, spec))) for place, spec in asked.items()}
        return self._answer("list_offsets", answers)
