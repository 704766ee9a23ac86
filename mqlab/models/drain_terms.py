"""What a drain plan is made from and what it says; every quantity in the unit that its name carries."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.models.courses import NEVER, Curve, Interval
from mqlab.models.drain_guards import Retention


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits."""

    messages: float
    inflow_per_second: float
    queues: int
    message_bytes: float = 1_000.0
    oldest_seconds: float | None = None
    """Age of the oldest message that waits."""
    on_disk: bool = True
    """It lies further back than the broker's memory."""


@dataclass(frozen=True, slots=True)
class Store:
    """What the consumers write to."""

    capacity_writes_per_second: float
    load_writes_per_second: float
    """Normal load without this group."""
    reserve_share: float = 0.3
    writes_per_message: float = 1.0
    response_seconds: float = 0.02
    """What the listener takes for one message at that load."""


@dataclass(frozen=True, slots=True)
class Group:
    """Who drains."""

    instances: int
    batch_messages: int = 32
    """pullBatchSize."""
    pull_seconds: float = 0.005
    """Round trip of one pull."""
    orderly: bool = False
    reserved_seconds: float = 172_800.0
    """fileReservedTime of the broker."""
    step_seconds: float = 300.0
    """How long each step of the ramp is watched."""


@dataclass(frozen=True, slots=True)
class Levers:
    """Ways to hold the rate, each of them enough."""

    messages_per_second: float
    """Of all consumers together: a token bucket."""
    threads_for_backlog: int
    threads_total: int
    """For backlog and new messages; 0 where a single thread is already too fast."""
    instances: int
    """Those that run: no more than queues, and no more than threads."""
    threads_per_instance: int
    pull_interval_ms: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the ramp."""

    share: float
    drained_per_second: float
    messages_per_second: float
    threads_per_instance: int
    seconds: float
    left: float
    """Backlog at its end."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why it cannot be drained online, and what would be needed."""

    reason: str
    needed_capacity_writes_per_second: float
    """Above this there is a budget."""
    skipped_messages: float
    """What a reset of the offsets to now gives up, unless a second group reads it elsewhere."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The drain as it should be done; everything after ``refusal`` is only there without one."""

    budget_writes_per_second: float
    retention: Retention | None
    heap_bytes_per_instance: float
    queue_messages_per_second: float
    """Most that one queue gives."""
    refusal: Refusal | None = None
    bounded_by: str = "store"
    """store, pulls or order: what holds the rate."""
    drained_per_second: float = 0.0
    levers: Levers | None = None
    steps: tuple[Step, ...] = ()
    seconds: Interval = NEVER
    curve: Curve = ()
    """Backlog along the ramp, seconds from its begin."""
