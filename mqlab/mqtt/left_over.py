"""Messages of MQTT that are missing, wait or have no answer for no reason that is known: symptoms, and no class.

Access rules and full queues leave no line at most brokers, so what is missing may be all that is seen of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from mqlab.facts import Facts
from mqlab.mqtt import gauges, left_waiting, users
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.explained import explained
from mqlab.questions.wording import clock
from mqlab.rows.mqtt import TopicFlow
from mqlab.units import counted, number

LEAST = 10
"""Messages below which nothing is told from what is under way at the end."""
SHARE = 0.02
"""Share of what was published from which missing ones are more than what one lost connection costs."""
Told = Iterator[tuple[float, str]]
"""Since when, and words."""


def every(facts: Facts) -> Told:
    """All of it: what is lost, what the broker counts, what waits."""
    yield from lost(facts)
    yield from dropped(facts)
    yield from left_waiting.waiting(facts)
    yield from left_waiting.unanswered(facts)
    yield from left_waiting.uncounted(facts)


def lost(facts: Facts) -> Told:
    """Messages that came to nobody: whole topics beside others that came, and parts of what a receiver should get."""
    found = [*_topics_lost(facts), *_missed(facts)]
    yield from found or _noted_by_nobody(facts)


def _topics_lost(facts: Facts) -> Told:
    for sender, own in _topics(facts).items():
        gone = [flows for flows in own.values() if not any(f.received or f.failed for f in flows)]
        silent = [f for flows in gone for f in flows]
        count = sum(f.messages for f in silent)
        if count >= LEAST and any(f.received for flows in own.values() for f in flows):
            at = min(f.first_at for f in silent)
            what = f"{counted(count, 'message')} of {counted(len(gone), 'topic')} of {users.name_of(facts, sender)}"
            yield at, f"{clock(at)} UTC: {what} came to no ledger here, and those of its other topics did"


def _topics(facts: Facts) -> Mapping[str, Mapping[str, list[TopicFlow]]]:
    """Publisher's ledger → topic → what became of its messages."""
    found: dict[str, dict[str, list[TopicFlow]]] = defaultdict(lambda: defaultdict(list))
    for flow in facts.topic_flows:
        if flow.sender is not None and flow.topic is not None:
            found[flow.sender][flow.topic].append(flow)
    return {sender: found[sender] for sender in sorted(found)}


def _missed(facts: Facts) -> Told:
    for one in explained(facts):
        rest = one.steps[-1].messages.low
        if not one.unknown and rest >= max(LEAST, SHARE * one.published):
            at = min((r.first_at for a in accounts(facts) if a.name == one.receiver for r in a.lost), default=0.0)
            what = f"{number(round(rest))} of {number(one.published)} messages published for {one.receiver}"
            yield at, f"{clock(at)} UTC: {what} are not in its ledgers"


def _noted_by_nobody(facts: Facts) -> Told:
    """Where nothing tells who subscribed to what: messages in no ledger, before the last one that came."""
    for sender in sorted({f.sender for f in facts.flows if f.sender is not None}):
        own = [f for f in facts.flows if f.sender == sender and not f.failed]
        end = max((f.last_at for f in own if f.received), default=0.0)
        gone = [f for f in own if not f.received and f.last_at < end]
        count, sent = sum(f.messages for f in gone), sum(f.messages for f in own)
        if count >= max(LEAST, SHARE * sent):
            at = min(f.first_at for f in gone)
            what = f"{number(count)} of {number(sent)} messages of {users.name_of(facts, sender)}"
            yield at, f"{clock(at)} UTC: {what} are in no receiver's ledger"


def dropped(facts: Facts) -> Told:
    """Counters of brokers that say that messages were dropped."""
    for series in facts.named("mqtt.publish_dropped", "mqtt.queue_full_dropped"):
        rose = gauges.increase(series, float("-inf"), float("inf")) or 0.0
        if rose >= LEAST:
            first, begin = series.points[0]
            at = next((at for at, value in series.points if value > begin), first)
            yield at, f"{clock(at)} UTC: {series.original} begins to rise, by {number(round(rose))} in all"
