"""Queues of MQTT sessions that grow while nobody reads them: how fast, by which count, and what memory they cost.

Where nothing tells what a session that is away had subscribed to, the broker's own counts may: mosquitto publishes how
many shared subscriptions there are. Where there are none, what a session gets is its own; where there are, stored
messages that grow by (sessions away) of (shared subscriptions) of what comes in are their shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import linear_regression

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.mqtt import OVERHEADS, Queue, fraction
from mqlab.mqtt import brokers
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.accounting import Account, accounts, total
from mqlab.mqtt.brokers import EDGE, LASTING, LEAST, NEAR, SHORTEST, Rise
from mqlab.mqtt.sessions import END, Session, bridges, sessions
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.shared.wording import sample
from mqlab.words import listed

say = words.room("session-queue-growth")

MEMORY = 0.25
"""How far a slope of memory may be from the messages' size and overhead: allocators keep what is free and round up, by
a quarter at most where there are four classes of sizes for each doubling (jemalloc)."""


def near(count: float, expected: float) -> bool:
    """The count of messages is what was expected, but for those on their way."""
    return abs(count - expected) <= max(LEAST, 2 * NEAR * expected)


@dataclass(frozen=True, slots=True)
class Unknown:
    """The sessions of one broker that ended while they were away, or were away at the end of the material.

    Nothing is told of their subscriptions.
    """

    broker: str | None
    sessions: tuple[Session, ...]
    since: float
    """When the last of them went away."""
    until: float
    """When their sessions ended; infinity where they are kept to the end of the material."""
    shared: int | None
    """Shared subscriptions at the broker; None where it does not tell."""
    grown: Rise | None
    """Stored messages since then, as long as the queues had room; None where they did not grow."""
    came: float
    """Messages that the broker received meanwhile."""
    waiting: float
    """How many more messages the broker stored then than when the last of them went away."""

    @property
    def clients(self) -> tuple[str, ...]:
        """Their client ids, sorted."""
        return tuple(sorted({s.client_id for s in self.sessions}))

    @property
    def names(self) -> str:
        """The same in one text."""
        return ", ".join(self.clients)

    @property
    def share(self) -> float:
        """Part of the messages that shared subscriptions give to these sessions."""
        return fraction(self.shared or 0, len(self.sessions))

    @property
    def dealt(self) -> bool:
        """Stored messages grow by the share of these sessions among the shared subscriptions."""
        members, given = (self.shared or 0) > len(self.sessions), self.came * self.share
        return members and self.grown is not None and given >= LEAST and near(self.grown.by, given)

    @property
    def own(self) -> bool:
        """Nobody shares anything, and stored messages grow; so the sessions get it for themselves."""
        return self.shared == 0 and self.grown is not None

    @property
    def all_of_it(self) -> bool:
        """Stored messages grow by all that the broker receives."""
        return self.grown is not None and near(self.grown.by, self.came)


@per_facts
def unknown_subscriptions(facts: Facts) -> tuple[Unknown, ...]:
    """The brokers with such sessions, by name and end of the sessions.

    Clients were away for longer than a restart; for less, where what waited was not handed over, since the session
    ended: two publications of the broker's values then.
    """
    known = {s.client_id for s in subscriptions(facts)}
    end = brokers.end_of(facts)
    gone = [s for s in sessions(facts) if s.persistent and s.broker is not None and s.client_id not in known]
    gone = [s for s in gone if min(s.until, end) - (s.last.until or end) >= (LASTING if s.until == END else SHORTEST)]
    return tuple(
        _of_broker(facts, broker, tuple(s for s in gone if (s.broker, s.until) == (broker, until)))
        for broker, until in sorted({(s.broker, s.until) for s in gone}, key=lambda key: (key[0] or "", key[1]))
    )


def _of_broker(facts: Facts, broker: str | None, own: tuple[Session, ...]) -> Unknown:
    since, until = max(s.last.until or 0.0 for s in own), own[0].until
    shared = brokers.value(brokers.gauge(facts, "mqtt.shared_subscriptions", broker), until)
    stored = brokers.gauge(facts, "mqtt.stored_messages", broker)
    counter = brokers.gauge(facts, "mqtt.publish_received", broker)
    base = brokers.value(stored, since)
    full = None if stored is None or base is None else _until_full(facts, broker, stored.points, (since, len(own)))
    rise = None if full is None else brokers.rise(stored, since, min(full, until))
    came = None if rise is None else brokers.increase(counter, rise.since, rise.until)
    waiting = max(0.0, (brokers.value(stored, until) or 0.0) - (base or 0.0))
    known_rise = rise if came is not None and rise is not None and rise.by >= LEAST else None
    shares = not any((s.broker, s.client_id) in bridges(facts) for s in own)  # a bridge gets its topics for itself
    count = int(shared) if shared is not None and (shares or not shared) else None
    return Unknown(broker, own, since, until, count, known_rise, came or 0.0, waiting)


def _until_full(facts: Facts, broker: str | None, stored: brokers.Points, away: tuple[float, int]) -> float:
    """The last sample before the queues of *away* (since when, how many sessions) are full."""
    since, sessions = away
    queue = brokers.queue(facts, broker)
    room = END if queue is None or queue.limit is None else queue.limit * sessions * (1 - NEAR)
    base = [value for at, value in stored if at <= since][-1]
    until = since
    for at, value in stored:
        if at >= since:
            if value - base >= room:
                break
            until = at
    return until


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
    """Bytes of memory that one message should take."""

    @property
    def grows(self) -> bool:
        """Stored messages grow at the rate of the messages that match."""
        return self.much and self.grown is not None and self.expected is not None and near(self.grown.by, self.expected)

    @property
    def much(self) -> bool:
        """Stored messages grow by more than what is on its way."""
        return self.grown is not None and self.grown.by >= LEAST

    @property
    def listed(self) -> bool:
        """The list of clients shows as many in its queue as were published for it."""
        return self.queued is not None and self.published >= LEAST and near(self.queued, self.published)

    @property
    def remembered(self) -> bool | None:
        """Memory grows by messages × (size + overhead); None where one of them is not told."""
        if self.memory is None or self.each is None or self.grown is None or not self.much:
            return None
        expected = self.grown.per_second * self.each
        return abs(self.memory.per_second - expected) <= MEMORY * expected


@per_facts
def growths(facts: Facts) -> tuple[Growth, ...]:
    """Every client that was away at the end with a persistent session of its own, by client id."""
    return tuple(growth for account in accounts(facts) if account.group is None for growth in _growth(facts, account))


def _growth(facts: Facts, account: Account) -> Iterator[Growth]:
    own = tuple(s for s in account.subscriptions if s.qos != 0 and any(b == END for _, b in s.away))
    if not own:
        return
    broker = own[0].session.broker if own[0].session else None
    since, end = max(a for s in own for a, b in s.away if b == END), brokers.end_of(facts)
    grown = brokers.rise(brokers.gauge(facts, "mqtt.stored_messages", broker), since, end)
    expected, memory, payload, each = None, None, None, None
    if grown is not None:
        expected, memory = _matched(facts, broker, account, grown), _memory(facts, grown)
        stored = brokers.rise(brokers.gauge(facts, "mqtt.stored_bytes", broker), grown.since, grown.until)
        payload = stored.by / grown.by if stored is not None and grown.by >= LEAST else None
        overhead = OVERHEADS.get(brokers.software(facts, broker) or "")
        each = None if overhead is None or payload is None else payload + overhead
    queue, queued = brokers.queue(facts, broker), mqtt_sessions.waiting(facts, (account.name,))
    published = _waiting(account, since, end)
    yield Growth(
        account.name, broker, own, queue, since, published, grown, expected, queued, memory, payload, each
    )  # fmt: skip


def _waiting(account: Account, since: float, end: float) -> float:
    """What its own ledger misses since then, else what was published."""
    if account.counted:
        return total(r.certain(since - EDGE, end) for r in account.lost if r.qos != 0).likely
    return sum(r.within(since, end) for r in account.rows if r.qos != 0 and not r.failed)


def _matched(facts: Facts, broker: str | None, account: Account, grown: Rise) -> float | None:
    if account.rows:
        return sum(r.within(grown.since, grown.until) for r in account.rows if r.qos != 0 and not r.failed)
    return brokers.increase(brokers.gauge(facts, "mqtt.publish_received", broker), grown.since, grown.until)


def _memory(facts: Facts, grown: Rise) -> Rise | None:
    """The slope of the process's memory, by all samples of the time; else that of the heap."""
    for name in ("process.resident_bytes", "mqtt.heap_bytes"):
        inside = [(s, [p for p in s.points if grown.since <= p[0] <= grown.until]) for s in facts.named(name)]
        known = [(series, points) for series, points in inside if len(points) > 2]
        if len(known) == 1:
            series, points = known[0]
            slope = linear_regression(*zip(*points, strict=True)).slope
            return Rise(points[0][0], points[-1][0], slope * (points[-1][0] - points[0][0]), series)
    return None


def left_sessions(unknown: Sequence[Unknown]) -> str:
    """Whose persistent sessions stay behind, or stayed behind until they ended."""
    return listed(say("left", clients=one.clients, since=one.since, until=ended(one)) for one in unknown)


def ended(unknown: Unknown) -> float | None:
    """When the sessions ended; None where they are kept to the end of the material."""
    return None if unknown.until == END else unknown.until


def leaving(session: Session | None, *meanwhile: Evidence) -> Iterator[Evidence]:
    """The lines with which a client connects that keeps its session, *meanwhile*, and with which it goes away."""
    if session is not None and session.last.begin is not None:
        yield session.last.begin.because(say("connected-line"))
    yield from meanwhile
    if session is not None and session.last.end is not None:
        yield session.last.end.because(say("left-line"))


def counts(facts: Facts, unknown: Unknown) -> tuple[Evidence, ...]:
    """The sessions' lines, and the counts of the broker that tell what they get."""
    found = [place for session in unknown.sessions[:3] for place in leaving(session)]
    shared = brokers.gauge(facts, "mqtt.shared_subscriptions", unknown.broker)
    if shared is not None:
        found.append(sample(facts, shared, shared.points[-1][0], say("shared-line")))
    if unknown.grown is not None:
        found.append(sample(facts, unknown.grown.series, unknown.grown.until, say("stored-line")))
    return (*found, *brokers.limit_told(facts, unknown.broker))
