"""What the lab asks a Kafka cluster itself: topics made, settings changed, and after the run all that is in the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from mqlab.lab.errors import LabError
from mqlab.lab.scenario import Topic

_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Stored:
    """One record in the log."""

    topic: str
    partition: int
    offset: int
    key: str


def make_topics(address: str, topics: Sequence[Topic], brokers: int) -> None:
    """Create *topics* as soon as *brokers* brokers are there, and wait until each partition has a leader.

    Raises:
        LabError: the cluster refuses.
    """
    admin, until = AdminClient({"bootstrap.servers": address, "log_level": "0"}), monotonic() + _WAIT
    while len(_met(admin)) < brokers and monotonic() < until:
        sleep(0.3)
    new = [_new(topic) for topic in topics]
    for name, done in (admin.create_topics(new) if new else {}).items():
        try:
            done.result(_WAIT)
        except KafkaException as error:
            raise LabError(f"The topic {name} cannot be created: {error}.") from error
    while not _led(admin, topics) and monotonic() < until + _WAIT:
        sleep(0.3)


def _new(topic: Topic) -> NewTopic:
    settings = dict(topic.settings)
    if topic.assignment:
        places = [list(places) for places in topic.assignment]
        return NewTopic(topic.name, len(places), replica_assignment=places, config=settings)
    return NewTopic(topic.name, topic.partitions, topic.replicas, config=settings)


def _met(admin: AdminClient) -> Mapping[int, object]:
    try:
        brokers: Mapping[int, object] = admin.list_topics(timeout=5).brokers
    except KafkaException:
        return {}
    return brokers


def _led(admin: AdminClient, topics: Sequence[Topic]) -> bool:
    known = admin.list_topics(timeout=_WAIT).topics
    return all(
        len(known[t.name].partitions) == (len(t.assignment) or t.partitions)
        and all(p.leader >= 0 for p in known[t.name].partitions.values())
        for t in topics
        if t.name in known
    ) and all(t.name in known for t in topics)


def await_replicas(address: str, topics: Sequence[Topic], seconds: float = 60.0) -> bool:
    """Wait until all replicas of *topics* are in sync; whether they are by then."""
    admin, until = AdminClient({"bootstrap.servers": address, "log_level": "0"}), monotonic() + seconds
    names = {topic.name for topic in topics}
    while monotonic() < until:
        known = [t for name, t in admin.list_topics(timeout=_WAIT).topics.items() if name in names]
        if all(len(p.isrs) == len(p.replicas) for topic in known for p in topic.partitions.values()):
            return True
        sleep(0.5)
    return False


def alter_topic(address: str, topic: str, settings: Mapping[str, str]) -> None:
    """Change settings of a topic."""
    entries = [
        ConfigEntry(key, str(value), incremental_operation=AlterConfigOpType.SET) for key, value in settings.items()
    ]
    asked = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": address})
    for done in admin.incremental_alter_configs([asked]).values():
        done.result(_WAIT)


def stored(address: str, topic: str) -> Iterator[Stored]:
    """All records of a topic, read without a group."""
    consumer = _reader(address, "lab-auditor")
    try:
        for number in consumer.list_topics(topic, timeout=_WAIT).topics[topic].partitions:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=_WAIT)
            if high > low:
                yield from _partition(consumer, topic, number, low, high)
    finally:
        consumer.close()


def _partition(consumer: Consumer, topic: str, number: int, low: int, high: int) -> Iterator[Stored]:
    consumer.assign([TopicPartition(topic, number, low)])
    until = monotonic() + _WAIT
    while monotonic() < until:
        for record in consumer.consume(1000, timeout=1.0):
            if record.error() is None:
                yield Stored(topic, number, record.offset() or 0, (record.key() or b"").decode())
        # A transaction's mark and a compacted record have offsets, but are never handed out.
        if consumer.position([TopicPartition(topic, number)])[0].offset >= high:
            return


def committed(address: str, group: str, topic: str) -> dict[int, int]:
    """Committed offsets of a group by partition; those that were never committed are left out."""
    consumer = _reader(address, group)
    try:
        numbers = consumer.list_topics(topic, timeout=_WAIT).topics[topic].partitions
        places = consumer.committed([TopicPartition(topic, n) for n in numbers], timeout=_WAIT)
        return {p.partition: p.offset for p in places if p.offset >= 0}
    finally:
        consumer.close()


def ends(address: str, topic: str) -> dict[int, int]:
    """Log end offsets by partition."""
    consumer = _reader(address, "lab-auditor")
    try:
        numbers = consumer.list_topics(topic, timeout=_WAIT).topics[topic].partitions
        return {n: consumer.get_watermark_offsets(TopicPartition(topic, n), timeout=_WAIT)[1] for n in numbers}
    finally:
        consumer.close()


def _reader(address: str, group: str) -> Consumer:
    return Consumer({"bootstrap.servers": address, "group.id": group, "enable.auto.commit": False})
