"""kafka-topics --describe, all versions."""

from mqlab.formats import kafka_topics_describe as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS, SETTINGS

TEXT = """
Topic:old\tPartitionCount:1\tReplicationFactor:1\tConfigs:
\tTopic: old\tPartition: 0\tLeader: -1\tReplicas: 0\tIsr:
Topic: t\tTopicId: 5bPS6_FGSAekOv5SqRCxcg\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: cleanup.policy=compact,delete,leader.replication.throttled.replicas=0:1,1:2,max.message.bytes=20971520
\tTopic: t\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3\tAdding Replicas: 4\tRemoving Replicas: 1\tElr: N/A\tLastKnownElr: N/A
    Topic: spaced    Partition: 0    Leader: none    Replicas: 1,2    Isr: 1    MarkedForDeletion: true
Error while executing topic command : Topic 'x' does not exist as expected
[hm]"""  # noqa: E501


def test_each_topic_gives_its_shape_and_its_configs(loaded):
    assert loaded(loader, SETTINGS, "line scope owner key value origin", TEXT) == [
        (1, "topic", "old", "partitions", "1", "describe"),
        (1, "topic", "old", "replication.factor", "1", "describe"),
        (3, "topic", "t", "partitions", "2", "describe"),
        (3, "topic", "t", "replication.factor", "3", "describe"),
        (3, "topic", "t", "cleanup.policy", "compact,delete", "describe"),
        (3, "topic", "t", "leader.replication.throttled.replicas", "0:1,1:2", "describe"),
        (3, "topic", "t", "max.message.bytes", "20971520", "describe"),
    ]


def test_each_partition_gives_leader_and_replicas_in_sync(loaded):
    assert loaded(loader, EVENTS, "line kind topic queue peer reason value", TEXT) == [
        (2, "partition-described", "old", "0", "none", "replicas 0 isr, no leader", -1.0),
        (4, "partition-described", "t", "1", "2", "replicas 2,3,1 isr 2,3", 2.0),
        (5, "partition-described", "spaced", "0", "none", "replicas 1,2 isr 1, no leader", -1.0),
        (6, "tool-error", None, None, None,
         "Error while executing topic command : Topic 'x' does not exist as expected", None),
    ]  # fmt: skip


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == ["data"] * 6 + [None]


def test_partition_lines_alone_are_recognised():
    assert loader.recognise(Head("x", TEXT.split("\n")[2] + "\n", 60))
    assert loader.recognise(Head("x", "Error while executing topic command : x\n", 40))
    assert not loader.recognise(Head("x", "Topic: t is fine\n", 17))
