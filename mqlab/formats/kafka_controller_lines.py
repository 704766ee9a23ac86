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

_LOGGER = r"(?:\s+\([\w.$]+\))?\s*$"
"""What ends a line."""
_CHANGE = rf"partition change for [^:]*: (.*?){_LOGGER}"
_LEADER = r"\bleader: -?\d+ -> (-?\d+)"

SIGNATURES: tuple[Signature, ...] = (
    Signature("unclean-election", begins=r"UNCLEAN partition change for", value=_LEADER, reason=_CHANGE),
    Signature(
        "unclean-election",
        begins=r"Setting new leader .*unclean",
        value=r"partition \d+ to (\d+)",
        reason=rf"(using an unclean election.*?){_LOGGER}",
    ),
    Signature(
        "unclean-election",
        begins=r"No broker in ISR is alive",
        value=r"Elect leader (\d+)",
        reason=rf"(Elect leader .*?){_LOGGER}",
    ),
    Signature("leader-elected", begins=r"partition change for .*\bleader: ", value=_LEADER, reason=_CHANGE),
    Signature(
        "leader-elected",
        begins=r"Setting new leader .* using ELR",
        value=r"partition \d+ to (\d+)",
        reason=rf"(using ELR.*?){_LOGGER}",
    ),
    Signature(
        "leader-elected",
        begins=r"(?:Changed partition \S+ from \w+ to OnlinePartition with state|Partition \S+ state changed to \()",
        value=r"\b[Ll]eader[=:](-?\d+)",
        reason=rf"(LeaderAndIsr\(.*?|\(Leader:.*?){_LOGGER}",
    ),
    Signature(
        "leader-elected",
        begins=r"Partition \S+ completed preferred replica leader election",
        value=r"New leader is (\d+)",
        reason=r"(preferred replica leader election)",
    ),
    Signature(
        "leader-elected",
        begins=r"Controller \d+ epoch \d+ elected leader \d+ for Offline partition",
        value=r"elected leader (\d+)",
        reason=r"(elected leader \d+ for Offline partition)",
    ),
    Signature(
        "no-leader",
        contains=r"Failed to elect leader for partition \S+ under strategy|No broker in ISR for partition",
        reason=rf"under strategy (.*?){_LOGGER}|(Live brokers are.*?){_LOGGER}",
    ),
    Signature(
        "broker-failed",
        begins=r"(?:Broker failure callback for \d|Newly added brokers: [\d,]*, deleted brokers: \d)",
        value=r"(?:callback for |deleted brokers: )(\d+)",
        reason=r"(?:callback for |deleted brokers: )(\d+(?:,\d+)*)",
    ),
    Signature(
        "broker-fenced",
        begins=r"Fencing broker \d+",
        value=r"Fencing broker (\d+)",
        reason=rf"because (.*?)\.?{_LOGGER}",
    ),
)
"""Lines about leaders and brokers, in the order in which they are tried."""
