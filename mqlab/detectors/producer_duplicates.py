"""An acknowledgement was lost, the producer sent the batch again, and the log holds it twice.

Fires: an id stands at two places of the log and was acknowledged once. Proven where the producer was not idempotent and
its log tells of requests that were sent again after their answer was lost. Without ids: the log grew by more than was
sent, and requests were sent again.
Quiet: one place that a group handled twice, ids that the application submits again, copies of which a failover removed
one, keys that are no ids, idempotent producers.
"""

from __future__ import annotations

from dataclasses import replace

from mqlab.delivery.durability import topics
from mqlab.delivery.log_audit import INCIDENT as SLUG
from mqlab.delivery.log_audit import Double, Growth, doubles, growths
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts, span
from mqlab.findings import Certainty, Finding, Severity
from mqlab.shared.wording import moment
from mqlab.units import counted, number

INCIDENT = SLUG
SYSTEMS: tuple[str, ...] = ("kafka",)


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    every = {topic: doubles(facts, topic) for topic in topics(facts)}
    retried = {topic: [d for d in rows if d.doubled.incident == INCIDENT] for topic, rows in every.items()}
    found = [_finding(topic, own) for topic, own in retried.items() if own]
    grown = growths(facts)
    found += [_grown(one) for one in grown if not retried.get(one.topic) and one.least > 0]
    if found:
        return Result(tuple(found))
    return _otherwise(facts, [double for rows in every.values() for double in rows], grown)


def _otherwise(facts: Facts, rows: list[Double], grown: tuple[Growth, ...]) -> Result:
    unclear = [d for d in rows if not d.again and d.idempotent is not True]
    if unclear:
        copies = counted(sum(d.doubled.records for d in unclear), "id")
        return Result(missing=(f"the log of the producers: {copies} stand twice in the log, and only it says why",))
    reasons, ids = [], counted(sum(d.doubled.records for d in rows), "id")
    if any(d.again for d in rows):
        reasons.append(f"the application submitted {ids} more than once itself")
    elif rows:
        reasons.append(f"{ids} stand twice in the log although the producer is idempotent")
    if any(f.offsets > 1 and f.overwritten for f in facts.fates):
        reasons.append("ids that had been stored twice lost one of their places when the log went back")
    reasons += [f"{one.topic} grew by no more than was sent" for one in grown if one.most <= 0]
    return Result(rejected="; ".join(reasons)) if reasons else CLEAR


def _finding(topic: str, rows: list[Double]) -> Finding:
    extra, ids = sum(d.doubled.extra for d in rows), sum(d.doubled.records for d in rows)
    off = any(d.idempotent is False or d.numbered is not None for d in rows)
    retries = sorted(
        {e for d in rows for e in d.retries}, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)
    )
    statement = (
        f"The log of {topic} holds {counted(ids, 'id')} at more than one place, "
        f"{number(extra)} {'copy' if extra == 1 else 'copies'} too many, each acknowledged once. The producer sent "
        f"batches again after their answer was lost ({counted(sum(e.count for e in retries), 'line')})"
        f"{', and was not idempotent' if off else ''}."
    )
    evidence = [e.first for e in retries[:2]]
    evidence += [place for d in rows[:2] for place in d.doubled.evidence]
    evidence += [d.numbered for d in rows if d.numbered is not None][:1]
    return replace(
        _stored_twice(topic, span(at for d in rows for at in (d.doubled.since, d.doubled.until)), statement),
        certainty=Certainty.PROVEN if off else Certainty.LIKELY,
        measures={"duplicated_records": float(extra), "ids_stored_twice": float(ids)},
        evidence=tuple(dict.fromkeys(evidence)),
    )


def _grown(one: Growth) -> Finding:
    statement = (
        f"The log of {one.topic} grew by {number(one.grown)} records while {number(one.sent)} were sent: "
        f"{number(one.least)} to {number(one.most)} are copies. The producer sent batches again after their answer "
        "was lost, and was not idempotent."
    )
    return replace(
        _stored_twice(one.topic, (one.since, one.until), statement),
        measures={
            "duplicated_records": float(one.least),
            "duplicated_records_least": float(one.least),
            "duplicated_records_most": float(one.most),
        },
        evidence=one.evidence,
    )


def _stored_twice(topic: str, during: tuple[float | None, float | None], statement: str) -> Finding:
    return Finding(
        id=f"{INCIDENT}:{topic}",
        incident=INCIDENT,
        severity=Severity.CRITICAL,
        certainty=Certainty.LIKELY,
        subject=topic,
        started_at=moment(during[0]),
        ended_at=moment(during[1]),
        ongoing=False,
        statement=statement,
        mitigate="Deduplicate downstream by id; side effect: the ids must be kept for as long as copies may come.",
        remedy="enable.idempotence=true with acks=all; repair what cut the connections.",
        verify="A dump shows producerId 0 or above, and the log end advances by exactly the records sent.",
        facts={"who": f"topic {topic}"},
    )
