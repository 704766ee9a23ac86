"""No in-sync replica was left and one that lacked records was elected: what it lacked is gone from the log.

Fires: an unclean election, told by a controller or by the in-sync set before it, and a log that goes back: acknowledged
ids are gone, or the old leader's log or the high watermark had been further. Proven where the election and the numbers
are both in the material. Which acks the producers asked for does not matter.
Quiet: clean elections, also of eligible replicas (KIP-966); an unclean one of a replica that had everything; topics
that were made again.
"""

from __future__ import annotations

from mqlab.delivery import durability, loss_mechanisms
from mqlab.delivery.loss_mechanisms import UNCLEAN
from mqlab.delivery.losses import TopicLoss, by_topics, evidence, measures
from mqlab.facts import Facts
from mqlab.findings import Finding, Result, Severity, finding
from mqlab.shared.wording import clock
from mqlab.units import counted, number

INCIDENT = UNCLEAN
SYSTEMS: tuple[str, ...] = ("kafka",)


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    if found := by_topics(facts, INCIDENT):
        return Result(tuple(_finding(facts, one) for one in found))
    if missing := loss_mechanisms.open_questions(facts, INCIDENT):
        return Result(missing=missing)
    return Result(rejected=loss_mechanisms.disproved(facts, INCIDENT) or None)


def _finding(facts: Facts, one: TopicLoss) -> Finding:
    allowed = durability.in_force(facts, one.topic, "unclean.leader.election.enable")
    chosen = allowed.evidence if allowed is not None and allowed.value == "true" else None
    return finding(
        INCIDENT,
        one.topic,
        one.certainty,
        (one.span[0], one.span[1]),
        severity=Severity.CRITICAL,
        statement=_statement(one),
        measures=measures(facts, one),
        evidence=(*([chosen] if chosen else ()), *evidence(facts, one)),
        explains=("reprocess-duplicates", "offset-reset-loss", "session-timeout"),
        mitigate=(
            "Switch unclean.leader.election.enable off for the topic; side effect: a partition stays offline until a "
            "replica in sync returns."
        ),
        remedy=(
            "Replication factor 3, min.insync.replicas=2 and acks=all, replicas in different failure domains; resend "
            "the missing ids from the source."
        ),
        verify="UncleanLeaderElectionsPerSec stands still, and every acknowledged id is found in the log.",
        facts={"who": f"topic {one.topic}, {counted(one.queues, 'partition')}"},
    )


def _statement(loss: TopicLoss) -> str:
    one, led, known = loss.handover, "", ""
    if one is not None:
        led = (
            f"Broker {one.after.leader}, which was not in sync, became leader of {loss.topic}-{one.after.queue} at "
            f"offset {one.to_offset:,} at {clock(one.after.at)} UTC. "
        )
    if loss.read:
        known = f" Consumers had read {number(loss.read)} of them before: a sink may be complete while the log is not."
    return f"{led}{loss.records} are gone from the log.{known}"
