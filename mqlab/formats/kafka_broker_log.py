"""Broker logs: server.log, controller.log, state-change.log, log-cleaner.log, ZooKeeper mode and KRaft, 0.10 to 4.x.

Sample line::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance
    with old generation 0 (__consumer_offsets-2) (reason: Adding new member c-1-…) (kafka.coordinator.group.…)
"""

from __future__ import annotations

import re

from mqlab.formats import kafka_broker_lines, kafka_layout
from mqlab.formats.base import Head, Signature, Spec
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("kafka-broker-log", Role.BROKER_LOG, (EVENTS, VOLUME), "kafka", Reading.LOG, "kafka", kafka_layout.LAYOUT)

_LINE = re.compile(
    r"^\[?\d{4}-\d\d-\d\d[T ][\d:.,]+.*"
    r"(?:\((?:kafka\.(?!producer|consumer|tools)|org\.apache\.kafka\.(?!clients\.(?:producer|consumer))"
    r"|state\.change\.logger|org\.apache\.zookeeper)|"
    r" - \[(?:Log|UnifiedLog|LogLoader|LocalLog|Partition|ProducerStateManager|GroupMetadataManager|SocketServer|"
    r"KafkaApi|Replica\w+|Transaction\w+|Broker|RaftManager|SnapshotGenerator|Metadata\w+)\b|"
    r"\[(?:QuorumController|GroupCoordinator|ReplicaManager|BrokerServer|Controller|BrokerLifecycleManager) (?:id|\d))"
)

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "broker-started", begins=r"(?:(?:Kafka Server )?started \(kafka\.server\.Kafka|Kafka Server started\s*$)"
    ),
    Signature("broker-stopping", begins=r"(?:Starting|Beginning) controlled shutdown"),
    Signature("broker-stopped", begins=r"shut down completed(?: \(kafka\.server\.(?:Kafka|Broker)Server|\s*$)"),
    Signature("log-recovery", begins=r"Recovering unflushed segment"),
    Signature(
        "topic-config-changed",
        begins=r"(?:Processing override for entityPath: topics/|Updating topic )(?P<topic>[\w.-]+)"
        r"(?: with (?:config: \w*Map\((?P<reason>.*)\)|new configuration : (?P<reason2>.*)) \(kafka)?",
    ),
    *kafka_broker_lines.GROUP_SIGNATURES,
    *kafka_broker_lines.LEADING,
    *kafka_broker_lines.CUTTING,
    *kafka_broker_lines.DELETING,
    Signature("reassignment", begins=r"(?:Initiating|Completed|Starting|New) (?:partition )?reassign"),
    *kafka_broker_lines.QUORUM_SIGNATURES,
    Signature(
        "replication-too-large",
        contains=r"Replication is failing due to a message that is greater than replica\.fetch\.max\.bytes",
    ),
)


def recognise(head: Head) -> bool:
    """True when dated lines carry a broker's logger names."""
    dated = [line for line in head.lines[:400] if re.match(r"\[?\d{4}-\d\d-\d\d", line)]
    return bool(dated) and sum(bool(_LINE.match(line)) for line in dated) * 2 >= len(dated)
