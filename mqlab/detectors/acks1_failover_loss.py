"""A leader acknowledged what its followers did not have yet, and went away: the log goes on without it.

Fires: acknowledged ids are gone from the log behind the place at which a new leader began that had been in sync, or at
which a leader itself came back after it had lost pages; or, without ids, a leader with acks=1 ended behind its
successor's begin. Proven where ids and offsets agree and the producer's acks are known.
Quiet: restarts and preferred elections, tails that nobody had acknowledged (acks=all), records that are only not read
yet, refused writes, topics that were made again, compaction; elections of replicas that were not in sync.
"""

from __future__ import annotations

from mqlab.delivery import durability, loss_mechanisms
from mqlab.delivery.loss_mechanisms import FAILOVER
from mqlab.delivery.losses import TopicLoss, by_topics, evidence, measures
from mqlab.facts import Facts
from mqlab.findings import Finding, Result, Severity, finding
from mqlab.shared.wording import clock
from mqlab.units import counted

INCIDENT = FAILOVER
SYSTEMS: tuple[str, ...] = ("kafka",)


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    if found := by_topics(facts, INCIDENT):
        return Result(tuple(_finding(facts, one) for one in found))
    if missing := loss_mechanisms.open_questions(facts, INCIDENT):
        return Result(missing=missing)
    return Result(rejected=loss_mechanisms.disproved(facts, INCIDENT) or None)


def _finding(facts: Facts, one: TopicLoss) -> Finding:
    acks = durability.acks(facts, one.topic, one.cases[0].piece.since)
    asked = f" with acks={acks.value}" if acks is not None else ""
    gone = (
        f"{one.records} that were acknowledged{asked} are gone from the log."
        if one.exact
        else f"{one.records}, sent{asked}, are gone from the log."
    )
    return finding(
        INCIDENT,
        one.topic,
        one.certainty,
        (one.span[0], one.span[1]),
        severity=Severity.CRITICAL,
        statement=f"{gone} {_how(one)}",
        measures=measures(facts, one),
        evidence=evidence(facts, one),
        explains=("reprocess-duplicates",),
        mitigate="acks=all for what must not be lost; side effect: each send waits for the slowest in-sync replica.",
        remedy=(
            "acks=all with min.insync.replicas=2, replication factor 3 and idempotence; resend the missing ids from "
            "the source."
        ),
        verify="Every acknowledged id is found in the log; acks=-1 in the producer's printed settings.",
        facts={
            "who": f"topic {one.topic}, {counted(one.queues, 'partition')}",
            **({"acks": f"{acks.value} of {acks.client}"} if acks is not None else {}),
        },
    )


def _how(loss: TopicLoss) -> str:
    one = loss.handover
    if one is None:
        return "Their offsets were given to other ids later, and no producer saw an error."
    begun = f"from offset {one.to_offset:,}"
    if one.same_broker:
        return (
            f"Broker {one.after.leader} came back with a shorter log and led again {begun} at "
            f"{clock(one.after.at)} UTC: what it had not flushed was lost."
        )
    end = f", where broker {one.before.leader} had {one.old_end.offset:,}" if one.old_end is not None else ""
    return (
        f"Broker {one.after.leader} took over at {clock(one.after.at)} UTC {begun}{end}: it had "
        "been in sync, but had not fetched them."
    )
