"""Messages of one partition that a Kafka group has gone past and that none of its ledgers notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mqlab.delivery_groups.offsets import Offsets, offsets
from mqlab.delivery_groups.runs import Run, inside, joined, outside
from mqlab.delivery_log.loss_pieces import BY_OFFSETS
from mqlab.delivery_log.losses import pieces
from mqlab.facts import Facts
from mqlab.kafka.ledgers import noting
from mqlab.memo import per_facts
from mqlab.rows.messages import Fate


@per_facts
def fates(facts: Facts, topic: str, queue: str) -> tuple[Fate, ...]:
    """What became of the messages of one partition, by offset."""
    return _by_place(facts).get((topic, queue), ())


@per_facts
def _by_place(facts: Facts) -> Mapping[tuple[str, str], tuple[Fate, ...]]:
    found: dict[tuple[str, str], list[Fate]] = defaultdict(list)
    for fate in facts.fates:
        if fate.first_offset is not None:
            found[fate.topic, fate.queue].append(fate)
    return {place: tuple(sorted(these, key=_of_offset)) for place, these in found.items()}


def _of_offset(fate: Fate) -> tuple[int, int, float]:
    return (fate.first_offset or 0, fate.last_offset or 0, fate.first_at or 0.0)


def times(fate: Fate, own: frozenset[str]) -> int:
    """How often the ledgers *own* note each of its messages."""
    return sum(source in own for source in fate.handled)


def too_often(fate: Fate, own: frozenset[str]) -> int:
    """How many times too many the ledgers *own* note each of its messages.

    Each place in the log may be handled once; of two places of which the log lost the first, one counts.
    """
    return max(0, times(fate, own) - (1 if fate.overwritten else max(1, fate.offsets)))


def in_log(fate: Fate) -> bool:
    """It was acknowledged or is stored, and the log did not lose it."""
    return bool(fate.acked or fate.stored) and not fate.overwritten


@per_facts
def counted(facts: Facts, topic: str, queue: str) -> bool:
    """The material tells which messages are in the partition, by ids of producers or by a dump of the log."""
    return any(f.acked or f.stored for f in fates(facts, topic, queue))


@per_facts
def position(facts: Facts, group: str, topic: str, queue: str) -> int | None:
    """Where the group stands in the end: as committed, or right behind the last message that it handled."""
    last = offsets(facts, group, topic, queue).last
    if last is not None:
        return last.offset
    own = noting(facts, group, topic)
    noted = [_behind(f) for f in fates(facts, topic, queue) if times(f, own)]
    return max(noted, default=None)


@per_facts
def unhandled(facts: Facts, group: str, topic: str, queue: str) -> tuple[Run, ...]:
    """Messages in the log that no ledger of the group notes, by offset, with those that wait.

    A place of which a ledger of the group notes any message is handled; what the log lost is no loss of the group.
    Where nothing tells which messages are in the log, every offset that was not handled counts as one: not each of
    them need hold one.
    """
    own = noting(facts, group, topic)
    rows = fates(facts, topic, queue)
    known = [f for f in rows if in_log(f)]
    left = [_run(f) for f in known if not times(f, own)]
    if own:
        left += _gaps(offsets(facts, group, topic, queue), max((_behind(f) for f in known), default=None), rows)
    for fate in rows:
        if times(fate, own) and not fate.overwritten:
            left = outside(left, fate.first_offset or 0, _behind(fate))
    for piece in pieces(facts, topic):
        if piece.queue == queue and piece.how != BY_OFFSETS and piece.first_offset is not None:
            left = outside(left, piece.first_offset, (piece.last_offset or 0) + 1)
    if sparse(facts, topic):
        left = [replace(run, least=0) for run in left]
    return tuple(joined(left))


@per_facts
def sparse(facts: Facts, topic: str) -> bool:
    """A record of *topic* need not be there any more, or be shown: it is compacted, or written in transactions.

    Compaction removes older records of a key; what an aborted transaction wrote is hidden, and markers take offsets.
    """
    compacted = any(
        s.key == "cleanup.policy" and s.owner == topic and s.scope == "topic" and "compact" in s.value
        for s in facts.settings
    )
    return compacted or any(
        s.key == "transactional.id" and s.scope == "producer" and s.value not in ("", "null") for s in facts.settings
    )


def below(runs: Sequence[Run], offset: int) -> list[Run]:
    """Those of *runs* before an offset."""
    return inside(runs, 0, offset)


def _run(fate: Fate) -> Run:
    low, high = fate.first_offset or 0, _behind(fate)
    return Run(low, high, fate.messages, fate.messages, fate.messages, fate.first_at, fate.last_at, fate.first)


def _behind(fate: Fate) -> int:
    return (fate.last_offset or 0) + 1


def _gaps(known: Offsets, told: int | None, rows: Sequence[Fate]) -> list[Run]:
    """Offsets up to the furthest that was committed, from where nothing tells any more which messages are in the log.

    *told* is how far something does; without that, from the first offset that the group noted or began with.
    """
    end = max((mark.offset for mark in known.committed), default=0)
    begun = [
        int(e.value_max) for e in known.lines if e.kind in ("offset-set", "offset-reset-to") and e.value_max is not None
    ]
    begun += [f.first_offset or 0 for f in rows]
    low = told if told is not None else min(begun, default=end)
    return [Run(low, end, end - low, 0, end - low, None, None, None)] if low < end else []
