"""A backlog over time: straight lines that bend whenever a queue is through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf

from mqlab.models.consuming import shared

_AFTER = 600.0
"""Seconds for which a curve that never ends is drawn beyond its last bend."""
_NOTHING = 1e-6

Curve = tuple[tuple[float, float], ...]
"""(seconds, messages), straight lines between the points."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A quantity with the bounds it is taken to lie in; infinite means never."""

    low: float
    likely: float
    high: float

    def plus(self, other: Interval) -> Interval:
        """Sum, bounds added up."""
        return Interval(self.low + other.low, self.likely + other.likely, self.high + other.high)


NEVER = Interval(inf, inf, inf)


@dataclass(frozen=True, slots=True)
class Course:
    """Backlog over time; after the last point it goes on with this slope, messages per second."""

    points: Curve
    slope: float

    def at(self, seconds: float) -> float:
        """Messages that wait then."""
        before = max(place for place, (when, _) in enumerate(self.points) if when <= seconds)
        when, value = self.points[before]
        if before + 1 == len(self.points):
            return value + self.slope * (seconds - when)
        until, then = self.points[before + 1]
        return value + (then - value) * (seconds - when) / (until - when)

    def reached(self, healthy: float) -> float:
        """Seconds until the backlog is at the healthy level for good; infinite where it never is."""
        if self.slope > 0 or self.points[-1][1] > healthy + _NOTHING:
            return inf
        above = [place for place, (_, value) in enumerate(self.points) if value > healthy + _NOTHING]
        if not above:
            return 0.0
        (at, value), (until, then) = self.points[above[-1]], self.points[above[-1] + 1]
        return at + (until - at) * (value - healthy) / (value - then)

    def drawn(self, seconds: float) -> Curve:
        """The points that matter up to then; some way beyond the last bend where *seconds* is infinite."""
        last = self.points[-1][0]
        end = last + _AFTER if isinf(seconds) else seconds
        return self.points if end <= last else (*self.points, (end, self.at(end)))


def course(capacity: float, a_queue: float, backlog: Sequence[float], inflow: Sequence[float]) -> Course:
    """What becomes of the queues of one process; rates in messages per second.

    *a_queue* is the most that one queue can be served with. A queue without backlog asks for its inflow only.
    """
    waiting = [float(b) for b in backlog]
    points, now = [(0.0, sum(waiting))], 0.0
    while True:
        demands = [a_queue if b > _NOTHING else min(a_queue, i) for b, i in zip(waiting, inflow, strict=True)]
        slopes = [i - s for i, s in zip(inflow, shared(capacity, demands), strict=True)]
        ends = [b / -s for b, s in zip(waiting, slopes, strict=True) if b > _NOTHING and s < -_NOTHING]
        if not ends:
            return Course(tuple(points), sum(s for s in slopes if abs(s) > _NOTHING))
        step = min(ends)
        moved = [max(0.0, b + s * step) for b, s in zip(waiting, slopes, strict=True)]
        waiting = [0.0 if b < _NOTHING else b for b in moved]
        now += step
        points.append((now, sum(waiting)))


def summed(courses: Sequence[Course]) -> Course:
    """All backlogs together."""
    times = sorted({at for one in courses for at, _ in one.points})
    points = tuple((at, sum(one.at(at) for one in courses)) for at in times)
    return Course(points, sum(one.slope for one in courses))
