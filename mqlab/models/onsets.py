"""When a measured quantity left its own earlier level: by median and median absolute deviation of what was before.

Both are blind to a few outliers (Rousseeuw and Croux 1993: the deviation times 1.4826 estimates sigma). A sample alone
is an outlier, too: the new level has to last.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import median

LEAST = 6
"""Samples that a level takes to be known: below that the deviation says next to nothing."""
BEFORE = 60
"""Samples, at most, that the level before is taken from."""
PASSING = 2.0
"""Factor from which a level that did not last is a burst, and no catching up after a pause."""
LASTS = 3
"""Samples in a row at the new level: two neighbours are one event that fell on the border of two samples."""
SIGMAS = 4.0
"""Deviations from which a sample is of another level: one of 16,000 with normal noise."""
LEAST_SHARE = 0.3
"""Part of the level before by which it must have changed: less is what a busy machine does to any rate."""
_TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation, for normal noise."""
_RULE_OF_THREE = 3.0
"""What was never seen in n samples has a rate of at most 3 / n, with 95 %."""


@dataclass(frozen=True, slots=True)
class Onset:
    """From one level to another one."""

    since: float
    """The last sample that was surely at the level before: a ramp is told from noise some samples after it began."""
    at: float
    """The first sample at the new level: the change lies between the two."""
    before: float
    after: float
    """Medians of the level right before, or what *since* measured where that was another one; and of all that came
    after, of the burst alone where it passed."""
    lasting: bool
    """The last samples are still at the new level, or have come back from it by less than half."""
    reached: float
    """What the first sample at the new level measured."""

    @property
    def ramp(self) -> bool:
        """It went on to change: what came after is another level than that of the moment."""
        return abs(self.after - self.reached) > LEAST_SHARE * max(abs(self.after), abs(self.reached))


def onset(points: Sequence[tuple[float, float]], *, events: bool = False) -> Onset | None:
    """The first lasting change of level of *points* (at, value), by time; None where there is none.

    *events* are counts of what happens at random: their variance is their mean (Poisson), and of what was never seen in
    n samples there may be 3 / n in each (rule of three).
    """
    values = [value for _, value in points]
    earlier = sorted(values[: LEAST - 1])
    for place in range(LEAST, len(values) - LASTS + 1):
        insort(earlier, values[place - 1])
        if place > BEFORE:
            del earlier[bisect_left(earlier, values[place - BEFORE - 1])]
        before = (earlier[(len(earlier) - 1) // 2] + earlier[len(earlier) // 2]) / 2
        now = values[place : place + LASTS]
        if min(now) <= before <= max(now):
            continue
        room = _room(earlier, before, events)
        sides = {_side(value - before, room) for value in now}
        if len(sides) == 1 and 0 not in sides:
            found = _from(points, place, before, room)
            if found is None or found.lasting or _burst(found):
                return found
    return None


def unlevelled(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The last sample before and the first one after each lasting change for which too few samples lie before it."""
    values = [value for _, value in points]
    for place in range(1, min(LEAST, len(values) - LASTS + 1)):
        before, now = values[place - 1], values[place : place + LASTS]
        if {_side(value - before, LEAST_SHARE * abs(before)) for value in now} in ({1}, {-1}):
            yield points[place - 1][0], points[place][0]


def _from(points: Sequence[tuple[float, float]], place: int, before: float, room: float) -> Onset | None:
    """The change of which the sample at *place* is one; None where too few samples lie before its first one."""
    sides = [_side(value - before, room) for _, value in points]
    first = next(n for n in range(place, -1, -1) if n == 0 or sides[n - 1] != sides[place])
    if first < LEAST:
        return None
    over = next((n for n in range(place, len(sides)) if sides[n] != sides[place]), len(sides))
    last, half = median(value for _, value in points[-LASTS:]), median(value for _, value in points[first:]) - before
    lasting = _side(last - before, room) == sides[place] and abs(last - before) >= abs(half) / 2
    if not lasting and over == len(sides):
        # It fell back to a level of its own, far from the one that it had come to.
        over = 1 + max(n for n in range(first, len(points)) if abs(points[n][1] - before) >= abs(half) / 2)
    after = median(value for _, value in points[first : None if lasting else over])
    since = next(n for n in range(first - 1, -1, -1) if n == 0 or (points[n][1] - before) * sides[place] <= 0)
    level = median(value for _, value in points[max(0, since - LASTS + 1) : since + 1])
    if _side(points[since][1] - level, room):
        level = points[since][1]
    return Onset(points[since][0], points[first][0], level, after, lasting, points[first][1])


def _burst(found: Onset) -> bool:
    return found.after >= PASSING * found.before or found.after * PASSING <= found.before


def _side(difference: float, room: float) -> int:
    return (difference > room) - (difference < -room)


def _room(earlier: Sequence[float], level: float, events: bool) -> float:
    """How far a sample may be from *level* without being of another one."""
    spread = _TO_SIGMA * median(abs(value - level) for value in earlier)
    if events:
        spread = max(spread, sqrt(max(level, _RULE_OF_THREE / len(earlier))))
    return max(SIGMAS * spread, LEAST_SHARE * abs(level))


def rates(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """What a counter rose per second up to each sample; a fall is a new start, which tells no rate."""
    found = []
    for (since, before), (at, value) in pairwise(points):
        if at > since and value >= before:
            found.append((at, (value - before) / (at - since)))
    return found


def level(points: Sequence[tuple[float, float]], times: Sequence[float]) -> list[tuple[float, float]]:
    """*points* of what is printed only when it changes, at all *times* since the first one: the old value goes on."""
    found, place = [], 0
    for at in times:
        while place + 1 < len(points) and points[place + 1][0] <= at:
            place += 1
        if points and points[0][0] <= at:
            found.append((at, points[place][1]))
    return found
