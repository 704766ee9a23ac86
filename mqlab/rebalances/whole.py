"""Whether the coordinators' lines about a Kafka group are all there around a moment, or some are missing.

Each rebalance takes a group from one generation to the next, and the coordinator writes a line at its begin and at its
end (GroupCoordinator.prepareRebalance, onCompleteJoin); a KIP-848 group goes from epoch to epoch. Numbers that are
left out, and a generation without its end, tell of lines that are gone: rotated away, cut off, never gathered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.rebalances.index import lines
from mqlab.rebalances.lines import number

_BEGIN = "rebalance-started"
_ENDS = ("rebalance-stabilized", "rebalance-assigned", "group-emptied")
Hole = tuple[float, float]
"""From the last line before it to the first one behind it."""


def whole(facts: Facts, group: str, since: float, until: float) -> bool:
    """No line about *group* is known to be missing in this time."""
    return not any(begin < until and since < end for begin, end in holes(facts, group))


@per_facts
def holes(facts: Facts, group: str) -> tuple[Hole, ...]:
    """Times in which lines are missing, by begin; a group that begins anew at 0 had been removed."""
    told = lines(facts, group).coordinator
    return tuple(sorted({*_between_generations(told), *_between_epochs(told)}))


def _between_generations(told: Sequence[Episode]) -> Iterator[Hole]:
    """Where a generation begins that does not follow the last one, or one ends that did not begin."""
    steps = sorted((e for e in told if e.kind in (_BEGIN, *_ENDS)), key=_in_order)
    last: Episode | None = None
    for step in steps:
        if last is not None and not _follows(last, step):
            yield last.first_at or 0.0, step.first_at or 0.0
        last = step


def _follows(one: Episode, step: Episode) -> bool:
    """Nothing lies between two lines; a line may be there twice, and several tell of one end."""
    before, now = number(one) or 0, number(step) or 0
    if step.kind == _BEGIN:
        return now in (0, before) if one.kind != _BEGIN else (now, step.first_at) == (before, one.first_at)
    return now == (before + 1 if one.kind == _BEGIN else before)


def _in_order(line: Episode) -> tuple[float, str, int]:
    return (line.first_at or 0.0, line.source, line.first.line or 0)


def _between_epochs(told: Sequence[Episode]) -> Iterator[Hole]:
    bumps = sorted({(e.first_at or 0.0, number(e) or 0) for e in told if e.kind == "group-epoch-bumped"})
    for (at, epoch), (later, next_) in pairwise(bumps):
        if next_ > epoch + 1:
            yield at, later
