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

from collections.abc import Iterator, Sequence

from mqlab import words
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
from mqlab.delivery.ownership_intervals import Early, Stint
from mqlab.delivery.positions import moved_by_hand as moved
from mqlab.delivery.rows import Gap
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import waited
from mqlab.words import listed

INCIDENT = "commit-before-process-loss"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)
_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each group and topic; for each group where only its own lines tell."""
    known = by_groups(facts, INCIDENT)
    printed = [memory for memory in lost_queues(facts) if memory.group not in {case.group for case in known}]
    if known or printed:
        return Result((*(_finding(facts, case) for case in known), *map(_printed, printed)))
    if given_up := by_groups(facts, None):
        each = [say("each", group=c.group, amount=c.amount, topic=c.topic, how=c.losses[0].how) for c in given_up]
        return Result(rejected=say("elsewhere", each=each))
    if by_hand := [told for place in places(facts) for told in moved(facts, place)]:
        return Result(rejected=listed(by_hand))
    if full := stopped_full(facts):
        return Result(
            missing=missing_ledgers(facts) or (say("no-commits"),),
            seen=listed(say("held", source=e.source, records=e.value_max or 0) for e in full),
            evidence=tuple(e.last.because(say("waiting")) for e in full),
        )
    return Result(missing=missing_ledgers(facts))


def _finding(facts: Facts, case: GroupLoss) -> Finding:
    early, ends = signs(facts, case), stops(facts, case)
    tail = all(loss.gap is Gap.TAIL for loss in case.losses)
    proven = tail and case.exact and early.seen
    at = [moment for stint in ends if (moment := stint.until if stint.heard is None else stint.heard) is not None]
    who = ", ".join(sorted({stint.client for stint in ends if stint.client})) or say("someone")
    backlog = early.waiting.value_max if early.waiting is not None else None
    stopped = any(stint.stopped for stint in ends)
    return finding(
        INCIDENT,
        case.subject,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (min(at, default=case.span[0]), max(at, default=case.span[1])),
        severity=Severity.CRITICAL,
        slots={
            "group": case.group,
            "amount": case.amount,
            "where": case.where,
            "members": who,
            "stopped": stopped,
            "orderly": stopped and all(stint.orderly for stint in ends),
            "at": min(at, default=None),
            "heard": any(stint.heard is not None for stint in ends),
        },
        measures={
            "lost_records": case.records,
            "partitions": len(case.queues),
            "backlog_records": backlog or None,
            **waited(facts, case.group, min(at, default=None), max(at, default=None)),
        },
        evidence=(*_signature(facts, early), *_evidence(case, ends)),
        beside=("session-timeout", "rolling-restart"),
        facts={"members": who, "counted": listed(sorted({one.how for one in case.losses}))},
    )


def _signature(facts: Facts, early: Early) -> Iterator[Evidence]:
    if early.auto is not None:
        same = [s for s in facts.settings if s.key == early.auto.key and s.owner == early.auto.owner]
        for place in dict.fromkeys((early.auto.evidence, *(s.evidence for s in same if s.origin == "file"))):
            yield place.because(say("auto"))
    if early.waiting is not None:
        yield early.waiting.last.because(say("waiting"))
    if early.ahead is not None:
        yield early.ahead.place.because(say("ahead"))


def _evidence(case: GroupLoss, stints: Sequence[Stint]) -> Iterator[Evidence]:
    """How the member ended, or what shows it gone, and the first record of each partition that is missing."""
    after = {stint.places[-1] for stint in stints if stint.heard is not None}
    for loss in case.losses[:_SHOWN]:
        *ends, first = loss.evidence
        yield from (e.because(say("gone" if e in after else "ends")) for e in ends)
        yield first.because(say("first"))


def _printed(memory: Memory) -> Finding:
    """No ledger tells; the queue that was printed and the setting do."""
    records, at = memory.waiting.value_max or 0.0, memory.at
    return finding(
        INCIDENT,
        memory.group,
        Certainty.LIKELY,
        (at, at),
        severity=Severity.CRITICAL,
        slots={"client": memory.client, "at": at},
        measures={"backlog_records": records},
        evidence=(
            memory.auto.evidence.because(say("auto")),
            memory.waiting.last.because(say("waiting")),
            memory.stop.because(say("stops")),
        ),
        facts={"members": memory.client},
    )
