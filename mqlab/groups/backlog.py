"""The lag of a group because of something: what listings show between its committed offsets and the end of the log.

A group that commits seldom, or whose commits fail, has handled part of that by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.shared.lag import growth
from mqlab.shared.queues import OWN, TOGETHER, of_groups, totals
from mqlab.units import Interval, between

_ABOUT = 0.05
"""Share by which a backlog may grow faster than before, or be below its peak, and still be the same. Judgement, no
default behind it."""
Points = Sequence[tuple[float, int]]
"""Moments, and how much waited."""


def backlog(facts: Facts, group: str, since: float, until: float) -> dict[str, float]:
    """Measures of the lag of *group* because of something that lasted from *since* to *until*, over all topics.

    ``peak_lag`` is the most until it fell, ``pending_records`` what of that is left when the material ends. Where that
    is more, something else added to it after it fell, and how much of it is left is not known: it is left out.

    It grows by so much from its lowest to its highest meanwhile; where that was no even rise, nothing is said of it.

    A backlog goes on to grow until somebody works it off, so its peak may come after the end of its cause.
    """
    grows, waits = between(0.0, ()), {"peak_lag": 0, "pending_records": 0}
    for (name, topic), queues in of_groups(facts).items():
        points = [(at, behind) for at, behind, _ in totals(queues) if at >= since - TOGETHER]
        inside = [point for point in points if point[0] <= until]
        if name != group or topic.startswith(OWN) or len(inside) < 2:
            continue
        # What waited in the snapshot before it began is not its own; a lag that only fell from there has no peak.
        meanwhile = [amount for at, amount in inside if at >= since]
        most = max((*meanwhile, *_growing_on(inside, points[len(inside) :])), default=0)
        waits["peak_lag"] += most if all(amount < most for at, amount in inside if at < since) else 0
        waits["pending_records"] += points[-1][1]
        grows = grows.plus(_even(_rise(inside)) or between(0.0, ()))
    if waits["pending_records"] > waits["peak_lag"]:
        del waits["pending_records"]
    rose = grows.measures("lag_growth_per_second") if grows.likely > 0 else {}
    return {**waits, **rose} if waits["peak_lag"] else {}


def waited(facts: Facts, group: str, since: float | None, until: float | None) -> dict[str, float]:
    """``backlog`` without its growth, for what does not make a backlog itself; empty for what has no moments."""
    known = backlog(facts, group, since, until) if since is not None and until is not None else {}
    return {name: value for name, value in known.items() if not name.startswith("lag_growth")}


def _growing_on(inside: Points, later: Points) -> Iterator[int]:
    """What waited after the end, as long as it grew on and no faster: what comes faster has another reason."""
    rise = _rise(inside)
    since, last = inside[-1]
    pace = (1 + _ABOUT) * max(((y - x) / (b - a) for (a, x), (b, y) in pairwise(rise) if b > a), default=0.0)
    before = last
    for at, amount in later if last >= (1 - _ABOUT) * rise[-1][1] else ():
        if not before <= amount <= last + pace * (at - since):
            return
        yield amount
        before = amount


def _rise(points: Points) -> Points:
    """From the last lowest point before the highest to it: what is worked off in between, or later, is no rise."""
    peak = max(range(len(points)), key=lambda n: (points[n][1], -n))
    low = min(range(peak + 1), key=lambda n: (points[n][1], -n))
    return points[low : peak + 1]


def _even(rise: Points) -> Interval | None:
    """The growth of a *rise*; None where it came by leaps that were worked off in between."""
    found, seconds = growth(rise), rise[-1][0] - rise[0][0]
    whole = (rise[-1][1] - rise[0][1]) / seconds if seconds else 0.0
    return found if found is not None and found.likely > whole / 2 else None
