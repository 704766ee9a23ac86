"""How often an MQTT client came back: connections and subscriptions by its id, and how its connections ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.lives import by_client

ENDS = {
    "normal": "it disconnects by itself each time: it is restarted, or its code connects anew",
    "taken-over": "another connection with its id takes over each time",
    "keep-alive": "the broker ends its connections, since it is silent for too long",
    "closed": "its connections break",
}
"""What the most frequent end of a client's connections says of the cause."""
_TOGETHER = 1.0
"""Seconds in which several filters are one subscription."""


@per_facts
def connections(facts: Facts, client: str) -> tuple[Connection, ...]:
    """The connections of a client whose begin is known, by begin."""
    own = [c for (_, name), found in by_client(facts).items() if name == client for c in found if c.since is not None]
    return tuple(sorted(own, key=lambda c: (c.since or 0.0, c.source)))


@per_facts
def connected(facts: Facts, client: str) -> tuple[float, ...]:
    """When a client connected."""
    return tuple(c.since for c in connections(facts, client) if c.since is not None)


@per_facts
def subscribed(facts: Facts, client: str) -> tuple[float, ...]:
    """When a client subscribed: as lines tell, or when it connected where fewer lines tell of it."""
    lines = [e.first_at for e in _subscriptions(facts, client) if e.first_at is not None]
    moments: list[float] = []
    for at in sorted(lines):
        if not moments or at - moments[-1] > _TOGETHER:
            moments.append(at)
    came = connected(facts, client)
    return tuple(moments) if len(moments) >= len(came) else came


def _subscriptions(facts: Facts, client: str) -> list[Episode]:
    named = [e for e in facts.of_kind("client-subscribed") if e.client_id == client]
    return named or [
        e for e in facts.of_kind("client-subscribed") if e.client_id is None and client_of(facts, e.source) == client
    ]


def usual_end(connections: Sequence[Connection]) -> str | None:
    """How most of these connections ended; None where no line says."""
    told = Counter(c.ended for c in connections if c.ended)
    return min(told, key=lambda end: (-told[end], end)) if told else None


def cause(connections: Sequence[Connection]) -> str:
    """Words about why a client comes back, empty where nothing tells."""
    return ENDS.get(usual_end(connections) or "", "")


def taken_over(connections: Sequence[Connection]) -> bool:
    """Most of them ended since another connection had the same client id: whatever follows is its consequence."""
    return usual_end(connections) == "taken-over"


def evidence(connections: Sequence[Connection]) -> tuple[Evidence, ...]:
    """The lines that begin and end these connections, as far as they are known."""
    places = [(c.begin, "it connects") for c in connections] + [(c.end, "its connection ends") for c in connections]
    known = [Evidence(place.source, place.line, place.text, why) for place, why in places if place is not None]
    return tuple(sorted(known, key=lambda place: (place.source, place.line or 0)))
