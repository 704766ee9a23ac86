"""Messages that come round again and again: who notes them, how often, and what brokers take in meanwhile.

A message that circulates is a new one to every broker: no DUP flag, and each round comes later than the one before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mqlab.facts import Facts, Series
from mqlab.memo import per_facts
from mqlab.models.circling import amplification
from mqlab.mqtt.brokers import broker_of
from mqlab.mqtt.copies import Receiver, copies_by_topic, distinct, receivers, senders, subscribers, worst
from mqlab.questions.traffic import increase
from mqlab.rows.mqtt import Flow, Receipt

ROUNDS = 3
"""Copies of one message from which it goes round; two are what a filter that overlaps, or one echo, makes."""
EPISODE = 10.0
"""Seconds that a receipt spans."""


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
    until = min(copied[-1].at + EPISODE, max(flow.first_at, one.receipts[-1].at + EPISODE))
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
    return max(0.0, min(until, receipt.at + EPISODE) - max(since, receipt.at)) / EPISODE


def _is_all(receipt: Receipt, publishers: Collection[str | None]) -> bool:
    """What was acknowledged is all that is told of one of *publishers*."""
    return receipt.role == "acked" and receipt.source in publishers


def missing(facts: Facts, one: Receiver, since: float) -> int:
    """Messages published after *since* that a receiver does not note; 0 where it may not have subscribed to all."""
    if {f.topic for f in facts.topic_flows if f.sender} - set(copies_by_topic(facts, one.source)):
        return 0
    late = [f for f in facts.flows if f.sender and not f.failed and f.first_at >= since]
    return sum(f.messages for f in late if one.source not in dict(f.received))
