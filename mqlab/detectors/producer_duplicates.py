"""An acknowledgement was lost, the producer sent the batch again, and the log holds it twice.

Fires: an id stands at two places of the log and was acknowledged once. Proven where the producer was not idempotent and
its log tells of requests that were sent again after their answer was lost. Without ids: the log grew by more than was
sent, and requests were sent again.
Quiet: one place that a group handled twice, ids that the application submits again, copies of which a failover removed
one, keys that are no ids, idempotent producers.
"""

from __future__ import annotations

from mqlab.delivery.durability import topics
from mqlab.delivery.log_audit import INCIDENT as SLUG
from mqlab.delivery.log_audit import Double, Growth, doubles, growths
from mqlab.facts import Facts, span
from mqlab.findings import Certainty, Finding, Result, Severity, finding
from mqlab.units import counted, number

INCIDENT = SLUG
SYSTEMS: tuple[str, ...] = ("kafka",)

_MITIGATE = "Deduplicate downstream by id; side effect: the ids must be kept for as long as copies may come."
_REMEDY = "enable.idempotence=true with acks=all; repair what cut the connections."
_VERIFY = "A dump shows producerId 0 or above, and the log end advances by exactly the records sent."


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    every = {topic: doubles(facts, topic) for topic in topics(facts)}
    retried = {topic: [d for d in rows if d.doubled.incident == INCIDENT] for topic, rows in every.items()}
    grown = growths(facts)
    findings = [_finding(topic, doubled) for topic, doubled in retried.items() if doubled]
    findings += [_grown(growth) for growth in grown if not retried.get(growth.topic) and growth.least > 0]
    if findings:
        return Result(tuple(findings))
    return _otherwise(facts, [d for rows in every.values() for d in rows], grown)


def _otherwise(facts: Facts, rows: list[Double], grown: tuple[Growth, ...]) -> Result:
    unclear = [d for d in rows if not d.again and d.idempotent is not True]
    if unclear:
        copies = counted(sum(d.doubled.records for d in unclear), "id")
        wanted = f"the log of the producers: {copies} stand twice in the log, and only it says why"
        return Result(missing=(wanted,), seen=f"{copies} stand twice in the log")
    reasons, ids = [], counted(sum(d.doubled.records for d in rows), "id")
    if any(d.again for d in rows):
        reasons.append(f"the application itself submitted {ids} more than once")
    elif rows:
        reasons.append(f"{ids} stand twice in the log although the producer is idempotent")
    if any(f.offsets > 1 and f.overwritten for f in facts.fates):
        reasons.append("ids that had been stored twice lost one of their places when the log went back")
    reasons += [f"{growth.topic} grew by no more than was sent" for growth in grown if growth.most <= 0]
    return Result(rejected="; ".join(reasons) or None)


def _finding(topic: str, doubled: list[Double]) -> Finding:
    extra, ids = sum(d.doubled.extra for d in doubled), sum(d.doubled.records for d in doubled)
    off = any(d.idempotent is False or d.numbered is not None for d in doubled)
    retries = sorted(
        {e for d in doubled for e in d.retries}, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)
    )
    return finding(
        INCIDENT,
        topic,
        Certainty.PROVEN if off else Certainty.LIKELY,
        span(at for d in doubled for at in (d.doubled.since, d.doubled.until)),
        severity=Severity.CRITICAL,
        statement=(
            f"The log of {topic} holds {counted(ids, 'id')} at more than one place, "
            f"{number(extra)} {'copy' if extra == 1 else 'copies'} too many, each acknowledged once. The producer sent "
            f"batches again after their answer was lost ({counted(sum(e.count for e in retries), 'line')})"
            f"{', and was not idempotent' if off else ''}."
        ),
        measures={"duplicated_records": extra, "ids_stored_twice": ids},
        evidence=(
            *(e.first for e in retries[:2]),
            *(place for d in doubled[:2] for place in d.doubled.evidence),
            *[d.numbered for d in doubled if d.numbered is not None][:1],
        ),
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify=_VERIFY,
        facts={"who": f"topic {topic}"},
    )


def _grown(growth: Growth) -> Finding:
    """The log grew by more than was sent; no ids tell which records."""
    return finding(
        INCIDENT,
        growth.topic,
        Certainty.LIKELY,
        (growth.since, growth.until),
        severity=Severity.CRITICAL,
        statement=(
            f"The log of {growth.topic} grew by {number(growth.grown)} records while {number(growth.sent)} were sent: "
            f"{number(growth.least)} to {number(growth.most)} are copies. The producer sent batches again after their "
            "answer was lost, and was not idempotent."
        ),
        measures={
            "duplicated_records": growth.least,
            "duplicated_records_least": growth.least,
            "duplicated_records_most": growth.most,
        },
        evidence=growth.evidence,
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify=_VERIFY,
        facts={"who": f"topic {growth.topic}"},
    )
