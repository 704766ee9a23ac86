"""Members that a coordinator expelled because it heard nothing from them.

Signs of life of a Kafka group's clients: lines that they wrote and polls that they worked off.

A process that stands still writes nothing; one whose network is cut writes on. A silence means something only where
the client wrote often enough before it.

Members that a coordinator expelled because it heard nothing from them, and what they were doing meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups, log_lines, poll_limits, releases
from mqlab.kafka.log_lines import static_of
from mqlab.kafka.poll_departures import departures
from mqlab.kafka.releases import distinct, fenced
from mqlab.kafka.rows import End, Life
from mqlab.memo import per_facts
from mqlab.shared.benign_lines import ORDERLY
from mqlab.shared.configured import consumer_value
from mqlab.sources import Role

LOOKED = 60.0
"""Seconds before a silence by which it is known how often the client writes."""
ROW = 10
"""Polls of one row that count, at most."""
EXPECTED = 4.0
"""Lines that would have been written in a silence; that none is by chance is less likely than one in fifty."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which a client wrote nothing."""

    since: float
    until: float | None
    """None where it never wrote again."""
    telling: bool
    """It usually writes so often that this is no chance."""

    @property
    def seconds(self) -> float | None:
        """How long it lasted."""
        return None if self.until is None else self.until - self.since


@per_facts
def signs(facts: Facts, group: str) -> Mapping[str, Sequence[float]]:
    """Moments by client of *group*, sorted; polls that share a row have the moment of the last one, each."""
    found: dict[str, list[float]] = defaultdict(list)
    homes = log_lines.homes(facts, group)
    brokers = facts.logs_of("kafka", Role.BROKER_LOG)
    for episode in facts.episodes:
        client = poll_limits.client_of(facts, group, episode)
        known = episode.group == group or episode.source in homes
        if client and known and episode.source not in brokers:
            found[client] += [at for at in (episode.first_at, episode.last_at) if at is not None]
    for batch in poll_limits.polls(facts, group):
        found[batch.client_id or ""] += [batch.at] * min(batch.polls, ROW)
    return {client: sorted(moments) for client, moments in sorted(found.items())}


def silence(moments: Sequence[float], at: float, timeout: float) -> Silence | None:
    """The silence in which a member was expelled at *at*; None where nothing tells of the client.

    What it wrote less than half of *timeout* before is no part of it: then it was alive and not heard. The coordinator
    heard it until *timeout* before *at*: where it had been quiet for long by then, its log is cut there, or a silence
    of it tells nothing.
    """
    place = bisect_right(moments, at)
    if not place:
        return None
    since, until = moments[place - 1], moments[place] if place < len(moments) else None
    if at - since < timeout / 2:
        return None
    often = (place - bisect_left(moments, since - LOOKED)) / LOOKED
    lasted = (until if until is not None else at) - since
    heard = max(0.0, at - timeout - since)
    return Silence(since, until, often * lasted >= EXPECTED > often * heard)


def working(moments: Sequence[float], at: float, timeout: float) -> bool:
    """The client wrote several times in the second half of the time in which the coordinator heard nothing."""
    return bisect_right(moments, at) - bisect_left(moments, at - timeout / 2) >= 2


def answered(facts: Facts, client: str, since: float, until: float) -> bool:
    """The client's own metrics were scraped in this time: a process that stands still does not answer."""
    own = [s for s in facts.series if s.name.startswith("consumer.") and s.labels.get("client_id") == client]
    return any(since < at < until for s in own for at, _ in s.points)


SOON = 15.0
"""Seconds beyond the session timeout after a stop or a late poll within which the expiry is its trace."""
_NOTICED = ("session-timeout", "coordinator-lost", "heartbeat-failed", "generation-reset", "commit-failed")
TAKEN = 2.0
"""Seconds by which clocks of clients and brokers may differ."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """One member that was expelled."""

    at: float
    client_id: str
    host: str | None
    static: bool
    timeout: float | None
    silence: Silence | None
    working: bool
    """The client wrote on while the coordinator heard nothing."""
    back: Life | None
    """The client's next life."""
    seen: bool
    """The material has lines of the client around it, and their clock is the coordinator's."""
    told: bool
    """A coordinator's line says it; else the client's."""
    evidence: tuple[Evidence, ...]
    after: tuple[Evidence, ...] = ()
    """Its client's first word about it."""

    @property
    def replaced(self) -> bool:
        """A new process came in its place."""
        return self.back is not None and self.back.process_started is not None


def expiries(facts: Facts, group: str, lives: Sequence[Life]) -> tuple[Expiry, ...]:
    """Every expulsion that is no trace of something else, by time: see ``trace``."""
    return tuple(one for one, why in judged(facts, group, lives) if why is None)


def judged(facts: Facts, group: str, lives: Sequence[Life]) -> tuple[tuple[Expiry, str | None], ...]:
    """Every expulsion with what it is the trace of, None where of nothing but silence."""
    expelled = [life for life in lives if life.end is End.EXPIRED and life.until is not None]
    every = [(_expiry(facts, group, life, lives), life) for life in expelled]
    found = [(one, trace(facts, group, one, life, lives)) for one, life in every]
    found += [(one, None) for one in _by_clients(facts, group) if not expelled]
    return tuple(sorted(found, key=lambda pair: (pair[0].at, pair[0].client_id)))


def _expiry(facts: Facts, group: str, life: Life, lives: Sequence[Life]) -> Expiry:
    at, client = life.until or 0.0, life.client_id
    limit = poll_limits.session_limit(facts, client, at)
    moments = signs(facts, group).get(client, ())
    timeout = limit.seconds if limit else None
    later = [o for o in lives if o.client_id == client and o is not life and (o.since or 0.0) >= (life.since or 0.0)]
    mine = [o for o in later if o.host in (None, life.host) or life.host is None]
    back = min((o for o in mine or later if o.since is not None), key=lambda o: o.since or 0.0, default=None)
    return Expiry(
        at=at,
        client_id=client,
        host=life.host,
        static=_static(facts, life, lives),
        timeout=timeout,
        silence=(silence(moments, at, timeout) if timeout else None) or _counted(life),
        working=timeout is not None and _worked(facts, client, moments, at, timeout),
        back=back,
        seen=_seen(moments, life, back) and client not in groups.astray(facts, group),
        told=True,
        evidence=groups.of_life(facts, life) or life.evidence[-1:],
        after=_after(facts, group, client, at, back),
    )


def _after(facts: Facts, group: str, client: str, at: float, back: Life | None) -> tuple[Evidence, ...]:
    """The client's first line about an expulsion at *at*, before it joins again."""
    until = float("inf") if back is None or back.since is None else back.since + TAKEN
    said = [e for e, who in poll_limits.own_lines(facts, group, *_NOTICED) if who == client]
    first = next((e.first for e in said if at - TAKEN <= (e.first_at or 0.0) <= until), None)
    return (
        () if first is None else (Evidence(first.source, first.line, first.text, f"{client} notices", first.pointer),)
    )


def _worked(facts: Facts, client: str, moments: Sequence[float], at: float, timeout: float) -> bool:
    """The process ran while the coordinator heard nothing."""
    scraped = answered(facts, client, at - timeout + TAKEN, at - TAKEN)
    return scraped or working(moments, at, timeout)


def _counted(life: Life) -> Silence | None:
    """A silence that the member's counters show, where it has no log."""
    return None if life.silent_since is None else Silence(life.silent_since, None, telling=True)


def _seen(moments: Sequence[float], life: Life, back: Life | None) -> bool:
    """The material has lines of the client, and of its return where it came back: else its log was cut before."""
    if back is not None and back.since is not None and moments:
        return moments[-1] >= back.since - TAKEN
    return bool(moments) or life.silent_since is not None


def _static(facts: Facts, life: Life, lives: Sequence[Life]) -> bool:
    """A line about it names its group.instance.id, or a setting; or the same name is static at another time."""
    own = consumer_value(facts, life.client_id, "group.instance.id", life.until or 0.0)
    named = any(static_of(place.text) for place in life.evidence) or (own is not None and own.value not in ("", "null"))
    return named or any(o.static for o in lives if o.client_id == life.client_id)


def _by_clients(facts: Facts, group: str) -> list[Expiry]:
    """Where no coordinator's log is there: clients that say that they heard no heartbeat for the session timeout."""
    if any(e.group == group for e in facts.of_kind("rebalance-started", "member-expired", "group-epoch-bumped")):
        return []
    unknown = poll_limits.own_lines(facts, group, "generation-reset", "partitions-lost", "heartbeat-failed")
    found = []
    for line, client in poll_limits.own_lines(facts, group, "session-timeout"):
        at = line.first_at or 0.0
        limit = poll_limits.session_limit(facts, client, at)
        lost = [e for e, who in unknown if who == client and abs((e.first_at or 0.0) - at) <= SOON]
        if limit is None or not lost:
            continue
        moments = signs(facts, group).get(client, ())
        quiet = silence(moments, at - TAKEN, limit.seconds)
        worked = _worked(facts, client, moments, at - TAKEN, limit.seconds)
        places = (line.first, lost[0].first)
        found.append(Expiry(at, client, line.peer, False, limit.seconds, quiet, worked, None, True, False, places))
    return found


def trace(facts: Facts, group: str, one: Expiry, life: Life, lives: Sequence[Life]) -> str | None:
    """What an expulsion is the trace of, where it is not the member's silence that matters."""
    reach = (one.timeout or 0.0) + SOON
    late = [o.at for o in departures(facts, group) if o.client_id == one.client_id]
    if any(-reach <= at - one.at <= TAKEN for at in late):
        return "had not polled in time"
    died = life.process_stopped is not None and _died(facts, group, one, life.process_stopped)
    if life.process_stopped is not None and not died:
        return "had been stopped"
    if any(o.client_id == one.client_id and fenced(o) for o in lives):
        return "is fenced by another process with its instance id"
    if _restarted_broker(facts, one.at, reach) and not (one.silence and one.silence.telling):
        return "lost its coordinator when a broker was restarted"
    if one.static and not died and not (one.silence and one.silence.telling and one.silence.until is not None):
        return "is a static member, which says nothing when it stops"
    names = {o.client_id for o in distinct([life])} | {one.client_id}
    for round_ in releases.rounds_of_restarts(facts, group):
        meanwhile = round_.since - reach <= one.at <= round_.until + reach
        if one.replaced and meanwhile and names & set(round_.members) and (round_.whole or not died):
            return "was replaced with the others"
    return None


def _restarted_broker(facts: Facts, at: float, reach: float) -> bool:
    return bool(facts.near(at, reach, "broker-stopping", "broker-stopped", "broker-started"))


def _died(facts: Facts, group: str, one: Expiry, stopped: float) -> bool:
    """The process ended with an error, or was killed."""
    exits = [e for e, who in poll_limits.own_lines(facts, group, "process-exit") if who == one.client_id]
    near = [e for e in exits if abs((e.first_at or 0.0) - stopped) <= SOON]
    return any(e.value_max not in (None, *ORDERLY) for e in near)
