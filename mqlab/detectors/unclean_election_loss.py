"""No in-sync replica was left and one that lacked records was elected: what it lacked is gone from the log.

Fires: an unclean election, told by a controller or by the in-sync set before it, and a log that goes back: acknowledged
ids are gone, or the old leader's log or the high watermark had been further. Proven where the election and the numbers
are both in the material. Which acks the producers asked for does not matter.
Quiet: clean elections, also of eligible replicas (KIP-966); an unclean one of a replica that had everything; topics
that were made again.
"""

from __future__ import annotations

from mqlab.delivery import durability, loss_finding, loss_mechanisms
from mqlab.delivery.loss_mechanisms import UNCLEAN, Case, of_incident
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.shared.wording import clock, moment
from mqlab.units import counted, number

INCIDENT = UNCLEAN
SYSTEMS: tuple[str, ...] = ("kafka",)

_ALLOWED = "unclean.leader.election.enable"


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    found = of_incident(facts, INCIDENT)
    if found:
        return Result(tuple(_finding(facts, topic, own) for topic, own in loss_finding.by_topic(found)))
    missing = (*loss_mechanisms.open_questions(facts, INCIDENT), *loss_mechanisms.unmeasured_elections(facts))
    if missing:
        return Result(missing=missing)
    because = loss_mechanisms.disproved(facts, INCIDENT)
    return Result(rejected=because) if because else CLEAR


def _finding(facts: Facts, topic: str, cases: list[Case]) -> Finding:
    since, until = loss_finding.times(cases)
    return Finding(
        id=f"{INCIDENT}:{topic}",
        incident=INCIDENT,
        severity=Severity.CRITICAL,
        certainty=Certainty(min(c.certainty for c in cases)),
        subject=topic,
        started_at=moment(since),
        ended_at=moment(until),
        ongoing=False,
        statement=_statement(topic, cases),
        measures=loss_finding.measures(facts, topic, cases),
        evidence=(*_setting(facts, topic), *loss_finding.evidence(facts, cases)),
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
        facts={"who": f"topic {topic}, {counted(len({c.piece.queue for c in cases}), 'partition')}"},
    )


def _statement(topic: str, cases: list[Case]) -> str:
    one = loss_finding.handover(cases)
    led = ""
    if one is not None:
        led = (
            f"Broker {one.after.leader}, which was not in sync, began to lead {topic}-{one.after.queue} at offset "
            f"{one.to_offset:,} at {clock(one.after.at)} UTC. "
        )
    read = sum(c.piece.read for c in cases if c.loss.exact)
    known = (
        f" Consumers had read {number(read)} of them before: a sink may be complete while the log is not."
        if read
        else ""
    )
    return f"{led}{loss_finding.amount(cases)} records of {loss_finding.places(cases)} are gone from the log.{known}"


def _setting(facts: Facts, topic: str) -> tuple[Evidence, ...]:
    told = durability.in_force(facts, topic, _ALLOWED)
    return (told.evidence,) if told is not None and told.value == "true" and told.evidence is not None else ()
