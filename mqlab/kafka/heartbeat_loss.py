"""Members that a coordinator expelled because it heard nothing from them, and what they were doing meanwhile.

Signs of life are lines that a client wrote, polls that it worked off and answers to those who scrape its metrics. A
process that stands still writes nothing; one whose network is cut writes on. A silence means something only where the
client wrote often enough before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups, log_lines, restarts
from mqlab.kafka.lives import lives as lives_of
from mqlab.kafka.log_lines import static_of
from mqlab.kafka.poll_limits import Silence, lines_of, own_lines, session_limit, signs_of_life, silence
from mqlab.kafka.poll_timeout import departures
from mqlab.kafka.restarts import distinct, fenced
from mqlab.kafka.rows import RESOLUTION, End, Life
from mqlab.memo import per_facts
from mqlab.shared.benign_lines import ORDERLY
from mqlab.shared.configured import consumer_value
from mqlab.shared.restarts import CLOCKS
from mqlab.words import Text

say = words.room("heartbeat-loss")

SOON = 15.0
"""Seconds beyond the session timeout after a stop or a late poll within which the expulsion is its trace: a heartbeat
(heartbeat.interval.ms, 3 s) came after it, two clocks differ, and a busy host stops and writes seconds later.
Judgement, no default behind it."""
COVERED = 0.8
"""Share of the session timeout that pauses must make up. The last heartbeat may be an interval old when they begin:
with heartbeat.interval.ms = 3000 that leaves 0.7 of 10 s and 0.93 of 45 s. Judgement between the two."""
_NOTICED = ("session-timeout", "coordinator-lost", "heartbeat-failed", "generation-reset", "commit-failed")
_AGAIN = ("coordinator-found", "join-completed", "partitions-assigned")
_CUT = ("session-timeout", "coordinator-lost", "request-timeout")
_SHOWN = 2


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

    @property
    def silent_since(self) -> float:
        """Its last sign of life: its own, or the heartbeat from which the coordinator counted, by its own clock."""
        timeout = self.timeout or 0.0
        if self.silence is None:
            return self.at - timeout
        return max(self.silence.since, self.at - (timeout if self.told and self.timeout else 2 * timeout))

    @property
    def reach(self) -> float:
        """Seconds around the expulsion in which what led to it lies."""
        return (self.timeout or 0.0) + SOON


@per_facts
def judged(facts: Facts, group: str) -> tuple[tuple[Expiry, str | None], ...]:
    """Every expulsion with what it is the trace of, None where of nothing but silence."""
    lives = lives_of(facts, group)
    expelled = [life for life in lives if life.end is End.EXPIRED and life.until is not None]
    pairs: list[tuple[Expiry, str | None]] = []
    for life in expelled:
        expiry = _expiry(facts, group, life, lives)
        pairs.append((expiry, _trace(facts, group, expiry, life, lives)))
    pairs += [] if expelled else [(expiry, None) for expiry in _by_clients(facts, group)]
    return tuple(sorted(pairs, key=lambda pair: (pair[0].at, pair[0].client_id)))


def _expiry(facts: Facts, group: str, life: Life, lives: Sequence[Life]) -> Expiry:
    at, client = life.until or 0.0, life.client_id
    limit = session_limit(facts, client, at)
    timeout = limit.seconds if limit else None
    signs = signs_of_life(facts, group).get(client, ())
    later = [o for o in lives if o.client_id == client and o is not life and (o.since or 0.0) >= (life.since or 0.0)]
    same_host = [o for o in later if o.host in (None, life.host) or life.host is None]
    back = min((o for o in same_host or later if o.since is not None), key=lambda o: o.since or 0.0, default=None)
    until = inf if back is None or back.since is None else back.since + CLOCKS
    notices = [
        e.first for e in lines_of(facts, group, client, *_NOTICED) if at - CLOCKS <= (e.first_at or 0.0) <= until
    ]
    return Expiry(
        at=at,
        client_id=client,
        host=life.host,
        static=_static(facts, life, lives),
        timeout=timeout,
        silence=silence(facts, group, client, at, timeout) if timeout else None,
        working=timeout is not None and _worked(facts, client, signs, at, timeout),
        back=back,
        seen=_seen(signs, back) and client not in groups.astray(facts, group),
        told=True,
        evidence=groups.of_life(facts, life) or life.evidence[-1:],
        after=tuple(place.because(say("notices", client=client)) for place in notices[:1]),
    )


def _worked(facts: Facts, client: str, signs: Sequence[float], at: float, timeout: float) -> bool:
    """The process ran while the coordinator heard nothing: its metrics were scraped, or it wrote several times."""
    own = [s for s in facts.series if s.name.startswith("consumer.") and s.labels.get("client_id") == client]
    scraped = any(at - timeout + CLOCKS < moment < at - CLOCKS for s in own for moment, _ in s.points)
    return scraped or bisect_right(signs, at) - bisect_left(signs, at - timeout / 2) >= 2


def _seen(signs: Sequence[float], back: Life | None) -> bool:
    """The material has lines of the client, and of its return where it came back: else its log was cut before."""
    return bool(signs) and (back is None or back.since is None or signs[-1] >= back.since - CLOCKS)


def _static(facts: Facts, life: Life, lives: Sequence[Life]) -> bool:
    """A line about it names its group.instance.id, or a setting; or the same name is static at another time."""
    own = consumer_value(facts, life.client_id, "group.instance.id", life.until or 0.0)
    named = any(static_of(place.text) for place in life.evidence) or (own is not None and own.value not in ("", "null"))
    return named or any(o.static for o in lives if o.client_id == life.client_id)


def _by_clients(facts: Facts, group: str) -> Iterator[Expiry]:
    """Where no coordinator's log is there: clients that say that they heard no heartbeat for the session timeout."""
    if any(e.group == group for e in facts.of_kind("rebalance-started", "member-expired", "group-epoch-bumped")):
        return
    for line, client in own_lines(facts, group, "session-timeout"):
        at = line.first_at or 0.0
        limit = session_limit(facts, client, at)
        unknown = lines_of(facts, group, client, "generation-reset", "partitions-lost", "heartbeat-failed")
        lost = [e for e in unknown if abs((e.first_at or 0.0) - at) <= SOON]
        if limit is None or not lost:
            continue
        quiet = silence(facts, group, client, at - CLOCKS, limit.seconds)
        signs = signs_of_life(facts, group).get(client, ())
        worked = _worked(facts, client, signs, at - CLOCKS, limit.seconds)
        places = (line.first, lost[0].first)
        yield Expiry(at, client, line.peer, False, limit.seconds, quiet, worked, None, True, False, places)


def _trace(facts: Facts, group: str, one: Expiry, life: Life, lives: Sequence[Life]) -> str | None:
    """What an expulsion is the trace of, where it is not the member's silence that matters."""
    late = [departure.at for departure in departures(facts, group) if departure.client_id == one.client_id]
    if any(-one.reach <= at - one.at <= CLOCKS for at in late):
        return say("late")
    died = life.process_stopped is not None and _died(facts, group, one, life.process_stopped)
    if life.process_stopped is not None and not died:
        return say("stopped")
    if any(o.client_id == one.client_id and fenced(o) for o in lives):
        return say("fenced")
    broker = facts.near(one.at, one.reach, "broker-stopping", "broker-stopped", "broker-started")
    if broker and not (one.silence and one.silence.telling):
        return say("broker")
    woke = one.silence is not None and one.silence.telling and one.silence.until is not None
    if one.static and not died and not woke:
        return say("static")
    names = {o.client_id for o in distinct([life])} | {one.client_id}
    for release in restarts.releases(facts, group):
        meanwhile = release.since - one.reach <= one.at <= release.until + one.reach
        if one.replaced and meanwhile and names & set(release.members):
            return say("release")
    return None


def _died(facts: Facts, group: str, one: Expiry, stopped: float) -> bool:
    """The process ended with an error, or was killed."""
    exits = lines_of(facts, group, one.client_id, "process-exit")
    return any(e.value_max not in (None, *ORDERLY) for e in exits if abs((e.first_at or 0.0) - stopped) <= SOON)


class Kind(Enum):
    """What it was."""

    PAUSE = "pause"
    NETWORK = "network"
    DEATH = "death"
    FROZEN = "frozen"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """What was behind one expulsion."""

    kind: Kind
    told: Text
    evidence: tuple[Evidence, ...]
    seconds: float | None = None
    """How long the member could not be heard, where that is known."""


def cause(facts: Facts, group: str, one: Expiry) -> Cause:
    """The cause of *one*, by what the material shows of its process."""
    paused = _pauses(facts, group, one)
    if paused is not None:
        return paused
    if one.replaced or (one.back is None and _exits(facts, group, one)):
        return Cause(Kind.DEATH, say("died"), _exits(facts, group, one))
    asked = tuple(_asked(facts, group, one))
    if one.working or asked or _unreachable(facts, group, one):
        return _cut(facts, group, one, asked)
    if one.silence is None or not one.silence.telling:
        return Cause(Kind.UNKNOWN, say("unknown"), ())
    if one.silence.until is None:
        return Cause(Kind.DEATH, say("silent"), ())
    lasted = one.silence.until - one.silence.since
    return Cause(Kind.FROZEN, say("frozen", seconds=lasted), (), lasted)


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
    pauses = [(seconds, e) for e in own if (seconds := _overlap(e, since, one.at)) > 0]
    longest = max((e.value_max or 0.0 for _, e in pauses), default=0.0)
    if sum(seconds for seconds, _ in pauses) < COVERED * one.timeout:
        return None
    places = tuple(e.first.because(say("pause-line")) for _, e in pauses[:3])
    return Cause(Kind.PAUSE, say("paused", seconds=longest), places, longest)


def _overlap(pause: Episode, since: float, until: float) -> float:
    """Seconds of *pause* within this time; its line stands at its end (unified logs) or at its begin (older ones)."""
    at, seconds = pause.first_at or 0.0, pause.value_max or 0.0
    spans = ((at - seconds, at), (at, at + seconds))
    return max(0.0, *(min(end, until) - max(begin, since) for begin, end in spans))


def _exits(facts: Facts, group: str, one: Expiry) -> tuple[Evidence, ...]:
    exits = lines_of(facts, group, one.client_id, "process-exit")
    near = [e for e in exits if -one.reach <= (e.first_at or 0.0) - one.at <= SOON]
    return tuple(e.first.because(say("exit-line")) for e in near)


def _cut(facts: Facts, group: str, one: Expiry, asked: Sequence[Episode]) -> Cause:
    lost = _disconnected(facts, group, one)
    if not lost and not asked:
        return Cause(Kind.UNKNOWN, say("working"), ())
    places = [e.first.because(say("lost-line")) for e in lost[:_SHOWN]]
    places += [e.first.because(say("asked-line")) for e in asked[:_SHOWN]]
    back = min((at for at in _again(facts, group, one) if at >= one.at), default=None)
    return Cause(
        Kind.NETWORK,
        say("cut"),
        tuple(places),
        None if back is None or one.timeout is None else back - one.at + one.timeout,
    )


def _asked(facts: Facts, group: str, one: Expiry) -> Iterator[Episode]:
    """Heartbeats and commits that its client made meanwhile and gave up without an answer.

    A process that stands still makes none. Those that were on their way when it stopped are older than half of the
    session timeout: heartbeats come at least three times in one.
    """
    for line in lines_of(facts, group, one.client_id, "request-cancelled"):
        given_up = line.first_at or 0.0
        made = [given_up - waited for waited in (line.value_min, line.value_max) if waited is not None]
        if one.timeout is None or abs(given_up - one.at) > one.reach:
            continue
        if any(one.at - one.timeout / 2 <= at <= given_up - RESOLUTION for at in made):
            yield line


def _unreachable(facts: Facts, group: str, one: Expiry) -> bool:
    """The client noticed the loss when it was expelled, and did not find the coordinator again for long.

    A process that stood still notices when it wakes up, and finds the coordinator at once. The client counts from the
    last answer, the coordinator from the last request, so they notice up to a heartbeat interval apart.
    """
    if one.timeout is None:
        return False
    noticed = [e.first_at or 0.0 for e in _disconnected(facts, group, one)]
    first = min((at for at in noticed if abs(at - one.at) <= max(CLOCKS, one.timeout / 2)), default=None)
    if first is None:
        return False
    again = min((at for at in _again(facts, group, one) if at >= first), default=first)
    return again - first >= (one.timeout / 2 if abs(first - one.at) <= CLOCKS else one.timeout)


def _again(facts: Facts, group: str, one: Expiry) -> list[float]:
    """Moments at which its client was in touch with a coordinator."""
    return [e.first_at or 0.0 for e in lines_of(facts, group, one.client_id, *_AGAIN)]


def _disconnected(facts: Facts, group: str, one: Expiry) -> list[Episode]:
    """Lines about a lost coordinator since the last heartbeat that arrived."""
    lost = lines_of(facts, group, one.client_id, *_CUT)
    return [e for e in lost if -(one.timeout or 0.0) - CLOCKS <= (e.first_at or 0.0) - one.at <= one.reach]
