"""The time that a replay is about: the one that was asked for, else the incident; and what waited meanwhile."""

from __future__ import annotations

from mqlab.facts import Facts
from mqlab.groups.queues import totals
from mqlab.kafka import groups
from mqlab.kafka.lives import lives
from mqlab.replay.members import first_change, first_late, members
from mqlab.rows.groups import Batch

Waiting = tuple[tuple[float, float], ...]
"""(at, records that wait), by time."""


def batches(facts: Facts, group: str) -> tuple[Batch, ...]:
    """Polls that applications of *group* worked off; an application that names no group is known by its client id."""
    known = {name for name, _ in groups.topics(facts)}
    clients = {life.client_id for life in lives(facts, group)}
    return tuple(b for b in facts.batches if b.group == group or (b.group not in known and b.client_id in clients))


def lags(facts: Facts, group: str) -> Waiting:
    """Records that waited in all partitions of *group*, at each listing."""
    found: dict[float, float] = {}
    for (name, _), queues in groups.topics(facts).items():
        if name == group:
            for at, lag, _ in totals(queues):
                found[at] = found.get(at, 0.0) + lag
    return tuple(sorted(found.items()))


def window(facts: Facts, group: str, since: float | None, until: float | None) -> tuple[float, float, bool]:
    """Begin, end, and whether it is an incident; an empty time where offsets are known of another time only.

    An incident lasts from the begin of the first late polls to the first stop or start of a process after them.
    """
    told = lags(facts, group)
    first, last = told[0][0], told[-1][0]
    late = first_late(facts, group)
    if late is None or since is not None or until is not None:
        return max(since or first, first), min(until or last, last), False
    return max(first, late_poll(facts, group, late)), min(first_change(facts, group, late) or last, last), True


def late_poll(facts: Facts, group: str, left: float) -> float:
    """When the polls began in which members were when the first of them left at *left*: the last of those begins.

    Then each of them is in its poll, as it was. Where no line tells of the polls it is the poll interval before.
    """
    intervals = {each.name: each.settings.interval for each in members(facts, group, left - 1, left + 1)}
    began = [
        b.at - b.seconds
        for b in batches(facts, group)
        if b.polls == 1 and b.at - b.seconds < left < b.at and b.seconds >= intervals.get(b.client_id or "", 0.0)
    ]
    return max(began, default=left - max(intervals.values(), default=0.0))
