"""Connected MQTT clients that take less than is published for them: their pace, their queue and their delay.

A client has one queue, so a slow one gets everything late, whoever sent it; where messages of one publisher come late
and those of another do not, the way from the publisher is slow. A connected session holds its queue and what is in
flight: the delay at a full queue is (limit + in flight) / pace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt import brokers
from mqlab.mqtt.accounting import Account, accounts
from mqlab.mqtt.brokers import LEAST, NEAR
from mqlab.mqtt.queue_drops import QueueCase, queue_cases
from mqlab.mqtt.sessions import END
from mqlab.rows import GRID, Passage

SHORTEST = 30.0
"""Seconds of publishing over which a pace is taken: three times what ledgers are thinned to."""
AGREE = 0.25
"""How far a delay or a loss may be from the model. Judgement, no default behind it: paces are means of three steps of
ten seconds or more, and each edge lies somewhere within a step."""


@dataclass(frozen=True, slots=True)
class Pace:
    """One connected client while messages were published for it."""

    case: QueueCase
    account: Account
    since: float
    until: float
    """When messages were published."""
    published: float
    """Messages a second that were published for it."""
    handled: float
    """Messages a second that its ledgers note meanwhile."""
    delays: tuple[Passage, ...]
    """From each publisher."""
    noted_until: float
    """When its ledgers note the last message, at the latest."""

    @property
    def latest(self) -> float:
        """Seconds that the latest message took longer than the fastest one: clocks may differ."""
        return max((spread(p) for p in self.delays), default=0.0)

    @property
    def late_until(self) -> float:
        """When it still got a message late: its queue is read on when nothing is published any more."""
        return max(self.until, min(self.noted_until, self.until + self.latest))

    @property
    def behind(self) -> bool:
        """It takes less than is published."""
        return self.handled < self.published * (1 - NEAR)

    @property
    def alike(self) -> bool:
        """Messages of all publishers come late: nobody passes by a queue."""
        known = [p for p in self.delays if p.messages >= LEAST]
        return bool(known) and min(spread(p) for p in known) >= self.latest / 2

    @property
    def backlog(self) -> float:
        """Messages that are left over at these rates."""
        return (self.published - self.handled) * (self.until - self.since)

    @property
    def room(self) -> float | None:
        """Messages that its queue holds; None where it has no limit or none is known."""
        limited = self.case.queue is not None and self.case.queue.limit is not None
        return self.case.queue.holds(connected=True) if limited and self.case.queue is not None else None

    @property
    def full_delay(self) -> float | None:
        """Seconds that a full queue makes a message wait at this pace; None where it has no limit or none is known."""
        return None if self.room is None or self.handled <= 0 else self.room / self.handled

    @property
    def agrees(self) -> bool:
        """The delay, or the loss, is what the queue and both rates make."""
        full, lost = self.full_delay, self.case.lost
        if full is not None and _near(self.latest, full):
            return True
        loss = max(0.0, self.backlog - self.room) if self.room is not None else 0.0
        if lost is not None and loss >= LEAST and _near(lost, loss):
            return True
        if (lost or 0.0) >= LEAST or self.handled <= 0 or self.published <= 0:
            return False
        # A queue that takes everything is read until publishing ends, or until it is empty.
        until_end, until_empty = self.backlog / self.published, self.backlog / self.handled
        return until_end * (1 - AGREE) <= self.latest <= until_empty * (1 + AGREE)


@per_facts
def paces(facts: Facts) -> tuple[Pace, ...]:
    """Every client with a ledger of its own that was connected while messages were published for it, by client id.

    Members of a share group get equal parts.
    """
    cases = {case.client_id: case for case in queue_cases(facts)}
    return tuple(
        pace
        for account in accounts(facts)
        if account.counted
        for client in sorted(account.ledgers)
        if client in cases
        for pace in _pace(facts, account, cases[client])
    )


def _pace(facts: Facts, account: Account, case: QueueCase) -> Iterator[Pace]:
    rows = [r for r in account.rows if not r.failed]
    if not rows:
        return
    since, until = min(r.first_at for r in rows), max(r.last_at for r in rows)
    if until - since < SHORTEST or any(a < until and b > since and b < END for a, b in case.away):
        return
    ledgers = account.ledgers[case.client_id]
    delays = tuple(p for p in facts.passages if p.receiver in ledgers)
    ahead = min((p.least for p in delays), default=0.0)
    late = [r for r in facts.receipts if r.source in ledgers]
    got = [r for r in late if since <= r.at - ahead and r.at + GRID - ahead <= until]
    seconds = len({r.at for r in got}) * GRID
    if seconds < SHORTEST / 2 or not delays:
        return
    handled = sum(r.rows - r.again for r in got) / seconds
    share = len(account.clients) if account.group is not None else 1
    published = account.sent(since, until) / (until - since) / share
    yield Pace(case, account, since, until, published, handled, delays, max(r.until for r in late) - ahead)


def others_in_time(facts: Facts, pace: Pace) -> list[Passage]:
    """Messages of the same publishers that came to other receivers without such delay."""
    senders = {p.sender for p in pace.delays}
    own = pace.account.ledgers[pace.case.client_id]
    others = [p for p in facts.passages if p.sender in senders and p.receiver not in own and p.messages >= LEAST]
    return [p for p in others if spread(p) < pace.latest / 2]


def backlog_explains(facts: Facts, pace: Pace) -> bool:
    """Nothing is lost, the delay is that of its backlog, and others get the same in time or the broker stores it."""
    if (pace.case.missing is not None and pace.case.missing.likely >= LEAST) or not pace.agrees:
        return False
    stored = brokers.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    points = stored.points if stored is not None else ()
    top = max((v for t, v in points if pace.since <= t <= pace.until), default=0.0)
    grown = top - (brokers.value(stored, pace.since) or 0.0)
    return bool(others_in_time(facts, pace)) or grown >= pace.backlog / 2


def spread(passage: Passage) -> float:
    """How much longer the slowest message took than the fastest one, in seconds."""
    return passage.most - passage.least


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= AGREE * max(one, other)
