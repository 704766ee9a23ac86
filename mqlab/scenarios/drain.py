"""From a request and the material to forecast and plan of a drain.

What the request leaves open is taken from the material, else assumed and noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite

from mqlab.errors import MqlabError
from mqlab.facts import Facts
from mqlab.models.draining import (
    BATCH_MESSAGES,
    RESERVE_SHARE,
    RETENTION_SECONDS,
    Consumer,
    Drain,
    Forecast,
    Plan,
    Queue,
    Store,
    forecast,
    lasting,
    plan,
)
from mqlab.models.falling import Falling, drained_level
from mqlab.quantities import BadQuantityError
from mqlab.rocketmq.members import reserved_seconds
from mqlab.scenarios.drain_state import NoBacklogError, Speed, State, Waiting, dealt, message_bytes, speed, state
from mqlab.units import Interval
from mqlab.words import Text, room

say = room("drain")

THREADS = 20
"""consumeThreadMin of DefaultMQPushConsumer."""


@dataclass(frozen=True, slots=True)
class Request:
    """Options of ``mqlab drain``; None where they were not given. Rates per second, times in seconds."""

    group: str | None = None
    backlog: float | None = None
    inflow: float | None = None
    queues: int | None = None
    capacity: float | None = None
    load: float | None = None
    reserve: float | None = None
    writes_per_message: float | None = None
    response_time: float | None = None
    threads: int | None = None
    instances: int | None = None
    retention: float | None = None
    oldest: float | None = None
    message_size: float | None = None
    batch: int | None = None
    pull_time: float | None = None
    step: float | None = None
    restart: float | None = None
    orderly: bool = False


@dataclass(slots=True)
class Assumptions:
    """What was taken without being told, in the order in which it was needed."""

    told: list[Text] = field(default_factory=list)

    def of(self, given: float | None, default: float, sentence: Text) -> float:
        """What was given; else the default, and *sentence* is noted."""
        if given is not None:
            return given
        self.told.append(sentence)
        return default


def check(request: Request) -> None:
    """Refuse values that make no sense.

    Raises:
        BadQuantityError: which option, and what it must be.
    """
    for name in ("capacity", "writes_per_message", "response_time", "threads", "instances", "queues", "batch",
                 "pull_time", "message_size", "retention", "step"):  # fmt: skip
        _must(request, name, lambda value: value > 0, "above zero")
    for name in ("backlog", "inflow", "load", "oldest", "restart"):
        _must(request, name, lambda value: value >= 0, "zero or more")
    _must(request, "reserve", lambda value: 0 <= value < 1, "a share from 0 to below 1")


def _must(request: Request, name: str, fits: Callable[[float], bool], what: str) -> None:
    value = getattr(request, name)
    if value is not None and not fits(value):
        raise BadQuantityError(f"--{name.replace('_', '-')} must be {what}, not {value:g}.")


def planned(
    request: Request, queues: Sequence[Queue], facts: Facts | None, assumed: Assumptions
) -> tuple[Store | None, Plan | None]:
    """Store and plan; both None where no capacity was given."""
    if request.capacity is None or request.response_time is None:
        return None, None
    store = Store(
        request.capacity,
        assumed.of(request.load, 0.0, say("no-load")),
        assumed.of(request.reserve, RESERVE_SHARE, say("reserved", reserve=f"{RESERVE_SHARE:g}")),
        assumed.of(request.writes_per_message, 1.0, say("one-write")),
        request.response_time,
    )
    ages = [q.backlog / q.inflow_per_second for q in queues if q.inflow_per_second > 0]
    oldest = request.oldest
    if oldest is None and ages:
        oldest = assumed.of(None, max(ages), say("oldest", age=max(ages)))
    size = request.message_size if request.message_size is not None else message_bytes(facts)
    kept = request.retention if request.retention is not None else reserved_seconds(facts)
    drain = Drain(
        sum(q.backlog for q in queues),
        sum(q.inflow_per_second for q in queues),
        len(queues),
        request.instances or len({q.owner for q in queues if q.owner}),
        assumed.of(size, 1_000.0, say("message-size")),
        oldest,
        request.batch or BATCH_MESSAGES,
        assumed.of(request.pull_time, 0.005, say("pull-time")),
        request.orderly,
        assumed.of(kept, RETENTION_SECONDS, say("kept")),
        request.step or 300.0,
    )
    return store, plan(drain, store)


NOTHING_TOLD = Speed(None, None, False, None)


@dataclass(frozen=True, slots=True)
class DrainAnswer(Waiting):
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
    assumed: tuple[Text, ...]

    @property
    def measured_seconds(self) -> Interval | None:
        """From the complete rebalance, where the fall began, until the backlog was drained; None where it was not."""
        return self.fall.seconds if self.fall is not None else None

    @property
    def outlook(self) -> Text | None:
        """How long it takes if nothing changes, or why it does not end; None without a forecast."""
        if self.forecast is None:
            return None
        return say("outlook", never=self.forecast.never, lasting=lasting(self.forecast.seconds))


def answer(request: Request, facts: Facts | None = None) -> DrainAnswer:
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
        raise BadQuantityError("--response-time is missing: give the listener's time per message, such as 20ms.")
    store, made = planned(request, queues, facts, assumed)
    return DrainAnswer(
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
        assumed.told.append(say("one-snapshot"))
    if not known.owners_known:
        assumed.told.append(say("dealt"))
    pairs = zip(known.queues, waiting, coming, strict=True)
    return [replace(q, backlog=b, inflow_per_second=i) for q, b, i in pairs]


def _even(request: Request, known: State | None, assumed: Assumptions) -> Sequence[Queue]:
    backlog = request.backlog if request.backlog is not None or known is None else known.backlog
    if backlog is None or request.queues is None:
        raise BadQuantityError("The backlog is unknown: give --backlog and --queues, or a PATH with the material.")
    told = known.inflow_per_second if known else None
    inflow = assumed.of(request.inflow if request.inflow is not None else told, 0.0, say("no-inflow"))
    keys = [("queue", str(n)) for n in range(request.queues)]
    held = dealt(keys, request.instances or 1)
    assumed.told.append(say("evenly"))
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
    threads = assumed.of(given, THREADS, say("default-threads", threads=THREADS))
    batch = request.batch or BATCH_MESSAGES
    consumers = [
        Consumer(name, int(threads), request.response_time, request.orderly, batch, request.pull_time)
        for name in sorted({q.owner for q in queues if q.owner})
    ]
    level = drained_level(known.points) if known else 0.0
    return forecast(queues, consumers, level, request.restart or 0.0)


def foreseen(facts: Facts, group: str) -> DrainAnswer | None:
    """The drain of *group* by the material alone; None where that does not tell what waits or how fast it is read."""
    try:
        return answer(Request(group=group), facts)
    except MqlabError:
        return None


def measures(found: DrainAnswer | None) -> Mapping[str, float]:
    """``drain_seconds`` as it was measured and as it is predicted, both from the complete rebalance."""
    told: dict[str, float] = {}
    if found is not None and found.measured_seconds is not None:
        told |= found.measured_seconds.measures("drain_seconds")
    if found is not None and found.forecast is not None and isfinite(found.forecast.seconds.likely):
        told |= found.forecast.seconds.measures("predicted_drain_seconds")
    return told


def remark(found: DrainAnswer | None) -> Text | None:
    """The prediction with its bounds, or why it does not end; None without one."""
    if found is None or found.outlook is None:
        return None
    took = None if found.forecast and found.forecast.never else found.measured_seconds
    return found.outlook if took is None else say("remark", outlook=found.outlook, measured=took)
