# ruff: noqa: E501 - lines of brokers stay in one piece
"""Lines about replicas and leaders, of brokers and controllers of all versions: what is kept, and what it says."""

import pytest
from log_lines import picked, read

STATE = "(state.change.logger)"
FETCHER = "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] "
THREAD = "(kafka.server.ReplicaFetcherThread)"
LOG = "[Log partition=t.x-1, dir=/data] "
UNIFIED = "[UnifiedLog partition=t.x-1, dir=/data] "
SEGMENT = "LogSegment(baseOffset=70, size=900, lastModifiedTime=1795263290846, largestRecordTimestamp=1795263290846)"
PARTITION = "[Partition t.x-1 broker=3] "
ZOOKEEPER = "[Controller id=1 epoch=3] "
QUORUM = "[QuorumController id=1] "
REGISTRY = "(org.apache.kafka.controller.ReplicationControlManager)"

# level, kind, line behind the level, node, value, reason: all about partition 1 of t.x
LINES = (
    ("INFO", "leader-started", f"{PARTITION}t.x-1 starts at Leader Epoch 5 from offset 100. Previous Leader Epoch was: 4 (kafka.cluster.Partition)", "3", 100,
     "Epoch 5 from offset 100. Previous Leader Epoch was: 4"),
    ("INFO", "leader-started", f"{PARTITION}t.x-1 starts at leader epoch 5 from offset 100 with high watermark 98. Previous leader epoch was 4. (kafka.cluster.Partition)", "3", 100,
     "epoch 5 from offset 100 with high watermark 98. Previous leader epoch was 4."),
    ("INFO", "leader-started", f"[Broker id=3] Leader t.x-1 starts at leader epoch 5 from offset 100 with high watermark 98 ISR [3,2] addingReplicas [] removingReplicas []. Previous leader epoch was 4. {STATE}", "3", 100,
     "epoch 5 from offset 100 with high watermark 98 ISR [3,2] addingReplicas [] removingReplicas []. Previous leader epoch was 4."),
    ("INFO", "leader-started", f"[Broker id=3] Leader t.x-1 with topic id Some(UCNjPqmuTNKupDxiNQwNsQ) starts at leader epoch 5 from offset 100 with partition epoch 6, high watermark 98, ISR [3,2], adding replicas [] and removing replicas [] . Previous leader Some(2) and previous leader epoch was 4. {STATE}", "3", 100,
     "epoch 5 from offset 100 with partition epoch 6, high watermark 98, ISR [3,2], adding replicas [] and removing replicas [] . Previous leader Some(2) and previous leader epoch was 4."),
    ("INFO", "follower-started", f"[Broker id=3] Follower t.x-1 starts at leader epoch 5 from offset 95 with partition epoch 6 and high watermark 95. Current leader is 2. Previous leader Some(3) and previous leader epoch was 4. {STATE}", "3", 95,
     "epoch 5 from offset 95 with partition epoch 6 and high watermark 95. Current leader is 2. Previous leader Some(3) and previous leader epoch was 4."),
    ("INFO", "isr-shrunk", f"{PARTITION}Shrinking ISR from 1,2,3 to 3. Leader: (highWatermark: 0, endOffset: 20). Out of sync replicas: (brokerId: 1, endOffset: 19). (kafka.cluster.Partition)", "3", 1, "1,2,3 to 3"),
    ("INFO", "isr-shrunk", "Partition [t.x,1] on broker 3: Shrinking ISR for partition [t.x,1] from 3,2 to 3 (kafka.cluster.Partition)", "3", 1, "3,2 to 3"),
    ("INFO", "isr-updated", f"{PARTITION}Expanding ISR from 1 to 1,2 (kafka.cluster.Partition)", "3", 2, "1,2"),
    ("INFO", "isr-updated", f"{PARTITION}ISR updated to [1,2] and zkVersion updated to [7] (kafka.cluster.Partition)", "3", 2, "1,2"),
    ("INFO", "isr-updated", f"{PARTITION}ISR updated from AlterIsr to 1,2,3 and version updated to [7] (kafka.cluster.Partition)", "3", 3, "1,2,3"),
    ("INFO", "isr-updated", f"{PARTITION}ISR updated to 1 (under-min-isr) and version updated to 7 (kafka.cluster.Partition)", "3", 1, "1"),
    ("ERROR", "not-enough-replicas", "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(3) is insufficient to satisfy the min.isr requirement of 2 for partition t.x-1", None, 2, "Set(3)"),
    ("ERROR", "not-enough-replicas", "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR : 1 is insufficient to satisfy the min.isr requirement of 2 for partition t.x-1", None, 2, "1"),
    ("ERROR", "not-enough-replicas", "org.apache.kafka.common.errors.NotEnoughReplicasException: Number of insync replicas for partition t.x-1 is [1], below required minimum [2]", None, 2, "[1]"),
    ("INFO", "log-truncated", f"{LOG}Truncating to offset 95 (kafka.log.Log)", None, 95, None),
    ("INFO", "log-truncated", f"{UNIFIED}Truncating to offset 95 (org.apache.kafka.storage.internals.log.UnifiedLog)", None, 95, None),
    ("INFO", "log-truncated", "Truncating log t.x-1 to offset 95. (kafka.log.Log)", None, 95, None),
    ("INFO", "truncation-idle", f"{LOG}Truncating to 95 has no effect as the largest offset in the log is 94 (kafka.log.Log)", None, 95, None),
    ("INFO", "truncation-asked", f"{FETCHER}Truncating partition t.x-1 to local high watermark 95 {THREAD}", "3", 95, "local high watermark 95"),
    ("INFO", "truncation-asked", f"{FETCHER}Truncating partition t.x-1 with TruncationState(offset=95, completed=true) due to local high watermark 95 {THREAD}", "3", 95, "due to local high watermark 95"),
    ("INFO", "truncation-asked", f"{FETCHER}Truncating partition t.x-1 with TruncationState(offset=95, completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0, partition=1, leaderEpoch=4, endOffset=95) {THREAD}", "3", 95,
     "due to leader epoch and offset EpochEndOffset(errorCode=0, partition=1, leaderEpoch=4, endOffset=95)"),
    ("WARN", "below-watermark", f"{FETCHER}Truncating t.x-1 to offset 95 below high watermark 98 {THREAD}", "3", 95, "98"),
    ("WARN", "below-watermark", f"{UNIFIED}Truncating t.x-1 to offset 95 below high watermark 98 (kafka.log.UnifiedLog)", None, 95, "98"),
    ("INFO", "fetch-offset-reset", f"{FETCHER}Reset fetch offset for partition t.x-1 from 120 to current leader's latest offset 95 {THREAD}", "3", 95, "120 to current leader's latest offset"),
    ("INFO", "fetch-offset-reset", f"{FETCHER}Reset fetch offset for partition t.x-1 from 20 to current leader's start offset 95 {THREAD}", "3", 95, "20 to current leader's start offset"),
    ("WARN", "fetch-offset-reset", f"[ReplicaFetcherThread-0-2], Replica 3 for partition [t.x,1] reset its fetch offset from 120 to current leader 2's latest offset 95 {THREAD}", None, 95, "120 to current leader 2's latest offset"),
    ("INFO", "log-start-moved", f"{UNIFIED}Incremented log start offset to 95 due to segment deletion (kafka.log.UnifiedLog)", None, 95, "segment deletion"),
    ("INFO", "log-start-moved", f"{LOG}Incrementing log start offset to 95 (kafka.log.Log)", None, 95, None),
    ("INFO", "segment-deleted", f"{UNIFIED}Deleting segment {SEGMENT} due to log retention time 60000ms breach based on the largest record timestamp in the segment (kafka.log.UnifiedLog)", None, 70, "retention time 60000ms breach"),
    ("INFO", "segment-deleted", f"{LOG}Deleting segments due to retention size 900 in bytes breach: {SEGMENT} (kafka.log.Log)", None, 70, "retention size 900 in bytes breach"),
    ("INFO", "segment-deleted", f"{LOG}Found deletable segments with base offsets [70,80] due to retention time 60000ms breach (kafka.log.Log)", None, 70, "retention time 60000ms breach"),
    ("INFO", "log-deleted", "Log for partition t.x-1 is renamed to /data/t.x-1.0a1b2c3d4e5f40718293a4b5c6d7e8f9-delete and is scheduled for deletion (kafka.log.LogManager)", None, None, None),
    ("INFO", "segment-deleted", "Scheduling log segment 70 for log t.x-1 for deletion. (kafka.log.Log)", None, 70, None),
    ("INFO", "unclean-election", f"{QUORUM}UNCLEAN partition change for t.x-1 with topic ID UCNjPqmuTNKupDxiNQwNsQ: isr: [3] -> [2], leader: 3 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 4 -> 5, partitionEpoch: 5 -> 6 {REGISTRY}", "1", 2,
     "isr: [3] -> [2], leader: 3 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 4 -> 5, partitionEpoch: 5 -> 6"),
    ("WARN", "unclean-election", "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [t.x,1]. Elect leader 2 from live brokers 2. There's potential data loss. (kafka.controller.OfflinePartitionLeaderSelector)", None, 2,
     "Elect leader 2 from live brokers 2. There's potential data loss."),
    ("DEBUG", "leader-elected", f"{QUORUM}partition change for t.x-1 with topic ID UCNjPqmuTNKupDxiNQwNsQ: leader: 3 -> 2, leaderEpoch: 4 -> 5 {REGISTRY}", "1", 2, "leader: 3 -> 2, leaderEpoch: 4 -> 5"),
    ("INFO", "leader-elected", f"{ZOOKEEPER}Changed partition t.x-1 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=5, isr=List(1, 2), zkVersion=7) {STATE}", "1", 2,
     "LeaderAndIsr(leader=2, leaderEpoch=5, isr=List(1, 2), zkVersion=7)"),
    ("INFO", "leader-elected", f"{ZOOKEEPER}Partition t.x-1 state changed to (Leader:-1,ISR:3,LeaderEpoch:5,ZkVersion:7,ControllerEpoch:3) after removing replica 3 from the ISR as part of transition to OfflineReplica {STATE}", "1", -1,
     "(Leader:-1,ISR:3,LeaderEpoch:5,ZkVersion:7,ControllerEpoch:3) after removing replica 3 from the ISR as part of transition to OfflineReplica"),
    ("INFO", "leader-elected", "[Controller id=1] Partition t.x-1 completed preferred replica leader election. New leader is 2 (kafka.controller.KafkaController)", "1", 2, "preferred replica leader election"),
    ("ERROR", "no-leader", f"{ZOOKEEPER}kafka.common.StateChangeFailedException: Failed to elect leader for partition t.x-1 under strategy OfflinePartitionLeaderElectionStrategy(false)", "1", None, "OfflinePartitionLeaderElectionStrategy(false)"),
    ("ERROR", "no-leader", "kafka.common.NoReplicaOnlineException: No broker in ISR for partition [t.x,1] is alive. Live brokers are: [Set(2)], ISR brokers are: [1]", None, None, "Live brokers are: [Set(2)], ISR brokers are: [1]"),
)  # fmt: skip

# kind, line behind the level, node, value, reason: about no partition that is named
OTHERS = (
    ("unclean-election", f"{QUORUM}Setting new leader for topicId UCNjPqmuTNKupDxiNQwNsQ, partition 1 to 2 using an unclean election (org.apache.kafka.controller.PartitionChangeBuilder)", "1", 2, "using an unclean election"),
    ("leader-elected", f"{QUORUM}Setting new leader for topicId UCNjPqmuTNKupDxiNQwNsQ, partition 1 to 2 using ELR. Previous partition: x (org.apache.kafka.controller.PartitionChangeBuilder)", "1", 2, "using ELR. Previous partition: x"),
    ("broker-failed", "[Controller 1]: Broker failure callback for 2 (kafka.controller.KafkaController)", "1", 2, "2"),
    ("broker-failed", "[Controller id=1] Newly added brokers: 4, deleted brokers: 2,3, bounced brokers: , all live brokers: 1,4 (kafka.controller.KafkaController)", "1", 2, "2,3"),
    ("broker-fenced", f"{QUORUM}Fencing broker 2 because its session has timed out. {REGISTRY}", "1", 2, "its session has timed out"),
    ("broker-fenced", f"{QUORUM}Fencing broker 2 at epoch 9 because its session has timed out. {REGISTRY}", "1", 2, "its session has timed out"),
)  # fmt: skip

LAYOUTS = {
    "brokers'": "[2026-11-21 12:20:44,201] {} ",
    "logback": "2026-11-21 12:20:44,201 {}  [main] k.c.Partition - ",
}


def _read(lines):
    return read(lines, "kafka-broker-log")


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_each_line_about_a_partition_says_what_happened_to_it(layout):
    kept, events = _read([layout.format(level) + line for level, _, line, *_ in LINES])
    assert kept == [True] * len(LINES)
    told = picked(events, "kind topic queue node value reason")
    assert told == [(kind, "t.x", "1", *said) for _, kind, _, *said in LINES]


def test_lines_of_a_controller_say_who_leads_and_who_is_gone():
    kept, events = _read([LAYOUTS["brokers'"].format("INFO") + line for _, line, *_ in OTHERS])
    assert kept == [True] * len(OTHERS)
    told = picked(events, "kind topic node value reason")
    assert told == [(kind, None, *said) for kind, _, *said in OTHERS]


def test_what_changes_nothing_in_a_log_is_no_event():
    lines = (
        "[Log partition=t-0, dir=/data] Truncating to 0 has no effect as the largest offset in the log is -1 (kafka.log.Log)",
        "[LocalLog partition=t-0, dir=/data] Deleting segment files LogSegment(baseOffset=0, size=9) (kafka.log.LocalLog$)",
        "[Controller id=1 epoch=3] Changed partition t-0 state from NonExistentPartition to NewPartition with assigned replicas 1,2 (state.change.logger)",
        "[Controller id=1] Newly added brokers: 3, deleted brokers: , bounced brokers: , all live brokers: 1,3 (kafka.controller.KafkaController)",
        "[Partition t-0 broker=1] Log loaded for partition t-0 with initial high watermark 0 (kafka.cluster.Partition)",
        "[QuorumController id=1] partition change for t-0 with topic ID x: isr: [1] -> [1, 2] (org.apache.kafka.x)",
        "[Broker id=1] Skipped the become-leader state change for t-0 with topic id Some(x) (state.change.logger)",
    )
    kept, _ = _read([LAYOUTS["brokers'"].format("INFO") + line for line in lines])
    assert kept == [False] * len(lines)
