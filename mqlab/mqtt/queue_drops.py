"""Queues of MQTT sessions of which something says that they were full, client by client: what they lost, how known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.models.mqtt import NEWEST, OLDEST, Queue
from mqlab.mqtt import brokers
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.accounting import Account, Row, accounts, total, untold_groups
from mqlab.mqtt.brokers import EDGE, LEAST, NEAR, SKEW, agree
from mqlab.mqtt.diversion import diversions
from mqlab.mqtt.queue_growth import unknown_subscriptions
from mqlab.mqtt.sessions import BEGIN, END, Session, Span, sessions
from mqlab.rows import Client
from mqlab.units import Interval

say = words.room("session-queue-drop")
MIXED = "scattered"


@dataclass(frozen=True, slots=True)
class QueueCase:
    """One client's queue, or that of a share group's living members."""

    client_id: str
    broker: str | None
    queue: Queue | None
    lines: tuple[Episode, ...]
    """With which the broker tells that the queue dropped."""
    row: Client | None
    """The last list about it, where that tells of drops."""
    account: Account | None
    session: Session | None
    """The last of the client's sessions; None where no connection is known."""
    counter: float | None
    """How far the broker's own count of dropped messages rose, for all its clients."""
    stands: float | None = None
    """Where that count stood last, since the broker's start."""
    rose_until: float | None = None
    """When that count was first seen as high as it came, where no other client's queue dropped."""

    @property
    def limit(self) -> int | None:
        """Messages that the queue holds; None where it has no limit, or it is not known."""
        return self.queue.limit if self.queue is not None else None

    @property
    def moments(self) -> list[float]:
        """When lines say that it dropped."""
        return [at for e in self.lines for at in (e.first_at, e.last_at) if at is not None]

    @property
    def lost_rows(self) -> tuple[Row, ...]:
        """Messages that its ledgers lack, where all of it have one."""
        return self.account.lost if self.account is not None and self.missing is not None else ()

    @property
    def away(self) -> tuple[Span, ...]:
        """When the session was kept while its client was not connected."""
        return self.session.away if self.session is not None else ()

    @property
    def was_away(self) -> bool:
        """The queue dropped while its client was away: by the lines, else by what is lost, else by the list."""
        moments = [e.first_at for e in self.lines if e.first_at is not None]
        lost = self.account.lost if self.account is not None else ()
        moments = moments or [(r.first_at + r.last_at) / 2 for r in lost]
        if not moments:
            return self.row is not None and mqtt_sessions.is_away(self.row)
        return 2 * sum(any(a - SKEW <= at <= b + SKEW for a, b in self.away) for at in moments) > len(moments)

    @property
    def sharing(self) -> bool:
        """It gets a part of what is published for it and others."""
        return self.account is not None and len(self.account.clients) > 1

    @property
    def silent(self) -> bool:
        """Its ledgers note nothing any more when its queue drops: nobody reads it, though no line says that it left."""
        if self.account is None or not self.moments or self.was_away:
            return False
        own = set(self.account.ledgers.get(self.client_id, ()))
        got = [r.last_at for r in self.account.rows if own & set(r.here)]
        return bool(got) and max(got) < min(self.moments) - EDGE

    @property
    def flooded(self) -> bool:
        """Most of what it got it had got before: copies fill the queue, and who makes them is the cause."""
        return self.account is not None and self.account.copies > self.account.received

    @property
    def missing(self) -> Interval | None:
        """Messages that it did not note; None where no ledger tells."""
        own = self.account
        if own is None or not own.counted or any(client not in own.ledgers for client in own.clients):
            return None
        return own.missing()

    @property
    def waiting(self) -> float:
        """How many of the missing ones are in the queue of a client that did not come back."""
        if not self.away or self.away[-1][1] < END or self.account is None:
            return 0.0
        late = total(r.certain(self.away[-1][0] - SKEW, END) for r in self.account.lost).likely
        return late if self.limit is None else min(late, float(self.limit))

    @property
    def lost(self) -> float | None:
        """Missing messages that are in no queue either."""
        return None if self.missing is None else max(0.0, self.missing.likely - self.waiting)

    @property
    def span(self) -> Span | None:
        """When it dropped: from the broker's line, else the first message that is lost, to the last one of either.

        A publisher dates its messages by its own clock, and not all that are missing went to the queue: where the
        broker's first line lies among them, that is when it began.
        """
        told = self.moments
        if not self.lost_rows:
            return (min(told), max(*told, self.rose_until or min(told))) if told else None
        first, last = min(r.first_at for r in self.lost_rows), max(r.last_at for r in self.lost_rows)
        began = min((at for at in told if first - EDGE <= at <= last), default=first)
        # A line that writes whole seconds tells no more of the second in which the first one was published.
        return first if began == int(first) else began, last

    @property
    def survivors(self) -> float:
        """Messages that were published while the client was away and came to it afterwards.

        The limit, where they differ by no more than a broker that prints whole seconds makes.
        """
        got = [r for r in self.account.rows if r.copies] if self.account is not None else []
        found = sum(r.within(a, b) for r in got for a, b in self.away)
        edges = sum(r.within(a - EDGE, a + EDGE) for r in got for a, _ in self.away)
        return float(self.limit) if self.limit is not None and abs(found - self.limit) <= edges / 2 else found

    @property
    def kept(self) -> str | None:
        """Which end of an absence survived: oldest, newest or scattered; None where nothing tells."""
        rows = self.account.rows if self.account is not None and self.was_away else ()
        inside = [r for r in rows if any(r.within(a, b) for a, b in self.away)]
        got, lost = [r for r in inside if r.copies], [r for r in inside if not r.copies]
        if not got or not lost:
            return None
        begin, end = min(r.first_at for r in lost), max(r.last_at for r in lost)
        whole = (1 - 2 * NEAR) * sum(r.messages for r in got)
        if sum(r.within(BEGIN, begin) for r in got) >= whole:
            return OLDEST
        return NEWEST if sum(r.within(end, END) for r in got) >= whole else MIXED


@per_facts
def queue_cases(facts: Facts) -> tuple[QueueCase, ...]:
    """Every client with a queue of which something says that it dropped, or that misses messages; by client id.

    Members of share groups of which one was away are left out: what these miss went another way.
    """
    diverted = {client for one in diversions(facts) for client in one.group.clients}
    diverted |= {s.client_id for one in unknown_subscriptions(facts) if one.dealt for s in one.sessions}
    return tuple(case for case in _cases(facts) if case.client_id not in diverted)


def _cases(facts: Facts) -> Iterator[QueueCase]:
    lines = [e for e in facts.of_kind("session-queue-dropping") if e.client_id]
    listed = {client: own[-1] for client, own in mqtt_sessions.rows(facts).items() if own[-1].dropped}
    # The account of each client is its own, else that of the group that it shares with others.
    every = sorted((*untold_groups(facts), *accounts(facts)), key=lambda a: (a.group is None, a.name))
    known = {client: account for account in every for client in account.clients}
    for client in sorted({e.client_id or "" for e in lines} | {*listed, *known}):
        own = [s for s in sessions(facts) if s.client_id == client]
        broker = own[-1].broker if own else None
        series = brokers.gauge(facts, "mqtt.publish_dropped", broker)
        counter, stands = brokers.counted(facts, series, broker), brokers.value(series, END)
        alone = {e.client_id for e in lines} | set(listed) == {client}
        rises = [at for (_, a), (at, b) in pairwise(series.points) if b > a] if series is not None and alone else []
        yield QueueCase(
            client, broker, brokers.queue(facts, broker), tuple(e for e in lines if e.client_id == client),
            listed.get(client), known.get(client), own[-1] if own else None, counter, stands, max(rises, default=None),
        )  # fmt: skip


def lost(facts: Facts, case: QueueCase) -> float | None:
    """Messages that the queue dropped: by ids, else by the list, the broker's count or its lines; None if not told.

    The broker's count is for all its clients: it is this one's where no other one's queue dropped. Where it is more
    than ids tell, a publisher has no ledger here or clocks differ, and it counts.
    """
    counted = by_lines(facts, case)
    if case.row is not None and case.row.dropped:
        counted = float(case.row.dropped)
    elif count := counted_for(facts, case.client_id):
        counted = count
    more = counted is not None and case.lost is not None and counted > case.lost and not agree(counted, case.lost)
    return counted if case.lost is None or more else case.lost


def counted_for(facts: Facts, client: str) -> float | None:
    """The count of drops of a broker, where lines or lists name the queue of this client alone; None otherwise."""
    own = dropping(facts)
    return own[0].counter if [case.client_id for case in own] == [client] else None


def by_lines(facts: Facts, case: QueueCase) -> float | None:
    """Messages by the broker's lines, of which HiveMQ writes one for each; None where lines stand for episodes."""
    if brokers.software(facts, case.broker) != "hivemq" or not case.lines:
        return None
    return float(sum(e.count for e in case.lines))


def dropping(facts: Facts) -> Sequence[QueueCase]:
    """Cases of which a line or list says that the queue dropped."""
    return [c for c in queue_cases(facts) if c.lines or c.row is not None]


def calm(facts: Facts, case: QueueCase) -> list[Span]:
    """When that queue dropped nothing: before the first line about it, and while the broker's count stood still.

    Only of a queue that keeps what it has and refuses the newest: others throw away what came long before.
    """
    if case.queue is None or case.queue.keeps != OLDEST:
        return []
    series = brokers.gauge(facts, "mqtt.publish_dropped", case.broker)
    points = series.points if series is not None else ()
    still = [at for at, _ in takewhile(lambda point: point[1] == points[0][1], points)]
    logs = {line.source for line in case.lines}
    told = [e.first_at for e in facts.episodes if e.source in logs and e.first_at is not None]
    began = min(case.moments, default=END)
    spans = [(min(still), min(began, *still[-1:]))] if still else []
    spans += [(min(told), began)] if told and case.moments else []
    return [(begin, end - SKEW) for begin, end in spans]


def signed(facts: Facts, case: QueueCase) -> bool:
    """The broker says that this queue dropped, or its count of drops is what only this client misses."""
    if case.lines or case.row is not None:
        return True
    alone = case.account is not None and len(case.account.clients) == 1
    return alone and (case.lost or 0.0) >= LEAST and _by_counter(facts, case)


def proofs(facts: Facts, case: QueueCase) -> tuple[str, ...]:
    """Which counts of the loss agree; empty where none does."""
    if case.lost is None:
        return _plateau(facts, case)
    if case.lost < LEAST:
        return ()
    listed, by_line = case.row.dropped if case.row is not None else None, by_lines(facts, case)
    every = {
        "counter": _by_counter(facts, case),
        "survivors": _survived(case),
        "list": listed is not None and agree(float(listed), case.lost),
        "lines": by_line is not None and agree(by_line, case.lost),
    }
    return tuple(say(key) for key, does in every.items() if does)


def _by_counter(facts: Facts, case: QueueCase) -> bool:
    """The broker's counter is the sum of what all clients with such queues lost."""
    if not case.counter or case.lost is None:
        return False
    others = [c for c in dropping(facts) if c.broker == case.broker and c.client_id != case.client_id]
    return agree(case.counter, case.lost) or agree(case.counter, case.lost + sum(c.lost or 0.0 for c in others))


def _survived(case: QueueCase) -> bool:
    if case.queue is None or case.limit is None or not case.was_away or len(case.away) != 1:
        return False
    return case.limit * (1 - NEAR) <= case.survivors <= (case.limit + case.queue.inflight) * (1 + NEAR)


def _plateau(facts: Facts, case: QueueCase) -> tuple[str, ...]:
    """Without ids: stored messages rose by what the queue holds, and the broker counts drops from then on."""
    if not case.lines or case.queue is None or case.limit is None or len(dropping(facts)) > 1:
        full = case.row is not None and case.limit is not None and (case.row.queued or 0) >= (1 - NEAR) * case.limit
        return (say("list-full"),) if full else ()
    stored = brokers.gauge(facts, "mqtt.stored_messages", case.broker)
    at = min(case.moments, default=None)
    if stored is None or at is None or (case.counter or 0.0) < LEAST:
        return ()
    # With an empty queue: retained ones are stored, too, and after its first values the broker's own ones.
    left = [a for a, b in case.away if a - SKEW <= at <= b + SKEW]
    known = brokers.value(stored, min(left)) if left else None
    before = min((v for t, v in stored.points[1:] if t <= at), default=None) if known is None else known
    if before is None:
        return ()
    rose = max((v for t, v in stored.points if t > at), default=0.0) - before
    fits = (1 - NEAR) * case.limit <= rose <= (1 + NEAR) * case.queue.holds(connected=not case.was_away) + LEAST
    return (say("plateau", rose=round(rose)),) if fits else ()
