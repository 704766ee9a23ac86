"""Quantities that only grow, as straight lines between points: offsets over time, work that can be done over time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf


@dataclass(frozen=True, slots=True)
class Rising:
    """A quantity that never falls; flat before its first point, with a slope of its own after its last."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    slope_after: float = 0.0

    def at(self, time: float) -> float:
        """Its value then."""
        place = bisect_right(self.times, time)
        if place == 0:
            return self.values[0]
        since, value = self.times[place - 1], self.values[place - 1]
        if place == len(self.times):
            return value + self.slope_after * (time - since)
        return value + (self.values[place] - value) * (time - since) / (self.times[place] - since)

    def reached(self, value: float) -> float:
        """First moment at which it is *value*; infinite where it never is."""
        place = bisect_left(self.values, value)
        if place == 0:
            return self.times[0]
        since, below = self.times[place - 1], self.values[place - 1]
        if place == len(self.times):
            return since + (value - below) / self.slope_after if self.slope_after > 0 else inf
        return since + (self.times[place] - since) * (value - below) / (self.values[place] - below)


def rising(points: Sequence[tuple[float, float]], slope_after: float = 0.0) -> Rising:
    """A line through *points*, at least one, by time; one that is lower than an earlier one is lifted to it."""
    times: list[float] = []
    values: list[float] = []
    for time, value in points:
        known = max(value, values[-1]) if values else value
        if times and time <= times[-1]:
            values[-1] = known
        else:
            times.append(time)
            values.append(known)
    return Rising(tuple(times), tuple(values), slope_after)


def workable(steps: Sequence[tuple[float, float]]) -> Rising:
    """Records that one thread can work off since the first of *steps*: (since, seconds per record), by time."""
    points, done = [(steps[0][0], 0.0)], 0.0
    for (since, seconds), (until, _) in pairwise(steps):
        done += (until - since) / seconds
        points.append((until, done))
    return rising(points, 1 / steps[-1][1])


def lifted(curve: Rising, by: float) -> Rising:
    """*curve*, higher by *by* everywhere."""
    return Rising(curve.times, tuple(value + by for value in curve.values), curve.slope_after)
