"""MQTT clients whose connections end after the same time again and again, and what makes them.

A client whose packets are read more slowly than it sends them gets no answer to its pings in time: client or broker
gives up by its keep-alive, and the client is back at once, since its link is sound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.models import keep_alive
from mqlab.mqtt.client_lives import SILENT, client_of
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.limits import Carried, carried
from mqlab.mqtt.lives import by_client, told_by_clients
from mqlab.mqtt.takeovers import fought

LEAST = 3
"""Lives of a client at least that are compared."""
ON_PURPOSE = frozenset({"normal", "broker-stopped", "broker-restarted", "kicked", "not-authorized", "protocol-error",
                        "frame-too-large", "queue-killed"})  # fmt: skip
"""Ends that are no loss of a connection by silence."""
AT_ONCE = 5.0
"""Seconds in which a client with a sound link is back: after the first waits of any library."""
_NEAR = 2.0
_ALIKE, _SAME, _MOST = 0.1, 1.5, 0.6
"""Lives are alike that differ by a tenth, since clients look every 5 s, or by 1.5 s; so must most be: the first one
fills buffers first."""


@dataclass(frozen=True, slots=True)
class Flapping:
    """A client whose connections end after the same time."""

    broker: str | None
    client_id: str
    lives: tuple[Connection, ...]
    """Those that ended by themselves, by begin, as the client tells or else the broker."""
    life: float
    """Seconds that most of them lasted."""
    gap: float
    """Seconds until it was back, mostly."""
    keep_alive: float | None
    unanswered: tuple[Episode, ...]
    """Lines that say that silence ended a connection: a ping without an answer, or the broker's timeout."""
    carried: tuple[Carried, ...]
    """What a proxy carried of the lives."""
    paused: float
    """Seconds that the broker paused reading from the client, at most; 0 where it tells of none."""

    @property
    def fits(self) -> bool:
        """It is a time that a keep-alive makes."""
        return self.keep_alive is None or keep_alive.fits(self.life, self.keep_alive)

    @property
    def kept_alive(self) -> bool:
        """It is known to be one: an idle timeout is none, since a client sends once in a keep-alive at least."""
        return self.keep_alive is not None and self.fits

    @property
    def closed(self) -> bool:
        """Neither silence nor a connect of its own ended most of them: somebody closed them."""
        quiet = len(self.unanswered) + sum(life.ended == "taken-over" for life in self.lives)
        return 2 * quiet < len(self.lives)

    @property
    def silent(self) -> bool:
        """As often as not it was silence that ended a connection, after a time that a keep-alive makes."""
        return 2 * len(self.unanswered) >= len(self.lives) and self.fits


@per_facts
def flapping(facts: Facts) -> tuple[Flapping, ...]:
    """Every client with lives that are alike, by broker and id; not those whose id others take."""
    return tuple(_of_every(facts))


def _of_every(facts: Facts) -> Iterator[Flapping]:
    own: dict[str, list[Connection]] = {}
    for connection in told_by_clients(facts):
        own.setdefault(connection.client_id, []).append(connection)
    for (broker, client), told in by_client(facts).items():
        if (broker, client) in fought(facts):
            continue
        seen = own.get(client, [])
        lost = [c for c in seen if c.end is not None]
        every = seen if len(lost) >= LEAST else list(told)
        lives = [c for c in every if c.seconds is not None and c.ended is not None and c.ended not in ON_PURPOSE]
        life = _common(lives)
        if life is not None:
            yield _flapping(facts, (broker, client), every, lives, life)


def _common(lives: Sequence[Connection]) -> float | None:
    """The time that most of the lives lasted, where there is one."""
    lasted = [c.seconds for c in lives if c.seconds is not None]
    if len(lasted) < LEAST:
        return None
    middle = median(lasted)
    alike = [s for s in lasted if abs(s - middle) <= max(_SAME, _ALIKE * middle)]
    return middle if len(alike) >= max(LEAST, _MOST * len(lasted)) and middle > _SAME else None


def _flapping(
    facts: Facts, key: tuple[str | None, str], every: Sequence[Connection], lives: Sequence[Connection], life: float
) -> Flapping:
    broker, client = key
    again = [(b.since or 0.0) - a.until for a, b in pairwise(every) if a.until is not None and a in lives]
    patience = next((c.keep_alive for c in lives if c.keep_alive), None) or _configured(facts, client)
    paused = [e.value_max or 0.0 for e in facts.of_kind("rate-limited") if e.client_id == client]
    return Flapping(
        broker, client, tuple(lives), life, median(again) if again else 0.0, patience,
        _silences(facts).get(client, ()), carried(facts, lives), max(paused, default=0.0) / 1000,
    )  # fmt: skip


def _configured(facts: Facts, client: str) -> float | None:
    told = [c.keep_alive for own in by_client(facts).values() for c in own if c.client_id == client and c.keep_alive]
    return told[0] if told else None


@per_facts
def _silences(facts: Facts) -> Mapping[str, tuple[Episode, ...]]:
    """Lines that say that silence ended a connection, by client: one for each time."""
    found: dict[str, list[Episode]] = {}
    for line in facts.of_kind("ping-unanswered", "client-disconnected", "connection-lost"):
        silence = line.kind == "ping-unanswered" or line.reason in ("keep-alive", SILENT)
        client = client_of(facts, line) if silence and line.system == "mqtt" else None
        if client is None or line.first_at is None:
            continue
        mine = found.setdefault(client, [])
        if not mine or line.first_at - (mine[-1].first_at or 0.0) > _NEAR:
            mine.append(line)
    return {client: tuple(lines) for client, lines in found.items()}
