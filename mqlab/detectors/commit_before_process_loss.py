"""Kafka: offsets were committed before the records were handled, and a stop or a crash lost what was in memory.

Fires: ids that were acknowledged, lie below the committed offset and are in no ledger of the group, right before the
offset that the next owner began with. Proven where they are as many as committed less handled at that stop, and the
consumer commits by itself, prints what waits in its queue, or was seen to commit ahead of its ledger. An orderly stop
loses the whole queue, since close() commits everything polled; kill -9 may lose nothing. Without a ledger the queue
that was printed before the stop of a consumer that commits by itself is the most that can be lost.
Quiet: what waits behind the committed offset; what was never read (retention, a reset, an offset set by hand); what the
log lost; a member without a ledger, a ledger that begins late or was cut; records that the application gave up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mqlab import units
from mqlab.delivery.losses import (
    GroupLoss,
    Memory,
    by_groups,
    lost_queues,
    missing_ledgers,
    places,
    signs,
    stopped_full,
    stops,
)
from mqlab.delivery.ownership_intervals import Early
from mqlab.delivery.positions import moved_by_hand as moved
from mqlab.delivery.rows import Gap
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.shared.lag import waited
from mqlab.shared.wording import clock

INCIDENT = "commit-before-process-loss"
SYSTEMS: tuple[str, ...] = ("kafka",)
_SHOWN = 3
_AUTO = "commits what was polled, handled or not"
_COMMITS = "when the consumer commits: enable.auto.commit, and its positions before and after the stop"
_WAITING = "the last count of what waits in memory"
_MITIGATE = "Let the queue run empty before the process stops; side effect: slower deploys."
_VERIFY = "Stop a consumer in a test: every id in the log is handled at least once."


def detect(facts: Facts) -> Result:
    """One finding for each group and topic; for each group where only its own lines tell."""
    known = by_groups(facts, INCIDENT)
    printed = [memory for memory in lost_queues(facts) if memory.group not in {case.group for case in known}]
    if known or printed:
        return Result((*(_finding(facts, case) for case in known), *map(_printed, printed)))
    if given_up := by_groups(facts, None):
        told = "; ".join(f"{case.group}: {case.amount} of {case.topic} {case.losses[0].how}" for case in given_up)
        return Result(rejected=f"not lost by an early commit: {told}")
    if by_hand := [told for place in places(facts) for told in moved(facts, place)]:
        return Result(rejected="; ".join(by_hand))
    if full := stopped_full(facts):
        held = "; ".join(f"{e.source} stopped with {units.number(e.value_max or 0)} records in memory" for e in full)
        return Result(
            missing=missing_ledgers(facts) or (_COMMITS,),
            seen=held,
            evidence=tuple(e.last.because(_WAITING) for e in full),
        )
    return Result(missing=missing_ledgers(facts))


def _finding(facts: Facts, case: GroupLoss) -> Finding:
    early, ends = signs(facts, case), stops(facts, case)
    tail = all(loss.gap is Gap.TAIL for loss in case.losses)
    proven = tail and case.exact and early.seen
    at = [stint.until for stint in ends if stint.until is not None]
    who = ", ".join(sorted({stint.client for stint in ends if stint.client})) or "a member"
    backlog = early.waiting.value_max if early.waiting is not None else None
    how = "gave its partitions to another member"
    if any(stint.stopped for stint in ends):
        how = "was stopped cleanly" if all(stint.orderly for stint in ends) else "was stopped or crashed"
    queue = f"; up to {units.number(backlog)} waited in its queue just before" if backlog else ""
    return finding(
        INCIDENT,
        case.subject,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (min(at, default=case.span[0]), max(at, default=case.span[1])),
        severity=Severity.CRITICAL,
        statement=(
            f"{case.group} committed {case.amount} of {case.where} that "
            f"it never handled. {who} {how} at {clock(min(at, default=None))} UTC with them in memory{queue}: "
            "lag does not show this loss."
        ),
        measures={
            "lost_records": case.records,
            "partitions": len(case.queues),
            **({"backlog_records": backlog} if backlog else {}),
            **waited(facts, case.group, min(at, default=None), max(at, default=None)),
        },
        evidence=(*_signature(facts, early), *_evidence(case)),
        explains=("session-timeout", "rolling-restart"),
        mitigate=_MITIGATE,
        remedy=(
            "Commit after processing, per partition the lowest offset that is not done; no automatic commit where "
            "records go to a queue or to other threads."
        ),
        verify=_VERIFY,
        facts={"members": who, "counted": "; ".join(sorted({one.how for one in case.losses}))},
    )


def _signature(facts: Facts, early: Early) -> Iterator[Evidence]:
    if early.auto is not None:
        same = [s for s in facts.settings if s.key == early.auto.key and s.owner == early.auto.owner]
        for place in dict.fromkeys((early.auto.evidence, *(s.evidence for s in same if s.origin == "file"))):
            yield replace(place, why=_AUTO)
    if early.waiting is not None:
        yield replace(early.waiting.last, why=_WAITING)
    if early.ahead is not None:
        yield replace(early.ahead.place, why="a commit ahead of everything handled until then")


def _evidence(case: GroupLoss) -> Iterator[Evidence]:
    """How the member ended, and the first record of each partition that is missing."""
    for loss in case.losses[:_SHOWN]:
        *ends, first = loss.evidence
        yield from (replace(e, why="the member ends") for e in ends)
        yield replace(first, why="the first record that no ledger of the group notes")


def _printed(memory: Memory) -> Finding:
    """No ledger tells; the queue that was printed and the setting do."""
    records, at = memory.waiting.value_max or 0.0, memory.at
    return finding(
        INCIDENT,
        memory.group,
        Certainty.LIKELY,
        (at, at),
        severity=Severity.CRITICAL,
        statement=(
            f"{memory.client} of {memory.group} stopped at {clock(at)} UTC while {units.counted(records, 'record')} "
            "waited in its queue, and it commits what it polled. At most that many were lost; no ledger tells how many."
        ),
        measures={"backlog_records": records},
        evidence=(
            replace(memory.auto.evidence, why=_AUTO),
            replace(memory.waiting.last, why=_WAITING),
            replace(memory.stop, why="the member stops"),
        ),
        mitigate=_MITIGATE,
        remedy="Commit after processing, per partition the lowest offset that is not done.",
        verify=_VERIFY,
        facts={"members": memory.client},
    )
