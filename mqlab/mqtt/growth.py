"""Queues of MQTT sessions that grow while nobody reads them: how fast, by which count, and what memory they cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import linear_regression

from mqlab.facts import Facts, Series
from mqlab.memo import per_facts
from mqlab.models.session_queue import OVERHEADS, Queue, bytes_per_message
from mqlab.mqtt import gauges, lists, software
from mqlab.mqtt.account import Account, total
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.gauges import Rise
from mqlab.mqtt.sessions import END
from mqlab.mqtt.subscriptions import Subscription

LEAST = 10
"""Messages below which nothing is told from what is on its way."""
EDGE = 1.5
"""Seconds by which an edge may be off: brokers print whole seconds, and clocks differ."""
NEAR = 0.1
"""How far a count may be from another one: the broker publishes its values every ten seconds by default."""
MEMORY = 0.25
"""How far a slope of memory may be from the messages' size and overhead: allocators round up, and keep what is free."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The queue of one client that is away at the end of the material and has no limit."""

    client_id: str
    broker: str | None
    subscriptions: tuple[Subscription, ...]
    queue: Queue | None
    since: float
    """When its client went away; minus infinity where that was before the material."""
    published: float
    """Messages that its filters matched since then and its ledger lacks; 0 where no publisher's ledger tells."""
    grown: Rise | None
    """Stored messages of the broker."""
    expected: float | None
    """Messages that matched while they grew: by ledgers, else all that the broker received."""
    queued: int | None
    """By a list of clients."""
    memory: Rise | None
    """Bytes of the broker's process or heap, over the same time."""
    payload: float | None
    """Bytes of one stored message."""
    each: float | None
    """Bytes of memory that the model gives one message."""

    @property
    def grows(self) -> bool:
        """Stored messages grow at the rate of the messages that match."""
        if self.grown is None or self.expected is None or self.grown.by < LEAST:
            return False
        return abs(self.grown.by - self.expected) <= max(LEAST, NEAR * self.expected)

    @property
    def listed(self) -> bool:
        """The list of clients shows as many in its queue as were published for it."""
        slack = max(LEAST, NEAR * self.published)
        return self.queued is not None and self.published >= LEAST and abs(self.queued - self.published) <= slack

    @property
    def remembered(self) -> bool | None:
        """Memory grows by messages × (size + overhead); None where one of them is not told."""
        if self.memory is None or self.each is None or self.grown is None or self.grown.by < LEAST:
            return None
        expected = self.grown.per_second * self.each
        return abs(self.memory.per_second - expected) <= MEMORY * expected


@per_facts
def growths(facts: Facts) -> tuple[Growth, ...]:
    """Every client that was away at the end with a persistent session of its own, by client id."""
    return tuple(found for account in accounts(facts) if account.group is None for found in _of(facts, account))


def _of(facts: Facts, account: Account) -> Iterator[Growth]:
    own = tuple(s for s in account.subscriptions if s.qos != 0 and any(b == END for _, b in s.away))
    if not own:
        return
    broker = own[0].session.broker if own[0].session and own[0].session.last.told_by == "broker" else None
    since = max(a for s in own for a, b in s.away if b == END)
    end = gauges.end_of(facts)
    grown = gauges.rise(gauges.gauge(facts, "mqtt.stored_messages", broker), since, end)
    payload = _payload(facts, broker, grown)
    yield Growth(
        account.name,
        broker,
        own,
        software.queue(facts, broker),
        since,
        _waiting(account, since, end),
        grown,
        None if grown is None else _matched(facts, broker, account, grown),
        lists.waiting(facts, (account.name,)),
        None if grown is None else _memory(facts, grown),
        payload,
        _each(facts, broker, payload),
    )


def _waiting(account: Account, since: float, end: float) -> float:
    """What its own ledger misses since then, else what was published."""
    if account.counted:
        return total(r.certain(since - EDGE, end) for r in account.lost if r.qos != 0).likely
    return sum(r.within(since, end) for r in account.rows if r.qos != 0 and not r.failed)


def _matched(facts: Facts, broker: str | None, account: Account, grown: Rise) -> float | None:
    if account.rows:
        kept = [r for r in account.rows if r.qos != 0 and not r.failed]
        return sum(r.within(grown.since, grown.until) for r in kept)
    counter = gauges.gauge(facts, "mqtt.publish_received", broker)
    return gauges.increase(counter, grown.since, grown.until)


def _payload(facts: Facts, broker: str | None, grown: Rise | None) -> float | None:
    stored = gauges.gauge(facts, "mqtt.stored_bytes", broker)
    rose = gauges.rise(stored, grown.since, grown.until) if grown is not None else None
    return rose.by / grown.by if grown is not None and rose is not None and grown.by >= LEAST else None


def _each(facts: Facts, broker: str | None, payload: float | None) -> float | None:
    overhead = OVERHEADS.get(software.software(facts, broker) or "")
    return None if overhead is None or payload is None else bytes_per_message(overhead, payload)


def _memory(facts: Facts, grown: Rise) -> Rise | None:
    """The slope of the process's memory, by all samples of the time; else that of the heap."""
    for name in ("process.resident_bytes", "mqtt.heap_bytes"):
        known = [s for s in facts.named(name) if len(_inside(s, grown)) > 2]
        if len(known) == 1:
            points = _inside(known[0], grown)
            slope = linear_regression([t for t, _ in points], [v for _, v in points]).slope
            return Rise(points[0][0], points[-1][0], slope * (points[-1][0] - points[0][0]), known[0])
    return None


def _inside(series: Series, grown: Rise) -> list[tuple[float, float]]:
    return [p for p in series.points if grown.since <= p[0] <= grown.until]
