"""No in-sync replica was left and one that lacked records was elected: what it lacked is gone from the log.

Fires: an unclean election, told by a controller or by the in-sync set before it, and a log that goes back: acknowledged
ids are gone, or the old leader's log or the high watermark had been further. Proven where the election and the numbers
are both in the material. Which acks the producers asked for does not matter.
Quiet: clean elections, also of eligible replicas (KIP-966); an unclean one of a replica that had everything; topics
that were made again. Where unknown lines speak of such an election it is not checked.
"""

from __future__ import annotations

import re

from mqlab.delivery import durability, loss_mechanisms
from mqlab.delivery.loss_mechanisms import UNCLEAN
from mqlab.delivery.losses import TopicLoss, by_topics, evidence, measures
from mqlab.facts import Facts
from mqlab.findings import Evidence, Finding, Result, Severity, finding
from mqlab.shared.wording import clock
from mqlab.units import counted, number

INCIDENT = UNCLEAN
SYSTEMS: tuple[str, ...] = ("kafka",)
_SHOWN = 3
_ENDS = "where the log of that partition ended before and after: log ends, or lines of leaders with their epochs"
_SPOKEN = re.compile(r"\bunclean(?:ly)?\b(?!\.leader)[^=]{0,40}\belect|\belect\w*\b[^=]{0,40}\bunclean", re.IGNORECASE)
"""How any software words an unclean election; the setting's name tells of none."""


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    if found := by_topics(facts, INCIDENT):
        return Result(tuple(_finding(facts, one) for one in found))
    if missing := loss_mechanisms.open_questions(facts, INCIDENT):
        return Result(missing=missing)
    because = loss_mechanisms.disproved(facts, INCIDENT)
    if not because and (spoken := [s for s in facts.shapes if _SPOKEN.search(s.shape)]):
        places = tuple(Evidence(s.source, s.first_line, s.sample or s.shape) for s in spoken[:_SHOWN])
        seen = "lines in words that no rule knows speak of an unclean election"
        return Result(missing=(_ENDS,), seen=seen, evidence=places)
    return Result(rejected=because or None)


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
