"""Share groups of MQTT with members that are away: what these are dealt meanwhile, counted in up to three ways.

The ways are ids that no member's ledger notes, stored messages of the broker that grow while members are away, and
queue lengths in lists of clients. The law that they are compared with is ``models.mqtt.diverted``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.mqtt import Strategy, diverted
from mqlab.mqtt import brokers, sessions
from mqlab.mqtt.accounting import NOWHERE, Account, accounts, exactly, total, without_ledger
from mqlab.mqtt.brokers import EDGE, LEAST, NEAR, SHORTEST, Rise
from mqlab.mqtt.sessions import BEGIN, END
from mqlab.mqtt.subscriptions import Phase, ShareGroup, Subscription, phases
from mqlab.units import Interval


@dataclass(frozen=True, slots=True)
class Diversion:
    """A share group while members were away."""

    account: Account
    group: ShareGroup
    phases: tuple[Phase, ...]
    """The times in which some member was away."""
    away: tuple[Subscription, ...]
    """Members that are away at the end of the material."""
    thrown: tuple[Subscription, ...]
    """Members whose sessions ended while they were away, and with them what waited there."""
    published: float
    """Messages for the group in these times; 0 where no ledger tells."""
    expected: Interval
    """Messages that the law gives to members that were away."""
    missing: Interval | None
    """Messages of these times that no member noted; None where some member that was there has no ledger."""
    grown: Rise | None
    """Stored messages, over a time in which the members stayed the same."""
    grown_expected: float | None
    """By how much the law says that they grow in that time."""
    queued: int | None
    """Messages in the queues of members that were away, and dropped from them, by lists of clients."""
    received: Interval | None
    """Messages that the law gives to members that were away, of all that the broker received."""

    @property
    def names(self) -> str:
        """Client ids of the members that were away."""
        return ", ".join(sorted({client for phase in self.phases for client in phase.dead}))

    @property
    def away_since(self) -> float | None:
        """When the first member went away; None where it was away before the material."""
        begin = min((a for m in self.group.members for a, _ in m.away), default=BEGIN)
        return None if begin == BEGIN else begin

    @property
    def counted(self) -> bool:
        """What is missing at the members' ledgers is what the law gives to those that were away."""
        return self.missing is not None and self.expected.likely >= LEAST and self._fits(self.missing)

    @property
    def nothing_missing(self) -> bool:
        """The members' ledgers note all of it, although the law gives a part away."""
        few = max(LEAST, NEAR * self.expected.likely)
        return self.missing is not None and self.expected.likely > few and self.missing.likely < few

    @property
    def grows(self) -> bool:
        """Stored messages grow as the law says."""
        if self.grown is None or self.grown_expected is None or self.grown_expected < LEAST:
            return False
        return abs(self.grown.by - self.grown_expected) <= max(LEAST, 2 * NEAR * self.grown_expected)

    @property
    def listed(self) -> bool:
        """Queues of members that are away hold, with what they dropped, what the law says."""
        return self.queued is not None and self.expected.likely >= LEAST and self._fits(exactly(self.queued))

    @property
    def count(self) -> Interval | None:
        """How many messages went to members that were away: by ids, else by queues, else by growth and the law.

        None where more is missing than the law gives to them: some of it went elsewhere.
        """
        if self.missing is not None:
            return None if self.missing.low > self.expected.high + self._slack else self.missing
        if self.queued is not None:
            return exactly(self.queued)
        if self.expected.likely >= LEAST:
            return self.expected
        if self.grows and self.received is not None:
            return self.received
        return None if self.grown is None else self._from_growth(self.grown)

    def _from_growth(self, grown: Rise) -> Interval:
        """Growth goes on at its rate over the phases; the first and the last step between two samples are unsure."""
        likely = grown.per_second * sum(p.until - p.since for p in self.phases)
        spread = NEAR * likely + grown.per_second * SHORTEST / 2
        return Interval(max(0.0, likely - spread), likely, likely + spread)

    def _fits(self, count: Interval) -> bool:
        return count.high >= self.expected.low - self._slack and count.low <= self.expected.high + self._slack

    @property
    def _slack(self) -> float:
        return NEAR * self.expected.likely + 2

    @property
    def alone_seconds(self) -> float:
        """How long nobody else was a member."""
        return sum(p.until - p.since for p in self.phases if len(p.dead) == len(p.members))


@per_facts
def diversions(facts: Facts) -> tuple[Diversion, ...]:
    """Every share group of which a member with a persistent session was away, by name."""
    found = []
    for account in accounts(facts):
        if account.group is not None:
            begin = min((m.since for m in account.group.members if m.since > BEGIN), default=0.0)
            every = list(phases(account.group, begin, brokers.end_of(facts)))
            # In the last moments one member after the other leaves: brokers print whole seconds.
            while every and every[-1].dead and every[-1].until - every[-1].since <= EDGE:
                every.pop()
            own = tuple(_to_the_last(account, p) for p in every if p.dead and p.until > p.since)
            found += [_diversion(facts, account, account.group, own)] if own else []
    return tuple(found)


def _to_the_last(account: Account, phase: Phase) -> Phase:
    """From the last message on that came to the dead, where that is in the second in which the broker saw them go."""
    mine = {ledger for client in phase.dead for ledger in account.ledgers.get(client, ())}
    last = max((r.last_at for r in account.rows if mine & set(r.here)), default=phase.since)
    in_the_second = phase.since < last < phase.until and last <= phase.since + EDGE
    return replace(phase, since=last) if in_the_second else phase


def _diversion(facts: Facts, account: Account, group: ShareGroup, own: tuple[Phase, ...]) -> Diversion:
    how = brokers.dispatch(facts, group.broker) or Strategy.RANDOM
    grown = _growth(facts, group, own)
    last = own[-1].dead if own[-1].until >= brokers.end_of(facts) else ()
    return Diversion(
        account,
        group,
        own,
        tuple(m for m in group.members if m.client_id in last and m.until == END),
        tuple(m for m in group.members if m.until < END and any(b >= m.until for _, b in m.away)),
        sum(account.sent(p.since, p.until) for p in own),
        total(_expected(how, account, phase) for phase in own),
        _missing(account, own),
        grown,
        None if grown is None else _dealt(facts, account, group, how, grown),
        sessions.waiting(facts, tuple(sorted({c for p in own for c in p.dead}))),
        _of_received(facts, group, own, how),
    )


def _law(how: Strategy, phase: Phase, sent: float, publishers: int, seconds: float) -> Interval:
    """What the dead get in one phase of *sent* messages, with those that its edges may add or take."""
    dealt = diverted(how, len(phase.members), len(phase.dead), round(sent), publishers)
    slack = sent / (phase.until - phase.since) * seconds
    return Interval(max(0.0, dealt.low - slack), dealt.likely, dealt.high + slack)


def _expected(how: Strategy, account: Account, phase: Phase) -> Interval:
    publishers = len({r.sender for r in account.rows}) or 1
    sent = account.sent(phase.since, min(phase.until, account.known_until))
    return _law(how, phase, sent, publishers, min(EDGE, phase.until - phase.since))


def _of_received(facts: Facts, group: ShareGroup, own: Sequence[Phase], how: Strategy) -> Interval | None:
    """What the law gives to the dead of all that the broker received in these times; None where it does not tell."""
    counter = brokers.gauge(facts, "mqtt.publish_received", group.broker)
    found = NOWHERE
    for phase in own:
        came = brokers.increase(counter, phase.since, phase.until)
        if came is None:
            return None
        found = found.plus(_law(how, phase, came, 1, EDGE))
    return found


def _missing(account: Account, own: Sequence[Phase]) -> Interval | None:
    """Messages of the phases that nobody noted; those of a row across two phases belong to both of them together."""
    unknown = (set(without_ledger(account, p.since, p.until)) & set(p.members) - set(p.dead) for p in own)
    if not account.counted or any(unknown):
        return None
    joined: list[tuple[float, float]] = []
    for phase in own:
        since = joined.pop()[0] if joined and phase.since - joined[-1][1] <= 2 * EDGE else phase.since
        joined.append((since, phase.until))
    return total(account.missing(a - EDGE, b + EDGE) for a, b in joined)


def _growth(facts: Facts, group: ShareGroup, own: Sequence[Phase]) -> Rise | None:
    """How stored messages rose in the longest phase, up to where the queues of the dead are full."""
    longest = max(own, key=lambda p: p.until - p.since)
    stored = brokers.gauge(facts, "mqtt.stored_messages", group.broker)
    queue = brokers.queue(facts, group.broker)
    found = brokers.rise(stored, longest.since, longest.until)
    if found is None or found.until - found.since < SHORTEST:
        return None
    room = END if queue is None or queue.limit is None else queue.limit * len(longest.dead)
    return None if found.by >= room * (1 - NEAR) else found


def _dealt(facts: Facts, account: Account, group: ShareGroup, how: Strategy, grown: Rise) -> float | None:
    """What the law gives to the dead while stored messages grew, by ledgers, else by the broker's own count."""
    phase = phases(group, grown.since, grown.until)[0]
    sent: float | None = account.sent(grown.since, grown.until)
    if not account.rows:
        counter = brokers.gauge(facts, "mqtt.publish_received", group.broker)
        sent = brokers.increase(counter, grown.since, grown.until)
    return None if sent is None else diverted(how, len(phase.members), len(phase.dead), round(sent)).likely
