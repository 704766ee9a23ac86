"""Broker logs: server.log, controller.log, state-change.log, log-cleaner.log, ZooKeeper mode and KRaft, 0.10 to 4.x.

Sample lines::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance
    with old generation 0 (__consumer_offsets-2) (reason: Adding new member c-1-…) (kafka.coordinator.group.…)
    [Broker id=1] Leader t-0 starts at leader epoch 5 from offset 100 with high watermark 98 ISR [1,2] … (state.change…)
    [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition t-0 with TruncationState(offset=95, …)
    due to leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=4, endOffset=95) (kafka.…)
    [UnifiedLog partition=t-0, dir=/data] Incremented log start offset to 700 due to segment deletion (kafka.log.…)
    [QuorumController id=1] UNCLEAN partition change for t-0 with topic ID …: isr: [3] -> [1], leader: 3 -> 1, …
    [Controller id=1] Newly added brokers: , deleted brokers: 2, bounced brokers: , all live brokers: 1,3 (kafka.…)

Texts are those of GroupCoordinator and GroupMetadataManager (the lives of groups, KIP-848 too), Partition,
ReplicaManager, AbstractFetcherThread, Log and UnifiedLog (who leads from where, what is in sync, what was cut and
deleted), KafkaController, PartitionStateMachine, PartitionRegistration and PartitionChangeBuilder (leaders and brokers
that are gone). A KRaft controller calls every change UNCLEAN whose new leader was not in sync, one from the eligible
leader replicas of KIP-966 too; clean changes it tells at DEBUG only.
"""

from __future__ import annotations

import re

from mqlab.formats import kafka_layout
from mqlab.formats.base import Head, Signature, Spec
from mqlab.formats.kafka_layout import END, PARTITION
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, VOLUME

FORMAT = Spec("kafka-broker-log", Role.BROKER_LOG, (EVENTS, VOLUME), "kafka", Reading.LOG, "kafka", kafka_layout.LAYOUT)

_LINE = re.compile(
    r"^\[?\d{4}-\d\d-\d\d[T ][\d:.,]+.*"
    r"(?:\((?:kafka\.(?!producer|consumer|tools)|org\.apache\.kafka\.(?!clients\.(?:producer|consumer)|connect\b|streams\b)"
    r"|state\.change\.logger|org\.apache\.zookeeper)|"
    r" - \[(?:Log|UnifiedLog|LogLoader|LocalLog|Partition|ProducerStateManager|GroupMetadataManager|SocketServer|"
    r"KafkaApi|Replica\w+|Transaction\w+|Broker|RaftManager|SnapshotGenerator|Metadata\w+)\b|"
    r"\[(?:QuorumController|GroupCoordinator|ReplicaManager|BrokerServer|Controller|BrokerLifecycleManager) (?:id|\d))"
)

_CLIENT = re.compile(r" \[(?:Producer|Consumer|AdminClient) (?:instanceId=[^,\]]+, )?clientId=")
_END = r"\.?(?: \([\w.$]+\))?(?: \[[^\]]*\])?\s*$"
"""What ends a line: the logger's name, and the thread where a layout adds it."""
_GENERATION = r"(?:.*? generation (?P<value>-?\d+))?"
_ID = r"(?:[^\s,'=()\[\]]+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{22}(?![\w-]))"
_MEMBER = (
    rf"(?:[Mm]ember(?:[ .-]id:?)?|with id|\bfor) \(?(?P<member_id>{_ID})|\b(?:memberId=|Set\()(?P<member_id2>{_ID})"
)
"""A member that a line names by the way."""

_GROUPS: tuple[Signature, ...] = (
    Signature(
        "rebalance-started",
        begins=rf"Preparing to re(?:balance|stabilize) group (?P<group>\S+){_GENERATION}"
        rf"(?:.*?\(reason: (?P<reason>.*?)\){_END})?",
        also=_MEMBER,
    ),
    Signature(
        "rebalance-stabilized",
        begins=rf"Stabilized group (?P<group>\S+){_GENERATION}(?:.*? with (?P<reason>\d+) members)?",
    ),
    Signature(
        "rebalance-assigned",
        begins=r"Assignment received from leader (?:(?P<member_id>\S+) )?for group (?P<group>\S+)"
        rf"{_GENERATION}(?:.*? has (?P<reason>\d+) members)?",
    ),
    Signature(
        "group-emptied",
        begins=r"Group (?P<group>.+?) (?:with )?generation (?P<value>-?\d+) is (?:now empty|dead and removed)",
    ),
    Signature("member-expired", begins=r"Member (?P<member_id>.+) in group ?(?P<group>.+) has failed"),
    Signature(
        "member-expired",
        begins=r"Member (?P<member_id>.+) fenced from the group because (?P<reason>the member session expired)",
    ),
    Signature(
        "member-dropped",
        begins=r"Group (?P<group>.+) removed (?:dynamic )?members who haven't joined"
        r"(?:: \w*[(\[]?(?P<entries>(?P<reason>[^)\]]*)))?",
        also=_MEMBER,
    ),
    Signature(
        "member-dropped",
        begins=r"Pending (?:dynamic )?[Mm]ember (?:with id )?(?P<entries>(?P<member_id>\S+))"
        rf"(?: in group (?P<group>\S+))?.* has been removed (?P<reason>.*?)\.*{_END}",
    ),
    Signature(
        "member-dropped",
        begins=rf"Member (?P<entries>(?P<member_id>\S+)).* fenced from the group because (?P<reason>.*?)\.*{_END}",
    ),
    Signature(
        "member-left",
        begins=r"(?:Dynamic |Static )?[Mm]ember(?: MemberMetadata\(memberId=(?P<member_id>[^,)]+).*?\)\)?"
        r"|\[.*?member\.id (?P<member_id2>\S+)\]| (?P<member_id3>\S+).*?)(?: in group (?P<group>\S+))?"
        rf" (?:has |temporarily )?left[ ,](?:group (?P<group2>\S+) through)?"
        rf"(?:.*?client reason: (?P<reason>.*?){_END})?",
        rare=r" left[ ,]",
        also=r"clientId=(?P<client_id>[^,)\s]+), clientHost=/?(?P<peer>[^,)\s]+)",
    ),
    Signature(
        "static-member-replaced",
        begins=r"Static member (?:Some\()?(?P<reason>[^\s()]+)\)? (?:of group (?P<group>\S+) )?"
        r"with unknown member id rejoins(?:.*?new member id (?P<member_id>[^\s,]+))?",
    ),
    Signature(
        "static-member-replaced",
        begins=r"Static member with groupInstanceId=(?P<reason>\S+) and unknown member id joins"
        r"(?: group (?P<group>\S+))?(?: in \w+ state)?\. Replacing ",
        also=_MEMBER,
    ),
    Signature(
        "static-member-fenced",
        begins=r"Request memberId=(?P<member_id>\S+) for static member with groupInstanceId=(?P<reason>\S+)"
        r" is fenced by",
    ),
    Signature(
        "static-member-fenced",
        contains=r"identified as a known static member (?P<reason>[^\s,]+), but not matching",
        also=_MEMBER,
    ),
    Signature(
        "member-joined",
        begins=r"(?:(?:Dynamic [Mm]ember with unknown member id joins group (?P<group>\S+)"
        r"|Pending dynamic member with id (?P<member_id>.+) joins group (?P<group2>\S+))"
        r"(?: in (?P<reason>\w+) state)?"
        r"|Static member with groupInstanceId=\S+ and unknown member id joins group (?P<group3>\S+)"
        r" in (?P<reason2>\w+) state\. Created )",
        also=_MEMBER,
    ),
    Signature(
        "member-joined",
        begins=r"(?:Static )?[Mm]ember (?P<member_id>\S+).* joins the consumer group"
        r"(?: using the (?P<reason>\w+) protocol)?",
    ),
    Signature("member-joined", begins=r"Adding new static member .+ to group (?P<group>\S+)", also=_MEMBER),
    Signature("group-epoch-bumped", begins=r"Bumped group epoch to (?P<value>\d+)"),
    Signature(
        "target-assigned",
        begins=r"Computed (?:a )?new target assignment for epoch (?P<value>\d+)"
        r"(?:.*? with '(?P<reason>[^']+)' assignor)?",
    ),
    Signature(
        "group-loaded",
        begins=rf"(?:Loading group metadata for (?P<group>\S+) with|Loaded (?:classic|consumer) group (?P<group2>\S+))"
        rf"{_GENERATION}",
    ),
    Signature("group-unloaded", begins=rf"Unloading group metadata for{_GENERATION}"),
    Signature("coordinator-elected", begins=r"Elected as the group coordinator for partition (?P<value>\d+)"),
    Signature("coordinator-resigned", begins=r"Resigned as the group coordinator for partition (?P<value>\d+)"),
    Signature(
        "offsets-expired",
        begins=r"Removed (?P<value>[1-9]\d*) expired offsets",
        rare=r"(?:[1-9]|[0-9]0) expired offsets",
    ),
)
"""Lines about groups, in the order in which they are tried."""


_OLD = r"(?:Partition \[[\w.-]+,\d+\] on broker (?P<node>\d+): )?"
"""What partitions before 1.0 begin with."""
_STARTS = rf"(?: with topic id \S+)? starts at [Ll]eader (?P<reason>[Ee]poch .*? from offset (?P<value>\d+).*?){END}"
_RESET = r"(?P<reason>\d+ to current leader.*?'s \w+ offset) (?P<value>\d+)"
_DUE = rf"due to (?:log )?(?P<reason>.*?)(?: based on .*|: .*)?{END}"

_LEADING: tuple[Signature, ...] = (
    Signature("leader-started", begins=rf"(?:Leader )?{PARTITION}{_STARTS}"),
    Signature("follower-started", begins=rf"Follower {PARTITION}{_STARTS}"),
    Signature(
        "isr-shrunk",
        begins=rf"{_OLD}Shrinking ISR (?:for partition {PARTITION} )?"
        r"from (?P<reason>[\d,]+ to (?P<entries>[\d,]*))",
    ),
    Signature(
        "isr-updated",
        begins=rf"{_OLD}(?:Expanding ISR (?:for partition {PARTITION} )?from [\d,]+|ISR updated(?: from AlterIsr)?)"
        r" to \[?(?P<entries>(?P<reason>[\d,]+))",
    ),
    Signature(
        "replica-fetch-failed",
        begins=r"Error (?:in fetch to broker (?P<reason>\d+)|(?:in response for|sending) fetch request)",
    ),
    Signature(
        "replica-fetch-refused",
        contains=rf"\[ReplicaFetcher.*Error for partition {PARTITION} (?:at offset (?P<value>\d+)|to broker)",
    ),
    Signature(
        "not-enough-replicas",
        contains=r"current ISR (?:: )?(?P<reason>.*?) is insufficient to satisfy the min\.isr requirement"
        rf" of (?P<value>\d+) for partition {PARTITION}",
    ),
    Signature(
        "not-enough-replicas",
        contains=rf"Number of insync replicas for partition {PARTITION} is (?P<reason>\[[\d,]*\])"
        r"(?:.*? required minimum \[(?P<value>\d+))?",
    ),
)
"""Who leads or follows from where, and who is in sync."""

_CUTTING: tuple[Signature, ...] = (
    Signature("log-truncated", begins=rf"Truncating (?:log {PARTITION} )?to offset (?P<value>\d+)", rare=r"to offset "),
    Signature("truncation-idle", begins=r"Truncating to (?P<value>[1-9]\d*) has no effect"),
    Signature(
        "truncation-asked",
        begins=rf"Truncating partition {PARTITION} "
        rf"(?:with TruncationState\(offset=(?P<value>\d+).*? (?P<reason>due to .*?)"
        rf"|to (?P<reason2>local high watermark (?P<value2>\d+))){END}",
    ),
    Signature(
        "below-watermark",
        begins=rf"Truncating {PARTITION} to offset (?P<value>\d+) below high watermark (?P<reason>\d+)",
    ),
    Signature("fetch-offset-reset", begins=rf"Reset fetch offset for partition {PARTITION} from {_RESET}"),
    Signature(
        "fetch-offset-reset",
        begins=rf"(?:\[[\w-]+\], )?Replica \d+ for partition {PARTITION} reset its fetch offset from {_RESET}",
    ),
)
"""Replicas whose log was cut, or had to begin elsewhere, to agree with their leader."""

_DELETING: tuple[Signature, ...] = (
    Signature(
        "log-start-moved",
        begins=rf"Increment(?:ed|ing) log start offset (?:of partition {PARTITION} )?to (?P<value>\d+)"
        rf"(?: due to (?P<reason>.*?){END})?",
    ),
    Signature(
        "segment-deleted",
        begins=r"(?:Deleting segments? LogSegment\(|Found deletable segments with )"
        rf"(?:base(?:Offset=| offsets \[)(?P<value>\d+))?(?:.*? {_DUE})?",
    ),
    Signature("segment-deleted", begins=rf"Deleting segments {_DUE}", also=r"baseOffset=(?P<value>\d+)"),
    Signature(
        "log-deleted", begins=rf"Log for partition {PARTITION} is renamed to .*-delete and is scheduled for deletion"
    ),
    Signature("segment-deleted", begins=rf"Scheduling log segment (?P<value>\d+) for log {PARTITION}"),
)
"""What retention and requests took away from the beginning of a log."""


_NEW = r"Setting new leader .*?\bpartition \d+ to (?P<value>\d+) "

_QUORUM: tuple[Signature, ...] = (
    Signature("no-controller", begins=r"In the new epoch (?P<value>\d+), the leader is \(none\)"),
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
        "no-leader", contains=rf"Failed to elect leader for partition {PARTITION} under strategy (?P<reason>.*?){END}"
    ),
    Signature(
        "no-leader", contains=rf"No broker in ISR for partition {PARTITION}(?:.*?(?P<reason>Live brokers are.*?){END})?"
    ),
    Signature(
        "broker-failed",
        begins=r"(?:Broker failure callback for|Newly added brokers: [\d,]*, deleted brokers:)"
        r" (?P<reason>(?P<value>\d+)(?:,\d+)*)",
    ),
    Signature("broker-fenced", begins=rf"Fencing broker (?P<value>\d+)(?:.*? because (?P<reason>.*?)\.?{END})?"),
)
"""Lines about leaders and brokers, in the order in which they are tried."""

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "broker-started", begins=r"(?:(?:Kafka Server )?started \(kafka\.server\.Kafka|Kafka Server started\s*$)"
    ),
    Signature(
        "broker-booting",
        begins=r"(?:Registered [`']?kafka:type=kafka\.Log4jController|starting \(kafka\.server\.Kafka"
        r"|Starting SharedServer)",
    ),
    Signature("broker-stopping", begins=r"(?:Starting|Beginning) controlled shutdown"),
    Signature("server-stopping", begins=r"shutting down \(kafka\.server\.(?:Kafka|Broker|Controller)Server"),
    Signature("broker-stopped", begins=r"shut down completed(?: \(kafka\.server\.(?:Kafka|Broker)Server|\s*$)"),
    Signature("log-recovery", begins=r"Recovering unflushed segment"),
    Signature(
        "topic-config-changed",
        begins=r"(?:Processing override for entityPath: topics/|Updating topic )(?P<topic>[\w.-]+)"
        r"(?: with (?:config: \w*Map\((?P<reason>.*)\)|new configuration : (?P<reason2>.*)) \(kafka)?",
    ),
    *_GROUPS,
    *_LEADING,
    *_CUTTING,
    *_DELETING,
    Signature("reassignment", begins=r"(?:Initiating|Completed|Starting|New) (?:partition )?reassign"),
    *_QUORUM,
    Signature(
        "replication-too-large",
        contains=r"Replication is failing due to a message that is greater than replica\.fetch\.max\.bytes",
    ),
)


def recognise(head: Head) -> bool:
    """True when dated lines carry a broker's logger names, and are not those of a client that shares them."""
    dated = [line for line in head.lines[:400] if re.match(r"\[?\d{4}-\d\d-\d\d", line)]
    own = [line for line in dated if _LINE.match(line) and not _CLIENT.search(line)]
    return bool(dated) and len(own) * 2 >= len(dated)
