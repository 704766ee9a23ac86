"""acks=all is refused while fewer replicas than ``min.insync.replicas`` are in sync.

Fires: brokers or producers say NOT_ENOUGH_REPLICAS. Proven where the in-sync set is known to have been smaller than
required. Critical where records were dropped, which means reported as failed and not in the log, or where applications
were blocked. Some of those that were reported as failed are in the log all the same: appended before the set fell.
What became of the refused writes is said only where counters or ledgers of the producers show it.
Quiet: partitions below their minimum to which nobody wrote with acks=all, failures for other reasons.
From 3.7 on a partition below its minimum shows consumers nothing new even where acks=1 is answered (KIP-966).
"""

from __future__ import annotations

from mqlab.delivery import refused_writes
from mqlab.delivery.audit import is_whole
from mqlab.delivery.refused_writes import UNDER_MIN_ISR, Refusal
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Finding, Result, Severity, finding
from mqlab.shared.wording import clock
from mqlab.units import counted, number

INCIDENT = UNDER_MIN_ISR
SYSTEMS: tuple[str, ...] = ("kafka",)


def detect(facts: Facts) -> Result:
    """One finding for each topic that was refused."""
    refused = refused_writes.refusals_by_topic(facts)
    if refused:
        return Result(tuple(_finding(one, whole=is_whole(facts, one.topic)) for one in refused))
    below = refused_writes.below(facts)
    if not below:
        return CLEAR
    if refused_writes.producers_seen(facts):
        return Result(rejected="partitions were below min.insync.replicas, and no producer was refused")
    seen = "partitions were below min.insync.replicas"
    return Result(missing=(f"a log of the producers: {seen}",), seen=seen)


def _finding(one: Refusal, *, whole: bool) -> Finding:
    return finding(
        INCIDENT,
        one.topic or "topics that the lines do not name",
        Certainty.PROVEN if one.short is not None else Certainty.LIKELY,
        (one.since, one.until),
        severity=Severity.CRITICAL if one.dropped or one.blocked else Severity.WARNING,
        name=one.topic or "brokers",
        statement=_statement(one, whole=whole),
        measures={
            "refused_requests": one.requests,
            "failed_records": one.failed or None,
            "failed_but_stored_records": one.stored,
            "dropped_records": one.dropped or None,
            "blocked_sends": one.blocked or None,
            "lost_records": 0 if whole else None,
        },
        evidence=one.evidence,
        explains=("retry-amplification",),
        mitigate=(
            "Bring the missing replica back; or lower min.insync.replicas; side effect: one more failure can then lose "
            "acknowledged records."
        ),
        remedy=(
            "Replication factor 3 with min.insync.replicas=2 and room for one broker to be away; a producer that keeps "
            "what failed."
        ),
        verify="UnderMinIsrPartitionCount is 0 and no NOT_ENOUGH_REPLICAS is printed for ten minutes.",
        facts={"who": f"topic {one.topic}" if one.topic else None, "partitions": ", ".join(one.queues)},
    )


def _statement(one: Refusal, *, whole: bool) -> str:
    where = one.topic or "topics that the lines do not name"
    if one.queues:
        where = f"{one.topic} (partition{'s' if len(one.queues) > 1 else ''} {', '.join(one.queues)})"
    short = f": in sync was {one.short}, required are {one.required}" if one.short and one.required else ""
    first = (
        f"{counted(one.requests, 'write')} with acks=all to {where} {'was' if one.requests == 1 else 'were'} refused"
        f"{_when(one)} for want of in-sync replicas{short}. "
    )
    blocked = f" Applications could hand over nothing more, {counted(one.blocked, 'time')}." if one.blocked else ""
    safe = " Nothing that was acknowledged is gone from the log." if whole else ""
    return first + _fate(one) + safe + blocked


def _when(one: Refusal) -> str:
    if one.since is None or one.until is None:
        return ""
    first, last = clock(one.since), clock(one.until)
    return f" at {first} UTC" if first == last else f" from {first} to {last} UTC"


def _fate(one: Refusal) -> str:
    if one.failed:
        kept = f", {number(one.stored)} of them are in the log all the same" if one.stored is not None else ""
        rest = f" and {number(one.dropped)} were dropped" if one.dropped else ""
        return f"{counted(one.failed, 'record')} {'was' if one.failed == 1 else 'were'} reported as failed{kept}{rest}."
    if one.taken:
        return "The producers sent them again until they were taken."
    return "Whether these writes succeeded later is not in the material."
