"""From Facts to the course of a simulation: the time it is about, arrivals, members, paces, protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mqlab.errors import MqlabError
from mqlab.facts import Facts
from mqlab.groups.queues import Points
from mqlab.kafka import groups
from mqlab.models.group_curves import rising
from mqlab.models.group_terms import Busy, Course, Log, Member, Protocol, Settings
from mqlab.replay.arrivals import arrivals, bursts
from mqlab.replay.group import initial_delay, protocol_of, server_times
from mqlab.replay.ledgers import from_ledgers
from mqlab.replay.members import first_late, members
from mqlab.replay.pace import Paces, paces
from mqlab.replay.window import batches, lags, late_poll, window
from mqlab.units import clock


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


def inputs(
    facts: Facts, group: str, since: float | None = None, until: float | None = None, paced: Paces | None = None
) -> Inputs:
    """What is known of *group* in that time; *paced*: how long records took, where it is not what they took then.

    Raises:
        NoReplayError: no offsets, no members, or nothing that tells how long a record takes.
    """
    topics = {topic: queues for (name, topic), queues in groups.topics(facts).items() if name == group}
    ends = [points for queues in topics.values() for points in queues.values() if len(points) > 1]
    if not ends:
        raise NoReplayError(
            f"What came in for group {group} is not known: a replay needs two listings of its offsets at least."
        )
    begin, end, incident = window(facts, group, since, until)
    if begin >= end:
        told = lags(facts, group)
        raise NoReplayError(
            f"Offsets of group {group} are known from {clock(told[0][0])} to {clock(told[-1][0])} only."
        )
    found = members(facts, group, begin, end)
    if not found:
        raise NoReplayError(f"No member of group {group} is known by name between the two moments.")
    known = paced or paces(batches(facts, group), begin, end)
    known = known or from_ledgers(facts, topics, lags(facts, group), begin, end)
    if known is None:
        raise NoReplayError(f"No line says how long group {group} took for its records: give it as --set record.ms=90.")
    protocol, assignor = protocol_of(facts, group, found[0].name, begin)
    began = _bursts(facts, group, ends)
    logs = tuple(
        _log(topic, queue, points, begin, began)
        for topic, queues in sorted(topics.items())
        for queue, points in queues.items()
        if queue.isdigit()
    )
    paced_members = (replace(m, pace=known.own.get(m.name), stalls=known.stalls.get(m.name, ())) for m in found)
    found = tuple(_begun(each, facts, begin) for each in paced_members)
    if protocol is Protocol.CONSUMER:
        heartbeat, session = server_times(facts)
        found = tuple(replace(each, settings=_served(each.settings, heartbeat, session)) for each in found)
    course = Course(begin, end, logs, found, known.common, protocol, assignor, initial_delay(facts))
    return Inputs(group, course, known, incident)


def average(facts: Facts, group: str, since: float, until: float) -> Paces | None:
    """How long records took in that time, as one average."""
    return paces(batches(facts, group), since, until, steady=True)


def _served(known: Settings, heartbeat: float, session: float) -> Settings:
    return replace(known, heartbeat=heartbeat, session=session)


def _begun(member: Member, facts: Facts, since: float) -> Member:
    """*member* with the poll that it works off at *since*."""
    if member.started is not None:
        return member
    for batch in facts.batches:
        began = batch.at - batch.seconds
        if batch.client_id == member.name and batch.polls == 1 and began <= since < batch.at:
            return replace(member, busy=Busy(began, batch.at, batch.records))
    return member


def _bursts(facts: Facts, group: str, queues: Sequence[Points]) -> tuple[float, ...]:
    """Moments at which a burst had come: polls that took more than there was without, and the first late poll."""
    late = first_late(facts, group)
    first = () if late is None else (late_poll(facts, group, late),)
    return (*bursts(queues, batches(facts, group)), *first)


def _log(topic: str, queue: str, points: Points, since: float, bursts: Sequence[float]) -> Log:
    committed = rising([(p.at or 0.0, float(p.committed or 0)) for p in points]).at(since)
    return Log((topic, int(queue)), round(committed), rising(arrivals(points, bursts)))
