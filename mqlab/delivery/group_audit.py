"""What became of the messages of a topic in each Kafka group that reads it: handled, lost, doubled, waiting.

Lost is what was deleted before the group came, jumped over, or committed before it was handled; what nothing tells is
counted as unknown. A consumer that retention overtakes while it reads says so itself; where its log is not there, its
ledger breaks off at some offset and goes on at a log start that was seen then.
Records that it could not handle may stand in a topic of their own: Spring's DeadLetterPublishingRecoverer calls that
``orders.DLT`` or ``orders-dlt``, others ``orders.dlq`` or ``dead-letter-orders``. They are accounted for where it holds
as many records as the application says that it failed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab import words
from mqlab.delivery.group_repeats import handled_again
from mqlab.delivery.leaders import last_end
from mqlab.delivery.missing import (
    Place,
    Run,
    behind,
    counted,
    doubt,
    fates,
    in_log,
    inside,
    noted_at,
    outside,
    position,
    sparse,
    unhandled,
)
from mqlab.delivery.offset_gaps import skips
from mqlab.delivery.ownership_intervals import Stint, early, stints, until_given_back
from mqlab.delivery.positions import Offsets, Skip, Why, before, offsets, partitions
from mqlab.delivery.queue_audit import queue_doubled, queue_rows
from mqlab.delivery.rows import Doubled, Gap, GroupRow, Loss, Side
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.member_ledgers import noting, readers
from mqlab.memo import per_facts
from mqlab.rows import Fate, times

say = words.room("group-ledgers")
ways = words.room("delivery-ways")
EARLY = "commit-before-process-loss"
_DEAD = re.compile(r"(?i)(?:^|[._-])(?:dl[tq]|dead[._-]?letters?(?:[._-]?queue)?)(?:[._-]|$)")


@dataclass(frozen=True, slots=True)
class Reckoning:
    """What a group lost in one partition, and what cannot be said of it."""

    losses: tuple[Loss, ...]
    unknown: int
    """Messages before the group's position that no ledger notes, where nothing tells whether it should."""
    doubts: tuple[str, ...]
    """What is not there that would tell."""
    by_hand: int = 0
    """Messages that were left out: somebody set the group's offset past them."""
    aside: int = 0
    """Messages that could not be handled and stand in a topic for such."""
    earlier: int = 0
    """Messages before the end at which the group was told to begin."""


@per_facts
def audited(facts: Facts, topic: str) -> tuple[Place, ...]:
    """Every group of which the material tells something about *topic*, with each partition; by name and number."""
    reading = readers(facts, topic)
    own = [group for group in groups(facts) if group in reading or noting(facts, group, topic)]
    return tuple((group, topic, queue) for group in own for queue in partitions(facts, group, topic))


@per_facts
def group_losses(facts: Facts, topic: str) -> tuple[Loss, ...]:
    """Messages of *topic* that groups lost, by group, partition and offset."""
    return tuple(
        loss
        for place in audited(facts, topic)
        for loss in sorted(
            reckon(facts, *place).losses, key=lambda loss: (loss.first_offset, loss.last_offset, loss.incident or "")
        )
    )


@per_facts
def group_doubled(facts: Facts, topic: str) -> tuple[Doubled, ...]:
    """Messages of *topic* that groups handled more than once, by group and partition; copies in the log are no such."""
    doubled = [
        row for place in audited(facts, topic) for row in handled_again(facts, place, noting(facts, place[0], topic))
    ]
    return (*doubled, *queue_doubled(facts, topic))


@per_facts
def group_rows(facts: Facts, topic: str) -> tuple[GroupRow, ...]:
    """A row for each group that reads *topic* and partition or queue, by name and number."""
    return (*(_row(facts, place) for place in audited(facts, topic)), *queue_rows(facts, topic))


def _row(facts: Facts, place: Place) -> GroupRow:
    group, topic, queue = place
    own, rows = noting(facts, group, topic), fates(facts, topic, queue)
    reckoning, last = reckon(facts, *place), offsets(facts, *place).last
    return GroupRow(
        group, topic, queue,
        handled=sum(f.messages for f in rows if times(f, own)) if own else None,
        times=sum(f.messages * times(f, own) for f in rows) if own else None,
        committed=last.offset if last else None,
        pending=_pending(facts, place),
        lost=sum(loss.records for loss in reckoning.losses),
        doubled=sum(row.extra for row in handled_again(facts, place, own)),
        unknown=reckoning.unknown,
        by_hand=reckoning.by_hand,
        aside=reckoning.aside,
        earlier=reckoning.earlier,
    )  # fmt: skip


def _pending(facts: Facts, place: Place) -> int | None:
    """Messages behind the position, without those that were deleted there; None where it has none or no end is known.

    By ids where what producers noted reaches as far as the end of the log that was seen.
    """
    group, topic, queue = place
    partition, stood, rows = offsets(facts, *place), position(facts, *place), fates(facts, topic, queue)
    if stood is None:
        return None
    low = max(stood, partition.start.offset if partition.start else 0)
    end = partition.end.offset if partition.end else None
    reached = max(((f.last_offset or 0) + 1 for f in rows if in_log(f)), default=0)
    if counted(facts, topic, queue) and (end is None or reached >= end):
        beyond = max(((f.last_offset or 0) + 1 for f in rows), default=0)
        return sum(run.messages for run in inside(unhandled(facts, *place), low, beyond))
    if end is None:
        return None
    own = noting(facts, group, topic)
    return max(0, end - low - sum(behind(f, low) for f in rows if times(f, own)))


@per_facts
def reckon(facts: Facts, group: str, topic: str, queue: str) -> Reckoning:
    """What *group* lost in one partition, by mechanism."""
    place, own = (group, topic, queue), noting(facts, group, topic)
    stood, ranges = position(facts, *place), skips(facts, *place)
    losses = [loss for skip in ranges if skip.why in (Why.RETENTION, Why.RESET) for loss in _passed(facts, place, skip)]
    if stood is None and own:
        left = _least(unhandled(facts, *place))
        committed = (say("committed", group=group, topic=topic, queue=queue),) if left else ()
        return Reckoning(tuple(losses), left, committed)
    rest = inside(unhandled(facts, *place), 0, stood) if stood is not None else []
    passed, rest = _left_out(rest, ranges)
    by_hand, earlier = passed[Why.HAND], passed[Why.CONFIGURED]
    if not own:
        who = (say("every-ledger", group=group),) if _least(rest) else ()
        return Reckoning(tuple(losses), _least(rest), who, by_hand, earlier=earlier)
    deleted, rest = _deleted(facts, place, rest)
    failed, rest = _failed(facts, place, rest)
    aside = sum(loss.records for loss in failed) if dead_letter_topic(facts, topic) else 0
    losses += deleted if aside else [*deleted, *failed]
    unknown, doubts = 0, list[str]()
    for stint in reversed(stints(facts, *place)):
        runs = inside(rest, stint.low, stint.high)
        tail = any(run.high == stint.high for run in runs)
        for run in runs:
            # Up to where the process gave the partition back, where it noted what it read next: until then the records
            # may have been in its memory.
            part = until_given_back(stint, run.high) if noted_at(facts, place, run.high) else None
            if why := doubt(facts, place, part or stint, run):
                unknown, doubts = unknown + run.least, [*doubts, why]
            else:
                losses += _in_memory(facts, place, part or stint, run, tail)
        rest = outside(rest, stint.low, stint.high)
    if _least(rest):
        unknown, doubts = unknown + _least(rest), [*doubts, say("owner", topic=topic, queue=queue)]
    return Reckoning(tuple(losses), unknown, tuple(dict.fromkeys(doubts)), by_hand, aside, earlier)


def _left_out(rest: list[Run], ranges: Sequence[Skip]) -> tuple[Counter[Why], list[Run]]:
    """How many messages of *rest* were passed over for each reason, and what is left of it."""
    passed: Counter[Why] = Counter()
    for skip in ranges:
        passed[skip.why] += sum(run.messages for run in inside(rest, skip.low, skip.high))
        rest = outside(rest, skip.low, skip.high)
    return passed, rest


def _least(runs: Sequence[Run]) -> int:
    return sum(run.least for run in runs)


def _loss(
    place: Place, incident: str | None, run: Run, how: str, evidence: tuple[Evidence, ...], gap: Gap | None = None
) -> Loss:
    group, topic, queue = place
    return Loss(
        incident, Side.GROUP, topic, queue, group, run.messages, run.least, run.most, run.low, run.high - 1,
        run.since, run.until, how, evidence, gap,
    )  # fmt: skip


def _deleted(facts: Facts, place: Place, runs: Sequence[Run]) -> tuple[list[Loss], list[Run]]:
    """Those of *runs* that end where the log began, or begin where the log refused a position; and the others."""
    partition, how = offsets(facts, *place), ways("before-start")
    losses: list[Loss] = []
    rest: list[Run] = []
    for run in runs:
        low, line = _refused(partition, run) or _overtaken(partition, run) or (run.high, None)
        rest += outside([run], low, run.high)
        deleted = inside([run], low, run.high)
        losses += [_loss(place, str(Why.RETENTION), part, how, (line,)) for part in deleted if line is not None]
    return losses, rest


def _refused(partition: Offsets, run: Run) -> tuple[int, Evidence] | None:
    """The consumer's line about the position at which the run begins."""
    refusals = [e for e in partition.lines if e.kind == "offset-reset" and "Truncation detected" not in e.first.text]
    return next(((run.low, e.first) for e in refusals if e.value_max == run.low), None)


def _overtaken(partition: Offsets, run: Run) -> tuple[int, Evidence] | None:
    """The log began right behind the run while the group had committed less: what it had not committed is gone."""
    for mark in partition.starts:
        stood = before(partition.committed, mark.at)
        if mark.offset == run.high and stood is not None and stood.offset < run.high:
            return max(run.low, stood.offset), mark.place
    return None


def _failed(facts: Facts, place: Place, rest: Sequence[Run]) -> tuple[list[Loss], list[Run]]:
    """Records of which the application says that they failed, and *rest* without them."""
    losses: list[Loss] = []
    left = list(rest)
    for line in reversed(facts.of_kind("record-failed")):
        if (line.topic, line.queue) == place[1:] and line.value_max is not None:
            low, high = int(line.value_min or 0), int(line.value_max) + 1
            low = high - 1 if high - low > line.count else low
            gone = inside(left, low, high)
            losses += [_loss(place, None, run, ways("skipped"), (line.last,), Gap.FAILED) for run in gone]
            left = outside(left, low, high)
    return losses, left


@per_facts
def dead_letter_topic(facts: Facts, topic: str) -> str | None:
    """The topic that holds what could not be handled of *topic*; None where there is none, or too little in it."""
    failed = {
        (e.queue, e.value_max) for e in facts.of_kind("record-failed") if e.topic == topic and e.value_max is not None
    }
    named = {p.topic for p in facts.positions} | {f.topic for f in facts.fates}
    for name in sorted(name for name in named if topic in name and _DEAD.search(name.replace(topic, ""))):
        stored = sum(f.messages for f in facts.fates if f.topic == name and (f.stored or f.acked))
        queues = {p.queue for p in facts.positions if p.topic == name}
        ends = sum(last_end(facts, (name, queue)) or 0 for queue in queues)
        if failed and max(stored, ends) >= len(failed):
            return name
    return None


def _in_memory(facts: Facts, place: Place, stint: Stint, run: Run, tail: bool) -> Iterator[Loss]:
    """They were committed and never handled: the last ones before a commit tell why.

    A queue in memory is lost from some record on to its end (*tail*); several threads leave single ones before that.
    Offsets of which nothing tells that they hold a message count only beside a sign that commits were early.
    """
    signs, exact = early(facts, place, stint), run.least == run.most
    last, evidence = run.high == stint.high, (*stint.places[1:], run.first or stint.places[0])
    if last and (exact or (not sparse(facts, place[1]) and (signs.waiting or signs.ahead))):
        yield _loss(place, EARLY, run, ways("tail", high=stint.high), evidence, Gap.TAIL)
    elif exact and tail and stint.stopped and (signs.auto or signs.waiting):
        yield _loss(place, EARLY, run, ways("committed-holes"), evidence, Gap.HOLES)
    elif exact:
        yield _loss(place, None, run, ways("holes"), (run.first or stint.places[0],))


def _passed(facts: Facts, place: Place, skip: Skip) -> Iterator[Loss]:
    """What a group lost that never read it: deleted before it came, or jumped over."""
    group, topic, queue = place
    runs = inside(unhandled(facts, *place), skip.low, skip.high)
    noted = counted(facts, topic, queue)
    records, least, most, how = _by_ids(facts, place, skip, runs) if noted else _by_offsets(facts, place, skip)
    if records:
        yield Loss(
            str(skip.why), Side.GROUP, topic, queue, group, records, least, most, skip.low, skip.high - 1,
            span(r.since for r in runs)[0], span(r.until for r in runs)[1], how, skip.places,
        )  # fmt: skip


def _by_ids(facts: Facts, place: Place, skip: Skip, runs: Sequence[Run]) -> tuple[int, int, int, str]:
    """Messages that producers noted there, as far as what they noted reaches."""
    ids = sum(run.messages for run in runs)
    rows = [f for f in fates(facts, *place[1:]) if f.acked or f.stored]
    begin = min((f.first_offset or 0 for f in rows), default=0)
    end = max(((f.last_offset or 0) + 1 for f in rows), default=0)
    if not (begin <= skip.low and skip.high <= end):
        records, _, most, how = _by_offsets(facts, place, skip)
        return max(ids, records), min(ids, records), max(ids, most), how
    how = ways("by-ids")
    if skip.lowest is None and skip.highest is None:
        return ids, _least(runs), ids, how
    return ids, min(ids, skip.least), max(ids, skip.most), how


def _by_offsets(facts: Facts, place: Place, skip: Skip) -> tuple[int, int, int, str]:
    """Offsets there, without those that were handled; some hold no record where a log is compacted or transactional."""
    group, topic, queue = place
    own, ranges = noting(facts, group, topic), skips(facts, *place)
    handled = [f for f in fates(facts, topic, queue) if times(f, own) and not f.overwritten]
    bounds = [_handled_in(fate, skip, ranges) for fate in handled]
    sure, possible = sum(low for low, _ in bounds), sum(high for _, high in bounds)
    records = max(0, skip.high - skip.low - sure)
    least = 0 if sparse(facts, topic) else max(0, skip.least - possible)
    how = ways("by-offsets")
    return records, min(least, records), max(records, skip.most - sure), how


def _handled_in(fate: Fate, skip: Skip, ranges: Sequence[Skip]) -> tuple[int, int]:
    """How many messages of a run lie in a range that was passed over: so many at least, so many at most.

    A run that leaves out as many offsets as lie in all such ranges within it left out just those.
    """
    first, behind = fate.first_offset or 0, (fate.last_offset or 0) + 1
    own, *others = (max(0, min(range_.high, behind) - max(range_.low, first)) for range_ in (skip, *ranges))
    left_out = behind - first - fate.messages
    return max(0, own - left_out), min(own, max(0, sum(others) - left_out))
