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
from math import inf

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.delivery.group_audit import group_rows
from mqlab.delivery.losses import GroupLoss, by_groups, dense, places
from mqlab.delivery.offset_gaps import skips
from mqlab.delivery.positions import Mark, OffsetReset, Skip, Why, offset_resets, offsets
from mqlab.delivery.positions import moved_by_hand as moved
from mqlab.delivery.rows import Loss
from mqlab.facts import Episode, Facts, span
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import waited
from mqlab.shared.configured import topic_changes
from mqlab.words import listed

INCIDENT = "retention-loss"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq")
say = words.room(INCIDENT)
_SHOWN = 3
REPEATED = 3
"""Refused positions from which it is no single partition that somebody moved back too far."""
_CAUSES = ("consumer-offline", "slow-consumer", "poison-pill-stall")
"""Why a group reads later than retention deletes: this class leads, since what it lost is gone."""
_EFFECTS = ("catch-up-read", "backlog-drain")


def detect(facts: Facts) -> Result:
    """One finding for each group and topic."""
    if found := by_groups(facts, INCIDENT):
        return Result(tuple(_finding(facts, case) for case in found))
    reasons = [reason for place in places(facts) for reason in _harmless(facts, place)]
    if reasons:
        return Result(rejected=listed(dict.fromkeys(reasons)))
    if told := (*_by_words(facts), *_of_rocketmq(facts)):
        return Result(told)
    if _unresolved(facts):
        return Result(missing=(say("no-next"),))
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
        slots={"group": group, "topic": topic},
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
        yield say("handled", group=group, topic=topic)


def _finding(facts: Facts, case: GroupLoss) -> Finding:
    gone = [
        skip for loss in case.losses for skip in skips(facts, case.group, loss.topic, loss.queue)
        if skip.why is Why.RETENTION and skip.low == loss.first_offset
    ]  # fmt: skip
    ongoing = any(skip.ongoing for skip in gone)
    # As many ids, or offsets, as lie between the position and a log start that was seen, or that was asked for.
    proven = all(dense(loss) and _starts_behind(facts, loss) for loss in case.losses)
    begin, end = _deleted(facts, case, gone)
    waiting = sum(row.pending or 0 for row in group_rows(facts, case.topic) if row.group == case.group)
    return finding(
        INCIDENT,
        case.subject,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (begin, None if ongoing else end),
        severity=Severity.CRITICAL,
        ongoing=ongoing,
        slots={
            "group": case.group,
            "topic": case.topic,
            "amount": case.amount,
            "where": case.where,
            "ongoing": ongoing,
            "since_look": _deleted_since_look(facts, case),
        },
        measures={
            "lost_records": case.records,
            **waited(facts, case.group, *case.span),
            "pending_records": waiting,
            "partitions": len(case.queues),
        },
        evidence=_evidence(facts, case),
        explains=(*_EFFECTS, *(("offset-reset-loss",) if _sent_on(facts, case) else ())),
        follows=_CAUSES,
        facts={"counted": listed(sorted({one.how for one in case.losses}))},
    )


def _deleted(facts: Facts, case: GroupLoss, gone: Sequence[Skip]) -> tuple[float | None, float | None]:
    """When retention deleted the first and the last of them, at the latest when the group had gone past them."""
    end = span(skip.at if skip.back is None else skip.back for skip in gone)[1]
    first = [mark.at for loss in case.losses for mark in _starts_within(facts, loss)[:1]]
    last = [mark.at for loss in case.losses for mark in _starts_behind(facts, loss)[:1]]
    begin = span([*first, *(skip.at for skip in gone)])[0]
    return begin, min(end or inf, max(last)) if len(last) == len(case.losses) else end


def _deleted_since_look(facts: Facts, case: GroupLoss) -> int:
    """Records of its lag that were deleted since somebody looked at it."""
    since = 0
    for queue in case.queues:
        known = offsets(facts, case.group, case.topic, queue)
        if known.moved_on is not None and known.start is not None:
            since += max(0, known.moved_on.offset - max(known.start.offset, known.last.offset if known.last else 0))
    return since


def _sent_on(facts: Facts, case: GroupLoss) -> bool:
    """The refused position made auto.offset.reset take the group past records that were still there."""
    own = [skip for queue in case.queues for skip in skips(facts, case.group, case.topic, queue)]
    ends = {(skip.high, skip.at) for skip in own if skip.why is Why.RETENTION}
    return any(skip.why is Why.RESET and (skip.low, skip.at) in ends for skip in own)


def _evidence(facts: Facts, case: GroupLoss) -> Iterator[Evidence]:
    """What the consumer said, where the log began, and how long records were kept."""
    for loss in case.losses[:_SHOWN]:
        for place in loss.evidence:
            yield place.because(place.why or say("position"))
        yield from (m.place.because(say("start")) for m in _starts_behind(facts, loss)[:1])
    first = [mark for loss in case.losses for mark in _starts_within(facts, loss)[:1]]
    yield from (m.place.because(say("start")) for m in sorted(first, key=lambda mark: mark.at)[:1])
    settings = (*facts.settings, *topic_changes(facts))
    kept = [s.evidence for s in settings if s.owner == case.topic and s.key.startswith("retention.")]
    yield from (place.because(say("kept")) for place in kept[:2])


def _starts_behind(facts: Facts, loss: Loss) -> list[Mark]:
    """Log starts that were seen behind all of what was lost."""
    known = offsets(facts, loss.group or "", loss.topic, loss.queue)
    return [mark for mark in known.starts if mark.offset > (loss.last_offset or 0)]


def _starts_within(facts: Facts, loss: Loss) -> list[Mark]:
    """Log starts that were seen behind the first of what was lost."""
    known = offsets(facts, loss.group or "", loss.topic, loss.queue)
    return [mark for mark in known.starts if mark.offset > (loss.first_offset or 0)]
