"""What would have to be fetched before an audit of one topic can be certain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.delivery.rows import GroupRow, LogRow, Loss, Side
from mqlab.delivery_log import durability
from mqlab.delivery_log.handovers import handovers
from mqlab.delivery_log.losses import counted_by_ids
from mqlab.delivery_log.lost_ids import acknowledged
from mqlab.delivery_log.replica_history import leaderships
from mqlab.facts import Facts
from mqlab.rows.messages import Fate
from mqlab.units import counted

LEADERS = "state-change.log and controller.log of every broker: whether the log went back"


def missing(facts: Facts, log: Sequence[LogRow], groups: Sequence[GroupRow], losses: Sequence[Loss]) -> tuple[str, ...]:
    """What these rows of one topic leave open, each with what tells it; nothing where all is accounted for."""
    found = [*of_log(facts, log, losses), *_of_groups(groups)]
    return tuple(dict.fromkeys(found))


def of_log(facts: Facts, log: Sequence[LogRow], losses: Sequence[Loss]) -> tuple[str, ...]:
    """The same for the way to the log alone."""
    return (*_of_log(facts, log), *_of_losses(losses))


def _of_log(facts: Facts, log: Sequence[LogRow]) -> Iterator[str]:
    if all(row.acked is None for row in log):
        yield "which messages the producers had acknowledged: their own ledger, or ids in their log"
        return
    if any(row.queue and not _steady(facts, row) for row in log):
        yield LEADERS
    nowhere = sum(fate.messages for row in log if not row.queue for fate in _nowhere(facts, row.topic))
    if nowhere:
        yield (
            f"where {counted(nowhere, 'acknowledged message')} went that no consumer notes: a dump of each partition, "
            "or the places in the producers' ledger (with acks=0 there are none)"
        )


def _nowhere(facts: Facts, topic: str) -> Iterator[Fate]:
    """Messages that a producer counts as acknowledged, of which nothing tells a place and nobody has seen one."""
    for fate in facts.fates:
        if fate.topic == topic and fate.acked and fate.first_offset is None and not (fate.stored or fate.handled):
            yield fate


def _steady(facts: Facts, row: LogRow) -> bool:
    """Every acknowledged message of the partition was counted as lost, or the log holds or held it since.

    Its leaders are known and none began below the end; or it has one copy only; or the end seen last lies behind every
    place that was acknowledged, and each of these was given out once.
    """
    place = (row.topic, row.queue)
    if place in leaderships(facts):
        back = [one for one in handovers(facts).get(place, ()) if one.back]
        return all(counted_by_ids(facts, row.topic, one) for one in back)
    if durability.replicas(facts, row.topic) == 1:
        return True
    own = [f for f in acknowledged(facts, row.topic) if f.queue == row.queue]
    last = max((f.last_offset or 0 for f in own), default=-1)
    held = all(f.stored or f.handled for f in own)
    return held or (row.end is not None and row.end > last and not any(f.overwritten for f in own))


def _of_losses(losses: Sequence[Loss]) -> Iterator[str]:
    unclear = [loss for loss in losses if loss.incident is None and loss.side is Side.LOG]
    if unclear:
        yield LEADERS.partition(":")[0] + ": which mechanism it was"
    if any(loss.side is Side.LOG and not loss.exact for loss in losses):
        yield "the producers' ledger of acknowledged ids with partition and offset: the exact number"


def _of_groups(groups: Sequence[GroupRow]) -> Iterator[str]:
    for name in sorted({row.group for row in groups if row.unknown}):
        yield f"ledgers of every member of {name}, from begin to end: what it handled"
    for name in sorted({row.group for row in groups if row.handled is None}):
        yield f"what {name} handled, with partition and offset: ledgers of its members"
