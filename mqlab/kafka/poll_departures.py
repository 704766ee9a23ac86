"""Times at which a member of a Kafka group left by itself because its application had not polled.

The heartbeat thread of the client counts: since 0.10.1 it sends the leave when max.poll.interval.ms has passed since
the last poll, while the application still works. Before, heartbeats were sent by poll itself, so that the coordinator
expelled the member: there a poll that took longer than the session timeout tells it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka import poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.poll_limits import SESSION, Limit
from mqlab.kafka.rows import End, Life
from mqlab.memo import per_facts
from mqlab.rows import Batch

EARLY = 0.9
"""Share of the limit from which a wait is the limit: the last sign of a poll may come a little after it."""
LATE = 3.0
"""Seconds by which the coordinator may note a departure later than the limit."""


@dataclass(frozen=True, slots=True)
class Departure:
    """One time that a member left."""

    at: float
    client_id: str
    host: str | None
    told: bool
    """A line says that the poll was late; else it is concluded."""
    limit: Limit | None
    poll: Batch | None
    """The poll that was being worked off, where a line tells how long it took."""
    waited: float | None
    """Seconds since the last line that the client wrote in poll, or after a poll that it had worked off."""
    counted: bool
    """The client itself says by how much the limit was exceeded, or its metric of the time between polls does."""
    evidence: tuple[Evidence, ...]

    @property
    def measured(self) -> bool:
        """The time between two polls is known, and longer than the limit."""
        if self.counted or self.limit is None:
            return self.counted
        if self.poll is not None and self.poll.longest_seconds > self.limit.seconds:
            return True
        limit, latest = self.limit.seconds, self.limit.seconds + max(LATE, (1 - EARLY) * self.limit.seconds)
        return self.waited is not None and EARLY * limit <= self.waited <= latest

    @property
    def contradicted(self) -> bool:
        """It is only concluded, and its polls were in time."""
        if self.told or self.measured or self.limit is None:
            return False
        return self.waited is not None and self.waited < EARLY * self.limit.seconds


ONCE = 10.0
"""Seconds within which all lines about one client are about one departure."""
COMMITTED = 5.0
"""Seconds within which a client tries to commit the poll that it has worked off."""
METERED = 5.0
"""Limits after a departure in which the next poll is awaited: its metric tells how long the last one took."""
_SIGNS = ("partitions-assigned", "sync-completed", "join-completed")
"""Lines that a client prints in poll."""


@per_facts
def departures(facts: Facts, group: str) -> tuple[Departure, ...]:
    """Every departure of *group*, by time."""
    every = lives(facts, group)
    told = [*_said(facts, group), *_ended(facts, group, every), *_uncommitted(facts, group, every)]
    runs: list[list[Departure]] = []
    for one in sorted((o for o in told if not o.contradicted), key=lambda o: (o.client_id, o.at, not o.told)):
        if runs and _same(runs[-1][-1], one):
            runs[-1].append(one)
        else:
            runs.append([one])
    return tuple(sorted(map(_merged, runs), key=lambda o: (o.at, o.client_id)))


def _merged(run: Sequence[Departure]) -> Departure:
    """The one that counts most, a line about it more than a conclusion, with the places of all."""
    ordered = sorted(run, key=lambda one: (not one.told, one.at))
    places = tuple(dict.fromkeys(place for one in ordered for place in one.evidence))
    return replace(ordered[0], evidence=places)


def _same(one: Departure, other: Departure) -> bool:
    """Both are about one departure of one client: within seconds, or while the same poll was worked off."""
    if one.client_id != other.client_id:
        return False
    return abs(one.at - other.at) <= ONCE or (one.poll is not None and one.poll == other.poll)


def _said(facts: Facts, group: str) -> Iterator[Departure]:
    """By the clients' own lines."""
    for line, client in poll_limits.own_lines(facts, group, "poll-timeout"):
        yield _departure(facts, group, (line.first_at or 0.0, client, line.peer), (line.first,), line.value_max)


def _ended(facts: Facts, group: str, every: Sequence[Life]) -> Iterator[Departure]:
    """By the lives of members: ended by a late poll, or over while a poll took longer than the member may be silent."""
    for life in (life for life in every if life.until is not None):
        end = life.evidence[1:] if life.since is not None and len(life.evidence) > 1 else life.evidence
        one = _departure(facts, group, (life.until or 0.0, life.client_id, life.host), end, None)
        concluded = replace(one, told=False)
        if life.end is End.POLL_TIMEOUT:
            yield concluded if life.because else one
        elif life.end in (End.EXPIRED, End.DROPPED):
            alike = life.end is End.DROPPED or (one.limit is not None and one.limit.key == SESSION)
            if alike and one.poll is not None and one.measured and not _other_process(life, every):
                yield concluded


def _other_process(life: Life, every: Sequence[Life]) -> bool:
    """The client's next life is that of a new process."""
    later = [o for o in every if o.client_id == life.client_id and (o.since or 0.0) >= (life.until or 0.0)]
    following = min(later, key=lambda o: o.since or 0.0, default=None)
    return following is not None and following.process_started is not None


def _uncommitted(facts: Facts, group: str, every: Sequence[Life]) -> Iterator[Departure]:
    """Polls longer than the limit whose commit failed, of members that nobody else took out of the group.

    A leave while others join again leaves no line of its own at the coordinator. A client that found itself without
    heartbeats meanwhile was frozen or cut off: it tells so.
    """
    other: dict[str, list[float]] = defaultdict(list)
    for life in (life for life in every if life.end in (End.EXPIRED, End.FENCED)):
        other[life.client_id].append(life.until or 0.0)
    for line, client in poll_limits.own_lines(facts, group, "session-timeout"):
        other[client].append(line.first_at or 0.0)
    for line, client in poll_limits.own_lines(facts, group, "commit-failed"):
        at = line.first_at or 0.0
        poll = poll_limits.last_poll(facts, group, client, at)
        limit = poll_limits.poll_limit(facts, client, at)
        if poll is None or limit is None or at - poll.at > COMMITTED or poll.longest_seconds <= limit.seconds:
            continue
        begun = poll.at - poll.longest_seconds
        if not any(begun <= when <= at + COMMITTED for when in other[client]):
            who = (begun + limit.seconds, client, None)
            yield replace(_departure(facts, group, who, (poll.evidence, line.first), None), told=False)


def _departure(
    facts: Facts, group: str, who: tuple[float, str, str | None], evidence: tuple[Evidence, ...], excess: float | None
) -> Departure:
    at, client, host = who
    limit = poll_limits.poll_limit(facts, client, at)
    poll = poll_limits.covering(facts, group, client, at)
    counted = excess is not None or (limit is not None and _metered(facts, client, at, limit.seconds))
    signs = poll_limits.signs(facts, group, client, *_SIGNS)
    place = bisect_left(signs, at)
    waited = at - signs[place - 1] if place else None
    return Departure(at, client, host, True, limit, poll, waited, counted, evidence)


def _metered(facts: Facts, client: str, at: float, limit: float) -> bool:
    """``time-between-poll-max``, in ms, is above the limit soon after: the client notes it with its next poll."""
    own = [s for s in facts.named("consumer.time_between_poll_max") if s.labels.get("client_id") == client]
    soon = [value for s in own for when, value in s.points if at <= when <= at + METERED * limit]
    return any(value > limit * 1000 for value in soon)
