"""The state of a group's backlog: what waits in which queue, what comes in, who holds it, how fast they work.

A queue keeps its last known lag until the next snapshot that tells it. Dead letters are left out: nobody drains them.
Messages waiting for a retry count; a retry queue in which nothing happens does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from mqlab.errors import MqlabError
from mqlab.facts import Facts, Position, Setting
from mqlab.kafka.groups import groups
from mqlab.models.draining import Queue
from mqlab.models.falling import Falling, falling
from mqlab.models.queue_allocation import allocate
from mqlab.rows import Assignment
from mqlab.shared.queues import OWN, Points, lag, of_groups, place
from mqlab.words import room

say = room("drain")

Key = tuple[str, str]
"""(topic, queue)"""

_THREADS = ("PROP_THREADPOOL_CORE_SIZE", "consumeThreadMin")
_RETRY = "%RETRY%"


@dataclass(frozen=True, slots=True)
class Speed:
    """What the material says of a group's processes; None where it says nothing."""

    threads: int | None
    response_seconds: float | None
    """What the listener took for one message, by the clients' own statistics."""
    orderly: bool
    batch_messages: int | None


def owners(facts: Facts, group: str, until: float) -> Mapping[Key, str]:
    """The client id that holds each queue then: by what each source and each client said last, the latest first.

    Positions of a Kafka group tell it too, for ``kafka-consumer-groups --describe`` names the owner.
    """
    described = facts.positions if group in groups(facts) else ()
    rows: tuple[Assignment | Position, ...] = (*facts.assignments, *described)
    told = [a for a in rows if a.group == group and a.client_id and (a.at or 0.0) <= until]
    by_source: dict[tuple[str, str], float] = defaultdict(float)
    by_client: dict[tuple[str, str], float] = defaultdict(float)
    for one in told:
        at = one.at or 0.0
        by_source[one.source, one.topic] = max(at, by_source[one.source, one.topic])
        by_client[one.client_id or "", one.topic] = max(at, by_client[one.client_id or "", one.topic])

    def holds(one: Assignment | Position) -> bool:
        last = (by_source[one.source, one.topic], by_client[one.client_id or "", one.topic])
        return (one.at or 0.0) >= max(last)

    current = sorted((a for a in told if holds(a)), key=lambda a: (a.at or 0.0, a.client_id or ""))
    return {(one.topic, one.queue): one.client_id or "" for one in current}


def dealt(keys: Sequence[Key], instances: int) -> Mapping[Key, str]:
    """Queues in blocks, as AllocateMessageQueueAveragely deals those of a topic among ids without duplicates."""
    names = [say("instance", number=str(number + 1)) for number in range(instances)]
    held: dict[Key, str] = {}
    for topic in sorted({topic for topic, _ in keys}):
        queues = {(topic, *place(queue)): (topic, queue) for name, queue in keys if name == topic}
        for name in names:
            held |= {queues[queue]: name for queue in allocate("AVG", name, sorted(queues), names)}
    return held


def members(facts: Facts, group: str) -> int:
    """Processes of the group in its last listing; 0 where there is none."""
    listed = [c for c in facts.clients if c.group == group and c.at is not None and c.peer]
    last = max((c.at or 0.0 for c in listed), default=0.0)
    return len({(c.client_id, c.peer) for c in listed if c.at == last})


def speed(facts: Facts, group: str, clients: Sequence[str]) -> Speed:
    """What is told of these client ids, else of any consumer of the group; a Kafka consumer has one thread."""
    if group in groups(facts):
        return Speed(1, _seconds_of_a_record(facts, group), False, None)
    told = _settings(facts, group, clients)
    threads = next((n for key in _THREADS if (n := _number(told.get(key)))), None)
    times = {
        (series.labels.get("client_id", ""), series.labels.get("topic", "")): series.points[-1][1]
        for series in facts.named("rocketmq.consumer.consume_rt_ms", "rocketmq.client.consume_rt_ms")
        if series.labels.get("group") == group and not series.labels.get("topic", "").startswith(_RETRY)
        if series.points and series.points[-1][1] > 0
    }
    own = [value for (client, _), value in times.items() if client in clients] or list(times.values())
    orderly = told.get("PROP_CONSUMEORDERLY", "false") == "true"
    return Speed(threads, median(own) / 1000 if own else None, orderly, _number(told.get("pullBatchSize")))


def _seconds_of_a_record(facts: Facts, group: str) -> float | None:
    """By the polls that the members worked off."""
    polls = [b for b in facts.batches if b.group == group and b.records > 0]
    records = sum(b.records for b in polls)
    return sum(b.seconds for b in polls) / records if records and any(b.seconds > 0 for b in polls) else None


def message_bytes(facts: Facts | None) -> float | None:
    """Mean size of a message, by the brokers' statistics."""
    told = facts.named("rocketmq.broker.message_size_avg") if facts else ()
    sizes = [series.points[-1][1] for series in told if series.points]
    return median(sizes) if sizes and median(sizes) > 0 else None


def _settings(facts: Facts, group: str, clients: Sequence[str]) -> Mapping[str, str]:
    """The last value of each key that a client of the group printed."""
    of_group = {s.source for s in facts.settings if s.key == "consumerGroup" and s.value == group}
    printed = [s for s in facts.settings if s.scope == "consumer" and s.source in of_group]
    own = [s for s in printed if s.owner in clients] or printed
    return {s.key: s.value for s in sorted(own, key=_when)}


def _when(setting: Setting) -> tuple[float, str, int]:
    return (setting.at or 0.0, setting.source, setting.line or 0)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() and int(text) > 0 else None


WINDOW = 300.0
"""Seconds over which the inflow is measured."""
SETTLING = 20.0
"""Seconds after which every client has looked at its queues once more (rebalance interval)."""
_DEAD = "%DLQ%"

Totals = tuple[tuple[float, float], ...]
"""(at, messages that wait in all queues)."""


class NoBacklogError(MqlabError):
    """The material does not tell what waits."""


class Waiting:
    """Queues in which messages wait."""

    __slots__ = ()
    queues: tuple[Queue, ...]

    @property
    def backlog(self) -> float:
        """Messages that wait."""
        return sum(queue.backlog for queue in self.queues)

    @property
    def inflow_per_second(self) -> float:
        """Messages that come in."""
        return sum(queue.inflow_per_second for queue in self.queues)


@dataclass(frozen=True, slots=True)
class State(Waiting):
    """A group's backlog at one moment."""

    group: str
    at: float
    queues: tuple[Queue, ...]
    points: Totals
    """All snapshots of the material."""
    fall: Falling | None
    owners_known: bool
    """Owners stand in the material; else queues are dealt in blocks, as AVG does."""
    inflow_known: bool
    """Two snapshots or more tell it."""


def state(facts: Facts, group: str | None = None, instances: int | None = None) -> State:
    """The state of *group*, by default the one with the largest backlog, at the end of the material.

    Where a drain is over by then, the state is that of the moment in which it began. *instances* share the queues in
    blocks where the material does not tell who holds them.

    Raises:
        NoBacklogError: no snapshot tells committed and end offsets of the group.
    """
    groups: dict[str, dict[Key, Points]] = {}
    for (name, topic), found in of_groups(facts).items():
        if not topic.startswith(_DEAD) and group in (None, name):
            groups.setdefault(name, {}).update({(topic, queue): points for queue, points in found.items()})
    if not groups:
        whose = f"group {group}" if group else "any group"
        raise NoBacklogError(
            f"The material does not show the backlog of {whose}: "
            "add output of `mqadmin consumerProgress -g` or `kafka-consumer-groups --describe`, or give --backlog, "
            "--inflow and --queues."
        )
    totals = {name: backlog_over_time(queues) for name, queues in groups.items()}
    chosen = max(sorted(totals), key=lambda name: max(value for _, value in totals[name]))
    return _state(facts, chosen, groups[chosen], totals[chosen], instances)


def backlog_over_time(queues: Mapping[Key, Points]) -> Totals:
    """(at, messages that wait in all queues) at every snapshot."""
    told = sorted((p.at or 0.0, key, lag(p)) for key, points in queues.items() for p in points)
    known: dict[Key, int] = {}
    totals: dict[float, float] = {}
    for at, key, waiting in told:
        known[key] = waiting
        totals[at] = float(sum(known.values()))
    return tuple(totals.items())


def _state(facts: Facts, group: str, queues: Mapping[Key, Points], totals: Totals, instances: int | None) -> State:
    fall = falling(totals)
    at = totals[-1][0]
    if fall is not None and fall.reached_at is not None:
        at = fall.began_at
    rates = {key: _inflow_per_second(points, at) for key, points in queues.items()}
    waiting = {key: lag(_last(points, at)) for key, points in queues.items()}
    held = owners(facts, group, at + SETTLING)
    complete = all(key in held for key in queues if waiting[key] or rates[key])
    if not complete or instances is not None:
        held = dealt(list(queues), instances or members(facts, group) or 1)
    return State(
        group,
        at,
        tuple(
            Queue(f"{key[0]} {key[1]}", waiting[key], rates[key] or 0.0, held.get(key))
            for key in queues
            if waiting[key] or rates[key] or not key[0].startswith(OWN)
        ),
        totals,
        fall,
        complete and instances is None,
        all(rate is not None for rate in rates.values()),
    )


def _last(points: Points, at: float) -> Position:
    return next((p for p in reversed(points) if (p.at or 0.0) <= at), points[0])


def _inflow_per_second(points: Points, at: float) -> float | None:
    """Produced messages over the last minutes before *at*, or between the two snapshots nearest to it."""
    before = [p for p in points if (p.at or 0.0) <= at]
    near = [p for p in before if (p.at or 0.0) >= at - WINDOW]
    chosen = near if len(near) > 1 else before[-2:] if len(before) > 1 else points[:2]
    first, last = chosen[0], chosen[-1]
    seconds = (last.at or 0.0) - (first.at or 0.0)
    return max(0, (last.end or 0) - (first.end or 0)) / seconds if seconds > 0 else None
