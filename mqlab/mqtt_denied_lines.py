"""Publishes and subscriptions that a broker or a client says were refused, and what became of these messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqlab import mqtt_gauges, mqtt_users
from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.models.topic_filters import matches, shared
from mqlab.mqtt_ledgers import receiving_ledgers
from mqlab.mqtt_rows import TopicFlow
from mqlab.mqtt_sessions import END
from mqlab.mqtt_subscriptions import SKEW, client_of, subscriptions

PUBLISH, SUBSCRIBE = "publish-denied", "subscribe-denied"
NEAR = 0.05
"""How far two counts of refusals may differ."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one client: its refused publishes, or one filter that it was refused."""

    kind: str
    client_id: str
    lines: tuple[Episode, ...]
    filter: str | None
    """Of a refused subscription."""
    flows: tuple[TopicFlow, ...]
    """Messages that were published to these topics, by ledgers."""
    ledgers: frozenset[str]
    """The receivers' ledgers that would have them; those of the client itself for a subscription."""
    thrown_out: bool
    """The broker ended a connection of the client for it, so it was told."""

    @property
    def count(self) -> int:
        """How often it was refused, by lines."""
        return sum(e.count for e in self.lines)

    @property
    def messages(self) -> int:
        """Messages of these topics that their publisher noted without a failure."""
        return sum(f.messages for f in self.flows if not f.failed)

    @property
    def failed(self) -> int:
        """Those that it noted as failed."""
        return sum(f.messages for f in self.flows if f.failed)

    @property
    def agrees(self) -> bool:
        """Messages that came to none of the ledgers are all of these topics, or as many as lines tell."""
        if not self.nowhere or (self.kind == SUBSCRIBE and not self.ledgers):
            return False
        as_many = abs(self.nowhere - self.count) <= max(2.0, NEAR * self.nowhere)
        return self.kind == SUBSCRIBE or as_many or self.nowhere == self.messages

    @property
    def nowhere(self) -> int:
        """Messages that came to none of the ledgers."""
        return sum(f.messages for f in self.flows if not f.failed and not self.ledgers & dict(f.received).keys())


@per_facts
def denied(facts: Facts) -> tuple[Told, ...]:
    """Every client of which lines say that it was refused, by client id; ``$SYS`` topics do no harm."""
    return (*_publishes(facts), *_subscriptions(facts))


def _publishes(facts: Facts) -> Iterator[Told]:
    for client, own in sorted(_by_client(facts, PUBLISH).items()):
        topics = {e.topic for e in own if e.topic}
        mine = {s for s in _senders(facts) if mqtt_users.client_of(facts, s) in (client, None)}
        flows = tuple(f for f in facts.topic_flows if f.topic in topics and f.sender in mine)
        yield Told(PUBLISH, client, tuple(own), None, flows, _every(facts), _thrown_out(facts, client))


def _subscriptions(facts: Facts) -> Iterator[Told]:
    for client, own in sorted(_by_client(facts, SUBSCRIBE).items()):
        ledgers = frozenset(receiving_ledgers(facts).get(client, ()))
        for name in sorted({e.topic for e in own if e.topic}):
            if not _granted(facts, client, name):
                lines = tuple(e for e in own if e.topic == name)
                since = min((e.first_at for e in lines if e.first_at is not None), default=0.0)
                flows = tuple(f for f in facts.topic_flows if f.sender and _meant(f, name) and f.last_at >= since)
                yield Told(SUBSCRIBE, client, lines, name, flows, ledgers, _thrown_out(facts, client))


def _meant(flow: TopicFlow, name: str) -> bool:
    return flow.topic is not None and matches(name, flow.topic)


def _by_client(facts: Facts, kind: str) -> Mapping[str, list[Episode]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind(kind):
        client = client_of(facts, line) or _only_subscriber(facts, line.topic)
        if client and line.system == "mqtt" and not shared(line.topic or "")[1].startswith("$"):
            found[client].append(line)
    return found


def _only_subscriber(facts: Facts, name: str | None) -> str | None:
    """The only client that says that it subscribed to this filter, for lines that name none."""
    own = {s.client_id for s in subscriptions(facts) if name and s.filter == name}
    return next(iter(own)) if len(own) == 1 else None


def _granted(facts: Facts, client: str, name: str) -> bool:
    """After the last refusal of the filter the client subscribed to it again; many note it before the answer comes."""
    refused = [e.last_at for e in facts.of_kind(SUBSCRIBE) if e.topic == name and e.last_at is not None]
    lines = [e for e in facts.of_kind("client-subscribed") if e.topic == name and client_of(facts, e) == client]
    last = max(refused, default=0.0)
    return any(e.first_at is not None and e.first_at > last + SKEW and e.value_max in (None, 0, 1, 2) for e in lines)


def _senders(facts: Facts) -> frozenset[str]:
    return frozenset(f.sender for f in facts.topic_flows if f.sender)


def _every(facts: Facts) -> frozenset[str]:
    return frozenset(source for own in receiving_ledgers(facts).values() for source in own)


def _thrown_out(facts: Facts, client: str) -> bool:
    ends = facts.of_kind("client-disconnected")
    return any(e.client_id == client and e.reason == "not-authorized" for e in ends)


def counter_agrees(facts: Facts, one: Told) -> bool:
    """The broker's count of refused publishes rose by as many as lines tell, or the publishers' ledgers."""
    counter = mqtt_gauges.gauge(facts, "mqtt.publish_denied", None)
    rose = mqtt_gauges.increase(counter, 0.0, END)
    if rose is None or rose < 1:
        return False
    return any(abs(rose - n) <= max(2.0, NEAR * rose) for n in (one.count, one.messages))
