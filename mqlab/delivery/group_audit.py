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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.delivery.missing import (
    Run,
    below,
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
from mqlab.delivery.positions import Offsets, Skip, Why, before, offsets, partitions, place_ends
from mqlab.delivery.rows import Doubled, GroupRow, Loss, Side
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.redelivery import noting, readers
from mqlab.memo import per_facts
from mqlab.rows import Fate, times, too_often

_DEAD = re.compile(r"(?i)(?:^|[._-])(?:dl[tq]|dead[._-]?letters?(?:[._-]?queue)?)(?:[._-]|$)")


@per_facts
def shelf(facts: Facts, topic: str) -> str | None:
    """The topic that holds what could not be handled of *topic*; None where there is none, or too little in it."""
    failed = {
        (e.queue, e.value_max) for e in facts.of_kind("record-failed") if e.topic == topic and e.value_max is not None
    }
    named = {p.topic for p in facts.positions} | {f.topic for f in facts.fates}
    likely = sorted(name for name in named if topic in name and _DEAD.search(name.replace(topic, "")))
    return next((name for name in likely if failed and _holds(facts, name) >= len(failed)), None)


def _holds(facts: Facts, topic: str) -> int:
    """Records that were written to it, as far as its ends or dumps of it tell."""
    ends = place_ends(facts, topic)
    stored = sum(f.messages for f in facts.fates if f.topic == topic and (f.stored or f.acked))
    return max(stored, sum(ends.values()))


@dataclass(frozen=True, slots=True)
class Deleted:
    """Some of them, and what shows it."""

    run: Run
    place: Evidence


def deleted(known: Offsets, runs: Iterable[Run]) -> tuple[list[Deleted], list[Run]]:
    """Those of *runs*, and the others."""
    found: list[Deleted] = []
    rest: list[Run] = []
    for run in runs:
        low, place = _refused(known, run) or _overtaken(known, run) or (run.high, None)
        rest += outside([run], low, run.high)
        found += [Deleted(part, place) for part in inside([run], low, run.high) if place is not None]
    return found, rest


def _refused(known: Offsets, run: Run) -> tuple[int, Evidence] | None:
    """The consumer's line about the position at which the run begins."""
    told = [e for e in known.lines if e.kind == "offset-reset" and "Truncation detected" not in e.first.text]
    return next(((run.low, e.first) for e in told if e.value_max == run.low), None)


def _overtaken(known: Offsets, run: Run) -> tuple[int, Evidence] | None:
    """The log began right behind the run while the group had committed less: what it had not committed is gone."""
    for mark in known.starts:
        stood = before(known.committed, mark.at)
        if mark.offset == run.high and stood is not None and stood.offset < run.high:
            return max(run.low, stood.offset), mark.place
    return None


_BY_OFFSETS = "offsets between the position and where it went on"
LOSING = (Why.RETENTION, Why.RESET)
"""Reasons for which what was not read is lost."""


def losses(facts: Facts, place: tuple[str, str, str]) -> Iterator[Loss]:
    """One for each range; *place* is a group, a topic and a partition."""
    for skip in skips(facts, *place):
        if skip.why in LOSING:
            yield from _of(facts, place, skip)


def _of(facts: Facts, place: tuple[str, str, str], skip: Skip) -> Iterator[Loss]:
    group, topic, queue = place
    runs = inside(unhandled(facts, *place), skip.low, skip.high)
    noted = counted(facts, topic, queue)
    records, least, most, how = _by_ids(facts, place, skip, runs) if noted else _by_offsets(facts, place, skip)
    if records:
        since = min((r.since for r in runs if r.since is not None), default=None)
        until = max((r.until for r in runs if r.until is not None), default=None)
        yield Loss(
            str(skip.why), Side.GROUP, topic, queue, group, records, least, most, skip.low, skip.high - 1,
            since, until, how, skip.places,
        )  # fmt: skip


def _by_ids(facts: Facts, place: tuple[str, str, str], skip: Skip, runs: Sequence[Run]) -> tuple[int, int, int, str]:
    """Messages that producers noted there, as far as what they noted reaches."""
    ids = sum(run.messages for run in runs)
    rows = [f for f in fates(facts, *place[1:]) if f.acked or f.stored]
    begin = min((f.first_offset or 0 for f in rows), default=0)
    end = max(((f.last_offset or 0) + 1 for f in rows), default=0)
    if begin <= skip.low and skip.high <= end:
        least, most = min(ids, skip.least), max(ids, skip.most)
        if skip.lowest is None and skip.highest is None:
            least, most = sum(run.least for run in runs), ids
        return ids, least, most, "ids that were acknowledged there and that no ledger notes"
    records, _, most, how = _by_offsets(facts, place, skip)
    return max(ids, records), min(ids, records), max(ids, most), how


def _by_offsets(facts: Facts, place: tuple[str, str, str], skip: Skip) -> tuple[int, int, int, str]:
    """Offsets there, without those that were handled; some hold no record where a log is compacted or transactional."""
    group, topic, queue = place
    own = noting(facts, group, topic)
    handled = [f for f in fates(facts, topic, queue) if times(f, own) and not f.overwritten]
    every = skips(facts, *place)
    done = [_done(fate, skip, every) for fate in handled]
    sure, possible = (sum(bounds) for bounds in zip(*done, strict=True)) if done else (0, 0)
    records = max(0, skip.high - skip.low - sure)
    least = 0 if sparse(facts, topic) else max(0, skip.least - possible)
    return records, min(least, records), max(records, skip.most - sure), _BY_OFFSETS


def _done(fate: Fate, skip: Skip, every: Sequence[Skip]) -> tuple[int, int]:
    """How many messages of a run lie in a range that was passed over: so many at least, so many at most.

    A run that leaves out as many offsets as lie in all such ranges within it left out just those.
    """
    first, behind = fate.first_offset or 0, (fate.last_offset or 0) + 1
    own, *others = (max(0, min(one.high, behind) - max(one.low, first)) for one in (skip, *every))
    left_out = behind - first - fate.messages
    return max(0, own - left_out), min(own, max(0, sum(others) - left_out))


Place = tuple[str, str, str]
"""A group, a topic and a partition."""
EARLY = "commit-before-process-loss"
SKIPPED = "skipped after an error"


@dataclass(frozen=True, slots=True)
class Reckoning:
    """One partition."""

    losses: tuple[Loss, ...]
    unknown: int
    """Messages before the group's position that no ledger notes, where nothing tells whether it should."""
    doubts: tuple[str, ...]
    """What is not there that would tell."""
    by_hand: int = 0
    """Messages that were left out on purpose: somebody set the group's offset past them."""
    aside: int = 0
    """Messages that could not be handled and stand in a topic for such."""


@per_facts
def reckon(facts: Facts, group: str, topic: str, queue: str) -> Reckoning:
    """What *group* lost there, by mechanism."""
    place = (group, topic, queue)
    stood = position(facts, *place)
    found = list(losses(facts, place))
    rest = below(unhandled(facts, *place), stood) if stood is not None else []
    by_hand = 0
    for skip in skips(facts, *place):
        by_hand += sum(run.messages for run in inside(rest, skip.low, skip.high)) if skip.why is Why.HAND else 0
        rest = outside(rest, skip.low, skip.high)
    gone, rest = deleted(offsets(facts, *place), rest) if noting(facts, group, topic) else ([], rest)
    found += [_loss(place, str(Why.RETENTION), one.run, "ids right before the log start", one.place) for one in gone]
    if not noting(facts, group, topic):
        return Reckoning(tuple(found), _total(rest), _nothing(group, rest), by_hand)
    rest, failed = _failed(facts, place, rest)
    aside = sum(loss.records for loss in failed) if shelf(facts, topic) else 0
    found += [] if aside else failed
    unknown, doubts = 0, list[str]()
    for stint in reversed(stints(facts, *place)):
        runs = inside(rest, stint.low, stint.high)
        tail = any(run.high == stint.high for run in runs)
        for run in runs:
            own = _worked_on(facts, place, stint, run)
            why = doubt(facts, place, own, run)
            if why:
                unknown, doubts = unknown + run.least, [*doubts, why]
            else:
                found += _lost(facts, place, own, run, tail)
        rest = outside(rest, stint.low, stint.high)
    if _total(rest):
        unknown, doubts = unknown + _total(rest), [*doubts, f"who had {topic}-{queue}: the logs of the consumers"]
    return Reckoning(tuple(found), unknown, tuple(dict.fromkeys(doubts)), by_hand, aside)


def _worked_on(facts: Facts, place: Place, stint: Stint, run: Run) -> Stint:
    """The stint in which *run* was to be handled: up to where its process gave the partition back.

    That counts only where it noted what it read next: until then the records may have been in its memory.
    """
    part = until_given_back(stint, run.high)
    return part if part is not None and noted_at(facts, place, run.high) else stint


def _nothing(group: str, rest: Sequence[Run]) -> tuple[str, ...]:
    return (f"the ledger of every member of {group}",) if _total(rest) else ()


def _total(runs: Sequence[Run]) -> int:
    return sum(run.least for run in runs)


def _failed(facts: Facts, place: Place, rest: Sequence[Run]) -> tuple[list[Run], list[Loss]]:
    """*rest* without records of which the application says that they failed, and those."""
    found = []
    for episode in facts.of_kind("record-failed"):
        if (episode.topic, episode.queue) != place[1:] or episode.value_max is None:
            continue
        low, high = int(episode.value_min or 0), int(episode.value_max) + 1
        if high - low > episode.count:
            low = high - 1
        found += [_loss(place, None, run, SKIPPED, episode.first) for run in inside(rest, low, high)]
        rest = outside(rest, low, high)
    return list(rest), found


def _lost(facts: Facts, place: Place, stint: Stint, run: Run, tail: bool) -> Iterator[Loss]:
    """They were committed and never handled: the last ones before a commit tell why.

    A queue in memory is lost from some record on to its end (*tail*); several threads leave single ones before that.
    Offsets of which nothing tells that they hold a message count only beside a sign that commits were early.
    """
    signs, exact = early(facts, place, stint), run.least == run.most
    last, first = run.high == stint.high, run.first or stint.places[0]
    if last and (exact or (not sparse(facts, place[1]) and (signs.waiting or signs.ahead))):
        yield _loss(place, EARLY, run, f"committed up to {units.number(stint.high)}, noted by no ledger", first, stint)
    elif exact and tail and stint.stopped and (signs.auto or signs.waiting):
        yield _loss(place, EARLY, run, "committed, noted by no ledger, others behind them are", first, stint)
    elif exact:
        yield _loss(place, None, run, "noted by no ledger, others behind them are", first)


def _loss(place: Place, incident: str | None, run: Run, how: str, first: Evidence, stint: Stint | None = None) -> Loss:
    group, topic, queue = place
    evidence = (*(stint.places[1:] if stint else ()), first)
    return Loss(
        incident, Side.GROUP, topic, queue, group, run.messages, run.least, run.most, run.low, run.high - 1,
        run.since, run.until, how, evidence,
    )  # fmt: skip


AGAIN = "reprocess-duplicates"


@per_facts
def group_rows(facts: Facts, topic: str) -> tuple[GroupRow, ...]:
    """A row for each group that reads *topic* and partition, by name and number."""
    return tuple(
        _row(facts, group, topic, q) for group in audited(facts, topic) for q in partitions(facts, group, topic)
    )


@per_facts
def group_losses(facts: Facts, topic: str) -> tuple[Loss, ...]:
    """Messages of *topic* that groups lost, by group, partition and offset."""
    return tuple(
        loss
        for group in audited(facts, topic)
        for queue in partitions(facts, group, topic)
        for loss in sorted(reckon(facts, group, topic, queue).losses, key=_of_loss)
    )


@per_facts
def group_doubled(facts: Facts, topic: str) -> tuple[Doubled, ...]:
    """Messages of *topic* that groups handled more than once, by group and partition; copies in the log are no such."""
    found = [
        _doubled(facts, group, topic, queue)
        for group in audited(facts, topic)
        for queue in partitions(facts, group, topic)
    ]
    return tuple(one for one in found if one is not None)


@per_facts
def group_doubts(facts: Facts, topic: str) -> tuple[str, ...]:
    """What would have to be fetched to tell of every message whether a group handled it."""
    every = [
        doubt
        for group in audited(facts, topic)
        for queue in partitions(facts, group, topic)
        for doubt in reckon(facts, group, topic, queue).doubts
    ]
    return tuple(dict.fromkeys(every))


@per_facts
def audited(facts: Facts, topic: str) -> tuple[str, ...]:
    """Groups of which the material tells something about *topic*, by name."""
    reading = readers(facts, topic)
    return tuple(
        group for group in groups(facts)
        if group in reading or noting(facts, group, topic)
    )  # fmt: skip


def _row(facts: Facts, group: str, topic: str, queue: str) -> GroupRow:
    own, rows = noting(facts, group, topic), fates(facts, topic, queue)
    handled = [f for f in rows if times(f, own)]
    known, stood = offsets(facts, group, topic, queue), position(facts, group, topic, queue)
    sum_ = reckon(facts, group, topic, queue)
    return GroupRow(
        group, topic, queue,
        handled=sum(f.messages for f in handled) if own else None,
        times=sum(f.messages * times(f, own) for f in handled) if own else None,
        committed=known.last.offset if known.last else None,
        pending=None if stood is None else _pending(facts, group, topic, queue),
        lost=sum(loss.records for loss in sum_.losses),
        doubled=sum(f.messages * too_often(f, own) for f in handled),
        unknown=sum_.unknown,
        by_hand=sum_.by_hand,
        aside=sum_.aside,
    )  # fmt: skip


def _pending(facts: Facts, group: str, topic: str, queue: str) -> int | None:
    """Messages behind the position, without those that were deleted there."""
    known = offsets(facts, group, topic, queue)
    stood = position(facts, group, topic, queue) or 0
    low = max(stood, known.start.offset if known.start else 0)
    end = known.end.offset if known.end else None
    if counted(facts, topic, queue) and _tells_all(fates(facts, topic, queue), end):
        return sum(
            run.messages for run in inside(unhandled(facts, group, topic, queue), low, _beyond(facts, topic, queue))
        )
    if end is None:
        return None
    own = noting(facts, group, topic)
    done = [f for f in fates(facts, topic, queue) if times(f, own) and (f.first_offset or 0) >= low]
    return max(0, end - low - sum(f.messages for f in done))


def _beyond(facts: Facts, topic: str, queue: str) -> int:
    return max(((f.last_offset or 0) + 1 for f in fates(facts, topic, queue)), default=0)


def _tells_all(rows: Sequence[Fate], end: int | None) -> bool:
    """What producers noted reaches as far as the end of the log that was seen."""
    reached = max(((f.last_offset or 0) + 1 for f in rows if in_log(f)), default=0)
    return end is None or reached >= end


def _doubled(facts: Facts, group: str, topic: str, queue: str) -> Doubled | None:
    own = noting(facts, group, topic)
    rows = [(f, too_often(f, own)) for f in fates(facts, topic, queue)]
    rows = [(fate, extra) for fate, extra in rows if extra]
    if not rows:
        return None
    extra = sum(fate.messages * too_often for fate, too_often in rows)
    times_ = [t for fate, _ in rows for t in (fate.first_at, fate.last_at) if t is not None]
    return Doubled(
        AGAIN, Side.GROUP, topic, queue, group, sum(fate.messages for fate, _ in rows), extra, extra, extra,
        min(times_, default=None), max(times_, default=None), "messages that the group's ledgers note more than once",
        tuple(fate.first for fate, _ in rows[:2]),
    )  # fmt: skip


def _of_loss(loss: Loss) -> tuple[int, int, str]:
    return (loss.first_offset or 0, loss.last_offset or 0, loss.incident or "")
