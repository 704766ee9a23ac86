"""From Facts to the course of a simulation: the time it is about, arrivals, members, paces, protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from mqlab import configured, kafka_groups
from mqlab.errors import MqlabError
from mqlab.facts import Facts
from mqlab.group_rows import Batch
from mqlab.models import clients
from mqlab.models.assignors import ASSIGNORS
from mqlab.models.group_curves import rising
from mqlab.models.group_terms import Busy, Course, Log, Member, Protocol
from mqlab.poll_whatif_arrivals import arrivals
from mqlab.poll_whatif_members import first_change, first_late, members
from mqlab.poll_whatif_pace import Paces, paces
from mqlab.queues import Points, totals
from mqlab.units import clock

_CLASS = re.compile(r"([\w-]+?)(?:Assignor)?(?=[\],\s]|$)")
_NAMES = {"Range": "range", "RoundRobin": "roundrobin", "Sticky": "sticky", "CooperativeSticky": "cooperative-sticky"}


class NoReplayError(MqlabError):
    """The material does not hold what a replay needs."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a replay is made of."""

    group: str
    course: Course
    paces: Paces
    incident: bool
    """The time was cut to an incident: a member polled too late, and nobody gave a time."""


Recorded = tuple[tuple[float, float], ...]
"""(at, records that wait), by time."""


def inputs(
    facts: Facts, group: str, since: float | None = None, until: float | None = None, paced: Paces | None = None
) -> Inputs:
    """What is known of *group* in that time; *paced*: how long records took, where it is not what they took then.

    Raises:
        NoReplayError: no offsets, no members, or nothing that tells how long a record takes.
    """
    topics = {topic: queues for (name, topic), queues in kafka_groups.topics(facts).items() if name == group}
    ends = [points for queues in topics.values() for points in queues.values() if len(points) > 1]
    if not ends:
        raise NoReplayError(
            f"What came in for group {group} is not known: a replay needs two listings of its offsets at least."
        )
    begin, end, incident = _window(facts, group, since, until)
    found = members(facts, group, begin, end)
    if not found:
        raise NoReplayError(f"No member of group {group} is known by name between the two moments.")
    known = paced or paces(batches(facts, group), begin, end)
    if known is None:
        raise NoReplayError(f"No line says how long group {group} took for its records: give it as --set record.ms=90.")
    protocol, assignor = _protocol(facts, group, found[0].name, begin)
    logs = tuple(
        _log(topic, queue, points, begin)
        for topic, queues in sorted(topics.items())
        for queue, points in queues.items()
        if queue.isdigit()
    )
    found = tuple(_begun(replace(each, pace=known.own.get(each.name)), facts, begin) for each in found)
    course = Course(begin, end, logs, found, known.common, protocol, assignor, _delay(facts))
    return Inputs(group, course, known, incident)


def batches(facts: Facts, group: str) -> tuple[Batch, ...]:
    """Polls that applications of *group* worked off."""
    return tuple(b for b in facts.batches if b.group == group)


def lags(facts: Facts, group: str) -> Recorded:
    """Records that waited in all partitions of *group*, at each listing."""
    found: dict[float, float] = {}
    for (name, _), queues in kafka_groups.topics(facts).items():
        if name == group:
            for at, lag, _ in totals(queues):
                found[at] = found.get(at, 0.0) + lag
    return tuple(sorted(found.items()))


def average(facts: Facts, group: str, since: float, until: float) -> Paces | None:
    """How long records took in that time, as one average."""
    return paces(batches(facts, group), since, until, steady=True)


def _window(facts: Facts, group: str, since: float | None, until: float | None) -> tuple[float, float, bool]:
    """Begin, end, and whether it is an incident.

    That lasts from the begin of the first late poll to the first stop or start of a process after it.
    """
    told = lags(facts, group)
    first, last = told[0][0], told[-1][0]
    late = first_late(facts, group)
    if late is None or since is not None or until is not None:
        begin, end = max(since or first, first), min(until or last, last)
    else:
        begin, end = _before(facts, group, late, first), min(first_change(facts, group, late) or last, last)
    if begin >= end:
        raise NoReplayError(f"Offsets of group {group} are known from {clock(first)} to {clock(last)} only.")
    return begin, end, late is not None and since is None and until is None


def _before(facts: Facts, group: str, late: float, first: float) -> float:
    """The listing next to the moment at which the first late poll began: what came in between two is not known."""
    known = members(facts, group, late - 1, late + 1)
    began = late - max((each.settings.interval for each in known), default=0.0)
    return min((at for at, _ in lags(facts, group) if at <= late), key=lambda at: abs(at - began), default=first)


def _begun(member: Member, facts: Facts, since: float) -> Member:
    """*member* with the poll that it works off at *since*."""
    if member.started is not None:
        return member
    for batch in facts.batches:
        began = batch.at - batch.seconds
        if batch.client_id == member.name and batch.polls == 1 and began < since < batch.at:
            return replace(member, busy=Busy(began, batch.at, batch.records))
    return member


def _log(topic: str, queue: str, points: Points, since: float) -> Log:
    committed = rising([(p.at or 0.0, float(p.committed or 0)) for p in points]).at(since)
    return Log((topic, int(queue)), round(committed), rising(arrivals(points)))


def _protocol(facts: Facts, group: str, client: str, at: float) -> tuple[Protocol, str]:
    """How the group shares its partitions, by what its members printed and what its coordinator does."""
    if any(e.group == group for e in facts.of_kind("group-epoch-bumped", "target-assigned")):
        return Protocol.CONSUMER, "uniform"
    value = configured.consumer_value(facts, client, "partition.assignment.strategy", at)
    named = [_NAMES.get(name, name) for name in _CLASS.findall(value.value)] if value else []
    known = [name for name in named if name in ASSIGNORS]
    assignor = known[0] if known else "range"
    return (Protocol.COOPERATIVE if assignor == "cooperative-sticky" else Protocol.EAGER), assignor


def _delay(facts: Facts) -> float:
    key = "group.initial.rebalance.delay.ms"
    told = sorted(s.value for s in facts.settings if s.key == key and s.scope == "broker" and s.value.isdigit())
    version = configured.broker_version(facts)
    value = told[0] if told else clients.default(key, "broker", version) if version else "3000"
    return int(value) / 1000 if value else 0.0
