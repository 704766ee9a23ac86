"""Forecast and plan of the drain of a RocketMQ group's backlog; every quantity in the unit that its name carries.

Only the process that holds a lagging queue can drain it. New messages of its queues take their part of its capacity
first; the rest drains: backlog ÷ (capacity − inflow), owner by owner, until the slowest is through. Time starts at the
complete rebalance; what restart and rebalance take before that is a figure of its own.

The plan keeps to the budget of the store that the consumers write to: (1 − reserve)·capacity − load − inflow·writes per
message. It must not break retention (``DefaultMessageStore.CleanCommitLogService`` deletes what is older than
fileReservedTime, read or not) nor the heap (``DefaultMQPushConsumerImpl.pullMessage`` holds 1000 messages or 100 MiB of
each queue in memory).

A push consumer works off with one pool of threads for all its queues (``ConsumeMessageConcurrentlyService``), or with
one thread at a time per queue (``ConsumeMessageOrderlyService``). Each queue has one pull request under way
(``PullMessageService``), so it gives at most one batch per round trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, floor, inf, isinf

from mqlab.units import Interval, duration
from mqlab.words import Text, room

say = room("drain")

_AFTER = 600.0
"""Seconds for which a curve that never ends is drawn beyond its last bend."""
_NOTHING = 1e-6
"""Messages, or messages a second, that are what floating point leaves of none."""

Curve = tuple[tuple[float, float], ...]
"""(seconds, messages), straight lines between the points."""


NEVER = Interval(inf, inf, inf)

BATCH_MESSAGES = 32
"""pullBatchSize of DefaultMQPushConsumer."""
DISK_PULL_MESSAGES = 8
"""maxTransferCountOnMessageInDisk."""
DISK_PULL_BYTES = 65_536
"""maxTransferBytesOnMessageInDisk."""
CACHED_MESSAGES = 1_000
"""pullThresholdForQueue."""
CACHED_BYTES = 100 * 1024 * 1024
"""pullThresholdSizeForQueue."""
RESERVE_SHARE = 0.3
"""Of the capacity of the store: its other work must not feel the drain. Judgement, no default behind it; ``--reserve``
sets another."""
RETENTION_SECONDS = 172_800.0
"""fileReservedTime of the broker.conf that is shipped; BrokerConfig itself says 72 h."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """One process of a group."""

    name: str
    threads: int
    response_seconds: float
    """What the listener takes for one message."""
    orderly: bool = False
    pull_messages: int = BATCH_MESSAGES
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


def shared(capacity: float, demands: Sequence[float]) -> tuple[float, ...]:
    """*capacity* dealt to *demands*: who wants less than an even share gets all of it, the others share the rest."""
    given = [0.0] * len(demands)
    left = capacity
    by_demand = sorted(range(len(demands)), key=lambda place: demands[place])
    for served, place in enumerate(by_demand):
        given[place] = min(demands[place], left / (len(demands) - served))
        left -= given[place]
    return tuple(given)


@dataclass(frozen=True, slots=True)
class Course:
    """Backlog over time; after the last point it goes on with this slope, messages per second."""

    points: Curve
    slope: float

    def at(self, seconds: float) -> float:
        """Messages that wait then."""
        before = max(place for place, (when, _) in enumerate(self.points) if when <= seconds)
        when, value = self.points[before]
        if before + 1 == len(self.points):
            return value + self.slope * (seconds - when)
        until, then = self.points[before + 1]
        return value + (then - value) * (seconds - when) / (until - when)

    def reached(self, healthy: float) -> float:
        """Seconds until the backlog is at the healthy level for good; infinite where it never is."""
        if self.slope > 0 or self.points[-1][1] > healthy + _NOTHING:
            return inf
        above = [place for place, (_, value) in enumerate(self.points) if value > healthy + _NOTHING]
        if not above:
            return 0.0
        (at, value), (until, then) = self.points[above[-1]], self.points[above[-1] + 1]
        return at + (until - at) * (value - healthy) / (value - then)

    def drawn(self, seconds: float) -> Curve:
        """The points that matter up to then; some way beyond the last bend where *seconds* is infinite."""
        last = self.points[-1][0]
        end = last + _AFTER if isinf(seconds) else seconds
        return self.points if end <= last else (*self.points, (end, self.at(end)))


def course(capacity: float, a_queue: float, backlog: Sequence[float], inflow: Sequence[float]) -> Course:
    """What becomes of the queues of one process; rates in messages per second.

    *a_queue* is the most that one queue can be served with. A queue without backlog asks for its inflow only.
    """
    waiting = [float(b) for b in backlog]
    points, now = [(0.0, sum(waiting))], 0.0
    while True:
        demands = [a_queue if b > _NOTHING else min(a_queue, i) for b, i in zip(waiting, inflow, strict=True)]
        slopes = [i - s for i, s in zip(inflow, shared(capacity, demands), strict=True)]
        ends = [b / -s for b, s in zip(waiting, slopes, strict=True) if b > _NOTHING and s < -_NOTHING]
        if not ends:
            return Course(tuple(points), sum(s for s in slopes if abs(s) > _NOTHING))
        step = min(ends)
        moved = [max(0.0, b + s * step) for b, s in zip(waiting, slopes, strict=True)]
        waiting = [0.0 if b < _NOTHING else b for b in moved]
        now += step
        points.append((now, sum(waiting)))


def summed(courses: Sequence[Course]) -> Course:
    """All backlogs together."""
    times = sorted({at for one in courses for at, _ in one.points})
    points = tuple((at, sum(one.at(at) for one in courses)) for at in times)
    return Course(points, sum(one.slope for one in courses))


def bounded(messages: Interval) -> Text:
    """A number of messages, and between which ones it lies where that is not certain."""
    return say("bounded", messages=Interval(round(messages.low), round(messages.likely), round(messages.high)))


def lasting(seconds: Interval) -> Text:
    """How long it takes and within which bounds, ``never`` where it has no end."""
    likely, low, high = (None if isinf(one) else one for one in (seconds.likely, seconds.low, seconds.high))
    apart = duration(seconds.low) != duration(seconds.high)
    return say("lasting", seconds=likely, low=low, high=high, apart=apart)


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
    starts, drained = max(0.0, reserved_seconds - oldest_seconds), Course(left, 0.0)
    times = sorted({0.0, starts, reserved_seconds, *(at for at, _ in left)})
    over = tuple(
        (at, _deleted(backlog, oldest_seconds, reserved_seconds, at) - (backlog - drained.at(at)))
        for at in times
        if at <= reserved_seconds
    )
    return Retention(
        reserved_seconds - oldest_seconds - seconds, starts, _overtaken(over), max(0.0, *(lost for _, lost in over))
    )


def heap_bytes_per_instance(queues: int, instances: int, message_bytes: float) -> float:
    """Most that the caches of one process's queues can hold while it lags."""
    return -(-queues // instances) * min(CACHED_MESSAGES * message_bytes, CACHED_BYTES)


def _deleted(backlog: float, oldest: float, reserved: float, at: float) -> float:
    """Messages of the backlog that are older than fileReservedTime then."""
    aged = min(max(0.0, at + oldest - reserved), oldest)
    return backlog * aged / oldest if oldest else 0.0


def _overtaken(over: Curve) -> float | None:
    """When deleted less drained first becomes positive."""
    before = over[0]
    for at, lost in over:
        if lost > 0:
            since, was = before
            return since if was >= 0 else since + (at - since) * -was / (lost - was)
        before = (at, lost)
    return None


@dataclass(frozen=True, slots=True)
class Drain:
    """What waits, far behind what the broker still has in memory, and who reads it."""

    messages: float
    inflow_per_second: float
    queues: int
    instances: int
    message_bytes: float = 1_000.0
    """Where nothing tells the size."""
    oldest_seconds: float | None = None
    """Age of the oldest message that waits."""
    batch_messages: int = BATCH_MESSAGES
    pull_seconds: float = 0.005
    """Round trip of one pull; where nothing tells it one within a data centre, disk included."""
    orderly: bool = False
    reserved_seconds: float = RETENTION_SECONDS
    """fileReservedTime of the broker."""
    step_seconds: float = 300.0
    """How long each step of the ramp is watched: five samples of metrics that are scraped each minute."""


@dataclass(frozen=True, slots=True)
class Store:
    """What the consumers write to."""

    capacity_writes_per_second: float
    load_writes_per_second: float
    """Normal load without this group."""
    reserve_share: float = RESERVE_SHARE
    writes_per_message: float = 1.0
    response_seconds: float = 0.02
    """What the listener takes for one message at that load."""


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

    reason: Text
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


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue at the moment of the complete rebalance; no owner means that nobody holds it."""

    name: str
    backlog: float
    inflow_per_second: float
    owner: str | None


CAPACITY_ERROR, INFLOW_ERROR = 0.15, 0.05
"""Shares by which the capacity and the inflow of a forecast may be off either way. Judgement, no default behind them: a
capacity is taken from other minutes than those of the drain, the inflow from minutes just before it."""
_BOUNDS = (
    (1 + CAPACITY_ERROR, 1 / (1 + INFLOW_ERROR)),
    (1.0, 1.0),
    (1 / (1 + CAPACITY_ERROR), 1 + INFLOW_ERROR),
)
"""Factors of capacity and inflow at best, as expected and at worst."""


@dataclass(frozen=True, slots=True)
class Owner:
    """What one process has before it; seconds from the complete rebalance to its part of the healthy level."""

    name: str | None
    queues: tuple[str, ...]
    backlog: float
    inflow_per_second: float
    capacity_per_second: float
    seconds: Interval


@dataclass(frozen=True, slots=True)
class Forecast:
    """The drain as it will go if nothing changes."""

    seconds: Interval
    """From the complete rebalance until the backlog is at the healthy level."""
    start_seconds: Interval
    """What restart and rebalance take before; not part of ``seconds``."""
    owners: tuple[Owner, ...]
    curve: Curve
    fastest: Curve
    slowest: Curve
    never: Text | None
    """Why it does not end; None where it does."""


def forecast(
    queues: Sequence[Queue],
    consumers: Sequence[Consumer],
    healthy: float = 0.0,
    start: float = 0.0,
) -> Forecast:
    """The drain of *queues*, at least one, by those *consumers* that hold them, down to *healthy* messages in all.

    *start* are the seconds that restart and rebalance take before.
    """
    known = {consumer.name: consumer for consumer in consumers}
    held: dict[str | None, list[Queue]] = {}
    for queue in queues:
        held.setdefault(queue.owner if queue.owner in known else None, []).append(queue)
    owners, courses = [], []
    for name in sorted(held, key=lambda name: (name is None, name or "")):
        consumer = None if name is None else known[name]
        three = _courses(consumer, held[name])
        owners.append(_owner(consumer, held[name], three, healthy * len(held[name]) / len(queues)))
        courses.append(three)
    fastest, likely, slowest = (summed([three[n] for three in courses]) for n in range(3))
    seconds = Interval(fastest.reached(healthy), likely.reached(healthy), slowest.reached(healthy))
    return Forecast(
        seconds,
        Interval(start, start, start),
        tuple(owners),
        likely.drawn(seconds.likely),
        fastest.drawn(seconds.low),
        slowest.drawn(seconds.high),
        _why_never(owners) if isinf(seconds.likely) else None,
    )


def _courses(consumer: Consumer | None, queues: Sequence[Queue]) -> tuple[Course, ...]:
    """What one process does at best, as expected and at worst."""
    capacity = consumer.messages_per_second if consumer else 0.0
    a_queue = consumer.queue_messages_per_second if consumer else 0.0
    waiting = [queue.backlog for queue in queues]
    return tuple(
        course(capacity * pace, a_queue * pace, waiting, [queue.inflow_per_second * more for queue in queues])
        for pace, more in _BOUNDS
    )


def _owner(consumer: Consumer | None, queues: Sequence[Queue], three: Sequence[Course], healthy: float) -> Owner:
    fastest, likely, slowest = (one.reached(healthy) for one in three)
    bounded = consumer.queue_messages_per_second * len(queues) if consumer else 0.0
    return Owner(
        consumer.name if consumer else None,
        tuple(q.name for q in queues),
        sum(q.backlog for q in queues),
        sum(q.inflow_per_second for q in queues),
        min(consumer.messages_per_second, bounded) if consumer else 0.0,
        Interval(fastest, likely, slowest),
    )


def _why_never(owners: Sequence[Owner]) -> Text:
    stuck = next(owner for owner in owners if isinf(owner.seconds.likely))
    if stuck.name is None:
        return say("no-consumer", queues=len(stuck.queues))
    return say("too-slow", owner=stuck.name, capacity=stuck.capacity_per_second, inflow=stuck.inflow_per_second)


RAMP = (0.25, 0.5, 0.75, 1.0)
"""Shares of the drain rate, one step after the other; a breach halves the rate."""
_ROUNDING = 1e-9
"""What floating point leaves of a whole number of threads or milliseconds."""


def plan(drain: Drain, store: Store) -> Plan:
    """The plan; one with a refusal where nothing is left for the backlog."""
    inflow = drain.inflow_per_second
    free = (1 - store.reserve_share) * store.capacity_writes_per_second - store.load_writes_per_second
    budget = free - inflow * store.writes_per_message
    a_queue, limit = _queue_limit(drain, store)
    wanted = inflow + budget / store.writes_per_message
    total = min(wanted, a_queue * drain.queues)
    heap = heap_bytes_per_instance(drain.queues, drain.instances, drain.message_bytes)
    if total <= inflow:
        guard = _guard(drain, ((0.0, drain.messages),), inf)
        return Plan(budget, guard, heap, a_queue, _refusal(drain, store, budget, a_queue))
    levers = _levers(drain, store, total)
    held = levers.threads_per_instance * levers.instances / store.response_seconds or total
    steps = _ramp(drain, store, levers, held - inflow)
    rates = [held * pace - inflow * more for pace, more in _BOUNDS]
    ramps = [_ramp(drain, store, levers, rate) if rate > 0 else None for rate in rates]
    seconds = Interval(*(inf if ramp is None else sum(step.seconds for step in ramp) for ramp in ramps))
    ends = accumulate(step.seconds for step in steps)
    curve = ((0.0, drain.messages), *zip(ends, (step.left for step in steps), strict=True))
    guard = _guard(drain, curve, seconds.likely)
    bounded_by = "store" if wanted <= a_queue * drain.queues else limit
    return Plan(budget, guard, heap, a_queue, None, bounded_by, held - inflow, levers, steps, seconds, curve)


def _queue_limit(drain: Drain, store: Store) -> tuple[float, str]:
    """Most messages per second that one queue gives, and why: a pull from disk brings less than a batch as a rule."""
    from_disk = max(1, min(DISK_PULL_MESSAGES, int(DISK_PULL_BYTES / max(1.0, drain.message_bytes))))
    pulls = min(drain.batch_messages, from_disk) / drain.pull_seconds
    in_turn = 1 / store.response_seconds if drain.orderly else inf
    return (in_turn, "order") if in_turn < pulls else (pulls, "pulls")


def _levers(drain: Drain, store: Store, total: float) -> Levers:
    threads = floor(total * store.response_seconds + _ROUNDING)
    instances = max(1, min(drain.instances, drain.queues, threads))
    each = threads // instances
    if each * instances / store.response_seconds <= drain.inflow_per_second:
        threads = each = 0
    return Levers(
        total,
        floor((total - drain.inflow_per_second) * store.response_seconds + _ROUNDING),
        threads,
        instances,
        each,
        ceil(1000 * drain.batch_messages * drain.queues / total - _ROUNDING),
    )


def _ramp(drain: Drain, store: Store, levers: Levers, drained: float) -> tuple[Step, ...]:
    """Steps up to the drain rate; the last one lasts until the backlog is gone."""
    steps, left = [], drain.messages
    for share in RAMP:
        rate = share * drained
        seconds = left / rate if share == RAMP[-1] else min(drain.step_seconds, left / rate)
        left = max(0.0, left - rate * seconds)
        total = drain.inflow_per_second + rate
        threads = floor(total * store.response_seconds / levers.instances + _ROUNDING)
        steps.append(Step(share, rate, total, threads, seconds, left))
        if left <= 0:
            break
    return tuple(steps)


def _guard(drain: Drain, left: Curve, seconds: float) -> Retention | None:
    if drain.oldest_seconds is None:
        return None
    return retention(drain.messages, drain.oldest_seconds, drain.reserved_seconds, left, seconds)


def _refusal(drain: Drain, store: Store, budget: float, a_queue: float) -> Refusal:
    taken = store.load_writes_per_second + drain.inflow_per_second * store.writes_per_message
    if budget <= 0:
        reason = say("no-budget", free=(1 - store.reserve_share) * store.capacity_writes_per_second, taken=taken)
    else:
        reason = say("no-pulls", most=a_queue * drain.queues, inflow=drain.inflow_per_second)
    return Refusal(reason, taken / (1 - store.reserve_share), drain.messages)
