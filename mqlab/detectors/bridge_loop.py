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

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.mqtt.circles import ROUNDS, Case, Closed, cases, missing, ring, suspect
from mqlab.mqtt.connections import Connection
from mqlab.mqtt.copies import first_copy, receivers
from mqlab.shared.wording import clock, sample

INCIDENT = "bridge-loop"
SYSTEMS: tuple[str, ...] = ("mqtt",)


def detect(facts: Facts) -> Result:
    """One finding for each way on which messages come back."""
    every = cases(facts)
    found = tuple(_finding(facts, case, case.certainty) for case in every if case.certainty is not None)
    if found:
        return Result(found)
    if any(case.circling for case in every):
        worst = next(case for case in every if case.circling)
        wanted = ("how the brokers are bridged, and what they took in ($SYS)",)
        return Result(missing=wanted, seen=_counts(worst), evidence=tuple(_evidence(facts, worst)))
    bridged = "; ".join(_nothing_back(case) for case in every if isinstance(case.way, Closed))
    if bridged:
        judged = receivers(facts) or any(t.factor or t.before is not None for case in every for t in case.taken)
        if judged:
            return Result(rejected=bridged)
        twice = "; ".join(f"{case.subject} are bridged twice" for case in every if isinstance(case.way, Closed))
        lines = tuple(place for case in every for place in _evidence(facts, case))
        return Result(missing=("messages with ids, or $SYS of both brokers",), seen=twice, evidence=lines)
    counted = receivers(facts) or facts.named("mqtt.publish_received")
    known = counted or facts.of_kind("publish-received") or facts.settings
    return CLEAR if known else Result(missing=("settings of bridges, $SYS, or messages with ids",))


def _nothing_back(case: Case) -> str:
    topics = f" for {case.way.topics}" if isinstance(case.way, Closed) and case.way.topics is not None else ""
    return f"two bridges between {case.subject}{topics}, but no id came more than {ROUNDS - 1} times"


def _finding(facts: Facts, case: Case, certainty: Certainty) -> Finding:
    if isinstance(case.way, Closed):
        mitigate = (
            f"Stop the bridge {case.way.links[1].bridge.name}; side effect: what only it carries waits or is lost."
        )
        remedy = (
            "One bridge between two brokers (topic … both), or one direction for each, or local and remote prefixes."
        )
    else:
        who = case.way.client if case.way is not None else "the client or bridge that publishes what it reads"
        mitigate = f"Stop {who}; side effect: its own messages stop as well."
        remedy = "Publish to topics that the same client does not read, or subscribe with MQTT 5 no-local."
    return finding(
        INCIDENT,
        case.subject,
        certainty,
        (case.since, None if case.ongoing else case.until),
        ongoing=case.ongoing,
        statement=f"{_way(facts, case)} {_counts(case)}".strip(),
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
        mitigate=mitigate,
        remedy=remedy,
        verify=(
            "Each id is delivered once to each subscriber, and publish/messages/received of every broker rises as "
            "fast as publishers publish."
        ),
    )


def _way(facts: Facts, case: Case) -> str:
    if isinstance(case.way, Closed):
        names = " and ".join(link.bridge.name for link in case.way.links)
        one, other = case.way.brokers
        what = f"messages of {case.way.topics}" if case.way.topics is not None else "messages"
        return f"{one} and {other} are bridged twice ({names}): {what} that cross one bridge come back over the other."
    if case.way is not None:
        return f"{case.way.client} publishes again what it reads: each message comes back to it."
    came = _suspect(facts, case)
    since = f", but it began when {came.client_id} connected at {clock(came.since)} UTC" if came is not None else ""
    both = ring(facts, case.circling)
    told = f"The same messages are published again and again; nothing tells by whom{since}."
    if both is None:
        return told
    one, other = (f"{s.client_id} ({s.filter})" for s in both)
    return f"{told} They come to {one} and to {other}, whose topics differ: each may publish what the other reads."


def _suspect(facts: Facts, case: Case) -> Connection | None:
    return suspect(facts, case.circling[0]) if case.way is None and case.circling else None


def _counts(case: Case) -> str:
    told = []
    if case.circling:
        worst = case.circling[0]
        told.append(
            f"{worst.receiver.client} got {units.counted(worst.receiver.rows, 'message')} of "
            f"{units.number(worst.distinct)} ids, one of them {units.number(worst.copies)} times"
        )
    for intake in case.taken:
        what = f"{intake.broker} takes in {units.digits(intake.rate)}/s"
        if intake.factor is not None:
            what += f" where {units.digits(intake.published)}/s are published"
        elif intake.before is not None:
            what += f" where it took in {units.digits(intake.before)}/s before"
        told.append(what)
    return "; ".join(told) + "." if told else ""


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
        yield from first_copy(case.way, f"{case.way.client} publishes an id again that is not its own")
    for one in case.circling:
        yield one.worst.first.because(f"came {units.number(one.copies)} times")
        yield from first_copy(one.receiver, f"{one.receiver.client} gets an id again")
    yield from (sample(facts, t.series, t.series.points[-1][0], f"what {t.broker} took in") for t in case.taken)
    yield from (place for link in links for place in link.evidence)
    came = _suspect(facts, case)
    if came is not None and came.begin is not None:
        yield replace(came.begin, why="the circle begins when it connects")
    both = ring(facts, case.circling) if case.way is None else None
    yield from (replace(s.evidence, why=f"{s.client_id} reads {s.filter}") for s in both or ())
    yield from (e.first.because("a consequence: queues") for e in facts.of_kind("session-queue-dropping")[:2])
