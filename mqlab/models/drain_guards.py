"""What a drain must not break: retention, the heap of the consumers, what the broker gives from disk.

``DefaultMessageStore.CleanCommitLogService`` deletes what is older than fileReservedTime, read or not.
``DefaultMQPushConsumerImpl.pullMessage`` holds 1000 messages or 100 MiB of each queue in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from mqlab.models.consuming import PULL_BATCH_MESSAGES, disk_pull_messages
from mqlab.models.courses import Curve

CACHED_MESSAGES = 1_000
"""pullThresholdForQueue."""
CACHED_BYTES = 100 * 1024 * 1024
"""pullThresholdSizeForQueue."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Whether the oldest messages are read before they are deleted; seconds from now."""

    margin_seconds: float
    """fileReservedTime less the age of the oldest message and the whole drain; positive is safe. May be infinite."""
    deletion_reaches_backlog_seconds: float
    """When the oldest message that waits now would be deleted."""
    loss_begins_seconds: float | None
    """When deletion overtakes the drain; None where it never does."""
    lost_messages: float


def retention(backlog: float, oldest_seconds: float, reserved_seconds: float, left: Curve, seconds: float) -> Retention:
    """The guard for a *backlog* that came in evenly over *oldest_seconds* and drains along *left* within *seconds*.

    *left* is the backlog over time; a backlog that does not drain has one point. Deletion by a full disk comes earlier.
    """
    starts = max(0.0, reserved_seconds - oldest_seconds)
    times = sorted({0.0, starts, reserved_seconds, *(at for at, _ in left)})
    over = tuple(
        (at, _deleted(backlog, oldest_seconds, reserved_seconds, at) - (backlog - _left(left, at)))
        for at in times
        if at <= reserved_seconds
    )
    return Retention(
        reserved_seconds - oldest_seconds - seconds, starts, _overtaken(over), max(0.0, *(lost for _, lost in over))
    )


def heap_bytes_per_instance(queues: int, instances: int, message_bytes: float) -> float:
    """Most that the caches of one process's queues can hold while it lags."""
    return -(-queues // instances) * min(CACHED_MESSAGES * message_bytes, CACHED_BYTES)


def pull_messages(batch: int, message_bytes: float, on_disk: bool) -> int:
    """What one pull brings at most: pullBatchSize, cut by the broker's limits for memory or disk."""
    return min(batch, disk_pull_messages(message_bytes) if on_disk else PULL_BATCH_MESSAGES)


def _deleted(backlog: float, oldest: float, reserved: float, at: float) -> float:
    """Messages of the backlog that are older than fileReservedTime then."""
    aged = min(max(0.0, at + oldest - reserved), oldest)
    return backlog * aged / oldest if oldest else 0.0


def _left(left: Curve, at: float) -> float:
    for (since, value), (until, then) in pairwise(left):
        if since <= at <= until:
            return value + (then - value) * (at - since) / (until - since) if until > since else then
    return left[-1][1]


def _overtaken(over: Curve) -> float | None:
    """When deleted less drained first becomes positive."""
    before = over[0]
    for at, lost in over:
        if lost > 0:
            since, was = before
            return since if was >= 0 else since + (at - since) * -was / (lost - was)
        before = (at, lost)
    return None
