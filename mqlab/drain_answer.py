"""From a request and the material to forecast and plan; says what was assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mqlab import drain_request as usual
from mqlab.drain_request import Assumptions, Request, check
from mqlab.draining_owners import Speed, dealt, message_bytes, reserved_seconds, speed
from mqlab.draining_state import NoBacklogError, State, state
from mqlab.facts import Facts
from mqlab.models.consuming import Consumer
from mqlab.models.drain_plan import plan
from mqlab.models.drain_terms import Backlog, Group, Plan, Store
from mqlab.models.draining import Forecast, Queue, forecast
from mqlab.models.falling import Falling, drained_level
from mqlab.quantities import BadQuantityError
from mqlab.units import duration

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
    batch = request.batch or told.batch_messages or usual.BATCH_MESSAGES
    request = replace(request, response_time=response, batch=batch, orderly=request.orderly or told.orderly)
    if response is None and (request.capacity is not None or known is None or known.fall is None):
        raise BadQuantityError("--response-time is missing: what the listener takes for one message, such as 20ms.")
    store, planned = _plan(request, queues, facts, assumed)
    return Answer(
        known.group if known else request.group,
        known.at if known else None,
        tuple(queues),
        known.points if known else (),
        known.fall if known else None,
        _forecast(request, queues, told, known, assumed),
        store,
        planned,
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
    threads = assumed.of(given, usual.THREADS, f"{usual.THREADS} threads in each instance (the client's default)")
    owners = sorted({q.owner for q in queues if q.owner})
    batch = request.batch or usual.BATCH_MESSAGES
    consumers = [
        Consumer(name, int(threads), request.response_time, request.orderly, batch, request.pull_time)
        for name in owners
    ]
    return forecast(queues, consumers, drained_level(known.points) if known else 0.0)


def _plan(
    request: Request, queues: Sequence[Queue], facts: Facts | None, assumed: Assumptions
) -> tuple[Store | None, Plan | None]:
    if request.capacity is None or request.response_time is None:
        return None, None
    store = Store(
        request.capacity,
        assumed.of(request.load, 0.0, "the store has no other load"),
        assumed.of(request.reserve, usual.RESERVE_SHARE, f"reserve {usual.RESERVE_SHARE:g} of the capacity"),
        assumed.of(request.writes_per_message, 1.0, "one write per message"),
        request.response_time,
    )
    return store, plan(_backlog(request, queues, facts, assumed), store, _group(request, queues, facts, assumed))


def _backlog(request: Request, queues: Sequence[Queue], facts: Facts | None, assumed: Assumptions) -> Backlog:
    ages = [q.backlog / q.inflow_per_second for q in queues if q.inflow_per_second > 0]
    oldest = request.oldest
    if oldest is None and ages:
        oldest = assumed.of(None, max(ages), f"the oldest message is {duration(max(ages))} old (lag over inflow)")
    size = request.message_size if request.message_size is not None else message_bytes(facts)
    return Backlog(
        sum(q.backlog for q in queues),
        sum(q.inflow_per_second for q in queues),
        len(queues),
        assumed.of(size, usual.MESSAGE_BYTES, "a message has 1 kB"),
        oldest,
    )


def _group(request: Request, queues: Sequence[Queue], facts: Facts | None, assumed: Assumptions) -> Group:
    held = len({q.owner for q in queues if q.owner})
    retention = request.retention if request.retention is not None else reserved_seconds(facts)
    return Group(
        request.instances or held,
        request.batch or usual.BATCH_MESSAGES,
        assumed.of(request.pull_time, usual.PULL_SECONDS, "a pull takes 5 ms"),
        request.orderly,
        assumed.of(retention, usual.RETENTION_SECONDS, "messages are kept for 48 h"),
        request.step or usual.STEP_SECONDS,
    )
