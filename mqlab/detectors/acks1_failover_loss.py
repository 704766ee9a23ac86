"""A leader acknowledged what its followers did not have yet, and went away: the log goes on without it.

Fires: acknowledged ids are gone from the log behind the place at which a new leader began that had been in sync, or at
which a leader itself came back after it had lost pages; or, without ids, a leader with acks=1 ended behind its
successor's begin. Proven where ids and offsets agree and the producer's acks are known.
Quiet: restarts and preferred elections, tails that nobody had acknowledged (acks=all), records that are only not read
yet, refused writes, topics that were made again, compaction; elections of replicas that were not in sync.
"""

from __future__ import annotations

from mqlab import words
from mqlab.delivery import advised, durability, loss_mechanisms
from mqlab.delivery.loss_mechanisms import FAILOVER
from mqlab.delivery.losses import TopicLoss, by_topics, evidence, measures
from mqlab.facts import Facts
from mqlab.findings import Finding, Result, Severity, finding
from mqlab.words.filling import Value

INCIDENT = FAILOVER
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    if found := by_topics(facts, INCIDENT):
        return Result(tuple(_finding(facts, one) for one in found))
    if missing := loss_mechanisms.open_questions(facts, INCIDENT):
        return Result(missing=missing)
    return Result(rejected=loss_mechanisms.disproved(facts, INCIDENT) or None)


def _finding(facts: Facts, one: TopicLoss) -> Finding:
    acks = durability.acks(facts, one.topic, one.cases[0].piece.since)
    return finding(
        INCIDENT,
        one.topic,
        one.certainty,
        (one.span[0], one.span[1]),
        severity=Severity.CRITICAL,
        slots={
            **{"records": one.records, "exact": one.exact, "acks": acks.value if acks else None},
            **_slots(one),
            "change": tuple(dict.fromkeys((*advised.durable(facts, one.topic), *advised.once(facts, one.topic)))),
            "all": acks is not None and not acks.leader_only,
        },
        measures=measures(facts, one),
        evidence=evidence(facts, one),
        explains=("reprocess-duplicates",),
        moments=[(one.handover.after.at, say("took-over"))] if one.handover else (),
        facts={
            "who": say("who", topic=one.topic, partitions=one.queues),
            "acks": say("acks-of", acks=acks.value, client=acks.client) if acks is not None else None,
        },
    )


def _slots(loss: TopicLoss) -> dict[str, Value]:
    """Who led before and after the loss; nothing where no change of leader is known."""
    one = loss.handover
    if one is None:
        return {}
    return {
        "leader": one.after.leader,
        "offset": one.to_offset,
        "at": one.after.at,
        "back": one.same_broker,
        "before": one.before.leader,
        "old_end": one.old_end.offset if one.old_end is not None else None,
    }
