"""State of a producer at work: queues per partition, connections, the buffer pool, and what has happened so far.

Times are seconds since the first moment of the calculation, sizes bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from mqlab.models.batching import Batch, Producer, Record, spread
from mqlab.models.clients import has_delivery_timeout

BASELINE_HEAP = 50_000_000
"""Heap in bytes that a small application uses beside the leak (53 MB measured before the first split)."""

Queue = deque[Batch]
Request = list[tuple[Queue, Batch]]


@dataclass(frozen=True, slots=True)
class Link:
    """The way to the brokers. Requests of one connection are served one after the other."""

    bytes_per_second: float
    """Of one connection: a shared network card is one connection with the card's rate."""
    rtt_s: float = 0.0
    """Round trip and the broker's own time."""
    partitions: int = 1
    connections: int = 1
    """Brokers that lead the partitions."""


@dataclass(slots=True)
class Lane:
    """One connection and the partitions it serves."""

    queues: deque[Queue] = field(default_factory=deque)
    free_at: float = 0.0
    wake: float = 0.0
    written_next: Request = field(default_factory=list)
    """The request behind the one that waits for its answer."""


@dataclass(slots=True)
class Work:
    """Everything that changes while the producer runs."""

    producer: Producer
    link: Link
    leak_per_split: float
    lanes: list[Lane]
    queues: list[Queue]
    arrivals: deque[tuple[Record, int]]
    blocked_since: float | None = None
    pool_used: int = 0
    leaked: float = 0.0
    leak_peak: float = 0.0
    leaks: list[tuple[float, float]] = field(default_factory=list)
    """(when the delivery timeout frees it, bytes), a heap."""
    bytes_out: int = 0
    bytes_cut: int = 0
    """Part of ``bytes_out`` that a closed connection may have kept from leaving."""
    rounds: int = 0
    delivered: int = 0
    failed: int = 0
    expired: bool = False
    timed_out: bool = False


def start(producer: Producer, link: Link, records: Sequence[Record], leak_per_split: float) -> Work:
    """Set up queues and connections; nothing has been sent yet."""
    queues = [Queue() for _ in range(link.partitions)]
    lanes = [Lane() for _ in range(min(link.connections, link.partitions))]
    for index, queue in enumerate(queues):
        lanes[index % len(lanes)].queues.append(queue)
    arrivals = deque(spread(producer, sorted(records), link.partitions))
    return Work(producer, link, leak_per_split, lanes, queues, arrivals)


def deadline(producer: Producer, batch: Batch) -> float:
    """When a batch is given up: delivery.timeout.ms after its first record.

    Before 2.1 it is request.timeout.ms, and only for a batch that was never sent: a loop has no end.
    """
    if has_delivery_timeout(producer.version):
        return batch.created + producer.delivery_timeout_ms / 1000
    return inf if batch.resent or batch.attempts else batch.created + producer.request_timeout_ms / 1000


def pooled(producer: Producer, batch: Batch) -> int:
    """Bytes of buffer.memory that a batch holds; a split batch lies outside the pool."""
    return 0 if batch.resent else max(producer.batch_size, batch.sizes[0])


def pending(work: Work) -> int:
    """Records that were neither delivered nor failed: not sent yet, waiting, or on the way."""
    waiting = sum(len(batch.sizes) for queue in work.queues for batch in queue)
    written = sum(len(batch.sizes) for lane in work.lanes for _, batch in lane.written_next)
    return len(work.arrivals) + waiting + written
