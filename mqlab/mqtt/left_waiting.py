"""Messages of MQTT that wait for no reason that is known, at a broker or at their publisher: since when, and words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt import copies, gauges, users
from mqlab.mqtt.brokers import brokers
from mqlab.mqtt.offline import offline_sessions
from mqlab.questions.wording import clock
from mqlab.rows.mqtt import Flow
from mqlab.units import number

LEAST = 10
"""Messages below which nothing is told from what is under way at the end."""
WINDOW = 20
"""Messages that a client has under way unacknowledged by default (paho and libmosquitto: max_inflight_messages)."""
SHARE = 0.02
"""Share of what was published from which it is more than what one lost connection costs."""
_TOP = 0.9
"""Share of the most that a broker stored from which on it still stores it."""
Told = Iterator[tuple[float, str]]
"""Since when, and words."""


def waiting(facts: Facts) -> Told:
    """Brokers that store more and more to the end beside retained messages, and no session that is away is known."""
    for name in [broker.name for broker in brokers(facts)]:
        stored = gauges.gauge(facts, "mqtt.stored_messages", name)
        kept = gauges.gauge(facts, "mqtt.retained_messages", name)
        if stored is None or kept is None:
            continue
        queued = [(at, value - (gauges.value(kept, at) or kept.points[0][1])) for at, value in stored.points]
        most, last = max(count for _, count in queued), queued[-1][1]
        half = next(at for at, count in queued if 2 * count >= last)
        away = any(s.broker in (name, None) and s.since <= half for s in offline_sessions(facts))
        if last >= max(LEAST, _TOP * most) and last - queued[0][1] >= LEAST and not away:
            at = next(at for at, count in queued if count >= LEAST)
            told = f"{number(round(last))} messages wait at {name}, and no session that is away is known"
            yield at, f"{clock(at)} UTC: {told}"


def unanswered(facts: Facts) -> Told:
    """Publishers of which a good part of the messages has no acknowledgement: they wait, or could not be sent."""
    for sender, own in _by_sender(facts).items():
        failed = [f for f in own if f.failed]
        count, sent = sum(f.messages for f in failed), sum(f.messages for f in own)
        if count >= max(LEAST, SHARE * sent):
            at = min(f.first_at for f in failed)
            what = f"{number(count)} of {number(sent)} messages of {users.name_of(facts, sender)}"
            yield at, f"{clock(at)} UTC: {what} have no acknowledgement{_late(facts, sender)}"


def uncounted(facts: Facts) -> Told:
    """The same for clients without a ledger, whose logs count what they published and what was acknowledged."""
    noted = {users.client_of(facts, sender) for sender in _by_sender(facts)}
    for sent in facts.named("app.published"):
        client = copies.client_of(facts, sent.source)
        acked = [s for s in facts.named("app.acknowledged") if s.source == sent.source]
        if client in noted or len(acked) != 1:
            continue
        gaps = [(at, count - (gauges.value(acked[0], at) or 0.0)) for at, count in sent.points]
        grows = len(gaps) > 2 and all(a[1] <= b[1] for a, b in pairwise(gaps))
        if grows and gaps[-1][1] >= max(WINDOW, SHARE * sent.points[-1][1]) and gaps[0][1] < gaps[-1][1]:
            what = f"{number(round(gaps[-1][1]))} of {number(round(sent.points[-1][1]))} messages"
            told = f"{what} of {client or sent.source} wait for an acknowledgement, more each time that it counts"
            yield gaps[0][0], f"{clock(gaps[0][0])} UTC: {told}"


@per_facts
def _by_sender(facts: Facts) -> Mapping[str, list[Flow]]:
    found: dict[str, list[Flow]] = defaultdict(list)
    for flow in facts.flows:
        if flow.sender is not None:
            found[flow.sender].append(flow)
    return {sender: found[sender] for sender in sorted(found)}


def _late(facts: Facts, sender: str) -> str:
    """Words about those that came, where they came ever later: the way to the broker is too slow for them."""
    took = max((p.most - p.least for p in facts.passages if p.sender == sender), default=0.0)
    return f"; others came up to {took:.0f} s late: they wait at the client for a slow way" if took >= LEAST else ""
