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

_LOGGER = r"(?:\s+\([\w.$]+\))?\s*$"
"""What ends a line."""
_OLD = r"(?:Partition \[\S+\] on broker \d+: )?"
"""What partitions before 1.0 begin with."""
_FROM = r" from offset (\d+)"
_EPOCH = rf"[Ll]eader ([Ee]poch .*?){_LOGGER}"
_TARGET = r" to offset (\d+)"
_IN_SYNC = r"(?:updated (?:from AlterIsr )?to|to) \[?([\d,]+)"

LEADING: tuple[Signature, ...] = (
    Signature(
        "leader-started", begins=r"Leader \S+ (?:with topic id \S+ )?starts at leader epoch", value=_FROM, reason=_EPOCH
    ),
    Signature("leader-started", begins=r"[\w.-]+-\d+ starts at [Ll]eader [Ee]poch", value=_FROM, reason=_EPOCH),
    Signature(
        "follower-started",
        begins=r"Follower \S+ (?:with topic id \S+ )?starts at leader epoch",
        value=_FROM,
        reason=_EPOCH,
    ),
    Signature(
        "isr-shrunk",
        begins=rf"{_OLD}Shrinking ISR",
        counted=r"from [\d,]+ to ([\d,]*)",
        reason=r"from ([\d,]+ to [\d,]*)",
    ),
    Signature("isr-updated", begins=rf"{_OLD}(?:Expanding ISR|ISR updated)", counted=_IN_SYNC, reason=_IN_SYNC),
    Signature(
        "not-enough-replicas",
        contains=r"is insufficient to satisfy the min\.isr requirement|Number of insync replicas for partition",
        value=r"(?:requirement of |required minimum \[)(\d+)",
        reason=r"current ISR (?:: )?(.*?) is insufficient|for partition \S+ is (\[[\d,]*\])",
    ),
)
"""Who leads or follows from where, and who is in sync."""

CUTTING: tuple[Signature, ...] = (
    Signature("log-truncated", begins=r"Truncating (?:log \S+ )?to offset \d+", rare=r"to offset ", value=_TARGET),
    Signature("truncation-idle", begins=r"Truncating to [1-9]\d* has no effect", value=r"Truncating to (\d+)"),
    Signature(
        "truncation-asked",
        begins=r"Truncating partition",
        value=r"(?:TruncationState\(offset=|local high watermark |endOffset=)(\d+)",
        reason=rf"(due to .*?|local high watermark \d+){_LOGGER}",
    ),
    Signature(
        "below-watermark",
        begins=r"Truncating \S+ to offset \d+ below high watermark \d+",
        value=_TARGET,
        reason=r"high watermark (\d+)",
    ),
    Signature(
        "fetch-offset-reset",
        begins=r"Reset fetch offset for partition",
        value=r"'s \w+ offset (\d+)",
        reason=r" from (\d+ to current leader.*? offset) \d",
    ),
    Signature(
        "fetch-offset-reset",
        begins=r"(?:\[[\w-]+\], )?Replica \d+ for partition \S+ reset its fetch offset",
        value=r"'s \w+ offset (\d+)",
        reason=r" from (\d+ to current leader.*? offset) \d",
    ),
)
"""Replicas whose log was cut, or had to begin elsewhere, to agree with their leader."""

DELETING: tuple[Signature, ...] = (
    Signature(
        "log-start-moved",
        begins=r"(?:Incremented|Incrementing) log start offset",
        value=r" to (\d+)",
        reason=rf"due to (.*?){_LOGGER}",
    ),
    Signature(
        "segment-deleted",
        begins=r"(?:Deleting segments? (?:LogSegment|due to)|Found deletable segments)",
        value=r"(?:baseOffset=|base offsets \[)(\d+)",
        reason=rf"due to (?:log )?(.*?)(?: based on .*|: .*)?{_LOGGER}",
    ),
    Signature("segment-deleted", begins=r"Scheduling log segment \d+ for log", value=r"log segment (\d+)"),
)
"""What retention and requests took away from the beginning of a log."""
