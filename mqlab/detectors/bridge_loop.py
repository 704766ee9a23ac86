"""MQTT: messages come back to where they were and are sent again, over two bridges or by a client that republishes.

Fires: the same ids come to a receiver again and again, later and later, without a flag, or brokers take in several
times what is published since the second of two bridges was opened. Proven where settings show the way back, or a
client's own ledger that it publishes what it reads.
Quiet: one bridge with much traffic, two bridges on different topics or with prefixes that keep them apart, redelivery
and replay (flags), filters that overlap (a fixed number of copies at one moment), a publisher that sends ids again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.mqtt import circles
from mqlab.mqtt.circles import ROUNDS, Case, Closed, cases, missing, ring, suspect
from mqlab.mqtt.connections import Connection
from mqlab.mqtt.copies import first_copy, receivers
from mqlab.mqtt.subscriptions import Subscription
from mqlab.shared.wording import sample
from mqlab.words import Text, listed
from mqlab.words.filling import Value

INCIDENT = "bridge-loop"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """One finding for each way on which messages come back."""
    every = cases(facts)
    found = tuple(_finding(facts, case, case.certainty) for case in every if case.certainty is not None)
    if found:
        return Result(found)
    if any(case.circling for case in every):
        worst = next(case for case in every if case.circling)
        seen = say("counts", counts=_counts(worst))
        return Result(missing=(say("no-bridges"),), seen=seen, evidence=tuple(_evidence(facts, worst)))
    bridged = listed(_nothing_back(case) for case in every if isinstance(case.way, Closed))
    if bridged:
        judged = receivers(facts) or any(t.factor or t.before is not None for case in every for t in case.taken)
        if judged:
            return Result(rejected=bridged)
        twice = listed(say("twice", subject=case.subject) for case in every if isinstance(case.way, Closed))
        lines = tuple(place for case in every for place in _evidence(facts, case))
        return Result(missing=(say("no-ids"),), seen=twice, evidence=lines)
    counted = receivers(facts) or facts.named("mqtt.publish_received")
    known = counted or facts.of_kind("publish-received") or facts.settings
    return CLEAR if known else Result(missing=(say("no-material"),))


def _nothing_back(case: Case) -> Text:
    carried = case.way.topics if isinstance(case.way, Closed) else None
    return say("nothing-back", subject=case.subject, carried=carried, rounds=ROUNDS - 1)


def _finding(facts: Facts, case: Case, certainty: Certainty) -> Finding:
    return finding(
        INCIDENT,
        case.subject,
        certainty,
        (case.since, None if case.ongoing else case.until),
        ongoing=case.ongoing,
        slots=_slots(facts, case),
        measures=_measures(facts, case),
        evidence=_evidence(facts, case),
        explains=(
            "session-queue-drop",
            "session-queue-growth",
            "slow-consumer",
            "log-explosion",
            "overlapping-subscription",
            "redelivery-storm",
        ),
    )


def _slots(facts: Facts, case: Case) -> dict[str, Value]:
    """The way on which messages come back, as far as it is known, and how many did."""
    counts = {"counts": _counts(case) or None}
    if isinstance(case.way, Closed):
        names = [link.bridge.name for link in case.way.links]
        one, other = case.way.brokers
        links = {"links": names, "second": names[1], "carried": case.way.topics, **_repaired(facts, case, case.way)}
        return {"one": one, "other": other, **links, **counts}
    if case.way is not None:
        return {"client": case.way.client, **counts}
    came, both = _suspect(facts, case), ring(facts, case.circling) or ()
    readers = dict(zip(("reads_one", "reads_other"), (_reader(s) for s in both), strict=False))
    begun = {"suspected": came.client_id, "connected": came.since} if came is not None else {}
    return {**readers, **begun, **counts}


def _repaired(facts: Facts, case: Case, way: Closed) -> dict[str, Value]:
    """Which bridge is gone since its broker started anew, where nothing goes round any more."""
    given_up = circles.given_up(facts)
    gone = [(given_up[link.bridge][1], link.bridge) for link in way.links if link.bridge in given_up]
    if case.ongoing or not gone:
        return {}
    start, bridge = gone[0]
    return {"gone": bridge.name, "without": bridge.here, "restarted": start.first_at}


def _reader(subscription: Subscription) -> Text:
    return say("reader", client=subscription.client_id, filter=subscription.filter)


def _suspect(facts: Facts, case: Case) -> Connection | None:
    return suspect(facts, case.circling[0]) if case.way is None and case.circling else None


def _counts(case: Case) -> list[Text]:
    """What came again, and what the brokers took in."""
    worst = case.circling[0] if case.circling else None
    told = []
    if worst is not None:
        rows, ids = worst.receiver.rows, worst.distinct
        told.append(say("copies", client=worst.receiver.client, rows=rows, ids=ids, copies=worst.copies))
    for intake in case.taken:
        published = intake.published if intake.factor is not None else None
        told.append(say("intake", broker=intake.broker, rate=intake.mostly, published=published, before=intake.before))
    return told


def _measures(facts: Facts, case: Case) -> dict[str, float | None]:
    dropped = sum(max(0.0, s.points[-1][1] - s.points[0][1]) for s in facts.named("mqtt.publish_dropped") if s.points)
    measures: dict[str, float | None] = {"dropped_messages": dropped or None}
    if case.circling:
        worst = case.circling[0]
        published = any(f.sender for f in facts.flows)
        measures |= {
            "copies_of_worst_id": worst.copies,
            "delivered_rows": worst.receiver.rows,
            "distinct_messages": worst.distinct,
            "amplification_factor": worst.receiver.rows / worst.distinct if worst.distinct else 1.0,
            "round_trip_seconds": (worst.until - worst.worst.first_at) / (worst.copies - 1),
            "missing_messages": missing(facts, worst.receiver, case.since or worst.since) if published else None,
        }
    if case.taken:
        most = max(case.taken, key=lambda t: t.rate)
        measures |= {
            **most.circulating.measures("circulating_per_second"),
            "received_per_published_factor": most.factor,
        }
    return measures


def _evidence(facts: Facts, case: Case) -> Iterator[Evidence]:
    links = case.way.links if isinstance(case.way, Closed) else ()
    yield from (place for link in links for place in link.topics)
    if case.way is not None and not isinstance(case.way, Closed):
        yield from first_copy(case.way, say("foreign", client=case.way.client))
    for one in case.circling:
        yield one.worst.first.because(say("came", copies=one.copies))
        yield from first_copy(one.receiver, say("again", client=one.receiver.client))
    for taken in case.taken:
        moments = [at for at, _ in taken.series.points]
        last = max((at for at in moments if case.until is None or at <= case.until), default=moments[-1])
        yield sample(facts, taken.series, last, say("took", broker=taken.broker))
    yield from (place for link in links for place in link.evidence)
    came = _suspect(facts, case)
    if came is not None and came.begin is not None:
        yield replace(came.begin, why=say("begins"))
    both = ring(facts, case.circling) if case.way is None else None
    yield from (replace(s.evidence, why=say("reads", client=s.client_id, filter=s.filter)) for s in both or ())
    yield from (e.first.because(say("queues")) for e in facts.of_kind("session-queue-dropping")[:2])
