"""The state of a group's backlog, from Facts: what waits in which queue, what comes in, who holds it.

Lag is that of ``groups.queues``; a queue keeps its last known lag until the next snapshot that tells it. Dead letters
are left out: nobody drains them. Messages waiting for a retry count; a retry queue in which nothing happens does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.draining.owners import Key, dealt, members, owners
from mqlab.errors import MqlabError
from mqlab.facts import Facts, Position
from mqlab.groups.queues import OWN, Points, lag, of_groups
from mqlab.models.draining import Queue
from mqlab.models.falling import Falling, falling

WINDOW = 300.0
"""Seconds over which the inflow is measured."""
SETTLING = 20.0
"""Seconds after which every client has looked at its queues once more (rebalance interval)."""
_DEAD = "%DLQ%"

Totals = tuple[tuple[float, float], ...]
"""(at, messages that wait in all queues)."""


class NoBacklogError(MqlabError):
    """The material does not tell what waits."""


@dataclass(frozen=True, slots=True)
class State:
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

    @property
    def backlog(self) -> float:
        """Messages that wait."""
        return sum(queue.backlog for queue in self.queues)

    @property
    def inflow_per_second(self) -> float:
        """Messages that come in."""
        return sum(queue.inflow_per_second for queue in self.queues)

    @property
    def oldest_seconds(self) -> float | None:
        """Age of the oldest message by the longest queue: its lag over its inflow; None without inflow."""
        ages = [q.backlog / q.inflow_per_second for q in self.queues if q.inflow_per_second > 0]
        return max(ages, default=None)


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
            f"The material does not tell the backlog of {whose}: "
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
        at = min(when for when, _ in totals if when >= fall.began_at)
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
