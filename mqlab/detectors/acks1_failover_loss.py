"""A leader acknowledged what its followers did not have yet, and went away: the log goes on without it.

Fires: acknowledged ids are gone from the log behind the place at which a new leader began that had been in sync, or at
which a leader itself came back after it had lost pages; or, without ids, a leader with acks=1 ended behind its
successor's begin. Proven where ids and offsets agree and the producer's acks are known.
Quiet: restarts and preferred elections, tails that nobody had acknowledged (acks=all), records that are only not read
yet, refused writes, topics that were made again, compaction; elections of replicas that were not in sync.
"""

from __future__ import annotations

from mqlab.delivery import durability, loss_finding, loss_mechanisms
from mqlab.delivery.loss_mechanisms import FAILOVER, Case, of_incident
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.shared.wording import clock, moment
from mqlab.units import counted

INCIDENT = FAILOVER
SYSTEMS: tuple[str, ...] = ("kafka",)


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    found = of_incident(facts, INCIDENT)
    if found:
        return Result(tuple(_finding(facts, topic, own) for topic, own in loss_finding.by_topic(found)))
    if missing := loss_mechanisms.open_questions(facts, INCIDENT):
        return Result(missing=missing)
    because = loss_mechanisms.disproved(facts, INCIDENT)
    return Result(rejected=because) if because else CLEAR


def _finding(facts: Facts, topic: str, cases: list[Case]) -> Finding:
    since, until = loss_finding.times(cases)
    exact = all(c.loss.exact for c in cases)
    return Finding(
        id=f"{INCIDENT}:{topic}",
        incident=INCIDENT,
        severity=Severity.CRITICAL,
        certainty=Certainty(min(c.certainty for c in cases)),
        subject=topic,
        started_at=moment(since),
        ended_at=moment(until),
        ongoing=False,
        statement=_statement(facts, topic, cases, exact),
        measures=loss_finding.measures(facts, topic, cases),
        evidence=loss_finding.evidence(facts, cases),
        explains=("reprocess-duplicates",),
        mitigate="acks=all for what must not be lost; side effect: each send waits for the slowest in-sync replica.",
        remedy=(
            "acks=all with min.insync.replicas=2, replication factor 3 and idempotence; resend the missing ids from "
            "the source."
        ),
        verify="Every acknowledged id is found in the log; acks=-1 in the producer's printed settings.",
        facts=_words(facts, topic, cases),
    )


def _statement(facts: Facts, topic: str, cases: list[Case], exact: bool) -> str:
    acks = durability.acks(facts, topic, cases[0].piece.since)
    who = f" with acks={acks.value}" if acks is not None else ""
    gone = f"{loss_finding.amount(cases)} records of {loss_finding.places(cases)} that were acknowledged{who} are gone"
    if not exact:
        gone = f"{loss_finding.amount(cases)} records of {loss_finding.places(cases)}, sent{who}, are gone"
    return f"{gone} from the log. {_how(cases)}"


def _how(cases: list[Case]) -> str:
    one = loss_finding.handover(cases)
    if one is None:
        return "Their offsets were given to other ids later, and no producer saw an error."
    if one.same_broker:
        return (
            f"Broker {one.after.leader} came back with a shorter log and led again from offset {one.to_offset:,} at "
            f"{clock(one.after.at)} UTC: what it had not flushed was lost."
        )
    end = f", where broker {one.before.leader} had {one.old_end.offset:,}" if one.old_end is not None else ""
    return (
        f"Broker {one.after.leader} took over at {clock(one.after.at)} UTC from offset {one.to_offset:,}{end}: it had "
        "been in sync, but had not fetched them."
    )


def _words(facts: Facts, topic: str, cases: list[Case]) -> dict[str, str]:
    acks = durability.acks(facts, topic, cases[0].piece.since)
    return {
        "who": f"topic {topic}, {counted(len({c.piece.queue for c in cases}), 'partition')}",
        **({"acks": f"{acks.value} of {acks.client}"} if acks is not None else {}),
    }
