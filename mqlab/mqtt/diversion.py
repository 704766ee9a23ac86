"""Share groups of MQTT with members that are not there: the times, and what these members were dealt meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.courses import Interval
from mqlab.models.share_dispatch import Strategy, diverted
from mqlab.mqtt import gauges, lists, software
from mqlab.mqtt.account import NOWHERE, Account, total, without_ledger
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.diverted import NEAR, SHORTEST, Diversion
from mqlab.mqtt.gauges import Rise
from mqlab.mqtt.sessions import END
from mqlab.mqtt.share_groups import Phase, ShareGroup, phases

EDGE = 1.5
"""Seconds by which an edge may be off: brokers print whole seconds, and clocks differ."""


@per_facts
def diversions(facts: Facts) -> tuple[Diversion, ...]:
    """Every share group of which a member with a persistent session was away, by name."""
    found = []
    for account in accounts(facts):
        if account.group is None:
            continue
        until = gauges.end_of(facts)
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
    how = software.dispatch(facts, group.broker) or Strategy.RANDOM
    publishers = len({r.sender for r in account.rows}) or 1
    expected = total(_law(how, account, phase, publishers) for phase in own)
    grown = _growth(facts, group, own)
    last = {client for p in own[-1:] for client in p.dead} if own[-1].until >= gauges.end_of(facts) else set()
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
        lists.waiting(facts, tuple(sorted({c for p in own for c in p.dead}))),
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
    counter = gauges.gauge(facts, "mqtt.publish_received", group.broker)
    found = NOWHERE
    for phase in own:
        before, after = (gauges.counted(counter, at) for at in (phase.since, phase.until))
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
    stored = gauges.gauge(facts, "mqtt.stored_messages", group.broker)
    queue = software.queue(facts, group.broker)
    found = gauges.rise(stored, longest.since, longest.until)
    if found is None or found.until - found.since < SHORTEST:
        return None
    room = None if queue is None or queue.limit is None else queue.limit * len(longest.dead)
    return None if room is not None and found.by >= room * (1 - NEAR) else found


def _dealt(facts: Facts, account: Account, group: ShareGroup, how: Strategy, grown: Rise) -> float | None:
    """What the law gives to the dead while stored messages grew, by ledgers, else by the broker's own count."""
    phase = next(p for p in phases(group, grown.since, grown.until))
    sent: float | None = account.sent(grown.since, grown.until)
    if not account.rows:
        counter = gauges.gauge(facts, "mqtt.publish_received", group.broker)
        sent = gauges.increase(counter, grown.since, grown.until)
    return None if sent is None else diverted(how, len(phase.members), len(phase.dead), round(sent)).likely
