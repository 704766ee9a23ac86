"""Bridges between MQTT brokers, and messages that go round.

Bridges between MQTT brokers as settings and logs tell of them, and the circles that they close.

A bridge is named in the file of the broker that opens it; the other end is the broker at which its client id connects,
else the one that its address is named after.

Messages that come round again and again: who notes them, how often, and what brokers take in meanwhile.

A message that circulates is a new one to every broker: no DUP flag, and each round comes later than the one before.

The case of a bridge-loop: the way on which messages come back, and the counts that show that they do.

Who may publish messages again that go round on no way that is known.

One who came just before it began, or two clients that read different topics and get the ids of each other's: a service
that publishes what it makes of a message may keep its id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from mqlab.facts import Episode, Facts, Series, Setting
from mqlab.findings import Certainty, Evidence
from mqlab.memo import per_facts
from mqlab.models import bridging
from mqlab.models.bridging import Bridge
from mqlab.models.mqtt import amplification, overlap
from mqlab.mqtt import brokers
from mqlab.mqtt.brokers import broker_of
from mqlab.mqtt.connections import Connection, by_client
from mqlab.mqtt.copies import Receiver, copies_by_topic, distinct, receivers, senders, subscribers, worst
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.rows import GRID, Flow, Receipt
from mqlab.shared.counters import increase

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
        broker_of(facts, head.source) or _teller(facts, head.value) if brokers.several(facts) else None
    ) or head.source
    address = next((s.value for s in own if s.key in ("bridge.address", "bridge.addresses")), "")
    ids = [s.value for s in own if s.key in _ID]
    there = brokers.entered(facts, ids, head.value, here) or brokers.end(facts, address, here)
    lines = _lines(facts, head.value, here) or brokers.came(facts, ids, head.value, there)
    return Link(Bridge(head.value, here, there, rules), (head, *own), lines)


def _told(facts: Facts, name: str) -> Iterator[Link]:
    """Bridges of one name of which only lines tell: one for each broker that opens one."""
    for source in sorted({e.source for e in facts.of_kind("bridge-connecting") if e.client_id == name}):
        here = broker_of(facts, source) or source
        lines = tuple(e for e in facts.of_kind("bridge-connecting") if e.client_id == name and e.source == source)
        there = brokers.entered(facts, (), name, here) or brokers.end(facts, lines[0].reason or "", here)
        yield Link(Bridge(name, here, there, ()), (), lines)


def _lines(facts: Facts, name: str, here: str) -> tuple[Episode, ...]:
    """Lines with which the broker *here* opens its bridge; of any broker where only one is known."""
    lines = [e for e in facts.of_kind("bridge-connecting") if e.client_id == name]
    return tuple(e for e in lines if not brokers.several(facts) or broker_of(facts, e.source) == here)


def _teller(facts: Facts, name: str) -> str | None:
    """The only broker whose log opens a bridge of this name."""
    names = {broker_of(facts, e.source) for e in facts.of_kind("bridge-connecting") if e.client_id == name}
    return names.pop() if len(names) == 1 else None


ROUNDS = 3
"""Copies of one message from which it goes round; two are what a filter that overlaps, or one echo, makes."""


@dataclass(frozen=True, slots=True)
class Circling:
    """One receiver to which the same messages come again and again."""

    receiver: Receiver
    copies: int
    """Of the message that came most often."""
    worst: Flow
    distinct: int
    since: float
    until: float

    @property
    def factor(self) -> float:
        """Rows that it notes for each message."""
        return self.receiver.rows / self.distinct if self.distinct else 1.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What one broker took in since a moment, beside what was published."""

    broker: str
    series: Series
    received: float
    published: float
    seconds: float
    before: float | None
    """Messages a second that it took in before; None where nothing tells."""

    @property
    def rate(self) -> float:
        """Messages a second that it took in."""
        return self.received / self.seconds

    @property
    def grew(self) -> bool | None:
        """It takes in several times what it did before; None where nothing tells what it did."""
        return None if self.before is None else self.rate >= ROUNDS * self.before

    @property
    def factor(self) -> float | None:
        """Messages taken in for each one published; None where nobody noted what was published."""
        return amplification(self.received, self.published)


@dataclass(frozen=True, slots=True)
class Republisher:
    """A client that publishes what it reads: its ledger of what it sent notes ids again that are not its own."""

    client: str
    ledger: Receiver
    reads: Receiver


@per_facts
def circling(facts: Facts) -> tuple[Circling, ...]:
    """Receivers to which messages of others came round, the one with the most copies first."""
    found = [c for one in subscribers(facts) if (c := _circling(facts, one)) is not None]
    return tuple(sorted(found, key=lambda c: (-c.copies, c.receiver.source)))


def _circling(facts: Facts, one: Receiver) -> Circling | None:
    copies, flow = worst(facts, one.source)
    copied = one.copied()
    if flow is None or copies < ROUNDS or not one.unflagged or not _varies(facts, one.source):
        return None
    half = len(copied) // 2
    early = max((r.again_seconds for r in copied[:half]), default=0.0)
    if max(r.again_seconds for r in copied[half:]) <= early or _republished_at_home(facts, flow):
        return None
    until = min(copied[-1].at + GRID, max(flow.first_at, one.receipts[-1].at + GRID))
    return Circling(one, copies, flow, distinct(facts, one.source), max(copied[0].at, flow.first_at), until)


def _varies(facts: Facts, source: str) -> bool:
    """Messages of one topic came differently often: each is as old as it is, and went round accordingly."""
    return any(len(counts) > 1 for counts in copies_by_topic(facts, source).values())


def _republished_at_home(facts: Facts, flow: Flow) -> bool:
    """The publisher itself published ids again: that is no circle, or its own part in one."""
    return any(one.again and one.source == flow.sender for one in senders(facts))


@per_facts
def republishers(facts: Facts) -> tuple[Republisher, ...]:
    """Clients whose ledgers note that they publish, again and again, messages of others that they read."""
    found = []
    for ledger in senders(facts):
        foreign = {
            s for f in facts.flows if f.sender not in (None, ledger.source) for s, n in f.received if n >= ROUNDS
        }
        own = [r for r in receivers(facts) if r.client == ledger.client and r.source in foreign]
        if ledger.again and own:
            found.append(Republisher(ledger.client, ledger, own[0]))
    return tuple(found)


def taken(facts: Facts, since: float | None) -> tuple[Taken, ...]:
    """What each broker took in after *since*, or in all, by its own counter."""
    return tuple(_taken(facts, since))


def _taken(facts: Facts, since: float | None) -> Iterator[Taken]:
    for series in facts.named("mqtt.publish_received"):
        start, end = series.points[0][0] if since is None else since, series.points[-1][0]
        rose = increase([series], start, end) if end > start else None
        if rose is not None and rose.until > rose.since:
            sent = published(facts, rose.since, rose.until)
            name = broker_of(facts, series.source) or series.source
            early = None if since is None else _before(series, since)
            yield Taken(name, series, rose.value, sent, rose.until - rose.since, early)


def _before(series: Series, since: float) -> float | None:
    """Messages a second up to the last sample before *since*; a restarted broker counts from zero again."""
    points = [p for p in series.points if p[0] <= since]
    rose = increase([series], points[0][0], points[-1][0]) if len(points) > 1 else None
    seconds = rose.until - rose.since if rose is not None else 0.0
    return rose.value / seconds if rose is not None and seconds > 0 else None


def published(facts: Facts, since: float, until: float) -> float:
    """Messages that publishers of their own note as sent from *since* until *until*; parts of ten seconds in part.

    A publisher that notes acknowledgements only is counted by these. Without ledgers, what applications print that they
    published. Ledgers that note nothing in that time may be on another clock: then it is all that they note.
    """
    again = {one.ledger.source for one in republishers(facts)}
    senders = {f.sender for f in facts.flows}
    noting = {r.source for r in facts.receipts if r.role == "sent"}
    noted = [r for r in facts.receipts if r.role == "sent" or _is_all(r, senders - noting)]
    if not noted:
        rose = increase(facts.named("app.published"), since, until)
        return rose.value if rose is not None else 0.0
    own = [receipt for receipt in noted if receipt.source not in again]
    total = sum(receipt.rows * _part(receipt, since, until) for receipt in own)
    return total or float(sum(receipt.rows for receipt in own))


def _part(receipt: Receipt, since: float, until: float) -> float:
    return max(0.0, min(until, receipt.at + GRID) - max(since, receipt.at)) / GRID


def _is_all(receipt: Receipt, publishers: Collection[str | None]) -> bool:
    """What was acknowledged is all that is told of one of *publishers*."""
    return receipt.role == "acked" and receipt.source in publishers


def missing(facts: Facts, one: Receiver, since: float) -> int:
    """Messages published after *since* that a receiver does not note; 0 where it may not have subscribed to all."""
    if {f.topic for f in facts.topic_flows if f.sender} - set(copies_by_topic(facts, one.source)):
        return 0
    late = [f for f in facts.flows if f.sender and not f.failed and f.first_at >= since]
    return sum(f.messages for f in late if one.source not in dict(f.received))


@dataclass(frozen=True, slots=True)
class Case:
    """Messages that go round, or might."""

    way: Closed | Republisher | None
    circling: tuple[Circling, ...]
    taken: tuple[Taken, ...]
    since: float | None
    until: float | None
    ongoing: bool
    certainty: Certainty | None
    """None: a way without anything that came round on it."""

    @property
    def subject(self) -> str:
        """Both brokers, or the client that republishes, or the receiver that sees it."""
        if isinstance(self.way, Closed):
            return " <-> ".join(self.way.brokers)
        return self.way.client if self.way is not None else self.circling[0].receiver.client


@per_facts
def cases(facts: Facts) -> tuple[Case, ...]:
    """One case for each way on which messages can come back; one more for messages that come round on none of them."""
    round_trips = circling(facts)
    ways: list[Closed | Republisher] = [*closed(facts), *republishers(facts)]
    found = [_case(facts, way, round_trips) for way in ways]
    if not ways and round_trips:
        found.append(_case(facts, None, round_trips))
    return tuple(found)


def _case(facts: Facts, way: Closed | Republisher | None, round_trips: tuple[Circling, ...]) -> Case:
    opened = way.since if isinstance(way, Closed) else None
    own = tuple(c for c in round_trips if opened is None or c.until > opened)
    counted = tuple(t for t in taken(facts, opened) if _at(way, t))
    first = min((c.since for c in own), default=None)
    until = max((c.until for c in own), default=None) or max((t.series.points[-1][0] for t in counted), default=None)
    end = max((c.receiver.receipts[-1].at for c in own), default=None)
    ongoing = until is None or end is None or until >= end
    certainty = _certainty(way, own, counted)
    return Case(way, own, counted, opened if opened is not None else first, until, ongoing, certainty)


def _at(way: Closed | Republisher | None, taken: Taken) -> bool:
    return not isinstance(way, Closed) or taken.broker in way.brokers


def _certainty(
    way: Closed | Republisher | None, own: tuple[Circling, ...], counted: tuple[Taken, ...]
) -> Certainty | None:
    known = isinstance(way, Republisher) or (isinstance(way, Closed) and way.topics is not None)
    if own and way is not None and not _contradicted(counted):
        return Certainty.PROVEN if known else Certainty.LIKELY
    swollen = _swollen(counted)
    if own and swollen:
        return Certainty.LIKELY
    if isinstance(way, Closed) and swollen and all(t.grew for t in counted) and len(counted) > 1:
        counts = all(t.factor is not None for t in counted)
        return Certainty.PROVEN if known and counts else Certainty.LIKELY
    return None


def _swollen(counted: tuple[Taken, ...]) -> bool:
    """Every broker whose counter is known takes in several times what is published, or what it did before."""
    return bool(counted) and all(t.factor >= ROUNDS if t.factor is not None else bool(t.grew) for t in counted)


def _contradicted(counted: tuple[Taken, ...]) -> bool:
    """Some broker takes in what is published and no more: nothing comes back to it.

    mosquitto counts no messages of QoS 2 and none with the RETAIN flag (``packet__read``): less tells nothing.
    """
    return any(t.factor is not None and 0.5 < t.factor < ROUNDS / 2 for t in counted)


def told_by_bridges(facts: Facts) -> Iterator[str]:
    """Words about ways on which nothing came back."""
    for case in cases(facts):
        if case.certainty is None and isinstance(case.way, Closed):
            topics = f" for {case.way.topics}" if case.way.topics is not None else ""
            yield f"two bridges between {case.subject}{topics}, but no id came more than {ROUNDS - 1} times"


def seconds(case: Case) -> float:
    """How long it lasted, at least the time that one receipt spans."""
    return max(GRID, (case.until or 0.0) - (case.since or 0.0)) if case.since and case.until else GRID


def suspect(facts: Facts, one: Circling) -> Connection | None:
    """The first connection of the only client that came just before; None where nobody came then, or several.

    Who publishes what it reads does so from its first message on, so the circle begins with its subscription.
    """
    begin = one.receiver.copied()[0].at
    firsts = [own[0] for own in by_client(facts).values() if own[0].since is not None and own[0].begin is not None]
    near = [c for c in firsts if begin - GRID <= (c.since or 0.0) < begin + GRID]
    return near[0] if len(near) == 1 else None


def ring(facts: Facts, every: Sequence[Circling]) -> tuple[Subscription, Subscription] | None:
    """One subscription each of the only two clients to which the same ids come round under topics of their own.

    None where no two of them, or more than two, read topics that the others do not: each reader gets what comes round.
    """
    clients = {one.receiver.client for one in every}
    own = {client: [s for s in subscriptions(facts) if s.client_id == client] for client in sorted(clients)}
    apart = [(a, b) for a, b in combinations(own, 2) if own[a] and own[b] and not _meet(own[a], own[b])]
    return (own[apart[0][0]][0], own[apart[0][1]][0]) if len(apart) == 1 else None


def _meet(some: Sequence[Subscription], others: Sequence[Subscription]) -> bool:
    return any(overlap(a.filter, b.filter) for a in some for b in others)
