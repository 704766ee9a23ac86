"""How a partition grew between two listings of its offsets: evenly, but for a burst that nobody had handled yet."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from mqlab.facts import Position
from mqlab.queues import Points, lag

_BURST = 3.0
"""Times the usual rate from which a burst came in between two listings."""
_WAITS = 0.5
"""Share of a burst that waits at the next listing, from which it is taken to have come just before that."""
_LASTS = 0.1
"""Share of the time between two listings that such a burst is taken to last."""


def arrivals(points: Points) -> list[tuple[float, float]]:
    """(moment, end offset) of one partition, straight lines between them.

    What came in during a burst and still waits when it is listed cannot have come long before: a group that is not
    behind handles it. Spread over the time between two listings it would have been handled in the simulation.
    """
    usual = median([_rate(a, b) for a, b in pairwise(points)])
    found = [(points[0].at or 0.0, float(points[0].end or 0))]
    for before, after in pairwise(points):
        begin, end = before.at or 0.0, after.at or 0.0
        came = (after.end or 0) - (before.end or 0)
        burst = came - usual * (end - begin)
        if _rate(before, after) > _BURST * usual and lag(after) - lag(before) >= _WAITS * burst:
            lasts = _LASTS * (end - begin)
            found.append((end - lasts, (before.end or 0) + usual * (end - begin - lasts)))
        found.append((end, float(after.end or 0)))
    return found


def _rate(before: Position, after: Position) -> float:
    seconds = (after.at or 0.0) - (before.at or 0.0)
    return ((after.end or 0) - (before.end or 0)) / seconds if seconds > 0 else 0.0
