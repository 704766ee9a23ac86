"""An acknowledgement was lost, the producer sent the batch again, and the log holds it twice.

Fires: an id stands at two places of the log and was acknowledged once. Proven where the producer was not idempotent and
its log tells of requests that were sent again after their answer was lost. Without ids: the log grew by more than was
sent, and requests were sent again.
Quiet: one place that a group handled twice, ids that the application submits again, copies of which a failover removed
one, keys that are no ids, idempotent producers. Many resends of which nothing tells what they stored are not checked,
and neither are copies that a group read before the log lost them.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.delivery import advised
from mqlab.delivery.durability import producers, topics
from mqlab.delivery.group_repeats import copies
from mqlab.delivery.log_audit import INCIDENT as SLUG
from mqlab.delivery.log_audit import Double, Growth, doubles, growths
from mqlab.facts import Facts, span
from mqlab.findings import Certainty, Finding, Result, Severity, finding
from mqlab.shared import actors
from mqlab.traffic import resending
from mqlab.traffic.resending import TRANSPORT
from mqlab.words import listed

INCIDENT = SLUG
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    every = {topic: doubles(facts, topic) for topic in topics(facts)}
    retried = {topic: [d for d in rows if d.doubled.incident == INCIDENT] for topic, rows in every.items()}
    grown = growths(facts)
    findings = [_finding(facts, topic, doubled) for topic, doubled in retried.items() if doubled]
    findings += [_grown(facts, growth) for growth in grown if not retried.get(growth.topic) and growth.least > 0]
    if findings:
        return Result(tuple(findings))
    return _otherwise(facts, [d for rows in every.values() for d in rows], grown)


def _otherwise(facts: Facts, rows: list[Double], grown: tuple[Growth, ...]) -> Result:
    unclear = [d for d in rows if not d.again and d.idempotent is not True]
    if unclear:
        twice = say("twice", ids=sum(d.doubled.records for d in unclear))
        printed = {s.owner for s in facts.settings if s.scope == "producer" and s.origin == "printed"}
        read = all(printed.issuperset(producers(facts, d.doubled.topic) or (None,)) for d in unclear)
        return Result(missing=(say("no-producers", twice=twice, read=read),), seen=twice)
    if lost := sum(copies(facts, topic) for topic in topics(facts)):
        return Result(missing=(say("copies-lost"),), seen=say("copies-read", copies=lost))
    if not rows and not grown and (resent := tuple(_resent(facts))):
        return Result(missing=resent)
    reasons, ids = [], sum(d.doubled.records for d in rows)
    if any(d.again for d in rows):
        reasons.append(say("submitted", ids=ids))
    elif rows:
        reasons.append(say("idempotent", ids=ids))
    if any(f.offsets > 1 and f.overwritten for f in facts.fates):
        reasons.append(say("went-back"))
    reasons += [say("no-growth", topic=growth.topic) for growth in grown if growth.most <= 0]
    return Result(rejected=listed(reasons) or None)


def _resent(facts: Facts) -> Iterator[str]:
    """Producers that sent many records again and were not idempotent, to topics of which nobody notes what was stored.

    How many copies that makes at most is told by retry-amplification; whether it made any is not known.
    """
    noted = {f.topic for f in facts.fates if f.acked or f.stored}
    retries = [e for e in facts.of_kind("produce-retry") if e.reason in TRANSPORT and e.topic not in noted]
    for client, episodes in actors.by_client(facts, retries).items():
        found = resending.of_client(facts, client, episodes)
        if found.again and found.idempotent is False and not resending.harmless(facts, client, episodes, found):
            yield say("resent", client=client, again=round(found.again))


def _finding(facts: Facts, topic: str, doubled: list[Double]) -> Finding:
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
        slots={"retries": sum(e.count for e in retries), "off": off, "change": advised.once(facts, topic)},
        measures={"duplicated_records": extra, "ids_stored_twice": ids},
        evidence=(
            *(e.first for e in retries[:2]),
            *(place for d in doubled[:2] for place in d.doubled.evidence),
            *[d.numbered for d in doubled if d.numbered is not None][:1],
        ),
        facts={"who": say("who", topic=topic)},
    )


def _grown(facts: Facts, growth: Growth) -> Finding:
    """The log grew by more than was sent; no ids tell which records."""
    return finding(
        INCIDENT,
        growth.topic,
        Certainty.LIKELY,
        (growth.since, growth.until),
        severity=Severity.CRITICAL,
        slots={"grown": growth.grown, "sent": growth.sent, "off": True, "change": advised.once(facts, growth.topic)},
        measures={
            "duplicated_records": growth.least,
            "duplicated_records_least": growth.least,
            "duplicated_records_most": growth.most,
        },
        evidence=growth.evidence,
        facts={"who": say("who", topic=growth.topic)},
    )
