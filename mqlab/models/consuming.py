"""What one RocketMQ push consumer can take, and how its threads are shared by the queues that it holds.

Concurrent (``ConsumeMessageConcurrentlyService``): one pool of threads for all queues of the process.
Orderly (``ConsumeMessageOrderlyService``): one thread at a time per queue.
Each queue has one pull request under way (``PullMessageService``), so it gives at most one batch per round trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

PULL_BATCH_MESSAGES = 32
"""pullBatchSize of DefaultMQPushConsumer, and maxTransferCountOnMessageInMemory of MessageStoreConfig."""
DISK_PULL_MESSAGES = 8
"""maxTransferCountOnMessageInDisk."""
DISK_PULL_BYTES = 65_536
"""maxTransferBytesOnMessageInDisk."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """One process of a group."""

    name: str
    threads: int
    response_seconds: float
    """What the listener takes for one message."""
    orderly: bool = False
    pull_messages: int = PULL_BATCH_MESSAGES
    pull_seconds: float | None = None
    """Round trip of one pull; None where it is not known and taken as no limit."""

    @property
    def messages_per_second(self) -> float:
        """Most that all threads together can take."""
        return self.threads / self.response_seconds

    @property
    def queue_messages_per_second(self) -> float:
        """Most that one queue can be served with."""
        pulled = self.pull_messages / self.pull_seconds if self.pull_seconds else inf
        return min(pulled, 1 / self.response_seconds if self.orderly else inf)


def disk_pull_messages(message_bytes: float) -> int:
    """Messages that one pull brings where the broker must read them from disk; never less than one."""
    return max(1, min(DISK_PULL_MESSAGES, int(DISK_PULL_BYTES / max(1.0, message_bytes))))


def shared(capacity: float, demands: Sequence[float]) -> tuple[float, ...]:
    """*capacity* dealt to *demands*: who wants less than an even share gets all of it, the others share the rest."""
    given = [0.0] * len(demands)
    left = capacity
    by_demand = sorted(range(len(demands)), key=lambda place: demands[place])
    for served, place in enumerate(by_demand):
        given[place] = min(demands[place], left / (len(demands) - served))
        left -= given[place]
    return tuple(given)
