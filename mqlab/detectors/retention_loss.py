"""Kafka and RocketMQ: retention deleted records that a group had not read yet.

Fires: the log start went past the position of a group that was away or too slow: a consumer says that its offset is out
of range and goes on at the log start, or a log start is seen above a committed offset that stands still. Lost is what
lies between, by offsets and, where producers keep ledgers, by ids; proven where both agree. A group that has not come
back yet has lost it already; its lag counts records that are gone. A warning where several refused positions are all
that is known, or where RocketMQ prints a position and the queue's start above it.
Quiet: a position 0, as a new group asks for; a position above the end after a truncation, one that somebody moved back
below the log start, what had been read before, a position that auto.offset.reset=latest took past records that were
still there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mqlab import units
from mqlab.catalogue import INCIDENTS
from mqlab.delivery.group_audit import group_rows
from mqlab.delivery.losses import GroupLoss, by_groups, dense, places
from mqlab.delivery.offset_gaps import skips
from mqlab.delivery.positions import Mark, OffsetReset, Why, offset_resets, offsets
from mqlab.delivery.positions import moved_by_hand as moved
from mqlab.delivery.rows import Loss
from mqlab.facts import Episode, Facts, span
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.shared.configured import topic_changes
from mqlab.shared.lag import waited

INCIDENT = "retention-loss"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq")
_SHOWN = 3
REPEATED = 3
"""Refused positions from which it is no single partition that somebody moved back too far."""
_EFFECTS = ("consumer-offline", "slow-consumer", "poison-pill-stall", "catch-up-read", "backlog-drain")


def detect(facts: Facts) -> Result:
    """One finding for each group and topic."""
    if found := by_groups(facts, INCIDENT):
        return Result(tuple(_finding(facts, case) for case in found))
    reasons = [reason for place in places(facts) for reason in _harmless(facts, place)]
    if reasons:
        return Result(rejected="; ".join(dict.fromkeys(reasons)))
    if told := (*_by_words(facts), *_of_rocketmq(facts)):
        return Result(told)
    if _unresolved(facts):
        return Result(
            missing=("where the consumer went on after its offset was out of range: its log, or the log start",)
        )
    return CLEAR


def _by_words(facts: Facts) -> tuple[Finding, ...]:
    """Groups of which nothing is known but that positions were refused, again and again, and that they went on above.

    A position above the end goes back; who goes forward stood below the log start.
    """
    places = {(e.group, e.topic, e.queue) for e in facts.of_kind("offset-reset") if e.group and e.topic and e.queue}
    passed: dict[tuple[str, str], list[OffsetReset]] = defaultdict(list)
    for group, topic, queue in sorted(places):
        for reset in offset_resets(facts, offsets(facts, group, topic, queue)):
            if reset.refused and reset.target > reset.refused and not reset.truncated:
                passed[group, topic].append(reset)
    return tuple(_likely(*place, own) for place, own in passed.items() if len(own) >= REPEATED)


_BELOW = re.compile(r"(?:request|next)Offset=(?P<asked>\d+).*?\b(?:brokerM|m)inOffset=(?P<start>\d+)")
"""The position that a consumer asked for, and where its queue begins, as the broker and as the client say it."""


def _of_rocketmq(facts: Facts) -> Iterator[Finding]:
    """Groups whose position a broker or client told to be below the start of the queue."""
    by_hand = {(e.group, e.topic) for e in facts.of_kind("offsets-reset")}
    gaps: dict[tuple[str, str], dict[tuple[int, int], Episode]] = defaultdict(dict)
    for line in facts.of_kind("offset-moved", "offset-illegal"):
        place = (line.group or "", line.topic or "")
        told = _BELOW.search(line.first.text) if all(place) and place not in by_hand else None
        if told and 0 < int(told["asked"]) < int(told["start"]):
            gaps[place].setdefault((int(told["asked"]), int(told["start"])), line)
    for place, lines in gaps.items():
        further = sum(start - asked for asked, start in lines)
        first = list(lines.values())
        yield _told(place, (len(lines), further), [e.first_at for e in first], [e.first for e in first[:_SHOWN]])


def _likely(group: str, topic: str, resets: Sequence[OffsetReset]) -> Finding:
    further = sum(reset.target - (reset.refused or 0) for reset in resets)
    places = [place for reset in resets[:_SHOWN] for place in reset.places]
    return _told((group, topic), (len(resets), further), [reset.at for reset in resets], places)


def _told(
    place: tuple[str, str], counts: tuple[int, int], at: Sequence[float | None], evidence: Sequence[Evidence]
) -> Finding:
    """The finding about a group and topic; *counts* are of positions, and of offsets that they went further."""
    (group, topic), (resets, further), texts = place, counts, INCIDENTS[INCIDENT]
    return finding(
        INCIDENT,
        f"{group}/{topic}",
        Certainty.LIKELY,
        span(at),
        severity=Severity.WARNING,
        statement=(
            f"Positions of {group} in {topic} were below the log start {units.counted(resets, 'time')}, and it "
            f"went on {units.counted(further, 'offset')} further in all. What retention had deleted of them it never "
            "read; whether it had been read before, these lines do not tell."
        ),
        measures={"resets": resets, "skipped_offsets": further},
        evidence=evidence,
        explains=("offset-reset-loss",),
        mitigate=texts.mitigate,
        remedy=texts.fix,
        verify=texts.verify,
    )


def _unresolved(facts: Facts) -> bool:
    """A refused offset that is not known to be above the end, and nothing tells where its consumer went on."""
    resumed = {(e.topic, e.queue) for e in facts.of_kind("offset-reset-to")}
    for line in facts.of_kind("offset-reset"):
        offset, place = line.value_max, (line.topic, line.queue)
        ends = [p.end for p in facts.positions if (p.topic, p.queue) == place and p.end is not None]
        if line.topic and offset is not None and place not in resumed and not any(end < offset for end in ends):
            return True
    return False


def _harmless(facts: Facts, place: tuple[str, str, str]) -> Iterator[str]:
    """Ranges below the log start that hold nothing the group had not read."""
    group, topic, _ = place
    yield from moved(facts, place)
    if any(skip.why is Why.RETENTION for skip in skips(facts, *place)):
        yield f"what was deleted before {group} came back to {topic} had been handled"


def _finding(facts: Facts, case: GroupLoss) -> Finding:
    gone = [
        skip for loss in case.losses for skip in skips(facts, case.group, loss.topic, loss.queue)
        if skip.why is Why.RETENTION and skip.low == loss.first_offset
    ]  # fmt: skip
    ongoing = any(skip.ongoing for skip in gone)
    # As many ids, or offsets, as lie between the position and a log start that was seen, or that was asked for.
    proven = all(dense(loss) and _starts_behind(facts, loss) for loss in case.losses)
    at = [skip.at for skip in gone]
    waiting = sum(row.pending or 0 for row in group_rows(facts, case.topic) if row.group == case.group)
    end = _state(facts, case, waiting) if ongoing else "Its lag looks as if the group had caught up."
    return finding(
        INCIDENT,
        case.subject,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (
            min([at for at in (case.span[0], *at) if at is not None], default=None),
            None if ongoing else max(at, default=None),
        ),
        severity=Severity.CRITICAL,
        ongoing=ongoing,
        statement=(
            f"Retention deleted {case.amount} of {case.where} before "
            f"{case.group} read them: the log start went past its position. {end}"
        ),
        measures={
            "lost_records": case.records,
            **waited(facts, case.group, *case.span),
            "pending_records": waiting,
            "partitions": len(case.queues),
        },
        evidence=_evidence(facts, case),
        explains=(*_EFFECTS, *(("offset-reset-loss",) if _sent_on(facts, case) else ())),
        mitigate=f"Raise retention.ms of {case.topic} before anything else; side effect: disk.",
        remedy=(
            "Alert on the lead (committed offset less log start), not only on lag; keep records longer than the "
            "longest stop; send what is lost again from the source."
        ),
        verify=f"kafka-get-offsets --topic {case.topic} --time -2 stays below every committed offset of {case.group}.",
        facts={"counted": "; ".join(sorted({one.how for one in case.losses}))},
    )


def _state(facts: Facts, case: GroupLoss, waiting: int) -> str:
    """What a group that has not come back can still read, and what was deleted since somebody looked."""
    since = 0
    for queue in case.queues:
        known = offsets(facts, case.group, case.topic, queue)
        if known.moved_on is not None and known.start is not None:
            since += max(0, known.moved_on.offset - max(known.start.offset, known.last.offset if known.last else 0))
    more = f", {units.number(since)} fewer since the last look at it" if since else ""
    return f"It has not come back: of its lag {units.counted(waiting, 'record')} can still be read{more}."


def _sent_on(facts: Facts, case: GroupLoss) -> bool:
    """The refused position made auto.offset.reset take the group past records that were still there."""
    own = [skip for queue in case.queues for skip in skips(facts, case.group, case.topic, queue)]
    ends = {(skip.high, skip.at) for skip in own if skip.why is Why.RETENTION}
    return any(skip.why is Why.RESET and (skip.low, skip.at) in ends for skip in own)


def _evidence(facts: Facts, case: GroupLoss) -> Iterator[Evidence]:
    """What the consumer said, where the log began, and how long records were kept."""
    for loss in case.losses[:_SHOWN]:
        for place in loss.evidence:
            yield replace(place, why=place.why or "the position that is gone, and the next")
        yield from (replace(m.place, why="the log start went past it") for m in _starts_behind(facts, loss)[:1])
    settings = (*facts.settings, *topic_changes(facts))
    kept = [s.evidence for s in settings if s.owner == case.topic and s.key.startswith("retention.")]
    yield from (replace(place, why="how long records are kept") for place in kept[:2])


def _starts_behind(facts: Facts, loss: Loss) -> list[Mark]:
    """Log starts that were seen behind all of what was lost."""
    known = offsets(facts, loss.group or "", loss.topic, loss.queue)
    return [mark for mark in known.starts if mark.offset > (loss.last_offset or 0)]
