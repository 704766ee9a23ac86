"""Members that a coordinator expelled because it heard nothing from them, and what they were doing meanwhile.

Signs of life are lines that a client wrote, polls that it worked off and answers to those who scrape its metrics. A
process that stands still writes nothing; one whose network is cut writes on. A silence means something only where the
client wrote often enough before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mqlab import units
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups, log_lines, poll_limits, releases
from mqlab.kafka.lives import lives as lives_of
from mqlab.kafka.log_lines import static_of
from mqlab.kafka.poll_departures import departures
from mqlab.kafka.releases import distinct, fenced
from mqlab.kafka.rows import End, Life
from mqlab.known_errors import PREFIX
from mqlab.memo import per_facts
from mqlab.shared.benign_lines import ORDERLY
from mqlab.shared.configured import consumer_value

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


@per_facts
def _signs(facts: Facts, group: str) -> Mapping[str, Sequence[float]]:
    """Moments by client of *group*, sorted; polls that share a row have the moment of the last one, each."""
    found: dict[str, list[float]] = defaultdict(list)
    homes = log_lines.homes(facts, group)
    brokers = groups.logs(facts)
    for episode in facts.episodes:
        client = poll_limits.client_of(facts, group, episode)
        known = episode.group == group or episode.source in homes
        in_bursts = episode.kind.startswith(PREFIX)  # trouble says nothing of how often a client usually writes
        if client and known and episode.source not in brokers and not in_bursts:
            found[client] += [at for at in (episode.first_at, episode.last_at) if at is not None]
    for batch in poll_limits.polls(facts, group):
        found[batch.client_id or ""] += [batch.at] * min(batch.polls, ROW)
    return {client: sorted(moments) for client, moments in sorted(found.items())}


def _silence(moments: Sequence[float], at: float, timeout: float) -> Silence | None:
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


@per_facts
def judged(facts: Facts, group: str) -> tuple[tuple[Expiry, str | None], ...]:
    """Every expulsion with what it is the trace of, None where of nothing but silence."""
    lives = lives_of(facts, group)
    expelled = [life for life in lives if life.end is End.EXPIRED and life.until is not None]
    every = [(_expiry(facts, group, life, lives), life) for life in expelled]
    found = [(one, _trace(facts, group, one, life, lives)) for one, life in every]
    found += [] if expelled else [(one, None) for one in _by_clients(facts, group)]
    return tuple(sorted(found, key=lambda pair: (pair[0].at, pair[0].client_id)))


def _expiry(facts: Facts, group: str, life: Life, lives: Sequence[Life]) -> Expiry:
    at, client = life.until or 0.0, life.client_id
    limit = poll_limits.session_limit(facts, client, at)
    moments = _signs(facts, group).get(client, ())
    timeout = limit.seconds if limit else None
    counted = None if life.silent_since is None else Silence(life.silent_since, None, telling=True)
    later = [o for o in lives if o.client_id == client and o is not life and (o.since or 0.0) >= (life.since or 0.0)]
    mine = [o for o in later if o.host in (None, life.host) or life.host is None]
    back = min((o for o in mine or later if o.since is not None), key=lambda o: o.since or 0.0, default=None)
    return Expiry(
        at=at,
        client_id=client,
        host=life.host,
        static=_static(facts, life, lives),
        timeout=timeout,
        silence=(_silence(moments, at, timeout) if timeout else None) or counted,
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
    return () if first is None else (first.because(f"{client} notices"),)


def _worked(facts: Facts, client: str, moments: Sequence[float], at: float, timeout: float) -> bool:
    """The process ran while the coordinator heard nothing: its metrics were scraped, or it wrote several times."""
    own = [s for s in facts.series if s.name.startswith("consumer.") and s.labels.get("client_id") == client]
    scraped = any(at - timeout + TAKEN < moment < at - TAKEN for s in own for moment, _ in s.points)
    return scraped or bisect_right(moments, at) - bisect_left(moments, at - timeout / 2) >= 2


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
        moments = _signs(facts, group).get(client, ())
        quiet = _silence(moments, at - TAKEN, limit.seconds)
        worked = _worked(facts, client, moments, at - TAKEN, limit.seconds)
        places = (line.first, lost[0].first)
        found.append(Expiry(at, client, line.peer, False, limit.seconds, quiet, worked, None, True, False, places))
    return found


def _trace(facts: Facts, group: str, one: Expiry, life: Life, lives: Sequence[Life]) -> str | None:
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
    restarted = facts.near(one.at, reach, "broker-stopping", "broker-stopped", "broker-started")
    if restarted and not (one.silence and one.silence.telling):
        return "lost its coordinator when a broker was restarted"
    if one.static and not died and not (one.silence and one.silence.telling and one.silence.until is not None):
        return "is a static member, which says nothing when it stops"
    names = {o.client_id for o in distinct([life])} | {one.client_id}
    for round_ in releases.rounds_of_restarts(facts, group):
        meanwhile = round_.since - reach <= one.at <= round_.until + reach
        if one.replaced and meanwhile and names & set(round_.members) and (round_.whole or not died):
            return "was replaced with the others"
    return None


def _died(facts: Facts, group: str, one: Expiry, stopped: float) -> bool:
    """The process ended with an error, or was killed."""
    exits = [e for e, who in poll_limits.own_lines(facts, group, "process-exit") if who == one.client_id]
    near = [e for e in exits if abs((e.first_at or 0.0) - stopped) <= SOON]
    return any(e.value_max not in (None, *ORDERLY) for e in near)


COVERED = 0.8
"""Share of the session timeout that pauses must make up: the last heartbeat may be an interval old when they begin."""
AWAKE = 1.0
"""Seconds within which a process that wakes up has noticed that its session is over."""
_AGAIN = ("coordinator-found", "join-completed", "partitions-assigned")
_CUT = ("session-timeout", "coordinator-lost", "request-timeout")
_SHOWN = 2


class Kind(StrEnum):
    """What it was."""

    PAUSE = "garbage collection"
    NETWORK = "network"
    DEATH = "process died"
    FROZEN = "process stood still"
    UNKNOWN = "not told"


@dataclass(frozen=True, slots=True)
class Cause:
    """What was behind one expulsion."""

    kind: Kind
    told: str
    evidence: tuple[Evidence, ...]
    seconds: float | None = None
    """How long the member could not be heard, where that is known."""


def cause(facts: Facts, group: str, one: Expiry) -> Cause:
    """The cause of *one*, by what the material shows of its process."""
    paused = _pauses(facts, group, one)
    if paused is not None:
        return paused
    if one.replaced or (one.back is None and _exits(facts, group, one)):
        return Cause(Kind.DEATH, "its process died", _exits(facts, group, one))
    asked = tuple(_asked(facts, group, one))
    if one.working or asked or _unreachable(facts, group, one):
        return _cut(facts, group, one, asked)
    if one.silence is None or not one.silence.telling:
        return Cause(Kind.UNKNOWN, "why is not told", ())
    if one.silence.until is None:
        return Cause(Kind.DEATH, "its process wrote nothing any more", ())
    lasted = one.silence.until - one.silence.since
    told = f"its process stood still for {units.duration(lasted)}: no line and no poll"
    return Cause(Kind.FROZEN, told, (), lasted)


def _pauses(facts: Facts, group: str, one: Expiry) -> Cause | None:
    """Collections that stopped the process for most of the session timeout before it was expelled."""
    if one.timeout is None:
        return None
    since = one.at - one.timeout
    clients = log_lines.homes(facts, group).values()
    others = [c for c in clients if c != one.client_id and c not in one.client_id]
    own = [
        e
        for e in facts.of_kind("gc-pause")
        if one.client_id in e.source or not any(other in e.source for other in others)
    ]
    found = [(share, e) for e in own if (share := _overlap(e, since, one.at)) > 0]
    longest = max((e.value_max or 0.0 for _, e in found), default=0.0)
    if sum(share for share, _ in found) < COVERED * one.timeout:
        return None
    places = tuple(e.first.because("stops the process") for _, e in found[:3])
    return Cause(Kind.PAUSE, f"a collection stopped its process for {units.duration(longest)}", places, longest)


def _overlap(pause: Episode, since: float, until: float) -> float:
    """Seconds of *pause* within this time; its line stands at its end (unified logs) or at its begin (older ones)."""
    at, seconds = pause.first_at or 0.0, pause.value_max or 0.0
    spans = ((at - seconds, at), (at, at + seconds))
    return max(0.0, *(min(end, until) - max(begin, since) for begin, end in spans))


def _exits(facts: Facts, group: str, one: Expiry) -> tuple[Evidence, ...]:
    reach = (one.timeout or 0.0) + SOON
    exits = [e for e, who in poll_limits.own_lines(facts, group, "process-exit") if who == one.client_id]
    near = [e for e in exits if -reach <= (e.first_at or 0.0) - one.at <= SOON]
    return tuple(e.first.because("its process ends") for e in near)


def _cut(facts: Facts, group: str, one: Expiry, asked: Sequence[Episode]) -> Cause:
    lost = _disconnected(facts, group, one)
    if not lost and not asked:
        return Cause(Kind.UNKNOWN, "its process worked on, and no line tells why its heartbeats did not arrive", ())
    places = [e.first.because("it does not reach the broker") for e in lost[:_SHOWN]]
    places += [e.first.because("a request without an answer: it ran") for e in asked[:_SHOWN]]
    back = min((at for at in _again(facts, group, one) if at >= one.at), default=None)
    return Cause(
        Kind.NETWORK,
        "its process worked on, but did not reach the coordinator: the network was cut",
        tuple(places),
        None if back is None or one.timeout is None else back - one.at + one.timeout,
    )


def _asked(facts: Facts, group: str, one: Expiry) -> Iterator[Episode]:
    """Heartbeats and commits that its client made meanwhile and gave up without an answer.

    A process that stands still makes none. Those that were on their way when it stopped are older than half of the
    session timeout: heartbeats come at least three times in one.
    """
    reach = (one.timeout or 0.0) + SOON
    for line, who in poll_limits.own_lines(facts, group, "request-cancelled"):
        given_up = line.first_at or 0.0
        made = [given_up - waited for waited in (line.value_min, line.value_max) if waited is not None]
        if who != one.client_id or one.timeout is None or abs(given_up - one.at) > reach:
            continue
        if any(one.at - one.timeout / 2 <= at <= given_up - AWAKE for at in made):
            yield line


def _unreachable(facts: Facts, group: str, one: Expiry) -> bool:
    """The client noticed the loss when it was expelled, and did not find the coordinator again for long.

    A process that stood still notices when it wakes up, and finds the coordinator at once. The client counts from the
    last answer, the coordinator from the last request, so they notice up to a heartbeat interval apart.
    """
    if one.timeout is None:
        return False
    noticed = [e.first_at or 0.0 for e in _disconnected(facts, group, one)]
    first = min((at for at in noticed if abs(at - one.at) <= max(TAKEN, one.timeout / 2)), default=None)
    if first is None:
        return False
    again = min((at for at in _again(facts, group, one) if at >= first), default=first)
    return again - first >= (one.timeout / 2 if abs(first - one.at) <= TAKEN else one.timeout)


def _again(facts: Facts, group: str, one: Expiry) -> list[float]:
    """Moments at which its client was in touch with a coordinator."""
    return [e.first_at or 0.0 for e, who in poll_limits.own_lines(facts, group, *_AGAIN) if who == one.client_id]


def _disconnected(facts: Facts, group: str, one: Expiry) -> list[Episode]:
    """Lines about a lost coordinator since the last heartbeat that arrived."""
    timeout = one.timeout or 0.0
    lost = [e for e, who in poll_limits.own_lines(facts, group, *_CUT) if who == one.client_id]
    return [e for e in lost if -timeout - TAKEN <= (e.first_at or 0.0) - one.at <= timeout + SOON]
