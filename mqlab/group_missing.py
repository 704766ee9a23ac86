"""Messages of one partition that a Kafka group has gone past and that none of its ledgers notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.facts import Facts
from mqlab.group_offsets import Offsets, offsets
from mqlab.group_runs import Run, inside, joined, outside
from mqlab.kafka_ledgers import noting
from mqlab.log_losses import pieces
from mqlab.loss_pieces import BY_OFFSETS
from mqlab.memo import per_facts
from mqlab.message_rows import Fate


@per_facts
def fates(facts: Facts, topic: str, queue: str) -> tuple[Fate, ...]:
    """What became of the messages of one partition, by offset."""
    own = [f for f in facts.fates if (f.topic, f.queue) == (topic, queue) and f.first_offset is not None]
    return tuple(sorted(own, key=lambda f: (f.first_offset or 0, f.last_offset or 0, f.first_at or 0.0)))


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
    noted = [f.last_offset + 1 for f in fates(facts, topic, queue) if times(f, own) and f.last_offset is not None]
    return max(noted, default=None)


@per_facts
def unhandled(facts: Facts, group: str, topic: str, queue: str) -> tuple[Run, ...]:
    """Messages in the log that no ledger of the group notes, by offset, with those that wait.

    A place of which a ledger of the group notes any message is handled; what the log lost is no loss of the group.
    Where nothing tells which messages are in the log, every offset between those that were handled counts as one: not
    each of them need hold one.
    """
    own = noting(facts, group, topic)
    rows = fates(facts, topic, queue)
    if not counted(facts, topic, queue):
        return tuple(_gaps(offsets(facts, group, topic, queue), [f for f in rows if times(f, own)]))
    left = [_run(f) for f in rows if in_log(f) and not times(f, own)]
    for fate in rows:
        if times(fate, own) and not fate.overwritten:
            left = outside(left, fate.first_offset or 0, (fate.last_offset or 0) + 1)
    for piece in pieces(facts, topic):
        if piece.queue == queue and piece.how != BY_OFFSETS and piece.first_offset is not None:
            left = outside(left, piece.first_offset, (piece.last_offset or 0) + 1)
    return tuple(joined(left))


def below(runs: Sequence[Run], offset: int) -> list[Run]:
    """Those of *runs* before an offset."""
    return inside(runs, 0, offset)


def _run(fate: Fate) -> Run:
    low, high = fate.first_offset or 0, (fate.last_offset or 0) + 1
    return Run(low, high, fate.messages, fate.messages, fate.messages, fate.first_at, fate.last_at, fate.first)


def _gaps(known: Offsets, handled: Sequence[Fate]) -> Iterator[Run]:
    """Offsets that no ledger notes, from the first one that was handled to the end that is known."""
    if not handled:
        return
    end = max(mark.offset for mark in known.committed) if known.committed else 0
    reached = handled[0].first_offset or 0
    for fate in handled:
        low = fate.first_offset or 0
        if low > reached:
            yield Run(reached, low, low - reached, 0, low - reached, None, None, None)
        reached = max(reached, (fate.last_offset or 0) + 1)
    if end > reached:
        yield Run(reached, end, end - reached, 0, end - reached, None, None, handled[-1].last)
