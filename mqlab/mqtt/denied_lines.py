"""Publishes and subscriptions that a broker or a client says were refused, and what became of these messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.models.topic_filters import matches, shared
from mqlab.mqtt import gauges, lives, users
from mqlab.mqtt.denied_told import NEAR, PUBLISH, SUBSCRIBE, Told
from mqlab.mqtt.ledgers import receiving_ledgers
from mqlab.mqtt.queue_case import EDGE
from mqlab.mqtt.sessions import END
from mqlab.mqtt.subscriptions import SKEW, client_of, subscriptions
from mqlab.rows.mqtt import TopicFlow

CELL = 10.0
"""Seconds of a row of receipts, which is told by its begin."""
FAULTS = frozenset({"not-authorized", "protocol-error"})
"""How a connection ends that the broker closes for a refusal: HiveMQ and EMQX say why, RabbitMQ calls it an error."""


@per_facts
def denied(facts: Facts) -> tuple[Told, ...]:
    """Every client of which lines say that it was refused, by client id; ``$SYS`` topics do no harm."""
    return (*_publishes(facts), *_subscriptions(facts))


def _publishes(facts: Facts) -> Iterator[Told]:
    for client, own in sorted(_by_client(facts, PUBLISH).items()):
        topics = {e.topic for e in own if e.topic}
        mine = {s for s in _senders(facts) if users.client_of(facts, s) in (client, None)}
        flows = tuple(f for f in facts.topic_flows if f.topic in topics and f.sender in mine)
        yield Told(PUBLISH, client, tuple(own), None, flows, _every(facts), _closed(facts, client, own))


def _subscriptions(facts: Facts) -> Iterator[Told]:
    for client, own in sorted(_by_client(facts, SUBSCRIBE).items()):
        ledgers = frozenset(receiving_ledgers(facts).get(client, ()))
        for name in sorted({e.topic for e in own if e.topic}):
            if not _granted(facts, client, name):
                lines = tuple(e for e in own if e.topic == name)
                since = min((e.first_at for e in lines if e.first_at is not None), default=0.0)
                closed = _closed(facts, client, lines)
                meant = (name, *_filters(facts, client)) if closed else (name,)
                flows = tuple(f for f in facts.topic_flows if f.sender and _meant(f, meant) and f.last_at >= since)
                yield Told(SUBSCRIBE, client, lines, name, flows, ledgers, closed)


def _filters(facts: Facts, client: str) -> tuple[str, ...]:
    """Its filters of sessions that end with the connection: what is published for them meanwhile is lost, too."""
    own = [s for s in subscriptions(facts) if s.client_id == client and s.session is not None]
    return tuple(sorted({shared(s.filter)[1] for s in own if not (s.session and s.session.persistent)}))


def _meant(flow: TopicFlow, names: Sequence[str]) -> bool:
    return flow.topic is not None and any(matches(name, flow.topic) for name in names)


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


def _closed(facts: Facts, client: str, lines: Sequence[Episode]) -> int:
    """Connections that the broker ended for a fault of the client's in the moments of these lines."""
    own = [c for c in lives.connections(facts) if c.client_id == client and c.told_by == "broker"]
    ended = [c for c in own if c.ended in FAULTS and c.until is not None]
    return sum(c.count for c in ended if any(_during(e, c.until) for e in lines))


def _during(line: Episode, at: float | None) -> bool:
    first, last = line.first_at, line.last_at
    return at is not None and first is not None and first - EDGE <= at <= (first if last is None else last) + EDGE


def closes(facts: Facts, client: str | None, at: float | None) -> bool:
    """A refusal for which the broker closes connections was then, of this client, or of anyone where it is None."""
    every = [one for one in denied(facts) if one.thrown_out and client in (None, one.client_id)]
    return any(_during(e, at) for one in every for e in one.lines)


def sent_again(facts: Facts, at: float) -> bool:
    """A publisher that loses its connection for a refusal sends again what has no answer yet: copies from then on."""
    own = [e for one in denied(facts) if one.kind == PUBLISH and one.closed > 1 for e in one.lines]
    return any(e.first_at is not None and e.first_at - CELL <= at for e in own)


def counter_agrees(facts: Facts, one: Told) -> bool:
    """The broker's count of refused publishes rose by as many as lines tell, or the publishers' ledgers."""
    counter = gauges.gauge(facts, "mqtt.publish_denied", None)
    rose = gauges.increase(counter, 0.0, END)
    if rose is None or rose < 1:
        return False
    return any(abs(rose - n) <= max(2.0, NEAR * rose) for n in (one.count, one.messages))
