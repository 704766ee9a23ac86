"""How long a backlog takes to drain once every queue has an owner again.

Only the process that holds a lagging queue can drain it. New messages of its queues take their part of its capacity
first; the rest drains: backlog ÷ (capacity − inflow), owner by owner, until the slowest is through.
Time starts at the complete rebalance; what restart and rebalance take before that is a figure of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from mqlab.models.consuming import Consumer
from mqlab.models.courses import Course, Curve, Interval, course, summed
from mqlab.units import digits

AT_ONCE = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue at the moment of the complete rebalance; no owner means that nobody holds it."""

    name: str
    backlog: float
    inflow_per_second: float
    owner: str | None


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Relative errors of what a forecast is made of: 0.1 is ten percent either way."""

    capacity_share: float = 0.15
    inflow_share: float = 0.05


USUAL = Uncertainty()


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
    never: str | None
    """Why it does not end; None where it does."""

    @property
    def seconds_with_start(self) -> Interval:
        """From the restart until the backlog is at the healthy level."""
        return self.start_seconds.plus(self.seconds)


def forecast(
    queues: Sequence[Queue],
    consumers: Sequence[Consumer],
    healthy: float = 0.0,
    uncertainty: Uncertainty = USUAL,
    start_seconds: Interval = AT_ONCE,
) -> Forecast:
    """The drain of *queues*, at least one, by those *consumers* that hold them, down to *healthy* messages in all."""
    known = {consumer.name: consumer for consumer in consumers}
    held: dict[str | None, list[Queue]] = {}
    for queue in queues:
        held.setdefault(queue.owner if queue.owner in known else None, []).append(queue)
    owners, courses = [], []
    for name in sorted(held, key=lambda name: (name is None, name or "")):
        consumer = None if name is None else known[name]
        three = _courses(consumer, held[name], uncertainty)
        owners.append(_owner(consumer, held[name], three, healthy * len(held[name]) / len(queues)))
        courses.append(three)
    fastest, likely, slowest = (summed([three[n] for three in courses]) for n in range(3))
    seconds = Interval(fastest.reached(healthy), likely.reached(healthy), slowest.reached(healthy))
    return Forecast(
        seconds,
        start_seconds,
        tuple(owners),
        likely.drawn(seconds.likely),
        fastest.drawn(seconds.low),
        slowest.drawn(seconds.high),
        _why_never(owners) if isinf(seconds.likely) else None,
    )


def _courses(consumer: Consumer | None, queues: Sequence[Queue], uncertainty: Uncertainty) -> tuple[Course, ...]:
    """What one process does at best, as expected and at worst."""
    capacity = consumer.messages_per_second if consumer else 0.0
    a_queue = consumer.queue_messages_per_second if consumer else 0.0
    pace, more = 1 + uncertainty.capacity_share, 1 + uncertainty.inflow_share
    return tuple(
        course(
            capacity * fast, a_queue * fast, [q.backlog for q in queues], [q.inflow_per_second * part for q in queues]
        )
        for fast, part in ((pace, 1 / more), (1.0, 1.0), (1 / pace, more))
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


def _why_never(owners: Sequence[Owner]) -> str:
    stuck = next(owner for owner in owners if isinf(owner.seconds.likely))
    if stuck.name is None:
        return f"no consumer holds {len(stuck.queues)} of the queues"
    rates = f"{digits(stuck.capacity_per_second)} messages/s, its queues receive {digits(stuck.inflow_per_second)}"
    return f"{stuck.name} takes at most {rates} messages/s"
