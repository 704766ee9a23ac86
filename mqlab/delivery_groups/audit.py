"""What became of the messages of a topic in each Kafka group that reads it: handled, lost, doubled, waiting."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.delivery.rows import Doubled, GroupRow, Loss, Side
from mqlab.delivery_groups.missing import counted, fates, in_log, position, times, too_often, unhandled
from mqlab.delivery_groups.offsets import offsets, partitions
from mqlab.delivery_groups.reckoning import reckon
from mqlab.delivery_groups.runs import inside
from mqlab.facts import Facts
from mqlab.kafka.groups import groups
from mqlab.kafka.ledgers import noting, readers
from mqlab.memo import per_facts
from mqlab.rows.messages import Fate

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
