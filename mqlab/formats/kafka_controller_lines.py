"""Lines in which a controller tells who leads a partition, ZooKeeper mode and KRaft, and which brokers are gone.

Sample lines::

    [QuorumController id=1] UNCLEAN partition change for t-0 with topic ID …: isr: [3] -> [1], leader: 3 -> 1, …
    [Controller id=1 epoch=3] Changed partition t-0 from OfflinePartition to OnlinePartition with state
    LeaderAndIsr(leader=2, leaderEpoch=5, isr=List(1, 2), zkVersion=7) (state.change.logger)
    [Controller id=1] Newly added brokers: , deleted brokers: 2, bounced brokers: , all live brokers: 1,3 (kafka.…)

Texts are those of KafkaController, PartitionStateMachine, PartitionRegistration and PartitionChangeBuilder. A KRaft
controller calls every change UNCLEAN whose new leader was not in sync, one from the eligible leader replicas of
KIP-966 too; clean changes it tells at DEBUG only.
"""

from __future__ import annotations

from mqlab.formats.base import Signature
from mqlab.formats.kafka_layout import END, PARTITION

_NEW = r"Setting new leader .*?\bpartition \d+ to (?P<value>\d+) "

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "unclean-election",
        begins=rf"UNCLEAN partition change for {PARTITION}"
        rf"(?:[^:]*: (?P<reason>.*?\bleader: -?\d+ -> (?P<value>-?\d+).*?){END})?",
    ),
    Signature("unclean-election", begins=rf"{_NEW}(?P<reason>.*?unclean.*?){END}"),
    Signature(
        "unclean-election",
        begins=rf"No broker in ISR is alive for {PARTITION}\.? (?P<reason>Elect leader (?P<value>\d+).*?){END}",
    ),
    Signature(
        "leader-elected",
        begins=rf"partition change for {PARTITION}[^:]*: (?P<reason>.*?\bleader: -?\d+ -> (?P<value>-?\d+).*?){END}",
    ),
    Signature("leader-elected", begins=rf"{_NEW}(?P<reason>using ELR.*?){END}"),
    Signature(
        "leader-elected",
        begins=rf"(?:Changed p|P)artition {PARTITION} (?:from \w+ to OnlinePartition with state|state changed to)"
        rf" (?P<reason>(?:LeaderAndIsr)?\([Ll]eader[=:](?P<value>-?\d+).*?){END}",
    ),
    Signature(
        "leader-elected",
        begins=rf"Partition {PARTITION} completed (?P<reason>preferred replica leader election)"
        r"(?:.*?New leader is (?P<value>\d+))?",
    ),
    Signature(
        "leader-elected",
        begins=r"Controller (?P<node>\d+) epoch \d+ (?P<reason>elected leader (?P<value>\d+) for Offline partition)"
        rf"(?: {PARTITION})?",
    ),
    Signature(
        "no-leader",
        contains=rf"Failed to elect leader for partition {PARTITION} under strategy (?P<reason>.*?){END}",
    ),
    Signature(
        "no-leader",
        contains=rf"No broker in ISR for partition {PARTITION}(?:.*?(?P<reason>Live brokers are.*?){END})?",
    ),
    Signature(
        "broker-failed",
        begins=r"(?:Broker failure callback for|Newly added brokers: [\d,]*, deleted brokers:)"
        r" (?P<reason>(?P<value>\d+)(?:,\d+)*)",
    ),
    Signature("broker-fenced", begins=rf"Fencing broker (?P<value>\d+)(?:.*? because (?P<reason>.*?)\.?{END})?"),
)
"""Lines about leaders and brokers, in the order in which they are tried."""
