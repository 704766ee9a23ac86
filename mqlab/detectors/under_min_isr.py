"""acks=all is refused while fewer replicas than ``min.insync.replicas`` are in sync.

Fires: brokers or producers say NOT_ENOUGH_REPLICAS. Proven where the in-sync set is known to have been smaller than
required. Critical where records were dropped, which means reported as failed and not in the log, or where applications
were blocked. Some of those that were reported as failed are in the log all the same: appended before the set fell.
What became of the refused writes is said only where counters or ledgers of the producers show it.
Quiet: partitions below their minimum to which nobody wrote with acks=all, failures for other reasons.
From 3.7 on a partition below its minimum shows consumers nothing new even where acks=1 is answered (KIP-966).
"""

from __future__ import annotations

from mqlab import words
from mqlab.delivery import advised, refused_writes
from mqlab.delivery.audit import is_whole
from mqlab.delivery.refused_writes import UNDER_MIN_ISR, Refusal
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding
from mqlab.shared.wording import clock
from mqlab.words.filling import Value

INCIDENT = UNDER_MIN_ISR
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """One finding for each topic that was refused."""
    refused = refused_writes.refusals_by_topic(facts)
    if refused:
        return Result(tuple(_finding(facts, one, whole=is_whole(facts, one.topic)) for one in refused))
    below = refused_writes.below(facts)
    if not below:
        return CLEAR
    if refused_writes.producers_seen(facts):
        return Result(rejected=say("not-refused"))
    return Result(missing=(say("no-producers"),), seen=say("below"))


def _finding(facts: Facts, one: Refusal, *, whole: bool) -> Finding:
    return finding(
        INCIDENT,
        one.topic or say("unnamed"),
        Certainty.PROVEN if one.short else Certainty.LIKELY,
        (one.since, one.until),
        severity=Severity.CRITICAL if one.dropped or one.blocked else Severity.WARNING,
        name=one.topic or "brokers",
        slots={**_slots(one, whole=whole), "change": advised.replicated(facts, one.topic) or None},
        measures={
            "refused_requests": one.requests,
            "failed_records": round(one.failed.records) or None,
            "failed_but_stored_records": one.stored,
            "dropped_records": one.dropped or None,
            "blocked_sends": one.blocked or None,
            "lost_records": 0 if whole else None,
        },
        evidence=one.evidence,
        explains=("retry-amplification",),
        facts={"who": say("who", topic=one.topic) if one.topic else None, "partitions": ", ".join(one.queues)},
    )


def _slots(one: Refusal, *, whole: bool) -> dict[str, Value]:
    """Where and when, by how much too few replicas, and what became of the writes."""
    return {
        "topic": one.topic,
        "partitions": one.queues or None,
        "once": one.since is not None and clock(one.since) == clock(one.until),
        "in_sync": one.short[0] if len(one.short) == 1 else None,
        "required": one.required or None,
        "taken": one.taken,
        "counted_by": one.failed.how,
        "whole": whole,
    }
