"""From Facts to the course of a simulation: the time it is about, arrivals, members, paces, protocol.

A partition grew evenly between two listings of its offsets, but for a burst that nobody had handled yet. Where no
application tells of its polls, ledgers tell how long a record took, while records waited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, sqrt
from statistics import median, quantiles

from mqlab.errors import MqlabError
from mqlab.facts import Facts, Position
from mqlab.kafka import groups, poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.log_lines import client_of
from mqlab.kafka.rows import End, Life
from mqlab.models import kafka_defaults
from mqlab.models.assignment import ASSIGNORS
from mqlab.models.group_course import Busy, Course, GroupProtocol, Log, Member, Pace, Settings, classic, rising
from mqlab.rows import GRID, Batch
from mqlab.scenarios.replay_paces import Paces, paces, steady
from mqlab.shared import configured
from mqlab.shared.queues import Points, lag, totals
from mqlab.units import clock

_USUAL = Settings()


def settings_of(facts: Facts, client: str, at: float) -> Settings:
    """What *client* was set to at *at*; what nothing tells is as in the newest client."""
    limit = poll_limits.poll_limit(facts, client, at)
    by_polls = limit is not None and limit.key == poll_limits.SESSION
    session = poll_limits.session_limit(facts, client, at)
    records = poll_limits.poll_records(facts, client, at)
    if records is None:  # a client without such a setting hands out what its application took at most
        records = max((b.longest_records for b in facts.batches if b.client_id == client), default=_USUAL.records)
    automatic = configured.consumer_value(facts, client, "enable.auto.commit", at)
    by_itself = automatic is not None and automatic.value == "true"
    return Settings(
        records=records,
        interval=limit.seconds if limit else _USUAL.interval,
        session=session.seconds if session else _USUAL.session,
        heartbeat=0.0 if by_polls else _seconds(facts, client, "heartbeat.interval.ms", at, _USUAL.heartbeat),
        commit_every=_seconds(facts, client, "auto.commit.interval.ms", at, 5.0) if by_itself else 0.0,
    )


def _seconds(facts: Facts, client: str, key: str, at: float, otherwise: float) -> float:
    value = configured.consumer_value(facts, client, key, at)
    return value.number / 1000 if value is not None and value.number is not None else otherwise


def members(facts: Facts, group: str, since: float, until: float) -> tuple[Member, ...]:
    """Processes of *group* that were there at any time from *since* to *until*, by name."""
    chains = _chains(lives(facts, group))
    processes = [_member(facts, chain, _next(chain, chains), since) for chain in chains]
    there = [m for m in processes if (m.started or -inf) < until and (m.stopped is None or m.stopped > since)]
    return tuple(sorted(there, key=lambda m: (m.name, m.started or 0.0)))


def first_late(facts: Facts, group: str) -> float | None:
    """When the first member left because it did not poll in time."""
    left = [life.until for life in lives(facts, group) if life.end is End.POLL_TIMEOUT and life.until is not None]
    return min(left, default=None)


def first_change(facts: Facts, group: str, after: float) -> float | None:
    """When the first process of *group* stopped, fell silent for good or was started after *after*."""
    clients = {life.client_id for life in lives(facts, group)}
    found = [stop.first_at for stop in facts.of_kind("app-stopping") if stop.client_id in clients]
    for life in lives(facts, group):
        found += [life.process_started, life.process_stopped]
        found.append(life.silent_since if life.end is End.EXPIRED else None)
    return min((at for at in found if at is not None and at > after), default=None)


def _chains(found: Sequence[Life]) -> list[list[Life]]:
    """Lives of one process each: a client that comes again after its last life, its process not started anew."""
    chains: list[list[Life]] = []
    for life in sorted(found, key=lambda one: (one.client_id, one.since or -inf, one.until or inf)):
        fitting = [
            chain
            for chain in chains
            if chain[-1].client_id == life.client_id
            and (chain[-1].until or inf) <= (life.since or -inf) + 1
            and life.process_started is None
            and chain[-1].end in (End.POLL_TIMEOUT, End.DROPPED, End.EXPIRED)
        ]
        if fitting:
            max(fitting, key=lambda chain: chain[-1].until or 0.0).append(life)
        else:
            chains.append([life])
    return chains


def _next(chain: Sequence[Life], chains: Sequence[Sequence[Life]]) -> Life | None:
    """The first life of the process that took the place of this one."""
    ended = chain[-1].until
    later = [
        other[0] for other in chains
        if other[0].client_id == chain[0].client_id and ended is not None and (other[0].since or -inf) >= ended
    ]  # fmt: skip
    return min(later, key=lambda life: life.since or -inf, default=None)


def _stopped(last: Life, successor: Life | None, since: float) -> float | None:
    """When the process ended: as it is told, else when it left for good, at the latest when the next one began."""
    if last.process_stopped is not None:
        return last.process_stopped
    gone = successor is not None and last.until is not None and last.until <= since
    if last.end in (End.LEFT, End.FENCED) or gone:
        return last.until
    if successor is None or last.end is End.EXPIRED:
        return None
    return successor.process_started or successor.since


def _member(facts: Facts, chain: Sequence[Life], successor: Life | None, since: float) -> Member:
    first, last = chain[0], chain[-1]
    settings = settings_of(facts, first.client_id, max(first.since or since, since))
    stopped = _stopped(last, successor, since)
    crashed = stopped is None and last.end is End.EXPIRED
    if crashed and last.until is not None:
        stopped = last.until - settings.session
    return Member(
        name=first.client_id,
        settings=settings,
        started=None if first.since is None or first.since <= since else first.since,
        stopped=stopped,
        crashed=crashed,
        static=first.static,
        instance=client_of(first.member_id) if first.static else None,
        silences=_silences(facts, chain, settings),
    )


def _silences(facts: Facts, chain: Sequence[Life], settings: Settings) -> tuple[tuple[float, float], ...]:
    """Times from the last heartbeat, which was the session timeout before it was expelled, to when it came again.

    A static member, and one before 0.10.1, is silent while its poll is late, too: that comes from the poll.
    """
    return tuple(
        (life.until - settings.session, later.since)
        for life, later in pairwise(chain)
        if life.end is End.EXPIRED
        and life.until is not None
        and later.since is not None
        and not _in_late_poll(facts, life, settings)
    )


def _in_late_poll(facts: Facts, life: Life, settings: Settings) -> bool:
    if settings.heartbeat == 0:
        return True
    expelled = life.until or 0.0
    late = [b for b in facts.batches if b.client_id == life.client_id and b.seconds >= settings.interval]
    return any(b.polls == 1 and b.at - b.seconds < expelled <= b.at for b in late)


_CLASS = re.compile(r"([\w-]+?)(?:Assignor)?(?=[\],\s]|$)")
_NAMES = {"Range": "range", "RoundRobin": "roundrobin", "Sticky": "sticky", "CooperativeSticky": "cooperative-sticky"}
SERVER_HEARTBEAT, SERVER_SESSION = 5.0, 45.0
"""Their defaults, in seconds (KIP-848)."""


def protocol_of(facts: Facts, group: str, client: str, at: float) -> tuple[GroupProtocol, str]:
    """Protocol and assignor, by what *client* printed at *at* and by what the coordinator does."""
    if any(e.group == group for e in facts.of_kind("group-epoch-bumped", "target-assigned")):
        return GroupProtocol.CONSUMER, "uniform"
    value = configured.consumer_value(facts, client, "partition.assignment.strategy", at)
    named = [_NAMES.get(name, name) for name in _CLASS.findall(value.value)] if value else []
    supported = [name for name in named if name in ASSIGNORS]
    assignor = supported[0] if supported else "range"
    return classic(assignor), assignor


def initial_delay(facts: Facts) -> float:
    """group.initial.rebalance.delay.ms in seconds."""
    key = "group.initial.rebalance.delay.ms"
    version = configured.broker_version(facts)
    usual = kafka_defaults.default(key, "broker", version) if version else "3000"
    return _seconds_of(facts, key, int(usual or 0) / 1000)


def _seconds_of(facts: Facts, key: str, usual: float) -> float:
    told = sorted(s.value for s in facts.settings if s.key == key and s.scope == "broker" and s.value.isdigit())
    return int(told[0]) / 1000 if told else usual


Waiting = tuple[tuple[float, float], ...]
"""(at, records that wait), by time."""


def batches(facts: Facts, group: str) -> tuple[Batch, ...]:
    """Polls that applications of *group* worked off; an application that names no group is known by its client id."""
    known = {name for name, _ in groups.topics(facts)}
    clients = {life.client_id for life in lives(facts, group)}
    return tuple(b for b in facts.batches if b.group == group or (b.group not in known and b.client_id in clients))


def lags(facts: Facts, group: str) -> Waiting:
    """Records that waited in all partitions of *group*, at each listing."""
    waiting: dict[float, float] = {}
    for (of_group, _), queues in groups.topics(facts).items():
        if of_group == group:
            for at, lag, _ in totals(queues):
                waiting[at] = waiting.get(at, 0.0) + lag
    return tuple(sorted(waiting.items()))


def window(facts: Facts, group: str, since: float | None, until: float | None) -> tuple[float, float, bool]:
    """Begin, end, and whether it is an incident; an empty time where offsets are known of another time only.

    An incident lasts from the begin of the first late polls to the first stop or start of a process after them.
    """
    listed = lags(facts, group)
    first, last = listed[0][0], listed[-1][0]
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


_BURST = 3.0
"""Times the usual rate from which a burst came in between two listings. Judgement, no default behind it: the usual one
is the median, and ordinary traffic is above it by less."""
_WAITS = 0.5
"""Share of a burst that waits at the next listing, from which it is taken to have come just before that. Judgement, no
default behind it: most of it."""
_LASTS = 0.1
"""Share of the time between two listings that such a burst is taken to last. Judgement, no default behind it: nothing
tells, and it must be short."""
_AT_ONCE = 1e-3
"""Seconds that a burst lasts of which a poll tells: it was there when that began, and none before took of it."""


def arrivals(points: Points, bursts: Sequence[float] = ()) -> list[tuple[float, float]]:
    """(moment, end offset) of one partition, straight lines between them; *bursts*: moments at which one was there.

    What came in during a burst and still waits when it is listed cannot have come long before: a group that is not
    behind handles it. Spread over the time between two listings it would have been handled in the simulation.
    """
    usual = median([_rate(a, b) for a, b in pairwise(points)])
    ends = [(points[0].at or 0.0, float(points[0].end or 0))]
    for before, after in pairwise(points):
        begin, end = before.at or 0.0, after.at or 0.0
        came = (after.end or 0) - (before.end or 0)
        burst = came - usual * (end - begin)
        if _rate(before, after) > _BURST * usual:
            burst_at = min((at for at in bursts if begin < at < end), default=None)
            waits = lag(after) - lag(before) >= _WAITS * burst
            if burst_at is not None:
                ends.append((burst_at - _AT_ONCE, (before.end or 0) + usual * (burst_at - begin)))
                ends.append((burst_at, (after.end or 0) - usual * (end - burst_at)))
            elif waits:
                lasts = _LASTS * (end - begin)
                ends.append((end - lasts, (before.end or 0) + usual * (end - begin - lasts)))
        ends.append((end, float(after.end or 0)))
    return ends


def bursts(queues: Sequence[Points], polls: Sequence[Batch]) -> tuple[float, ...]:
    """When the first poll between two listings began that took more than was there but for a burst.

    What waited at the listing before, and what comes in usually in all *queues*, is all that could be there.
    """
    waited: dict[float, int] = {}
    ends: dict[float, int] = {}
    for point in (point for points in queues for point in points):
        at = point.at or 0.0
        waited[at] = waited.get(at, 0) + lag(point)
        ends[at] = ends.get(at, 0) + (point.end or 0)
    gaps = list(pairwise(sorted(ends)))
    usual = median([(ends[b] - ends[a]) / (b - a) for a, b in gaps]) if gaps else 0.0
    found = []
    for before, after in gaps:
        singles = [(b.at - b.seconds, b.records) for b in polls if b.polls == 1]
        began = [at for at, records in singles if records > waited[before] + usual * (at - before)]
        found += sorted(at for at in began if before < at < after)[:1]
    return tuple(found)


def _rate(before: Position, after: Position) -> float:
    seconds = (after.at or 0.0) - (before.at or 0.0)
    return ((after.end or 0) - (before.end or 0)) / seconds if seconds > 0 else 0.0


_ROLES = ("processed", "consumed")
_QUARTILE = 0.6745
"""Standard deviations from the middle of a normal distribution to its upper quartile."""
_ROWS = 3
"""Ten seconds of full work that there must be."""


def from_ledgers(facts: Facts, topics: Collection[str], waiting: Waiting, since: float, until: float) -> Paces | None:
    """Ten seconds over what one ledger noted in them; None without enough of them.

    Somebody works all the time where records wait for the group before and after, and the ledger goes on before and
    after as well, but for waits in rebalances: so it is the upper quartile of what was noted. Counts of records that
    follow each other deviate by the deviation of one record, of its mean, times the root of the count.
    """
    noted: Counter[tuple[str, float]] = Counter()
    for tally in facts.tallies:
        if tally.role in _ROLES and tally.topic in topics:
            noted[tally.source, tally.at] += tally.messages
    full = [
        count
        for (source, at), count in noted.items()
        if since <= at and at + GRID <= until
        if (source, at - GRID) in noted and (source, at + GRID) in noted and _waits(waiting, at, count)
    ]
    if len(full) < _ROWS:
        return None
    _, middle, upper = quantiles(full, n=4, method="inclusive")
    deviation = (upper - middle) / _QUARTILE
    each = GRID / upper
    return replace(steady(each), common=Pace(((since, each),), each * deviation / sqrt(upper)))


def _waits(waiting: Waiting, at: float, count: int) -> bool:
    """More records waited in the listings next to it than were handled in it."""
    before = [lag for moment, lag in waiting if moment <= at]
    after = [lag for moment, lag in waiting if moment >= at + GRID]
    return bool(before and after) and min(before[-1], after[0]) > count


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
            f"The inflow of group {group} is unknown: a replay needs at least two listings of its offsets."
        )
    begin, end, incident = window(facts, group, since, until)
    if begin >= end:
        told = lags(facts, group)
        raise NoReplayError(
            f"Offsets of group {group} are known from {clock(told[0][0])} to {clock(told[-1][0])} only."
        )
    found = members(facts, group, begin, end)
    if not found:
        raise NoReplayError(f"The material names no member of group {group} in that time.")
    known = paced or paces(batches(facts, group), begin, end)
    known = known or from_ledgers(facts, topics, lags(facts, group), begin, end)
    if known is None:
        raise NoReplayError(f"The time per record of group {group} is unknown: give it with --set record.ms=90.")
    protocol, assignor = protocol_of(facts, group, found[0].name, begin)
    began = _bursts(facts, group, ends)
    logs = tuple(
        Log(
            (topic, int(queue)),
            round(rising([(p.at or 0.0, float(p.committed or 0)) for p in points]).at(begin)),
            rising(arrivals(points, began)),
        )
        for topic, queues in sorted(topics.items())
        for queue, points in queues.items()
        if queue.isdigit()
    )
    paced_members = (replace(m, pace=known.own.get(m.name), stalls=known.stalls.get(m.name, ())) for m in found)
    found = tuple(_begun(each, facts, begin) for each in paced_members)
    if protocol is GroupProtocol.CONSUMER:
        heartbeat = _seconds_of(facts, "group.consumer.heartbeat.interval.ms", SERVER_HEARTBEAT)
        session = _seconds_of(facts, poll_limits.SERVER_SESSION, SERVER_SESSION)
        found = tuple(
            replace(each, settings=replace(each.settings, heartbeat=heartbeat, session=session)) for each in found
        )
    course = Course(begin, end, logs, found, known.common, protocol, assignor, initial_delay(facts))
    return Inputs(group, course, known, incident)


def average(facts: Facts, group: str, since: float, until: float) -> Paces | None:
    """How long records took in that time, as one average."""
    return paces(batches(facts, group), since, until, steady=True)


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
