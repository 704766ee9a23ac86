"""Bridges between MQTT brokers as settings and logs tell of them, and the circles that they close.

A bridge is named in the file of the broker that opens it; the other end is the broker at which its client id connects,
else the one that its address is named after.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import bridging
from mqlab.models.bridging import Bridge
from mqlab.mqtt import bridge_ends
from mqlab.mqtt.brokers import broker_of

_ID = ("bridge.remote_clientid", "bridge.clientid")
"""Directives that give a bridge its client id at the other broker; the second is the older name."""


@dataclass(frozen=True, slots=True)
class Link:
    """One bridge, what is configured for it, and the lines with which it was opened."""

    bridge: Bridge
    settings: tuple[Setting, ...]
    lines: tuple[Episode, ...]

    @property
    def opened_at(self) -> float | None:
        """When it was first opened, as far as lines tell."""
        return min((e.first_at for e in self.lines if e.first_at is not None), default=None)

    @property
    def topics(self) -> tuple[Evidence, ...]:
        """The settings that say what it carries."""
        return self._told("bridge.topic")

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Its name in the settings, and the first line with which it was opened."""
        opened = [Evidence(e.first.source, e.first.line, e.first.text, "the bridge is opened") for e in self.lines[:1]]
        return (*self._told("bridge", "bridge.try_private"), *opened)

    def _told(self, *keys: str) -> tuple[Evidence, ...]:
        own = [s for s in self.settings if s.key in keys]
        return tuple(Evidence(s.source, s.line, s.text, f"bridge of {self.bridge.here}") for s in own)


@dataclass(frozen=True, slots=True)
class Closed:
    """Two bridges over which messages come back."""

    links: tuple[Link, Link]
    topics: str | None
    """Filter of what comes back; None where no setting tells what the bridges carry."""

    @property
    def brokers(self) -> tuple[str, str]:
        """Both brokers, sorted."""
        first, second = sorted((self.links[0].bridge.here, self.links[0].bridge.there))
        return first, second

    @property
    def since(self) -> float | None:
        """When the second of them was opened; None where no line tells."""
        moments = [link.opened_at for link in self.links]
        return max((m for m in moments if m is not None), default=None) if None not in moments else None

    @property
    def opened(self) -> bool:
        """Lines tell that both were opened."""
        return self.since is not None


@per_facts
def links(facts: Facts) -> tuple[Link, ...]:
    """All bridges, by the broker that opens them and by name."""
    found = [_configured(facts, s) for s in facts.settings if s.key == "bridge"]
    named = {link.bridge.name for link in found}
    told = {e.client_id for e in facts.of_kind("bridge-connecting") if e.client_id}
    found += [link for name in sorted(told - named) for link in _told(facts, name)]
    return tuple(sorted(found, key=lambda link: (link.bridge.here, link.bridge.name)))


@per_facts
def closed(facts: Facts) -> tuple[Closed, ...]:
    """Pairs of bridges over which messages come back, those whose topics are known first."""
    every = {link.bridge: link for link in links(facts)}
    found: dict[frozenset[Bridge], Closed] = {}
    for circle in bridging.circles(list(every)):
        pair = frozenset((circle.out.bridge, circle.back.bridge))
        found.setdefault(pair, Closed((every[circle.out.bridge], every[circle.back.bridge]), circle.topics))
    for one, other in _opposite(tuple(every.values())):
        found.setdefault(frozenset((one.bridge, other.bridge)), Closed((one, other), None))
    return tuple(found.values())


def _opposite(every: Collection[Link]) -> Iterator[tuple[Link, Link]]:
    """Bridges opened by either of two brokers to the other one, where nothing tells what they carry."""
    for one in every:
        for other in every:
            ends = (one.bridge.here, one.bridge.there) == (other.bridge.there, other.bridge.here)
            if ends and one.bridge.here < other.bridge.here and not (one.bridge.rules and other.bridge.rules):
                yield one, other


def _configured(facts: Facts, head: Setting) -> Link:
    """The bridge that a ``connection`` line of a file begins."""
    own = tuple(s for s in facts.settings if s.source == head.source and s.owner == head.value)
    rules = tuple(r for s in own if s.key == "bridge.topic" for r in (bridging.rule(s.value),) if r)
    here = (
        broker_of(facts, head.source) or _teller(facts, head.value) if bridge_ends.several(facts) else None
    ) or head.source
    address = next((s.value for s in own if s.key in ("bridge.address", "bridge.addresses")), "")
    ids = [s.value for s in own if s.key in _ID]
    there = bridge_ends.entered(facts, ids, head.value, here) or bridge_ends.end(facts, address, here)
    lines = _lines(facts, head.value, here) or bridge_ends.came(facts, ids, head.value, there)
    return Link(Bridge(head.value, here, there, rules), (head, *own), lines)


def _told(facts: Facts, name: str) -> Iterator[Link]:
    """Bridges of one name of which only lines tell: one for each broker that opens one."""
    for source in sorted({e.source for e in facts.of_kind("bridge-connecting") if e.client_id == name}):
        here = broker_of(facts, source) or source
        lines = tuple(e for e in facts.of_kind("bridge-connecting") if e.client_id == name and e.source == source)
        there = bridge_ends.entered(facts, (), name, here) or bridge_ends.end(facts, lines[0].reason or "", here)
        yield Link(Bridge(name, here, there, ()), (), lines)


def _lines(facts: Facts, name: str, here: str) -> tuple[Episode, ...]:
    """Lines with which the broker *here* opens its bridge; of any broker where only one is known."""
    lines = [e for e in facts.of_kind("bridge-connecting") if e.client_id == name]
    return tuple(e for e in lines if not bridge_ends.several(facts) or broker_of(facts, e.source) == here)


def _teller(facts: Facts, name: str) -> str | None:
    """The only broker whose log opens a bridge of this name."""
    names = {broker_of(facts, e.source) for e in facts.of_kind("bridge-connecting") if e.client_id == name}
    return names.pop() if len(names) == 1 else None
