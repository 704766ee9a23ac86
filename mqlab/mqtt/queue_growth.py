"""Queues of MQTT sessions that grow while nobody reads them.

Sessions that are away and whose subscriptions nobody tells: what the broker's own counts say that they get.

mosquitto publishes how many shared subscriptions there are. Where there are none, what a session gets is its own; where
there are, stored messages that grow by (sessions away) of (shared subscriptions) of what comes in are their shares.

Queues of MQTT sessions that grow while nobody reads them: how fast, by which count, and what memory they cost.

The findings about sessions that are away and whose subscriptions nobody tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import linear_regression

from mqlab import units
from mqlab.facts import Facts, Series
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.memo import per_facts
from mqlab.models.mqtt import OVERHEADS, Queue, bytes_per_message, fraction
from mqlab.mqtt import brokers
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.accounting import Account, accounts, total
from mqlab.mqtt.brokers import Rise
from mqlab.mqtt.sessions import END, Session, left_behind
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.shared.wording import clock, moment, sample

LEAST = 10
"""Messages below which nothing is told from what is on its way."""
NEAR = 0.1
"""How far a growth may be from the law: the broker publishes its values every ten seconds by default."""
LASTING = 60.0
"""Seconds that a client must be away: one that is started again is back sooner, and at the end all may be stopped."""
_FULL = 0.95
"""Share of what queues hold up to which they grow."""


@dataclass(frozen=True, slots=True)
class Untold:
    """The sessions of one broker that were away at the end, with nothing told of their subscriptions."""

    broker: str | None
    sessions: tuple[Session, ...]
    shared: int | None
    """Shared subscriptions at the broker; None where it does not tell."""
    grown: Rise | None
    """Stored messages since the last of them went away, as long as their queues had room."""
    came: float | None
    """Messages that the broker received meanwhile."""
    waiting: float
    """How many more messages the broker stored at the end than when the last of them went away."""

    @property
    def dealt(self) -> bool:
        """Stored messages grow by the share of these sessions among the shared subscriptions."""
        if self.shared is None or self.shared < len(self.sessions) + 1 or not self._grew():
            return False
        return self._near((self.came or 0.0) * fraction(self.shared, len(self.sessions)))

    @property
    def own(self) -> bool:
        """Nobody shares anything, and stored messages grow; so the sessions get it for themselves."""
        return self.shared == 0 and self._grew()

    @property
    def all_of_it(self) -> bool:
        """Stored messages grow by all that the broker receives."""
        return self._grew() and self._near(self.came or 0.0)

    def _grew(self) -> bool:
        return self.grown is not None and self.grown.by >= LEAST and self.came is not None

    def _near(self, expected: float) -> bool:
        grown = self.grown.by if self.grown is not None else 0.0
        return abs(grown - expected) <= max(LEAST, NEAR * expected)


@per_facts
def untold(facts: Facts) -> tuple[Untold, ...]:
    """The brokers with such sessions, of clients that were away for longer than a restart, by name."""
    known = {s.client_id for s in subscriptions(facts)}
    end = brokers.end_of(facts)
    gone = [s for s in left_behind(facts) if s.client_id not in known and end - (s.last.until or end) >= LASTING]
    return tuple(
        _of(facts, broker, tuple(s for s in gone if s.broker == broker))
        for broker in sorted({s.broker for s in gone}, key=lambda name: name or "")
    )


def _of(facts: Facts, broker: str | None, own: tuple[Session, ...]) -> Untold:
    since = max(s.last.until or 0.0 for s in own)
    shared = brokers.value(brokers.gauge(facts, "mqtt.shared_subscriptions", broker), float("inf"))
    grown = _growth(facts, broker, since, len(own))
    counter = brokers.gauge(facts, "mqtt.publish_received", broker)
    came = None if grown is None else brokers.increase(counter, grown.since, grown.until)
    stored = brokers.gauge(facts, "mqtt.stored_messages", broker)
    waiting = (brokers.value(stored, float("inf")) or 0.0) - (brokers.value(stored, since) or 0.0)
    return Untold(broker, own, None if shared is None else int(shared), grown, came, max(0.0, waiting))


def _growth(facts: Facts, broker: str | None, since: float, sessions: int) -> Rise | None:
    stored = brokers.gauge(facts, "mqtt.stored_messages", broker)
    base = brokers.value(stored, since)
    if stored is None or base is None:
        return None
    queue = brokers.queue(facts, broker)
    room = float("inf") if queue is None or queue.limit is None else queue.limit * sessions * _FULL
    later = [at for at, value in stored.points if at >= since and value - base < room]
    full = [at for at, value in stored.points if at >= since and value - base >= room]
    until = max((at for at in later if not full or at < full[0]), default=since)
    return brokers.rise(stored, since, until)


EDGE = 1.5
"""Seconds by which an edge may be off: brokers print whole seconds, and clocks differ."""
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
    return tuple(
        found for account in accounts(facts) if account.group is None for found in _growth_of_queue(facts, account)
    )


def _growth_of_queue(facts: Facts, account: Account) -> Iterator[Growth]:
    own = tuple(s for s in account.subscriptions if s.qos != 0 and any(b == END for _, b in s.away))
    if not own:
        return
    broker = own[0].session.broker if own[0].session and own[0].session.last.told_by == "broker" else None
    since = max(a for s in own for a, b in s.away if b == END)
    end = brokers.end_of(facts)
    grown = brokers.rise(brokers.gauge(facts, "mqtt.stored_messages", broker), since, end)
    payload = _payload(facts, broker, grown)
    yield Growth(
        account.name,
        broker,
        own,
        brokers.queue(facts, broker),
        since,
        _waiting(account, since, end),
        grown,
        None if grown is None else _matched(facts, broker, account, grown),
        mqtt_sessions.waiting(facts, (account.name,)),
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
    counter = brokers.gauge(facts, "mqtt.publish_received", broker)
    return brokers.increase(counter, grown.since, grown.until)


def _payload(facts: Facts, broker: str | None, grown: Rise | None) -> float | None:
    stored = brokers.gauge(facts, "mqtt.stored_bytes", broker)
    rose = brokers.rise(stored, grown.since, grown.until) if grown is not None else None
    return rose.by / grown.by if grown is not None and rose is not None and grown.by >= LEAST else None


def _each(facts: Facts, broker: str | None, payload: float | None) -> float | None:
    overhead = OVERHEADS.get(brokers.software(facts, broker) or "")
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


def diversion(facts: Facts, one: Untold) -> Finding:
    """Members of a share group that no line names: likely, since only their share tells that they are members."""
    share = fraction(one.shared or 0, len(one.sessions))
    since = max(s.last.until or 0.0 for s in one.sessions)
    came = _came(facts, one, since)
    return Finding(
        id=f"persistent-session-diversion:{_ids(one)}",
        incident="persistent-session-diversion",
        severity=Severity.WARNING,
        certainty=Certainty.LIKELY,
        subject=_ids(one),
        started_at=moment(since),
        ended_at=None,
        ongoing=True,
        statement=(
            f"{_ids(one)} is away since {clock(since)} with a session that is kept, and stored messages grew by "
            f"{len(one.sessions)} of {one.shared} of what came in: it is most likely still a member of a share group "
            f"with {one.shared} subscriptions. Which one is not told."
        ),
        measures={
            "members": float(one.shared or 0),
            "dead_members": float(len(one.sessions)),
            "diverted_fraction": share,
            "diverted_messages": float(round(_diverted(facts, came * share, since))),
            **_rate(one),
        },
        evidence=_evidence(facts, one),
        explains=("session-queue-growth", "session-queue-drop"),
        mitigate=f"Connect once with the id {_ids(one)} and clean_session=false: it gets what waits for it; then "
        "unsubscribe. Side effect: what had been in flight comes twice.",
        remedy="Delete the session (connect once with its id and clean_session=true); clean sessions for share groups.",
        verify="Stored messages level off, and received / published = 1.",
    )


def growth(facts: Facts, one: Untold) -> Finding:
    """An unlimited queue that grows for nobody; proven where it grows by all that the broker receives."""
    since = max(s.last.until or 0.0 for s in one.sessions)
    rate = one.grown.per_second if one.grown is not None else 0.0
    proven = one.all_of_it
    return Finding(
        id=f"session-queue-growth:{_ids(one)}",
        incident="session-queue-growth",
        severity=Severity.CRITICAL if proven else Severity.WARNING,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=_ids(one),
        started_at=moment(since),
        ended_at=None,
        ongoing=True,
        statement=(
            f"{_ids(one)} is away since {clock(since)}, its session stays, and queues have no limit. The broker stores "
            f"{units.digits(rate)} messages/s more" + (", as many as it receives." if proven else ".")
        ),
        measures={"queued_messages": one.waiting, **_rate(one)},
        evidence=_evidence(facts, one),
        mitigate="Limit the queues (max_queued_messages, max_mqueue_len); side effect: what is beyond is dropped.",
        remedy=f"Delete the session (connect once as {_ids(one)} with a clean session) or read it empty; a limit and "
        "an expiry for all sessions.",
        verify="Stored messages and heap fall; resident memory may stay, since the allocator keeps what is free.",
    )


def _ids(one: Untold) -> str:
    return ", ".join(sorted({s.client_id for s in one.sessions}))


def _diverted(facts: Facts, dealt: float, since: float) -> float:
    """Messages that no ledger notes as received, where they are about as many as the broker's counters say."""
    gone = [f for f in facts.flows if f.sender and not f.failed and not f.received and f.last_at >= since]
    lost = sum(f.messages for f in gone)
    return lost if abs(lost - dealt) <= NEAR * max(lost, dealt) else dealt


def _came(facts: Facts, one: Untold, since: float) -> float:
    counter = brokers.gauge(facts, "mqtt.publish_received", one.broker)
    rose = brokers.increase(counter, since, brokers.end_of(facts)) or 0.0
    return max(0.0, rose - _earlier(counter, since))


def _earlier(counter: Series | None, at: float) -> float:
    """How far it rose from its sample before *at* until then, if it rose evenly over the broker's last interval."""
    points = counter.points if counter is not None else ()
    before, after = [p for p in points if p[0] <= at], [p for p in points if p[0] > at]
    if not before or not after:
        return 0.0
    begin = max(before[-1][0], after[0][0] - min(b[0] - a[0] for a, b in pairwise(points)))
    grown = max(0.0, after[0][1] - before[-1][1])
    return grown * max(0.0, at - begin) / (after[0][0] - begin)


def _rate(one: Untold) -> Mapping[str, float]:
    return {} if one.grown is None else {"queue_growth_per_second": one.grown.per_second}


def _evidence(facts: Facts, one: Untold) -> tuple[Evidence, ...]:
    found = []
    for session in one.sessions[:3]:
        begin, end = session.last.begin, session.last.end
        if begin is not None:
            found.append(Evidence(begin.source, begin.line, begin.text, "connects with a persistent session"))
        if end is not None:
            found.append(Evidence(end.source, end.line, end.text, "goes away and keeps its session"))
    shared = brokers.gauge(facts, "mqtt.shared_subscriptions", one.broker)
    if shared is not None:
        found.append(sample(facts, shared, shared.points[-1][0], "shared subscriptions"))
    if one.grown is not None:
        found.append(sample(facts, one.grown.series, one.grown.until, "messages that the broker stores"))
    return (*found, *brokers.limit_told(facts, one.broker))
