"""How a partition grew between two listings of its offsets: evenly, but for a burst that nobody had handled yet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from mqlab.facts import Position
from mqlab.groups.queues import Points, lag
from mqlab.rows.groups import Batch

_BURST = 3.0
"""Times the usual rate from which a burst came in between two listings."""
_WAITS = 0.5
"""Share of a burst that waits at the next listing, from which it is taken to have come just before that."""
_LASTS = 0.1
"""Share of the time between two listings that such a burst is taken to last."""
_AT_ONCE = 1e-3
"""Seconds that a burst lasts of which a poll tells: it was there when that began, and none before took of it."""


def arrivals(points: Points, bursts: Sequence[float] = ()) -> list[tuple[float, float]]:
    """(moment, end offset) of one partition, straight lines between them; *bursts*: moments at which one was there.

    What came in during a burst and still waits when it is listed cannot have come long before: a group that is not
    behind handles it. Spread over the time between two listings it would have been handled in the simulation.
    """
    usual = median([_rate(a, b) for a, b in pairwise(points)])
    found = [(points[0].at or 0.0, float(points[0].end or 0))]
    for before, after in pairwise(points):
        begin, end = before.at or 0.0, after.at or 0.0
        came = (after.end or 0) - (before.end or 0)
        burst = came - usual * (end - begin)
        if _rate(before, after) > _BURST * usual:
            known = min((at for at in bursts if begin < at < end), default=None)
            waits = lag(after) - lag(before) >= _WAITS * burst
            if known is not None:
                found.append((known - _AT_ONCE, (before.end or 0) + usual * (known - begin)))
                found.append((known, (after.end or 0) - usual * (end - known)))
            elif waits:
                lasts = _LASTS * (end - begin)
                found.append((end - lasts, (before.end or 0) + usual * (end - begin - lasts)))
        found.append((end, float(after.end or 0)))
    return found


def bursts(queues: Sequence[Points], polls: Sequence[Batch]) -> tuple[float, ...]:
    """When the first poll between two listings began that took more than was there but for a burst.

    What waited at the listing before, and what comes in usually in all *queues*, is all that could be there.
    """
    waited: dict[float, int] = {}
    ends: dict[float, int] = {}
    for point in (point for points in queues for point in points):
        at = point.at or 0.0
        waited[at] = waited.get(at, 0) + lag(point)
        ends[at] = ends.get(at, 0) + (point.end or 0)
    gaps = list(pairwise(sorted(ends)))
    usual = median([(ends[b] - ends[a]) / (b - a) for a, b in gaps]) if gaps else 0.0
    found = []
    for before, after in gaps:
        began = (b.at - b.seconds for b in polls if b.polls == 1 and _beyond(b, before, waited[before], usual))
        found.append(min((at for at in began if before < at < after), default=None))
    return tuple(at for at in found if at is not None)


def _beyond(poll: Batch, listed: float, waited: int, usual: float) -> bool:
    return poll.records > waited + usual * (poll.at - poll.seconds - listed)


def _rate(before: Position, after: Position) -> float:
    seconds = (after.at or 0.0) - (before.at or 0.0)
    return ((after.end or 0) - (before.end or 0)) / seconds if seconds > 0 else 0.0
