"""MQTT client ids that are taken over again and again, which of them live clients fight for, and how many those are.

Two live clients throw each other out: the one that lost the id takes it back as soon as its library allows, again and
again. A client that comes back before its old connection was noticed makes the same line at the broker, but once for
each loss of its link, at no steady pace, and nobody else is alive meanwhile.

A party is known by its address, user, keep-alive and kind of session at the broker, or by its own log. Where all that
is the same, behind one NAT address, only the pace tells: two clients that are thrown out come back after the waits of
their libraries, faster than one alone could notice that its link is gone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab import words
from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.mqtt import GO_LONGEST, SLOWEST, doubling, steady
from mqlab.mqtt.brokers import EDGE
from mqlab.mqtt.connections import SILENT, Connection, by_client, by_own_log
from mqlab.words import Text

say = words.room("takeovers")

AWAY = 2.0
"""Seconds until a client is back, from which on its link was away: with a sound link every library tries sooner (paho
Go at once, paho Python and Java after a second)."""


Party = tuple[str, ...]
"""Address, user, keep-alive and kind of session; or a log."""
_AGAIN = 2
"""Times that a party takes the id back at least: once can be a release that was taken back."""
AT_ONCE = 10.0
"""Seconds in which a client that was thrown out is back by its library's first wait (paho Go at once, mqtt.js and paho
Python and Java after 1 s, sketches for ESP boards after 5 s). A device needs longer to leave one network for another
and to come back to the first."""
_PACE = 6
"""Intervals at least from which alone two clients are told: three of each, as few as show a pace."""
_ALL, _PART = 0.75, 0.67
"""Share of the connections from which on a log is that of the only client, and up to which there must be another: of
two that take turns one makes n of 2n - 1, which is two thirds at most."""
_UNLIKE = 0.25
"""Share of the period by which the waits of two clients must differ to be told from one client's, whose own differ by
as much (``models.mqtt.steady``)."""
_RESTART = 2.0
"""Seconds from one start of a device to the next at least: systemd gives up a service that starts more than five times
in ten seconds (DefaultStartLimitBurst, DefaultStartLimitIntervalSec)."""
_UNDECIDED = frozenset({"once-back", "open", "unended"})
"""Keys of why a war is neither found nor disproved."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of the parties of a war, or why it is none."""

    parties: tuple[Party, ...]
    """Those that are told apart, sorted; by the pace alone, one that stands for two."""
    known_by: str
    """``logs``, ``addresses``, ``turns`` (a few of those at once), ``pace``, or empty."""
    why_not: Text | None = None

    @property
    def undecided(self) -> bool:
        """It is neither found nor disproved."""
        return self.why_not is not None and self.why_not.key in _UNDECIDED

    @property
    def count(self) -> int:
        """How many clients there are at least."""
        return max(2, len(self.parties)) if self.why_not is None else 1


def judged(facts: Facts, run: Sequence[Connection]) -> Judged:
    """The parties of connections that each took over the one before."""
    made = _made(facts, run)
    if run[0].told_by == "broker":
        only = [source for source, own in sorted(made.items()) if _share(own, run) >= _ALL]
        if only:
            return Judged((), "", say("own-log", log=only[0]))
    logs = tuple((source,) for source in _taking_turns(made))
    back = _returned(run)
    apart = {party: waits for party, waits in back.items() if len(waits) >= _AGAIN}
    if len(logs) > 1:
        # One more party, where the logs tell of far less connections than the broker does.
        left = len(run) - sum(len(own) for own in made.values())
        more = ((say("no-log-of"),),) if left >= max(_PACE, (1 - _ALL) / 2 * len(run)) else ()
        return Judged(max((*logs, *more), tuple(sorted(apart)), key=len), "logs")
    if len(apart) > 1:
        return _by_address(run, apart)
    if len(back) > 1 and all(wait <= AT_ONCE for waits in back.values() for wait in waits):
        return Judged(tuple(sorted(back)), "turns")
    if len({_party(c) for c in run if c.since is not None}) > 1:
        return Judged((), "", say("once-back" if back else "no-return"))
    return _by_pace(run, made, counted=bool(facts.named("mqtt.takeovers")))


def _made(facts: Facts, run: Sequence[Connection]) -> dict[str, list[float]]:
    """When each log of a client with the id connected meanwhile."""
    first = run[0].since if run[0].since is not None else run[1].since
    since, until = (first or 0.0) - EDGE, (run[-1].since or 0.0) + EDGE
    found: dict[str, list[float]] = defaultdict(list)
    for connection in by_own_log(facts).get(run[0].client_id, ()):
        if connection.since is not None and since <= connection.since <= until:
            found[connection.source].append(connection.since)
    return found


def _share(own: Sequence[float], run: Sequence[Connection]) -> float:
    """How many of the connections in the time of a log it tells of; 0 where that is too short to say."""
    seen = [c for c in run if own[0] - EDGE <= (c.since or 0.0) <= own[-1] + EDGE]
    return len(own) / len(seen) if len(own) > _AGAIN else 0.0


def _taking_turns(made: Mapping[str, Sequence[float]]) -> list[str]:
    """Logs that connected after another one did, again and again; copies of one log do so at the same moment."""
    every = sorted((at, source) for source, own in made.items() for at in own)
    turns = Counter(b[1] for a, b in pairwise(every) if a[1] != b[1] and b[0] > a[0])
    return sorted(source for source, times in turns.items() if times >= _AGAIN)


def _party(connection: Connection) -> Party:
    if connection.told_by == "client":
        return (connection.source,)
    kind = "persistent" if connection.persistent else "clean"
    return (connection.address or "", connection.user or "", f"{connection.keep_alive or 0:g}", kind)


def _returned(run: Sequence[Connection]) -> dict[Party, list[float]]:
    """Seconds that each party was away, of those that took the id back from another one."""
    places: dict[Party, list[int]] = defaultdict(list)
    for number, connection in enumerate(run):
        places[_party(connection)].append(number)
    away = {
        party: [(run[b].since or 0.0) - (run[a].until or 0.0) for a, b in pairwise(own) if b > a + 1]
        for party, own in places.items()
    }
    return {party: waits for party, waits in away.items() if waits}


def _by_address(run: Sequence[Connection], apart: Mapping[Party, Sequence[float]]) -> Judged:
    """A client that is told that it lost the id comes back at once, after a steady time, or after doubled ones."""
    grain = _grain(run)
    paced = [
        party
        for party, waits in apart.items()
        if doubling(waits, grain) or (median(waits) <= SLOWEST and steady(waits, grain))
    ]
    if not paced:
        return Judged((), "", say("switching"))
    return Judged(tuple(sorted(apart)), "addresses")


def _by_pace(run: Sequence[Connection], made: Mapping[str, Sequence[float]], *, counted: bool) -> Judged:
    """All connections look alike; *counted* is whether the broker counts takeovers.

    A client that a broker throws out for another reason comes back at such a pace, too: lines must tell of the ends.
    """
    grain = _grain(run)
    lives = [b - a for a, b in pairwise([c.since or 0.0 for c in run[1:]])]
    keep_alive = next((c.keep_alive for c in run if c.keep_alive), None) or SLOWEST
    turns = (lives[::2], lives[1::2])
    if any(0.0 < _share(own, run) <= _PART for own in made.values()):
        return Judged((_party(run[-1]),), "logs")
    if len(lives) < _PACE:
        return Judged((), "", say("too-few"))
    if not counted and 2 * sum(c.ended is not None for c in run[:-1]) < len(lives):
        return Judged((), "", say("unended"))
    if any(doubling(own, grain) for own in turns):
        return Judged((_party(run[-1]),), "pace")
    if not all(steady(own, grain) for own in turns):
        return Judged((), "", say("irregular"))
    if median(lives) >= min(keep_alive, SLOWEST):
        return Judged((), "", say("slow"))
    apart = abs(median(turns[0]) - median(turns[1])) > max(1.5 * grain, _UNLIKE * median(lives))
    quick = median(lives) < _RESTART
    return Judged((_party(run[-1]),), "pace" if apart or quick else "", None if apart or quick else say("open"))


def _grain(run: Sequence[Connection]) -> float:
    """What the clock shows: whole seconds where all moments are."""
    return 1.0 if all((c.since or 0.0) == round(c.since or 0.0) for c in run) else 0.05


PAUSE = GO_LONGEST + 60.0
"""Seconds without a takeover after which another war begins: no client waits longer."""
_PATIENT = 60.0
"""Seconds of the keep-alive that most libraries set (paho, mqtt.js), where none is told."""
LEAST = 3
"""Takeovers in a war at least: two can be a release and its way back."""


@dataclass(frozen=True, slots=True)
class War:
    """Takeovers of one client id at one broker that follow each other."""

    broker: str | None
    client_id: str
    connections: tuple[Connection, ...]
    """The connection that was taken over first, and those that took over."""
    judged: Judged
    """By whom."""

    @property
    def takeovers(self) -> int:
        """How often the id was taken over."""
        return sum(c.count for c in self.connections[1:])

    @property
    def told(self) -> int:
        """How often a line of the broker says so."""
        return sum(c.ended == "taken-over" for c in self.connections)

    @property
    def moments(self) -> tuple[float, ...]:
        """When it was."""
        return tuple(c.since for c in self.connections[1:] if c.since is not None)

    @property
    def period(self) -> float:
        """Seconds between two takeovers, on average: clocks may show whole seconds only."""
        return (self.moments[-1] - self.moments[0]) / max(1, self.takeovers - 1)


@per_facts
def wars(facts: Facts) -> tuple[War, ...]:
    """Every client id that was taken over several times, by broker and id; some are none (``judged.why_not``)."""
    every = []
    for (broker, client), own in by_client(facts).items():
        for run in (run for run in _runs(own) if len(run) > LEAST):
            parties = judged(facts, run)
            together = parties.known_by == "pace" and _together(facts, broker, run)
            every.append(War(broker, client, run, Judged((), "", say("with-others")) if together else parties))
    return tuple(every)


@per_facts
def fought(facts: Facts) -> frozenset[tuple[str | None, str]]:
    """Broker and client id of those that live clients fight for."""
    return frozenset((war.broker, war.client_id) for war in wars(facts) if war.judged.why_not is None)


@per_facts
def cut_short(facts: Facts) -> Mapping[str, tuple[Connection, ...]]:
    """Connections that the other side ended sooner than silence can, the client back at once, by clients' own logs.

    Nobody misses a ping before the keep-alive has passed, and the link is sound. By client; none whose connections a
    broker's log tells of, which says itself how they ended.
    """
    found = {}
    named = {client for broker, client in by_client(facts) if broker is not None}
    for client, own in ((client, own) for client, own in by_own_log(facts).items() if client not in named):
        ended = [(a, b) for a, b in pairwise(own) if a.until is not None and a.ended not in ("normal", SILENT)]
        short = [a for a, b in ended if a.since is not None and (a.until or 0.0) - a.since < (a.keep_alive or _PATIENT)]
        at_once = [a for a, b in ended if a in short and (b.since or 0.0) - (a.until or 0.0) <= AWAY]
        if len(at_once) > LEAST:
            found[client] = tuple(at_once)
    return found


@per_facts
def replaced(facts: Facts) -> frozenset[str]:
    """Ids that were taken over less often than a war takes."""
    taken = [(client, sum(_took_over(*p) for p in pairwise(own))) for (_, client), own in by_client(facts).items()]
    return frozenset(client for client, times in taken if 0 < times < LEAST)


def _runs(own: Sequence[Connection]) -> Iterator[tuple[Connection, ...]]:
    """Connections that each took over the one before, without a pause between them."""
    run: list[Connection] = []
    for before, after in pairwise(own):
        taken = _took_over(before, after)
        far = (after.since or 0.0) - (before.since or after.since or 0.0) > PAUSE
        if run and (far or not taken):
            yield tuple(run)
            run = []
        if taken:
            run = [*(run or [before]), after]
    yield tuple(run)


def _took_over(before: Connection, after: Connection) -> bool:
    """The one was alive when the other began; by clients' logs, the two are told by two of them."""
    if after.since is None:
        return False
    if before.ended is None and before.told_by == "broker":
        return before.until == after.since
    another = before.source != after.source and before.since != after.since
    ended_by_it = before.ended == "taken-over" if before.told_by == "broker" else another
    return ended_by_it and before.until is not None and abs(after.since - before.until) <= EDGE


def _together(facts: Facts, broker: str | None, run: Sequence[Connection]) -> bool:
    """Most takeovers fall together with those of two other ids at least that come from the same address."""
    others: dict[int, set[str]] = defaultdict(set)
    for (place, client), own in by_client(facts).items():
        if place == broker and client != run[0].client_id:
            for before, after in pairwise(own):
                if _took_over(before, after) and after.address == run[-1].address:
                    others[round(after.since or 0.0)].add(client)
    moments = [round(c.since or 0.0) for c in run[1:]]
    same = [at for at in moments if len(others[at - 1] | others[at] | others[at + 1]) >= 2]
    return 2 * len(same) > len(moments)
