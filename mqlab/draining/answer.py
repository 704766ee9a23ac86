"""From a request and the material to forecast and plan; says what was assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mqlab.draining.owners import Speed, dealt, speed
from mqlab.draining.planned import planned
from mqlab.draining.request import BATCH_MESSAGES, THREADS, Assumptions, Request, check
from mqlab.draining.state import NoBacklogError, State, state
from mqlab.facts import Facts
from mqlab.models.consuming import Consumer
from mqlab.models.courses import Interval
from mqlab.models.drain_terms import Plan, Store
from mqlab.models.draining import Forecast, Queue, forecast
from mqlab.models.falling import Falling, drained_level
from mqlab.quantities import BadQuantityError

NOTHING_TOLD = Speed(None, None, False, None)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the planner says."""

    group: str | None
    at: float | None
    """Moment of the state; None without material."""
    queues: tuple[Queue, ...]
    points: tuple[tuple[float, float], ...]
    fall: Falling | None
    forecast: Forecast | None
    """None where the response time is not known."""
    store: Store | None
    plan: Plan | None
    """None where no capacity was given."""
    batch_messages: int
    assumed: tuple[str, ...]

    @property
    def backlog(self) -> float:
        """Messages that wait."""
        return sum(queue.backlog for queue in self.queues)

    @property
    def inflow_per_second(self) -> float:
        """Messages that come in."""
        return sum(queue.inflow_per_second for queue in self.queues)

    @property
    def measured_seconds(self) -> float | None:
        """From the moment of the state until the backlog was drained, where the material holds that."""
        if self.fall is None or self.fall.reached_at is None or self.at is None:
            return None
        return self.fall.reached_at - self.at

    @property
    def between_snapshots_seconds(self) -> float:
        """Longest time without a snapshot during the fall: how exactly it was measured."""
        if self.fall is None:
            return 0.0
        begin, end = self.fall.began_at, self.fall.reached_at or self.fall.last_at
        steps = [(a, b) for (a, _), (b, _) in pairwise(self.points) if b > begin and a < end]
        return max((b - a for a, b in steps), default=0.0)


def answer(request: Request, facts: Facts | None = None) -> Answer:
    """Forecast and plan, from *facts* where the request leaves something open.

    Raises:
        BadQuantityError: an option makes no sense, or something is neither given nor in the material.
        NoBacklogError: the material does not tell what waits, and the request does not either.
    """
    check(request)
    assumed = Assumptions()
    known = _state(request, facts)
    queues = _queues(request, known, assumed)
    owners = sorted({q.owner for q in queues if q.owner}) if known and known.owners_known else []
    told = speed(facts, known.group, owners) if facts is not None and known is not None else NOTHING_TOLD
    response = request.response_time or told.response_seconds
    batch = request.batch or told.batch_messages or BATCH_MESSAGES
    request = replace(request, response_time=response, batch=batch, orderly=request.orderly or told.orderly)
    if response is None and (request.capacity is not None or known is None or known.fall is None):
        raise BadQuantityError("--response-time is missing: what the listener takes for one message, such as 20ms.")
    store, made = planned(request, queues, facts, assumed)
    return Answer(
        known.group if known else request.group,
        known.at if known else None,
        tuple(queues),
        known.points if known else (),
        known.fall if known else None,
        _forecast(request, queues, told, known, assumed),
        store,
        made,
        batch,
        tuple(assumed.told),
    )


def _state(request: Request, facts: Facts | None) -> State | None:
    if facts is None:
        return None
    try:
        return state(facts, request.group, request.instances)
    except NoBacklogError:
        if request.backlog is None or request.queues is None:
            raise
        return None


def _queues(request: Request, known: State | None, assumed: Assumptions) -> Sequence[Queue]:
    """The queues of the material, with what the request says of them; else even ones."""
    if known is None or request.queues is not None:
        return _even(request, known, assumed)
    waiting = _scaled([q.backlog for q in known.queues], request.backlog)
    coming = _scaled([q.inflow_per_second for q in known.queues], request.inflow)
    if not known.inflow_known and request.inflow is None:
        assumed.told.append("no inflow: there is only one snapshot")
    if not known.owners_known:
        assumed.told.append("queues are dealt in blocks among the instances (AVG), all ids unique")
    pairs = zip(known.queues, waiting, coming, strict=True)
    return [replace(q, backlog=b, inflow_per_second=i) for q, b, i in pairs]


def _even(request: Request, known: State | None, assumed: Assumptions) -> Sequence[Queue]:
    backlog = request.backlog if request.backlog is not None or known is None else known.backlog
    if backlog is None or request.queues is None:
        raise BadQuantityError("What waits is not known: give --backlog and --queues, or a PATH with the material.")
    told = known.inflow_per_second if known else None
    inflow = assumed.of(request.inflow if request.inflow is not None else told, 0.0, "no inflow")
    keys = [("queue", str(n)) for n in range(request.queues)]
    held = dealt(keys, request.instances or 1)
    assumed.told.append("backlog and inflow are spread evenly over the queues")
    return [Queue(number, backlog / len(keys), inflow / len(keys), held[_, number]) for _, number in keys]


def _scaled(parts: Sequence[float], total: float | None) -> Sequence[float]:
    """The parts with another sum, in the same proportions."""
    if total is None:
        return parts
    before = sum(parts)
    return [part * total / before for part in parts] if before else [total / len(parts)] * len(parts)


def _forecast(
    request: Request, queues: Sequence[Queue], told: Speed, known: State | None, assumed: Assumptions
) -> Forecast | None:
    """The drain as it goes if nothing changes."""
    if request.response_time is None:
        return None
    given = request.threads if request.threads is not None else told.threads
    threads = assumed.of(given, THREADS, f"{THREADS} threads in each instance (the client's default)")
    owners = sorted({q.owner for q in queues if q.owner})
    batch = request.batch or BATCH_MESSAGES
    consumers = [
        Consumer(name, int(threads), request.response_time, request.orderly, batch, request.pull_time)
        for name in owners
    ]
    restart = request.restart or 0.0
    level = drained_level(known.points) if known else 0.0
    return forecast(queues, consumers, level, start_seconds=Interval(restart, restart, restart))
