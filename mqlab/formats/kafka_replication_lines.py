"""Lines in which a broker tells of its replicas: who leads from where, what is in sync, what was cut and deleted.

Sample lines::

    [Broker id=1] Leader t-0 starts at leader epoch 5 from offset 100 with high watermark 98 ISR [1,2] … (state.change…)
    [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition t-0 with TruncationState(offset=95, …)
    due to leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=4, endOffset=95) (kafka.…)
    [UnifiedLog partition=t-0, dir=/data] Incremented log start offset to 700 due to segment deletion (kafka.log.…)

Texts are those of Partition, ReplicaManager, AbstractFetcherThread, Log and UnifiedLog, 0.10 to 4.x.
"""

from __future__ import annotations

from mqlab.formats.base import Signature
from mqlab.formats.kafka_layout import END, PARTITION

_OLD = r"(?:Partition \[[\w.-]+,\d+\] on broker (?P<node>\d+): )?"
"""What partitions before 1.0 begin with."""
_STARTS = rf"(?: with topic id \S+)? starts at [Ll]eader (?P<reason>[Ee]poch .*? from offset (?P<value>\d+).*?){END}"
_RESET = r"(?P<reason>\d+ to current leader.*?'s \w+ offset) (?P<value>\d+)"
_DUE = rf"due to (?:log )?(?P<reason>.*?)(?: based on .*|: .*)?{END}"

LEADING: tuple[Signature, ...] = (
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

CUTTING: tuple[Signature, ...] = (
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

DELETING: tuple[Signature, ...] = (
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
    Signature("segment-deleted", begins=rf"Scheduling log segment (?P<value>\d+) for log {PARTITION}"),
)
"""What retention and requests took away from the beginning of a log."""
