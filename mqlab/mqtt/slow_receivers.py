"""Connected MQTT clients that take less than is published for them.

MQTT: how fast a connected client takes its messages, against how fast they are published for it.

A client has one queue, so a slow one gets everything late, whoever sent it; where messages of one publisher come late
and those of another do not, the way from the publisher is slow. A connected session holds its queue and what is in
flight: the delay at a full queue is (limit + in flight) / pace.

MQTT's part of the rule for slow consumers: a connected client whose queue is full, or that gets all of it late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.memo import per_facts
from mqlab.mqtt import brokers, sessions
from mqlab.mqtt.accounting import LEAST, NEAR, Account, QueueCase, accounts
from mqlab.mqtt.queue_drops import queue_cases
from mqlab.mqtt.sessions import END
from mqlab.rows import GRID, Client, Passage
from mqlab.shared.wording import moment, sample
from mqlab.sources import Role

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
        return max((spread(p) for p in self.delays), default=0.0)

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
    def full_delay(self) -> float | None:
        """Seconds that a full queue makes a message wait at this pace; None where it has no limit or none is known."""
        queue = self.case.queue
        if queue is None or queue.limit is None or self.handled <= 0:
            return None
        return queue.holds(connected=True) / self.handled

    @property
    def expected_loss(self) -> float | None:
        """Messages that do not fit into the queue at these rates."""
        queue = self.case.queue
        if queue is None or queue.limit is None:
            return None
        surplus = (self.published - self.handled) * (self.until - self.since)
        return max(0.0, surplus - queue.holds(connected=True))

    @property
    def agrees(self) -> bool:
        """The delay, or the loss, is what the queue and both rates make."""
        full, loss, lost = self.full_delay, self.expected_loss, self.case.lost
        by_delay = full is not None and _near(self.latest, full)
        by_loss = loss is not None and lost is not None and loss >= LEAST and _near(lost, loss)
        return by_delay or by_loss or ((lost or 0.0) < LEAST and self._unbounded())

    def _unbounded(self) -> bool:
        """The delay is that of a queue which takes everything, read until publishing ends, or until it is empty."""
        backlog = (self.published - self.handled) * (self.until - self.since)
        if self.handled <= 0 or self.published <= 0:
            return False
        return backlog / self.published * (1 - AGREE) <= self.latest <= backlog / self.handled * (1 + AGREE)


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


def others_in_time(facts: Facts, pace: Pace) -> tuple[Passage, ...]:
    """Messages of the same publishers that came to other receivers without such delay."""
    senders = {p.sender for p in pace.delays}
    own = pace.account.ledgers[pace.case.client_id]
    return tuple(
        p
        for p in facts.passages
        if p.sender in senders and p.receiver not in own and p.messages >= LEAST and spread(p) < pace.latest / 2
    )


def spread(passage: Passage) -> float:
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
    known = paces(facts)
    listed = [found for client, own in sessions.rows(facts).items() for found in _listed(facts, client, own)]
    every = [_judged(facts, pace) for pace in known]
    found = (*(f for result in every for f in result.findings), *listed)
    if found:
        return Slow(found)
    because = "; ".join(result.rejected for result in every if result.rejected)
    if because:
        return Slow(rejected=because)
    without = [c.client_id for c in queue_cases(facts) if c.lines and not c.was_away and c.missing is None]
    if without:
        return Slow(missing=(f"what came to {', '.join(without)}: a ledger with times, or a list of clients",))
    return Slow() if known or sessions.rows(facts) or _drops_known(facts) else Slow(missing=(_NEEDED,))


_NEEDED = "when messages were published and received, or queues in a list of clients"


def _drops_known(facts: Facts) -> bool:
    """The broker tells when a queue drops."""
    logs = any(facts.logs_of(name, Role.BROKER_LOG) for name in brokers.KNOWN)
    return logs or bool(facts.named("mqtt.publish_dropped", "mqtt.queue_full_dropped"))


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
    before, top = brokers.value(stored, pace.since) or 0.0, _top(facts, pace)
    backlog = (pace.published - pace.handled) * (pace.until - pace.since)
    return bool(others_in_time(facts, pace)) or top - before >= backlog / 2


def _top(facts: Facts, pace: Pace) -> float:
    stored = brokers.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    inside = [v for t, v in stored.points if pace.since <= t <= pace.until] if stored is not None else []
    return max(inside, default=0.0)


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
    return Finding(
        id=f"{INCIDENT}:{client}",
        incident=INCIDENT,
        severity=Severity.WARNING,
        certainty=certainty,
        subject=client,
        started_at=moment(pace.since),
        ended_at=moment(pace.until),
        ongoing=False,
        statement=(
            f"{client} is connected all the time and takes {units.digits(pace.handled)} messages/s where "
            f"{units.digits(pace.published)}/s are published for it, so they come up to "
            f"{units.duration(pace.latest)} late.{loses}"
        ),
        measures=measures,
        evidence=_evidence(facts, pace),
        explains=("session-queue-drop",),
        mitigate="A larger queue for bursts; side effect: memory, and what is late comes later still.",
        remedy=f"Make {client} faster: work off in batches or beside the callback, or share the load in a share group.",
        verify=f"Delay at {client} is below a second, and the broker's count of dropped messages stays.",
    )


def _evidence(facts: Facts, pace: Pace) -> tuple[Evidence, ...]:
    lines = [Evidence(e.first.source, e.first.line, e.first.text, "its queue is full") for e in pace.case.lines[:2]]
    late = max(pace.delays, key=lambda p: (spread(p), p.sender))
    own = next((r for r in facts.receipts if r.source == late.receiver), None)
    half = late.median - late.least
    took = f"messages of {late.sender} come up to {spread(late):.1f} s late, half of them {half:.1f} s"
    places = [] if own is None else [own.first(took)]
    others = others_in_time(facts, pace)[:1]
    beside = [
        r.first(f"others of the same publisher come here within {spread(p):.1f} s")
        for p in others
        for r in [next((r for r in facts.receipts if r.source == p.receiver), None)]
        if r is not None
    ]
    stored = brokers.gauge(facts, "mqtt.stored_messages", pace.case.broker)
    held = [sample(facts, stored, pace.until, "messages that wait at the broker")] if stored is not None else []
    return (*lines, *places, *beside, *held)


def _listed(facts: Facts, client: str, own: tuple[Client, ...]) -> list[Finding]:
    """A list shows a connected client whose queue is at its limit."""
    last = own[-1]
    case = next((c for c in queue_cases(facts) if c.client_id == client), None)
    if case is None or not sessions.is_there(last) or not _at_limit(case, last):
        return []
    return [
        Finding(
            id=f"{INCIDENT}:{client}",
            incident=INCIDENT,
            severity=Severity.WARNING,
            certainty=Certainty.PROVEN if last.dropped else Certainty.LIKELY,
            subject=client,
            started_at=moment(own[0].at),
            ended_at=None,
            ongoing=True,
            statement=f"{client} is connected, and {units.number(last.queued or 0)} messages wait for it, as many as "
            f"its queue holds; {units.number(last.dropped or 0)} were dropped.",
            measures={"pending_records": float(last.queued or 0), "dropped_messages": float(last.dropped or 0)},
            evidence=(Evidence(last.source, last.line, last.text, "connected, with a full queue"),),
            explains=("session-queue-drop",),
            mitigate="A larger queue for bursts; side effect: memory, and what is late comes later still.",
            remedy=f"Make {client} faster, or share the load in a share group.",
            verify=f"The queue of {client} is empty in the next list.",
        )
    ]


def _at_limit(case: QueueCase, row: Client) -> bool:
    limit = case.queue.limit if case.queue is not None else None
    return limit is not None and (row.queued or 0) >= limit
