"""What a Kafka cluster says of itself, asked through confluent-kafka; nothing that it is asked changes anything.

No consumer exists here: offsets are read by the admin client, so that no group is joined and nothing is committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ClusterMetadata,
    ConfigEntry,
    ConfigResource,
    ConsumerGroupDescription,
    OffsetSpec,
    ResourceType,
)

from mqlab.gather.kafka_client import TIMEOUT, reason
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import Wanted

READS = (
    "list_topics",
    "list_consumer_groups",
    "describe_consumer_groups",
    "list_consumer_group_offsets",
    "list_offsets",
    "describe_configs",
    "describe_cluster",
    "list_groups",
    "poll",
)
"""All that a capture may call at a client of Kafka; a test reads the package for any other call.

``list_topics`` is called without a topic: a broker with ``auto.create.topics.enable`` creates one that it is asked for.
"""
ACLS = (
    ("topic", "*", "Describe"),
    ("topic", "*", "DescribeConfigs"),
    ("group", "*", "Describe"),
    ("cluster", "kafka-cluster", "Describe"),
    ("cluster", "kafka-cluster", "DescribeConfigs"),
)
"""The rights that this needs, as ``docs/capture.md`` prints them: kind of resource, its name, operation."""
_NAMED = 10
"""Names that one sentence has room for."""
_BY_HAND = (
    "the client library cannot ask for share groups (or those of Kafka Streams' own protocol), so add the output of "
    "kafka-share-groups.sh (kafka-streams-groups.sh) --describe --all-groups, with --offsets and with --members"
)
_AT_ONCE = 1000
"""Topics whose settings are asked for in one request."""

Place = tuple[str, int]
"""A topic and the number of a partition."""
Offsets = dict[Place, int]
Settings = dict[tuple[str, str], Mapping[str, ConfigEntry]]
"""Settings by ``broker`` or ``topic`` and name."""
_UNCOMMITTED = IsolationLevel.READ_UNCOMMITTED
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(slots=True)
class Groups:
    """The groups at one moment."""

    described: list[ConsumerGroupDescription] = field(default_factory=list)
    committed: dict[str, Offsets] = field(default_factory=dict)


def _named(key: object) -> str:
    """Whom a question was about, as people write it."""
    if isinstance(key, ConfigResource):
        return f"{key.restype.name.lower()} {key.name}"
    return f"{key.topic}-{key.partition}" if isinstance(key, TopicPartition) else str(key)


class Cluster:
    """A cluster that can be asked; what it does not answer is noted in the manifest, and missing from the answer."""

    def __init__(self, admin: AdminClient, wanted: Wanted, manifest: Manifest) -> None:
        self._admin = admin
        self._wanted = wanted
        self._manifest = manifest
        self._seen: set[str] = set()
        """Of ``topic`` and ``group``, what was ever listed."""
        self._listed: frozenset[str] | None = None
        """All consumer groups, where every broker has told its own."""

    def conclude(self) -> None:
        """Note where no topic or no group was ever listed: brokers leave out, without a word, what nobody may see."""
        for what in ("topic", "group"):
            if what not in self._seen:
                self._manifest.failed(f"list of {what}s", "none is told: there is none, or this user may describe none")

    def metadata(self) -> ClusterMetadata | None:
        """Brokers and topics with their partitions; None where no broker answers."""
        with self._asking("cluster and topics"):
            metadata = self._admin.list_topics(timeout=TIMEOUT)
            self._seen |= {"topic"} if metadata.topics else set()
            unwanted = [name for name in metadata.topics if not self._wanted.topic(name)]
            for name in unwanted:
                del metadata.topics[name]
            return metadata
        return None

    def settings(self, metadata: ClusterMetadata) -> Settings:
        """What brokers and topics are set to."""
        # A request about a broker goes to that broker, so each is one of its own.
        asked = [[ConfigResource(ResourceType.BROKER, str(node))] for node in sorted(metadata.brokers)]
        topics = [ConfigResource(ResourceType.TOPIC, name) for name in sorted(metadata.topics)]
        asked += [topics[place : place + _AT_ONCE] for place in range(0, len(topics), _AT_ONCE)]
        found: Settings = {}
        with self._asking("settings"):
            waiting: dict[ConfigResource, Future[Any]] = {}
            for resources in asked:
                waiting |= self._admin.describe_configs(resources, request_timeout=TIMEOUT)
            for resource, entries in self._answers("settings", waiting):
                found[resource.restype.name.lower(), resource.name] = entries
        return found

    def groups(self) -> Groups:
        """Groups with their members, and what they have committed."""
        groups, names = Groups(), self._names()
        if not names:
            return groups
        with self._asking("groups"):
            asked = self._admin.describe_consumer_groups(names, request_timeout=TIMEOUT)
            groups.described = [group for _, group in self._answers("groups", asked)]
        with self._asking("committed offsets"):
            waiting: dict[str, Future[Any]] = {}
            for name in names:  # the client takes one group at a time; all of them are under way at once
                group = [ConsumerGroupTopicPartitions(name)]
                waiting |= self._admin.list_consumer_group_offsets(group, request_timeout=TIMEOUT)
            for name, answer in self._answers("committed offsets", waiting):
                groups.committed[name] = {
                    (one.topic, one.partition): one.offset
                    for one in answer.topic_partitions
                    if one.offset >= 0 and not one.error and self._wanted.topic(one.topic)
                }
        return groups

    def beyond(self) -> None:
        """Note groups that are no consumer groups: the library lists share groups, and cannot ask for more."""
        known = self._listed
        if known is None:  # else groups of consumers would be taken for others
            return
        with self._asking("share groups"):
            listed = self._admin.list_groups(timeout=TIMEOUT)
            # Asked as a classic group, one of another protocol is dead and has no type.
            others = [str(group.id) for group in listed if group.state == "Dead" and not group.protocol_type]
            names = sorted(name for name in others if name not in known and self._wanted.group(name))
            if names:
                shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
                self._manifest.failed("share groups", f"{shown}: members and offsets are missing; {_BY_HAND}")

    def offsets(
        self, places: Iterable[Place], of: OffsetSpec, what: str, isolation: IsolationLevel = _UNCOMMITTED
    ) -> Offsets:
        """The earliest or latest offsets of partitions; without those of partitions that have no leader."""
        asked = {TopicPartition(*place): of for place in places}
        found: Offsets = {}
        if not asked:
            return found
        with self._asking(what):
            waiting = self._admin.list_offsets(asked, isolation_level=isolation, request_timeout=TIMEOUT)
            for place, answer in self._answers(what, waiting):
                found[place.topic, place.partition] = answer.offset
        # Of a broker that is lost the client answers with a negative offset, and no error.
        known = {place: offset for place, offset in found.items() if offset >= 0}
        if len(known) < len(found):
            self._manifest.failed(what, f"no answer for {len(found) - len(known)} of {len(asked)} partitions")
        return known

    def _names(self) -> list[str]:
        self._listed = None
        with self._asking("list of groups"):
            listed = self._admin.list_consumer_groups(request_timeout=TIMEOUT).result()
            for error in listed.errors:
                self._manifest.failed("list of groups", str(error.str()))
            self._seen |= {"group"} if listed.valid or listed.errors else set()
            self._listed = None if listed.errors else frozenset(group.group_id for group in listed.valid)
            return sorted(group.group_id for group in listed.valid if self._wanted.group(group.group_id))
        return []

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        with self._manifest.asking(what, ConnectionError):
            try:
                yield
            except KafkaException as error:
                raise ConnectionError(reason(error)) from error

    def _answers(self, what: str, asked: Mapping[_Key, Future[_Value]]) -> Iterable[tuple[_Key, _Value]]:
        """What came back; of what did not, the reason goes to the manifest."""
        for key, future in asked.items():
            try:
                yield key, future.result()
            except KafkaException as error:
                self._manifest.failed(what, f"{_named(key)}: {reason(error)}")
