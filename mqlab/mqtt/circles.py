"""Messages that go round: bridges between brokers that bring them back, clients that republish what they read.

A bridge is named in the file of the broker that opens it; the other end is the broker at which its client id connects,
else the one that its address is named after. A message that circulates is a new one to every broker: no DUP flag, and
each round comes later than the one before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from mqlab import words as catalogues
from mqlab.facts import Episode, Facts, Series, Setting
from mqlab.findings import Certainty, Evidence
from mqlab.memo import per_facts
from mqlab.models import mosquitto
from mqlab.models.mosquitto import Bridge
from mqlab.models.mqtt import overlap
from mqlab.mqtt.brokers import broker_of, brokers, named, pace, words
from mqlab.mqtt.connections import Connection, by_client
from mqlab.mqtt.copies import Receiver, copies_by_topic, distinct, receivers, senders, subscribers, worst
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.rows import GRID, Flow, Receipt
from mqlab.shared.counters import increase
from mqlab.shared.lag import growth
from mqlab.units import Interval, between

say = catalogues.room("circles")

_PORT = "1883"
"""To which a bridge connects whose address has none."""
_ID = ("bridge.remote_clientid", "bridge.clientid")
"""Directives that give a bridge its client id at the other broker; the second is the older name."""


@dataclass(frozen=True, slots=True)
class ConfiguredBridge:
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
        return tuple(
            s.evidence.because(say("bridge", broker=self.bridge.here)) for s in self.settings if s.key == "bridge.topic"
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Its name in the settings, and the first line with which it was opened."""
        own = [s for s in self.settings if s.key in ("bridge", "bridge.try_private")]
        opened = [e.first.because(say("opened")) for e in self.lines[:1]]
        return (*(s.evidence.because(say("bridge", broker=self.bridge.here)) for s in own), *opened)


@dataclass(frozen=True, slots=True)
class Closed:
    """Two bridges over which messages come back."""

    links: tuple[ConfiguredBridge, ConfiguredBridge]
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
        moments = [link.opened_at for link in self.links if link.opened_at is not None]
        return max(moments) if len(moments) == len(self.links) else None


@per_facts
def bridges(facts: Facts) -> tuple[ConfiguredBridge, ...]:
    """All bridges, by the broker that opens them and by name."""
    found = [_configured(facts, s) for s in facts.settings if s.key == "bridge"]
    configured = {link.bridge.name for link in found}
    opened: dict[tuple[str, str], list[Episode]] = {}
    for line in facts.of_kind("bridge-connecting"):
        if line.client_id and line.client_id not in configured:
            opened.setdefault((line.client_id, line.source), []).append(line)
    for (name, source), lines in opened.items():
        here = broker_of(facts, source) or source
        there = _entered(facts, (), name, here) or _at(facts, lines[0].reason or "", here)
        found.append(ConfiguredBridge(Bridge(name, here, there, ()), (), tuple(lines)))
    return tuple(sorted(found, key=lambda link: (link.bridge.here, link.bridge.name)))


_OPENS = 10.0
"""Seconds from the start of a broker in which it tries its bridges for the first time: mosquitto does as it starts.
Judgement, no default behind it."""


def given_up(facts: Facts) -> Mapping[Bridge, tuple[Episode, Episode]]:
    """Bridges that a broker did not open any more when it started again: the last line of each, and that start."""
    ends = {c.source: c.last_at for c in facts.coverage if c.last_at is not None}
    starts = [(e.first_at, e) for e in facts.of_kind("broker-starting") if e.first_at is not None]
    found: dict[Bridge, tuple[Episode, Episode]] = {}
    for link in bridges(facts):
        lines = [(e.last_at, e) for e in link.lines if e.kind == "bridge-connecting" and e.last_at is not None]
        if not lines:
            continue
        until, last = max(lines, key=lambda line: line[0])
        after = [(at, e) for at, e in starts if e.source == last.source and at > until]
        if after and ends.get(last.source, until) >= after[0][0] + _OPENS:
            found[link.bridge] = (last, after[0][1])
    return found


def _several(facts: Facts) -> bool:
    """Brokers are known by their logs or statistics; the only one of which there are any may be either end."""
    return len(brokers(facts)) > 1


def _configured(facts: Facts, head: Setting) -> ConfiguredBridge:
    """The bridge that a ``connection`` line of a file begins."""
    name, own = head.value, tuple(s for s in facts.settings if s.source == head.source and s.owner == head.value)
    rules = tuple(r for s in own if s.key == "bridge.topic" for r in (mosquitto.topic_rule(s.value),) if r)
    opened = [e for e in facts.of_kind("bridge-connecting") if e.client_id == name]
    tellers = {broker_of(facts, e.source) for e in opened}
    teller = next(iter(tellers)) if len(tellers) == 1 else None
    here = (broker_of(facts, head.source) or teller if _several(facts) else None) or head.source
    address = next((s.value for s in own if s.key in ("bridge.address", "bridge.addresses")), "")
    ids = [s.value for s in own if s.key in _ID]
    there = _entered(facts, ids, name, here) or _at(facts, address, here)
    lines = [e for e in opened if not _several(facts) or broker_of(facts, e.source) == here]
    came = [e for e in _connects(facts, ids, name) if broker_of(facts, e.source) == there]
    return ConfiguredBridge(Bridge(name, here, there, rules), (head, *own), tuple(lines or came))


def _connects(facts: Facts, ids: Collection[str], name: str) -> list[Episode]:
    """Lines with which another broker lets a bridge in, where there are logs of several.

    Without a directive the id is the host's name and that of the bridge, ``host.name`` (``bridge__new``, mosquitto).
    """
    lines = facts.of_kind("client-connected") if _several(facts) else ()
    return [e for e in lines if (e.client_id in ids if ids else (e.client_id or "").endswith(f".{name}"))]


def _entered(facts: Facts, ids: Collection[str], name: str, here: str) -> str | None:
    """The only other broker at which a bridge's client id connected."""
    names = {broker_of(facts, e.source) for e in _connects(facts, ids, name)} - {here, None}
    return names.pop() if len(names) == 1 else None


def _at(facts: Facts, address: str, here: str) -> str:
    """The broker at an address: that which listens there, else whose sources are named after it; else the address."""
    host, _, port = address.split(" ")[0].partition(":")
    listeners = ((s.source, s.value.split()) for s in facts.settings if s.key == "listener")
    sources = {source for source, told in listeners if host in told[1:] and told[0] == (port or _PORT)}
    listening = {(broker_of(facts, source) if _several(facts) else None) or source for source in sources}
    if len(listening) == 1:
        return listening.pop()
    names = (
        {b.name: words(" ".join(b.sources)) for b in brokers(facts)} if _several(facts)
        else {s.source: words(s.source) for s in facts.settings if s.key == "bridge"}
    )  # fmt: skip
    there = named(names, host)
    return address if there in (None, here) else there or address


@per_facts
def closed(facts: Facts) -> tuple[Closed, ...]:
    """Pairs of bridges over which messages come back, those whose topics are known first."""
    every = {link.bridge: link for link in bridges(facts)}
    found: dict[frozenset[Bridge], Closed] = {}
    for circle in mosquitto.circles(list(every)):
        pair = frozenset((circle.out.bridge, circle.back.bridge))
        found.setdefault(pair, Closed((every[circle.out.bridge], every[circle.back.bridge]), circle.topics))
    for first, second in combinations(every.values(), 2):
        # Each broker opens first to the second, and nothing tells what they carry.
        opposite = (first.bridge.here, first.bridge.there) == (second.bridge.there, second.bridge.here)
        if opposite and first.bridge.here != second.bridge.here and not (first.bridge.rules and second.bridge.rules):
            found.setdefault(frozenset((first.bridge, second.bridge)), Closed((first, second), None))
    return tuple(found.values())


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
    """When the first message was published that came more than once, as far as that can be told."""
    until: float


@dataclass(frozen=True, slots=True)
class Taken:
    """What one broker took in since a moment, beside what was published."""

    broker: str
    series: Series
    rate: float
    """Messages a second that it took in."""
    mostly: Interval
    """The same while the circle was full."""
    published: float
    """Messages a second that were published; 0 where nobody noted any."""
    before: float | None
    """Messages a second that it took in before; None where nothing tells."""

    @property
    def circulating(self) -> Interval:
        """Messages a second that it took in again while the circle was full."""
        low, likely, high = (
            max(0.0, rate - self.published) for rate in (self.mostly.low, self.mostly.likely, self.mostly.high)
        )
        return Interval(low, likely, high)

    @property
    def grew(self) -> bool:
        """It takes in several times what it did before."""
        return self.before is not None and self.rate >= ROUNDS * self.before

    @property
    def factor(self) -> float | None:
        """Messages taken in for each one published; None where nobody noted what was published."""
        return self.rate / self.published if self.published > 0 else None


@per_facts
def circling(facts: Facts) -> tuple[Circling, ...]:
    """Receivers to which messages of others came round, the one with the most copies first."""
    found = [c for ledger in subscribers(facts) if (c := _circling(facts, ledger)) is not None]
    return tuple(sorted(found, key=lambda c: (-c.copies, c.receiver.source)))


def _circling(facts: Facts, ledger: Receiver) -> Circling | None:
    """Its copies come later and later, and differently often: each message went round since it was published.

    A publisher that itself published ids again makes no circle, or its own part in one.
    """
    copies, flow = worst(facts, ledger.source)
    varies = any(len(counts) > 1 for counts in copies_by_topic(facts, ledger.source).values())
    if flow is None or copies < ROUNDS or not ledger.unflagged or not varies:
        return None
    copied = ledger.copied()
    half = len(copied) // 2
    early = max((r.again_seconds for r in copied[:half]), default=0.0)
    again_at_home = any(sender.again and sender.source == flow.sender for sender in senders(facts))
    if max(r.again_seconds for r in copied[half:]) <= early or again_at_home:
        return None
    until = max(flow.first_at, copied[-1].again_until)
    begun = min(f.first_at for f in facts.flows if dict(f.received).get(ledger.source, 0) > 1)
    return Circling(ledger, copies, flow, distinct(facts, ledger.source), max(copied[0].at, begun), until)


@per_facts
def republishers(facts: Facts) -> tuple[Receiver, ...]:
    """Ledgers of what clients sent that note, again and again, ids of others that they read."""
    found = []
    for ledger in senders(facts):
        others = [f for f in facts.flows if f.sender not in (None, ledger.source)]
        foreign = {source for f in others for source, times in f.received if times >= ROUNDS}
        if ledger.again and any(r.client == ledger.client and r.source in foreign for r in receivers(facts)):
            found.append(ledger)
    return tuple(found)


def _taken(facts: Facts, opened: float | None, around: tuple[float, float] | None) -> Iterator[Taken]:
    """What each broker took in since its bridge was *opened*, or in all, by its own counter.

    Where messages went round is known, it is counted in that time *around*, which may be told on another clock. A new
    start counts from zero again; it may be what broke the circle.
    """
    for series in facts.named("mqtt.publish_received"):
        first, last = series.points[0][0], series.points[-1][0]
        start = first if opened is None else max(first, opened)
        if around is not None and around[0] < last and around[1] > start:
            start = max(start, around[0])
            falls_at = (at for (at, high), (_, low) in pairwise(series.points) if low < high and at > start)
            last = min(around[1], last, next(falls_at, last))
        rate = pace(series, start, last)
        if rate is not None:
            counted = [point for point in series.points if start <= point[0] <= last]
            falls = max((n for n, (one, two) in enumerate(pairwise(counted), 1) if two[1] < one[1]), default=0)
            mostly = _mostly(counted[falls:]) or between(rate, ())
            name, sent = broker_of(facts, series.source) or series.source, _published(facts, start, last)
            yield Taken(name, series, rate, mostly, sent / (last - start), pace(series, first, start))


def _mostly(counted: Sequence[tuple[float, float]]) -> Interval | None:
    """By how much a second it rose in the half of its samples in which it rose most.

    Until a circle is full, and after it is broken, it rises less.
    """
    half = max(3, (len(counted) + 1) // 2)
    halves = [growth(counted[first : first + half]) for first in range(max(1, len(counted) - half + 1))]
    return max((found for found in halves if found is not None), key=lambda found: found.likely, default=None)


def _published(facts: Facts, since: float, until: float) -> float:
    """Messages that publishers of their own note as sent from *since* until *until*; parts of ten seconds in part.

    A publisher that notes acknowledgements only is counted by these. Without ledgers, what applications print that they
    published. Ledgers that note nothing in that time may be on another clock: then it is all that they note.
    """
    again = {ledger.source for ledger in republishers(facts)}
    noting = {r.source for r in facts.receipts if r.role == "sent"}
    acking = {f.sender for f in facts.flows} - noting
    noted = [r for r in facts.receipts if r.role == "sent" or (r.role == "acked" and r.source in acking)]
    if not noted:
        rose = increase(facts.named("app.published"), since, until)
        return rose.value if rose is not None else 0.0
    own = [receipt for receipt in noted if receipt.source not in again]
    return sum(_within(r, since, until) for r in own) or float(sum(r.rows for r in own))


def _within(receipt: Receipt, since: float, until: float) -> float:
    return receipt.rows * (max(0.0, min(until, receipt.at + GRID) - max(since, receipt.at)) / GRID)


def missing(facts: Facts, ledger: Receiver, since: float) -> int:
    """Messages published after *since* that a receiver does not note; 0 where it may not have subscribed to all."""
    if {f.topic for f in facts.topic_flows if f.sender} - set(copies_by_topic(facts, ledger.source)):
        return 0
    late = [f for f in facts.flows if f.sender and not f.failed and f.first_at >= since]
    return sum(f.messages for f in late if ledger.source not in dict(f.received))


Way = Closed | Receiver
"""Two bridges, or a client that publishes what it reads, by its ledger of what it sent."""


@dataclass(frozen=True, slots=True)
class Case:
    """Messages that go round, or might."""

    way: Way | None
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
    ways: list[Way] = [*closed(facts), *republishers(facts)]
    found = [_case(facts, way, round_trips) for way in ways]
    return tuple(found) if ways or not round_trips else (_case(facts, None, round_trips),)


def _case(facts: Facts, way: Way | None, round_trips: tuple[Circling, ...]) -> Case:
    opened = way.since if isinstance(way, Closed) else None
    own = tuple(c for c in round_trips if opened is None or c.until > opened)
    # A link may break when the other one comes up: what counts is the first message that goes round.
    since = max((at for at in (opened, min((c.since for c in own), default=None)) if at is not None), default=None)
    last = max((c.until for c in own), default=None)
    around = (since, last) if since is not None and last is not None else None
    taken = _taken(facts, opened, around)
    counted = tuple(t for t in taken if not isinstance(way, Closed) or t.broker in way.brokers)
    until = last or max((t.series.points[-1][0] for t in counted), default=None)
    end = max((c.receiver.receipts[-1].until for c in own), default=None)
    ongoing = until is None or end is None or until >= end - GRID
    certainty = _certainty(way, own, counted)
    return Case(way, own, counted, since, until, ongoing, certainty)


def _certainty(
    way: Way | None, own: Sequence[Circling], counted: Sequence[Taken]
) -> Certainty | None:  # fmt: skip
    """How sure it is by ids that come round and by brokers that take in several times what is published, or did before.

    A broker that takes in what is published and no more gets nothing back: mosquitto counts no messages of QoS 2 and
    none with the RETAIN flag (``packet__read``), so that less tells nothing.
    """
    certainty = Certainty.LIKELY if isinstance(way, Closed) and way.topics is None else Certainty.PROVEN
    contradicted = any(t.factor is not None and 0.5 < t.factor < ROUNDS / 2 for t in counted)
    if own and way is not None and not contradicted:
        return certainty
    swollen = bool(counted) and all(t.factor >= ROUNDS if t.factor is not None else t.grew for t in counted)
    if own and swollen:
        return Certainty.LIKELY
    if isinstance(way, Closed) and swollen and len(counted) > 1 and all(t.grew for t in counted):
        return certainty if all(t.factor is not None for t in counted) else Certainty.LIKELY
    return None


def suspect(facts: Facts, circle: Circling) -> Connection | None:
    """The first connection of the only client that came just before; None where nobody came then, or several.

    Who publishes what it reads does so from its first message on, so the circle begins with its subscription.
    """
    begin = circle.receiver.copied()[0].at
    firsts = [own[0] for own in by_client(facts).values() if own[0].since is not None and own[0].begin is not None]
    near = [c for c in firsts if begin - GRID <= (c.since or 0.0) < begin + GRID]
    return near[0] if len(near) == 1 else None


def ring(facts: Facts, every: Sequence[Circling]) -> tuple[Subscription, Subscription] | None:
    """One subscription each of the only two clients to which the same ids come round under topics of their own.

    None where no two of them, or more than two, read topics that the others do not: each reader gets what comes round.
    A service that publishes what it makes of a message may keep its id.
    """
    clients = sorted({circle.receiver.client for circle in every})
    own = {client: [s for s in subscriptions(facts) if s.client_id == client] for client in clients}
    apart = [
        (own[a][0], own[b][0])
        for a, b in combinations(own, 2)
        if own[a] and own[b] and not any(overlap(s.filter, t.filter) for s in own[a] for t in own[b])
    ]
    return apart[0] if len(apart) == 1 else None
