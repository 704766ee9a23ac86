"""Connected MQTT clients that take less than is published for them: MQTT's part of the rule for slow consumers.

A client has one queue, so a slow one gets everything late, whoever sent it; where messages of one publisher come late
and those of another do not, the way from the publisher is slow. A connected session holds its queue and what is in
flight: the delay at a full queue is (limit + in flight) / pace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.memo import per_facts
from mqlab.mqtt import brokers, sessions
from mqlab.mqtt.accounting import Account, accounts
from mqlab.mqtt.brokers import LEAST, NEAR
from mqlab.mqtt.queue_drops import QueueCase, queue_cases
from mqlab.mqtt.sessions import END
from mqlab.rows import GRID, Client, Passage
from mqlab.shared.wording import accusation, sample

SHORTEST = 30.0
"""Seconds of publishing over which a pace is taken: three times what ledgers are thinned to."""
BEHIND = 20.0
"""Seconds that messages must come late where no queue is full: ledgers and reconnects make up to ten."""
AGREE = 0.25
"""How far a delay or a loss may be from the model."""


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

    @property
    def latest(self) -> float:
        """Seconds that the latest message took longer than the fastest one: clocks may differ."""
        return max((_spread(p) for p in self.delays), default=0.0)

    @property
    def behind(self) -> bool:
        """It takes less than is published."""
        return self.handled < self.published * (1 - NEAR)

    @property
    def alike(self) -> bool:
        """Messages of all publishers come late: nobody passes by a queue."""
        known = [p for p in self.delays if p.messages >= LEAST]
        return bool(known) and min(_spread(p) for p in known) >= self.latest / 2

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
    yield Pace(case, account, since, until, account.sent(since, until) / (until - since) / share, handled, delays)


def _others_in_time(facts: Facts, pace: Pace) -> list[Passage]:
    """Messages of the same publishers that came to other receivers without such delay."""
    senders = {p.sender for p in pace.delays}
    own = pace.account.ledgers[pace.case.client_id]
    others = [p for p in facts.passages if p.sender in senders and p.receiver not in own and p.messages >= LEAST]
    return [p for p in others if _spread(p) < pace.latest / 2]


def _spread(passage: Passage) -> float:
    """How much longer the slowest message took than the fastest one, in seconds."""
    return passage.most - passage.least


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= AGREE * max(one, other)


INCIDENT = "slow-consumer"


@dataclass(frozen=True, slots=True)
class Slow:
    """What is said about slow clients: findings, why there are none, or what is needed; nothing of it is clear."""

    findings: tuple[Finding, ...] = ()
    rejected: str | None = None
    missing: tuple[str, ...] = ()


def slow(facts: Facts) -> Slow:
    """One finding for each slow client; missing where neither ledgers of receivers nor lists of clients tell."""
    every = [_judged(facts, pace) for pace in paces(facts)]
    found = [f for result in every for f in result.findings]
    found += [f for client, own in sessions.rows(facts).items() for f in _listed(facts, client, own)]
    if found:
        return Slow(tuple(found))
    because = "; ".join(result.rejected for result in every if result.rejected)
    if because:
        return Slow(rejected=because)
    without = [c.client_id for c in queue_cases(facts) if c.lines and not c.was_away and c.missing is None]
    if without:
        return Slow(missing=(f"what came to {', '.join(without)}: a ledger with times, or a list of clients",))
    if every or sessions.rows(facts) or brokers.tells_of_drops(facts):
        return Slow()
    return Slow(missing=("when messages were published and received, or queues in a list of clients",))


def _judged(facts: Facts, pace: Pace) -> Slow:
    client = pace.case.client_id
    full = bool(pace.case.lines or pace.case.row) and not pace.case.was_away
    late = pace.behind and pace.latest >= BEHIND
    if not full and not late:
        return Slow()
    if pace.case.flooded:
        return Slow(rejected=f"{client} gets copies of what it had got: they are too many, not the client too slow")
    if not pace.alike:
        return Slow(rejected=f"{client} gets messages of another publisher at once: the way to the broker is slow")
    if full and pace.behind:
        return Slow((_finding(facts, pace, Certainty.PROVEN if pace.agrees else Certainty.LIKELY),))
    if late and _explained(facts, pace):
        return Slow((_finding(facts, pace, Certainty.PROVEN),))
    return Slow(rejected=f"{client} gets messages late, but nothing shows that they wait for it at the broker")


def _explained(facts: Facts, pace: Pace) -> bool:
    """Nothing is lost, the delay is that of its backlog, and others get the same in time or the broker stores it."""
    if (pace.case.missing is not None and pace.case.missing.likely >= LEAST) or not pace.agrees:
        return False
    stored = brokers.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    points = stored.points if stored is not None else ()
    top = max((v for t, v in points if pace.since <= t <= pace.until), default=0.0)
    grown = top - (brokers.value(stored, pace.since) or 0.0)
    return bool(_others_in_time(facts, pace)) or grown >= pace.backlog / 2


_MITIGATE = "A larger queue for bursts; side effect: memory, and what is late comes later still."


def _finding(facts: Facts, pace: Pace, certainty: Certainty) -> Finding:
    client, drops = pace.case.client_id, pace.case.lost or 0.0
    measures = {
        "produced_per_second": pace.published,
        "consumed_per_second": pace.handled,
        "lag_growth_per_second": pace.published - pace.handled,
        "longest_delay_seconds": pace.latest,
    }
    if pace.full_delay is not None:
        measures["full_queue_delay_seconds"] = pace.full_delay
    loses = f" Its queue is full: {units.number(round(drops))} messages were dropped." if drops >= 1 else ""
    return accusation(
        f"{INCIDENT}:{client}",
        certainty,
        (pace.since, pace.until),
        severity=Severity.WARNING,
        statement=(
            f"{client} is connected all the time and takes {units.digits(pace.handled)} messages/s where "
            f"{units.digits(pace.published)}/s are published for it, so they come up to "
            f"{units.duration(pace.latest)} late.{loses}"
        ),
        measures=measures,
        evidence=tuple(_evidence(facts, pace)),
        explains=("session-queue-drop",),
        mitigate=_MITIGATE,
        remedy=f"Make {client} faster: work off in batches or beside the callback, or share the load in a share group.",
        verify=f"Delay at {client} is below a second, and the broker's count of dropped messages stays.",
    )


def _evidence(facts: Facts, pace: Pace) -> Iterator[Evidence]:
    yield from (e.first.because("its queue is full") for e in pace.case.lines[:2])
    firsts = {r.source: r for r in reversed(facts.receipts)}
    late = max(pace.delays, key=lambda p: (_spread(p), p.sender))
    half = late.median - late.least
    if late.receiver in firsts:
        took = f"messages of {late.sender} come up to {_spread(late):.1f} s late, half of them {half:.1f} s"
        yield firsts[late.receiver].first(took)
    for p in _others_in_time(facts, pace)[:1]:
        if p.receiver in firsts:
            yield firsts[p.receiver].first(f"others of the same publisher come here within {_spread(p):.1f} s")
    stored = brokers.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    if stored is not None:
        yield sample(facts, stored, pace.until, "messages that wait at the broker")


def _listed(facts: Facts, client: str, own: tuple[Client, ...]) -> Iterator[Finding]:
    """A list shows a connected client whose queue is at its limit."""
    last = own[-1]
    limit = next((c.limit for c in queue_cases(facts) if c.client_id == client), None)
    if limit is None or not sessions.is_there(last) or (last.queued or 0) < limit:
        return
    yield accusation(
        f"{INCIDENT}:{client}",
        Certainty.PROVEN if last.dropped else Certainty.LIKELY,
        (own[0].at, None),
        ongoing=True,
        severity=Severity.WARNING,
        statement=f"{client} is connected, and {units.number(last.queued or 0)} messages wait for it, as many as "
        f"its queue holds; {units.number(last.dropped or 0)} were dropped.",
        measures={"pending_records": float(last.queued or 0), "dropped_messages": float(last.dropped or 0)},
        evidence=(last.evidence.because("connected, with a full queue"),),
        explains=("session-queue-drop",),
        mitigate=_MITIGATE,
        remedy=f"Make {client} faster, or share the load in a share group.",
        verify=f"The queue of {client} is empty in the next list.",
    )
