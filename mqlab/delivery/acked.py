"""Acknowledged messages of one partition as stretches of time and offsets, those that were lost told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mqlab.delivery.rows import Audit, Loss
from mqlab.delivery.view import Acked
from mqlab.facts import Facts
from mqlab.frames import where
from mqlab.rows.messages import Fate

_MOST = 2000
"""Stretches that are kept, those that were lost first."""


def acked(facts: Facts, audit: Audit, queue: str) -> tuple[Acked, ...]:
    """Stretches of one partition by time, those that were lost apart."""
    own = [one for one in audit.losses if one.queue == queue and _whole(one)]
    fates = [f for f in facts.fates if (f.topic, f.queue) == (audit.topic, queue) and f.acked]
    parts = [part for fate in fates for part in _parts(fate, own)]
    kept = sorted(parts, key=lambda part: (not part.lost, part.since))[:_MOST]
    return tuple(sorted(kept, key=lambda part: (part.since, part.first_offset, part.until)))


def _whole(loss: Loss) -> bool:
    """Every offset of its range was lost."""
    if loss.first_offset is None or loss.last_offset is None:
        return False
    return loss.last_offset - loss.first_offset + 1 == loss.records


def _parts(fate: Fate, losses: Sequence[Loss]) -> Iterator[Acked]:
    """The fate, cut where a loss begins or ends; moments in between are those of an even pace."""
    if None in (fate.first_offset, fate.last_offset, fate.first_at, fate.last_at):
        return
    low, high = fate.first_offset or 0, fate.last_offset or 0
    since, until = fate.first_at or 0.0, fate.last_at or 0.0
    own = [one for one in losses if fate.overwritten or _meets(one, since, until)]
    edges = sorted({low, high + 1, *(e for one in own for e in _edges(one) if low < e <= high)})
    for first, after in pairwise(edges):
        last = after - 1
        lost = fate.overwritten or any(_edges(one)[0] <= first < _edges(one)[1] for one in own)
        times = [since + (until - since) * (offset - low) / max(1, high - low) for offset in (first, last)]
        messages = fate.messages if len(edges) == 2 else last - first + 1
        yield Acked(times[0], times[1], first, last, messages, lost, where(fate.first))


def _edges(loss: Loss) -> tuple[int, int]:
    return loss.first_offset or 0, (loss.last_offset or 0) + 1


def _meets(loss: Loss, since: float, until: float) -> bool:
    """They were acknowledged at the same time, as far as it is known."""
    if loss.since is None or loss.until is None:
        return True
    return loss.since <= until and since <= loss.until
