"""Share groups of MQTT with members that are not there.

What members of an MQTT share group that are away were dealt, counted in up to three ways, as one row.

The ways are ids that no member's ledger notes, stored messages of the broker that grow while members are away, and
queue lengths in lists of clients. The law that they are compared with is ``models.share_dispatch``.

Share groups of MQTT with members that are not there: the times, and what these members were dealt meanwhile.

What is told of a share group whose dead members get messages: the statement, the places, what is around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.draining import Interval
from mqlab.models.mqtt import Strategy, diverted
from mqlab.mqtt import brokers, sessions
from mqlab.mqtt.accounting import NOWHERE, Account, accounts, total, without_ledger
from mqlab.mqtt.brokers import Rise
from mqlab.mqtt.sessions import BEGIN, END
from mqlab.mqtt.subscriptions import Phase, ShareGroup, Subscription, phases
from mqlab.shared.wording import clock, sample

NEAR = 0.05
"""How far a count may be from the law, besides what the edges make."""
LEAST = 10
"""Messages below which nothing is told from what is on its way."""
SHORTEST = 20.0
"""Seconds of growth that a rate is taken from: two publications of the broker's values, every 10 s by default."""


@dataclass(frozen=True, slots=True)
class Diversion:
    """A share group while members were away."""

    account: Account
    group: ShareGroup
    phases: tuple[Phase, ...]
    """The times in which some member was away."""
    away: tuple[Subscription, ...]
    """Members that are away at the end of the material, or of their sessions."""
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
        if self.queued is None or self.expected.likely < LEAST:
            return False
        return self._fits(Interval(float(self.queued), float(self.queued), float(self.queued)))

    @property
    def count(self) -> Interval | None:
        """How many messages went to members that were away: by ids, else by queues, else by growth and the law.

        None where more is missing than the law gives to them: some of it went elsewhere.
        """
        if self.missing is not None:
            return None if self.missing.low > self.expected.high + self._slack else self.missing
        if self.queued is not None:
            return Interval(float(self.queued), float(self.queued), float(self.queued))
        if self.expected.likely >= LEAST:
            return self.expected
        if self.grows and self.received is not None:
            return self.received
        return None if self.grown is None else self._from_growth(self.grown)

    def _from_growth(self, grown: Rise) -> Interval:
        """Growth goes on at its rate over the phases; the first and the last step between two samples are unsure."""
        seconds = sum(p.until - p.since for p in self.phases)
        likely = grown.per_second * seconds
        spread = NEAR * likely + grown.per_second * SHORTEST / 2
        return Interval(max(0.0, likely - spread), likely, likely + spread)

    def _fits(self, count: Interval) -> bool:
        return count.high >= self.expected.low - self._slack and count.low <= self.expected.high + self._slack

    @property
    def _slack(self) -> float:
        return NEAR * self.expected.likely + 2

    @property
    def alone(self) -> tuple[Phase, ...]:
        """The times in which nobody else was a member."""
        return tuple(p for p in self.phases if len(p.dead) == len(p.members))


EDGE = 1.5
"""Seconds by which an edge may be off: brokers print whole seconds, and clocks differ."""


@per_facts
def diversions(facts: Facts) -> tuple[Diversion, ...]:
    """Every share group of which a member with a persistent session was away, by name."""
    found = []
    for account in accounts(facts):
        if account.group is None:
            continue
        until = brokers.end_of(facts)
        every = _before_the_end(phases(account.group, _begin(account.group), until))
        own = tuple(_to_the_last(account, p) for p in every if p.dead and p.until > p.since)
        if own:
            found.append(_diversion(facts, account, account.group, own))
    return tuple(found)


def _before_the_end(every: Sequence[Phase]) -> Sequence[Phase]:
    """Without the last moments, in which one member after the other leaves: brokers print whole seconds."""
    kept = list(every)
    while kept and kept[-1].dead and kept[-1].until - kept[-1].since <= EDGE:
        kept.pop()
    return kept


def _to_the_last(account: Account, phase: Phase) -> Phase:
    """From the last message on that came to the dead, where that is in the second in which the broker saw them go."""
    mine = {ledger for client in phase.dead for ledger in account.ledgers.get(client, ())}
    got = [r.last_at for r in account.rows if mine & set(r.here) and r.last_at > phase.since]
    inside = [at for at in got if at <= phase.since + EDGE and at < phase.until]
    return replace(phase, since=max(inside)) if inside and len(inside) == len(got) else phase


def _begin(group: ShareGroup) -> float:
    known = [m.since for m in group.members if m.since > -END]
    return min(known, default=0.0)


def _diversion(facts: Facts, account: Account, group: ShareGroup, own: tuple[Phase, ...]) -> Diversion:
    how = brokers.dispatch(facts, group.broker) or Strategy.RANDOM
    publishers = len({r.sender for r in account.rows}) or 1
    expected = total(_law(how, account, phase, publishers) for phase in own)
    grown = _growth(facts, group, own)
    last = {client for p in own[-1:] for client in p.dead} if own[-1].until >= brokers.end_of(facts) else set()
    return Diversion(
        account,
        group,
        own,
        tuple(m for m in group.members if m.client_id in last and m.until == END),
        sum(account.sent(p.since, p.until) for p in own),
        expected,
        _missing(account, own),
        grown,
        None if grown is None else _dealt(facts, account, group, how, grown),
        sessions.waiting(facts, tuple(sorted({c for p in own for c in p.dead}))),
        _by_counter(facts, group, own, how),
    )


def _law(how: Strategy, account: Account, phase: Phase, publishers: int) -> Interval:
    """What the dead got in one phase, with the messages that its edges may add or take."""
    sent = account.sent(phase.since, min(phase.until, account.known_until))
    found = diverted(how, len(phase.members), len(phase.dead), round(sent), publishers)
    length = phase.until - phase.since
    slack = sent / length * min(EDGE, length) if length > 0 else 0.0
    return Interval(max(0.0, found.low - slack), found.likely, found.high + slack)


def _by_counter(facts: Facts, group: ShareGroup, own: Sequence[Phase], how: Strategy) -> Interval | None:
    """What the law gives to the dead of all that the broker received in these times; None where it does not tell."""
    counter = brokers.gauge(facts, "mqtt.publish_received", group.broker)
    found = NOWHERE
    for phase in own:
        before, after = (brokers.counted(counter, at) for at in (phase.since, phase.until))
        if before is None or after is None:
            return None
        dealt = diverted(how, len(phase.members), len(phase.dead), round(after - before))
        slack = (after - before) / (phase.until - phase.since) * EDGE
        found = found.plus(Interval(max(0.0, dealt.low - slack), dealt.likely, dealt.high + slack))
    return found


def _missing(account: Account, own: Sequence[Phase]) -> Interval | None:
    """Messages of the phases that nobody noted; those of a row across two phases belong to both of them together."""
    if not account.counted:
        return None
    living = [set(p.members) - set(p.dead) for p in own]
    if any(c in without_ledger(account, p.since, p.until) for p, those in zip(own, living, strict=True) for c in those):
        return None
    return total(account.missing(a - EDGE, b + EDGE) for a, b in _joined(own)) if own else NOWHERE


def _joined(own: Sequence[Phase]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for phase in own:
        if found and phase.since - found[-1][1] <= 2 * EDGE:
            found[-1] = (found[-1][0], phase.until)
        else:
            found.append((phase.since, phase.until))
    return found


def _growth(facts: Facts, group: ShareGroup, own: Sequence[Phase]) -> Rise | None:
    """How stored messages rose in the longest phase, up to where the queues of the dead are full."""
    longest = max(own, key=lambda p: p.until - p.since)
    stored = brokers.gauge(facts, "mqtt.stored_messages", group.broker)
    queue = brokers.queue(facts, group.broker)
    found = brokers.rise(stored, longest.since, longest.until)
    if found is None or found.until - found.since < SHORTEST:
        return None
    room = None if queue is None or queue.limit is None else queue.limit * len(longest.dead)
    return None if room is not None and found.by >= room * (1 - NEAR) else found


def _dealt(facts: Facts, account: Account, group: ShareGroup, how: Strategy, grown: Rise) -> float | None:
    """What the law gives to the dead while stored messages grew, by ledgers, else by the broker's own count."""
    phase = next(p for p in phases(group, grown.since, grown.until))
    sent: float | None = account.sent(grown.since, grown.until)
    if not account.rows:
        counter = brokers.gauge(facts, "mqtt.publish_received", group.broker)
        sent = brokers.increase(counter, grown.since, grown.until)
    return None if sent is None else diverted(how, len(phase.members), len(phase.dead), round(sent)).likely


_SHOWN = 4


def away_since(one: Diversion) -> float | None:
    """When the first member went away; None where it was away before the material."""
    begin = min((a for m in one.group.members for a, _ in m.away), default=BEGIN)
    return None if begin == BEGIN else begin


def statement(facts: Facts, one: Diversion) -> str:
    """Two or three sentences: who is away, what it gets, what is missing elsewhere."""
    last = one.phases[-1]
    who = ", ".join(sorted({client for p in one.phases for client in p.dead}))
    since = away_since(one)
    when = f"since {clock(since)}" if since is not None else "all the time"
    broker = brokers.software(facts, one.group.broker) or "the broker"
    text = (
        f"{who} is not connected {when}, but its session is still a member of the share group {one.group.name}: "
        f"{broker} deals {len(last.dead)} of {len(last.members)} messages of {one.group.filter} to sessions that "
        "nobody reads."
    )
    return f"{text} {_counted(one)}{_alone(one)}"


def _counted(one: Diversion) -> str:
    if one.missing is not None:
        sent, missing, law = (units.number(round(n)) for n in (one.published, one.missing.likely, one.expected.likely))
        text = (
            f"Of {sent} messages published meanwhile {missing} reached no living member, by their ids; "
            f"the rule says {law}."
        )
        return text if one.count is not None else f"{text} So some are missing for another reason, or a ledger is."
    if one.count is not None:
        spread = (one.count.high - one.count.low) / 2
        about = f" ± {units.number(round(spread))}" if spread >= 1 else ""
        return f"That makes {units.number(round(one.count.likely))}{about} messages."
    return "How many that were is not told."


def _alone(one: Diversion) -> str:
    seconds = sum(p.until - p.since for p in one.alone)
    return f" For {units.duration(seconds)} it was the only member and got all of them." if seconds >= 1 else ""


def told(facts: Facts, one: Diversion) -> Mapping[str, str]:
    """Short words for the screen."""
    last = one.phases[-1]
    living = sorted(set(last.members) - set(last.dead))
    found = {"away": ", ".join(last.dead), "connected": ", ".join(living) or "nobody"}
    if names := sorted({m.client_id for m in _successors(one)}):
        found["came after it"] = ", ".join(names)
    if behind := _downstream(facts, one):
        found["behind the members"] = behind
    return found


def _successors(one: Diversion) -> Iterator[Subscription]:
    """Members that subscribed first when one was away, from its address or in its log: an upgrade under a new id."""
    for dead in one.away:
        begin = min((a for a, _ in dead.away), default=BEGIN)
        places = {dead.evidence.source, dead.session.last.address if dead.session else None} - {None}
        for other in one.group.members:
            mine = {other.evidence.source, other.session.last.address if other.session else None}
            if other.client_id != dead.client_id and other.since >= begin and places & mine:
                yield other


def _downstream(facts: Facts, one: Diversion) -> str | None:
    """What other ledgers, such as that of a Kafka consumer, note of what the members noted."""
    own = {source for these in one.account.ledgers.values() for source in these}
    others = {source for f in facts.flows if own & dict(f.received).keys() for source, _ in f.received} - own
    words = []
    for source in sorted(others):
        given = sum(f.messages for f in facts.flows if f.sender and own & dict(f.received).keys())
        got = sum(
            f.messages for f in facts.flows if f.sender and own & dict(f.received).keys() and source in dict(f.received)
        )
        words.append(f"{source} notes {units.number(got)} of the {units.number(given)} that the members noted")
    return "; ".join(words) or None


def evidence(facts: Facts, one: Diversion) -> tuple[Evidence, ...]:
    """The dead members' lines, those of the living, the growth, the first message that went away."""
    return (*_dead(one), *_living(one), *_grown(facts, one), *_lost(one), *_limit(facts, one))


def _dead(one: Diversion) -> Iterator[Evidence]:
    dead = {client for p in one.phases for client in p.dead}
    for member in [m for m in one.group.members if m.client_id in dead][:_SHOWN]:
        last = member.session.last if member.session else None
        if last is not None and last.begin is not None:
            yield Evidence(last.begin.source, last.begin.line, last.begin.text, "connects with a persistent session")
        place = member.evidence
        yield Evidence(place.source, place.line, place.text, "is a member of the share group", place.pointer)
        if last is not None and last.end is not None:
            yield Evidence(last.end.source, last.end.line, last.end.text, "goes away and keeps its session")


def _living(one: Diversion) -> Iterator[Evidence]:
    living = set(one.phases[-1].members) - set(one.phases[-1].dead)
    for member in [m for m in one.group.members if m.client_id in living][:_SHOWN]:
        place = member.evidence
        yield Evidence(place.source, place.line, place.text, "a living member of the same group", place.pointer)


def _grown(facts: Facts, one: Diversion) -> Iterator[Evidence]:
    if one.grown is not None:
        rate = f"{units.digits(one.grown.per_second)}/s"
        yield sample(facts, one.grown.series, one.grown.until, f"stored messages grow by {rate}")
        lost = brokers.gauge(facts, "mqtt.publish_dropped", one.group.broker)
        if lost is not None:
            yield sample(facts, lost, one.grown.until, "messages that the broker dropped")


def _lost(one: Diversion) -> Iterator[Evidence]:
    since = min(p.since for p in one.phases)
    first = next((r for r in one.account.lost if r.last_at >= since), None) if one.missing is not None else None
    if first is not None:
        yield Evidence(first.first.source, first.first.line, first.first.text, "the first that no member noted")


def _limit(facts: Facts, one: Diversion) -> tuple[Evidence, ...]:
    return brokers.limit_told(facts, one.group.broker)
