"""Why an MQTT receiver got fewer messages than were published for it, and what no class explains.

A funnel of known losses leads from published to received. Each loss is taken from elsewhere than the receiver's ledger
where that is possible: rules, the law by which shares are dealt, the broker's count of drops. So what is left over
tells whether they explain what the ledger lacks. Access rules and full queues leave no line at most brokers, so what is
missing, waits or has no answer may be all that is seen of them: it is told as a symptom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.draining import Interval
from mqlab.models.mqtt import Step, funnel
from mqlab.mqtt import brokers as mqtt_brokers
from mqlab.mqtt import copies, denials, queue_drops, subscriptions
from mqlab.mqtt.accounting import Account, accounts, exactly, total
from mqlab.mqtt.brokers import LEAST, brokers
from mqlab.mqtt.diversion import diversions
from mqlab.mqtt.queue_drops import queue_cases
from mqlab.mqtt.sessions import BEGIN, END, offline_sessions
from mqlab.rows import Flow
from mqlab.shared.wording import clock
from mqlab.units import counted, number

FAILED, DENIED, DIVERTED, DROPPED, WAITING, QUOTA, UNKEPT, LATE = (
    "failed at the publisher", "refused by access rules", "dealt to members that are away", "dropped by a full queue",
    "waiting for a client that is away", "above a quota", "QoS 0 that nobody kept", "on their way",
)  # fmt: skip
"""Stages of the funnel, in their order; the last one is ``models.mqtt.RESIDUAL``."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One receiver's messages, from published to received."""

    receiver: str
    """Client id, or ``$share/GROUP/FILTER``."""
    published: int
    """Messages that publishers noted for it, those that failed included."""
    received: int
    """Different ones that it noted."""
    copies: int
    """How often it noted one again."""
    steps: tuple[Step, ...]
    unknown: tuple[str, ...]
    """Clients of it that have no ledger: what they got is not known."""


@per_facts
def explained(facts: Facts) -> tuple[Explained, ...]:
    """The funnel of each receiver that has a ledger: share groups first, then clients, by name.

    A client that is unknown may have got what is left over: then the rest tells nothing.
    """
    return tuple(_explained(facts, account) for account in accounts(facts) if account.counted)


def _explained(facts: Facts, account: Account) -> Explained:
    failed = sum(r.messages for r in account.rows if r.failed)
    got = sum(r.messages for r in account.rows if r.copies)
    losses = [(name, count) for name, count in _losses(facts, account) if count.high > 0]
    unknown = tuple(c for c in account.clients if c not in account.ledgers)
    published = account.published + failed
    return Explained(account.name, published, got, account.copies, funnel(published, got, losses), unknown)


def _losses(facts: Facts, account: Account) -> list[tuple[str, Interval]]:
    """QoS 0 is sent once: what is missing of it, beyond what is named, may be lost on either side's connection."""
    unsent = sum(r.messages for r in account.rows if r.failed and not r.copies)
    waits = () if account.group is not None else queue_cases(facts)
    diverted = [d for d in diversions(facts) if d.account.name == account.name]
    kept = [
        (DENIED, _denied(facts, account)),
        # By the law, not by what is missing; nothing where the members got all of it.
        (DIVERTED, total(d.expected for d in diverted if not d.nothing_missing)),
        (DROPPED, exactly(_dropped(facts, account))),
        (WAITING, total(exactly(c.waiting) for c in waits if c.client_id in account.clients)),
        (QUOTA, exactly(mqtt_brokers.increase(mqtt_brokers.gauge(facts, "mqtt.quota_exceeded", None), 0.0, END) or 0)),
    ]
    lost = sum(r.within(BEGIN, account.known_until) for r in account.lost if r.qos == 0)
    rest = max(0.0, lost - sum(count.likely for _, count in kept))
    return [(FAILED, exactly(unsent)), *kept, (UNKEPT, Interval(0.0, rest, rest)), (LATE, _late(account))]


def _denied(facts: Facts, account: Account) -> Interval:
    own = frozenset(source for these in account.ledgers.values() for source in these)
    found = [r for r in denials.refused(facts) if r.ledgers & own and not r.arrived]
    topics = {(r.sender, r.topic): r.messages for r in found if r.receiver in (None, *account.clients)}
    return exactly(sum(topics.values()))


def _dropped(facts: Facts, account: Account) -> float:
    """By the broker's count where it is this client's, else by what it lost."""
    cases = [c for c in queue_cases(facts) if c.client_id in account.clients and queue_drops.signed(facts, c)]
    if cases and cases[0].counter and len(queue_drops.dropping(facts)) <= 1:
        return cases[0].counter
    return max((queue_drops.lost(facts, c) or 0.0 for c in cases), default=0.0)


def _late(account: Account) -> Interval:
    """Published after the last message that is sure to have come."""
    every = float(sum(r.messages for r in account.lost))
    known = account.missing()
    return Interval(every - known.high, every - known.likely, every - known.low)


WINDOW = 20
"""Messages that a client has under way unacknowledged by default (paho and libmosquitto: max_inflight_messages)."""
SHARE = 0.02
"""Share of what was published from which it is more than what one lost connection costs."""
_TOP = 0.9
"""Share of the most that a broker stored from which on it still stores it."""
Symptoms = Iterator[tuple[float, str]]
"""Since when, and words."""


def every(facts: Facts) -> Symptoms:
    """What no class explains: what is lost, what the broker counts, what waits."""
    lost = [*_topics_lost(facts), *_missed(facts)] or [*_noted_by_nobody(facts)]
    for at, words in (*lost, *_dropping(facts), *_waiting(facts), *_unanswered(facts), *_uncounted(facts)):
        yield at, f"{clock(at)} UTC: {words}"


def _topics_lost(facts: Facts) -> Symptoms:
    """Messages that came to nobody: whole topics beside others that came."""
    for sender in sorted({f.sender for f in facts.topic_flows if f.sender is not None}):
        own = [f for f in facts.topic_flows if f.sender == sender and f.topic is not None]
        known = {f.topic for f in own if f.received or f.failed}
        silent = [f for f in own if f.topic not in known]
        count = sum(f.messages for f in silent)
        if count >= LEAST and any(f.received for f in own):
            topics = counted(len({f.topic for f in silent}), "topic")
            what = f"{counted(count, 'message')} of {topics} of {subscriptions.name_of(facts, sender)}"
            yield min(f.first_at for f in silent), f"{what} came to no ledger here, and those of its other topics did"


def _missed(facts: Facts) -> Symptoms:
    """Parts of what a receiver should get."""
    for account in accounts(facts):
        one = _explained(facts, account) if account.counted else None
        rest = one.steps[-1].messages.low if one is not None and not one.unknown else 0.0
        if one is not None and rest >= max(LEAST, SHARE * one.published):
            what = f"{number(round(rest))} of {number(one.published)} messages published for {one.receiver}"
            yield min((r.first_at for r in account.lost), default=0.0), f"{what} are not in its ledgers"


def _noted_by_nobody(facts: Facts) -> Symptoms:
    """Where nothing tells who subscribed to what: messages in no ledger, before the last one that came."""
    for sender, flows in _by_sender(facts).items():
        own = [f for f in flows if not f.failed]
        end = max((f.last_at for f in own if f.received), default=0.0)
        gone = [f for f in own if not f.received and f.last_at < end]
        yield from _part(facts, sender, gone, own, "are in no receiver's ledger")


def _part(facts: Facts, sender: str, some: Sequence[Flow], own: Sequence[Flow], what: str) -> Symptoms:
    """A good part of a publisher's messages."""
    count, sent = sum(f.messages for f in some), sum(f.messages for f in own)
    if count >= max(LEAST, SHARE * sent):
        of = f"{number(count)} of {number(sent)} messages of {subscriptions.name_of(facts, sender)}"
        yield min(f.first_at for f in some), f"{of} {what}"


def _dropping(facts: Facts) -> Symptoms:
    """Counters of brokers that say that messages were dropped."""
    for series in facts.named("mqtt.publish_dropped", "mqtt.queue_full_dropped"):
        rose = mqtt_brokers.increase(series, BEGIN, END) or 0.0
        if rose >= LEAST:
            first, begin = series.points[0]
            at = next((at for at, value in series.points if value > begin), first)
            yield at, f"{series.original} begins to rise, by {number(round(rose))} in all"


def _waiting(facts: Facts) -> Symptoms:
    """Brokers that store more and more to the end beside retained messages, and no session that is away is known."""
    for name in (broker.name for broker in brokers(facts)):
        stored = mqtt_brokers.gauge(facts, "mqtt.stored_messages", name)
        kept = mqtt_brokers.gauge(facts, "mqtt.retained_messages", name)
        if stored is None or kept is None:
            continue
        queued = [(at, value - (mqtt_brokers.value(kept, at) or kept.points[0][1])) for at, value in stored.points]
        most, last = max(count for _, count in queued), queued[-1][1]
        half = next(at for at, count in queued if 2 * count >= last)
        away = any(s.broker in (name, None) and s.since <= half for s in offline_sessions(facts))
        if last >= max(LEAST, _TOP * most) and last - queued[0][1] >= LEAST and not away:
            at = next(at for at, count in queued if count >= LEAST)
            yield at, f"{number(round(last))} messages wait at {name}, and no session that is away is known"


def _unanswered(facts: Facts) -> Symptoms:
    """Publishers of which a good part of the messages has no acknowledgement: they wait, or could not be sent.

    Where others came ever later, the way to the broker is too slow for them.
    """
    for sender, own in _by_sender(facts).items():
        took = max((p.most - p.least for p in facts.passages if p.sender == sender), default=0.0)
        late = f"; others came up to {took:.0f} s late: they wait at the client for a slow way" if took >= LEAST else ""
        yield from _part(facts, sender, [f for f in own if f.failed], own, f"have no acknowledgement{late}")


def _uncounted(facts: Facts) -> Symptoms:
    """The same for clients without a ledger, whose logs count what they published and what was acknowledged."""
    noted = {subscriptions.client_of(facts, sender) for sender in _by_sender(facts)}
    for sent in facts.named("app.published"):
        client = copies.client_of(facts, sent.source)
        acked = [s for s in facts.named("app.acknowledged") if s.source == sent.source]
        if client in noted or len(acked) != 1:
            continue
        gaps = [(at, count - (mqtt_brokers.value(acked[0], at) or 0.0)) for at, count in sent.points]
        grows = len(gaps) > 2 and all(a[1] <= b[1] for a, b in pairwise(gaps))
        if grows and gaps[-1][1] >= max(WINDOW, SHARE * sent.points[-1][1]) and gaps[0][1] < gaps[-1][1]:
            what = f"{number(round(gaps[-1][1]))} of {number(round(sent.points[-1][1]))} messages"
            who = client or sent.source
            yield gaps[0][0], f"{what} of {who} wait for an acknowledgement, more each time that it counts"


@per_facts
def _by_sender(facts: Facts) -> Mapping[str, list[Flow]]:
    found: dict[str, list[Flow]] = defaultdict(list)
    for flow in facts.flows:
        if flow.sender is not None:
            found[flow.sender].append(flow)
    return {sender: found[sender] for sender in sorted(found)}
