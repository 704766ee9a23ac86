"""A drain as it was measured: when the backlog began to fall for good, how fast it falls, when it was through.

The samples after the peak are laid on as few straight lines as describe them (least squares, Bayesian information
criterion), so that neither single samples nor saw-teeth decide where the fall begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log, sqrt

from mqlab.units import Interval

_MOST = 5
"""Lines that describe a fall at most: what went before, three bends, what came after."""
_SHORTEST = 2
"""Steps between samples that a line spans at least."""
_PARAMETERS = 3
"""Of a line: slope, level and where it begins."""

Points = Sequence[tuple[float, float]]
"""(seconds, value), by time."""


@dataclass(frozen=True, slots=True)
class Line:
    """The least-squares line through the samples from *first* to *last*, both included."""

    first: int
    last: int
    mean_at: float
    mean: float
    slope: float
    error: float
    """Standard error of the slope."""
    squares: float
    """Sum of squared residuals."""


def lines(points: Points) -> Sequence[Line]:
    """As few lines as describe the samples, by time; neighbours share a sample. At least three samples."""
    count = len(points)
    noise = _noise(points)
    squares = [[_line(points, first, last, noise).squares for first in range(last - 1)] for last in range(count)]
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, (0,)), *[(inf, ())] * (count - 1)]
    chosen: tuple[int, ...] = (0, count - 1)
    least = inf
    for used in range(1, _MOST + 1):
        best = [_extended(best, squares[last], last) for last in range(count)]
        cost, bends = best[-1]
        criterion = count * log(cost / count + noise) + _PARAMETERS * used * log(count) if bends else inf
        if criterion < least:
            chosen, least = bends, criterion
    return [_line(points, first, last, noise) for first, last in pairwise(chosen)]


def _extended(
    best: Sequence[tuple[float, tuple[int, ...]]], squares: Sequence[float], last: int
) -> tuple[float, tuple[int, ...]]:
    """The cheapest way to reach sample *last* with one line more."""
    ways = ((best[first][0] + squares[first], first) for first in range(last - _SHORTEST + 1))
    cost, first = min(ways, default=(inf, 0))
    return (cost, (*best[first][1], last)) if cost < inf else (inf, ())


def _noise(points: Points) -> float:
    """Variance that no sample is better than: half a message, or half a percent of the range."""
    values = [value for _, value in points]
    return max(0.5, 0.005 * (max(values) - min(values))) ** 2


def _line(points: Points, first: int, last: int, noise: float) -> Line:
    part = points[first : last + 1]
    mean_at, mean = sum(at for at, _ in part) / len(part), sum(v for _, v in part) / len(part)
    spread = sum((at - mean_at) ** 2 for at, _ in part)
    slope = sum((at - mean_at) * (v - mean) for at, v in part) / spread if spread else 0.0
    squares = sum((v - mean - slope * (at - mean_at)) ** 2 for at, v in part)
    error = sqrt((squares / max(1, len(part) - 2) + noise) / spread) if spread else inf
    return Line(first, last, mean_at, mean, slope, error, squares)


_MOST_POINTS = 120
"""Stretches of samples that are looked at: the search for lines grows with their square."""
_FEWEST = 4
"""Samples that a fall needs: two lines of two steps share one."""
_STEEP = 0.25
"""Share of the steepest fall that belongs to the drain; less is what went before or comes after."""
_BACK = 0.25
"""Share of what fell that may have come back at the last sample. Judgement, no default behind it."""
_CERTAIN = 4
"""Standard errors by which a slope must be below zero: the steepest of several lines is a chosen one."""
_GONE = 0.02
"""Share of the peak that may be left when a backlog counts as drained. Judgement, no default behind it."""


@dataclass(frozen=True, slots=True)
class Falling:
    """A backlog that falls for good; times are those of the samples."""

    began_at: float
    peak: float
    """Backlog when it began."""
    last_at: float
    left: float
    """Backlog at the last sample."""
    messages_per_second: Interval
    """How fast it falls, net of what comes in: by the last line of the fall."""
    reached_at: float | None
    """When it was at the healthy level; None while it still drains."""
    expected_at: Interval | None
    """When it will be, if it goes on like this; None where it is."""
    seconds: Interval | None
    """How long it took, as exactly as the samples lie: begin and end are between two of them. None while it drains."""


def falling(samples: Points, healthy: float | None = None) -> Falling | None:
    """The fall of a backlog that is under way or over at the last sample; None where there is none.

    *healthy* is the level at which it is drained; by default the lowest before the peak, if it is far below, and
    lag does not fall on below it.
    """
    points = _despiked(samples)
    top = _top(samples, points)
    after = [*samples[top : top + 1], *points[top + 1 :]]
    if len(after) < _FEWEST:
        return None
    gone = _level(points[: top + 1], points[top + 1 :], healthy)
    course = _thinned(after[: _enough(after, gone)])
    drain = _drain(course)
    if not drain or not _for_good(course, drain, after[-1][1], gone):
        return None
    began, peak = _bend(course, drain[0])
    rate = _rate(drain[-1])
    reached = _crossed(course[drain[0].first :], gone)
    expected = None if reached is not None else _expected(drain[-1], rate, gone)
    took = _took(course, began, reached) if reached is not None else None
    return Falling(began, peak, after[-1][0], after[-1][1], rate, reached, expected, took)


def _despiked(points: Points) -> Points:
    """Each sample by the middle one of itself and its neighbours; first and last stay."""
    middle = [(b[0], sorted((a[1], b[1], c[1]))[1]) for a, b, c in zip(points, points[1:], points[2:], strict=False)]
    return [*points[:1], *middle, *points[-1:]] if middle else points


def _top(samples: Points, points: Points) -> int:
    """The last highest sample of those without spikes, or the summit beside it that looks like one."""
    top = max(range(len(points)), key=lambda place: (points[place][1], place), default=0)
    while top > 0 and samples[top - 1][1] > samples[top][1]:
        top -= 1
    return top


def drained_level(samples: Points, healthy: float | None = None) -> float:
    """The backlog at which these samples count as drained: the healthy level and a fiftieth of the peak."""
    top = max(range(len(samples)), key=lambda place: (samples[place][1], place))
    return _level(samples[: top + 1], samples[top + 1 :], healthy)


def _level(rising: Points, following: Points, healthy: float | None) -> float:
    """Lag that goes on to fall below its lowest level before the peak shows that this was a backlog too."""
    lowest, peak = min(value for _, value in rising), rising[-1][1]
    usual = lowest if lowest < peak / 2 else 0.0
    least = min((value for _, value in following), default=usual)
    if least < usual - _GONE * peak:
        usual = 0.0 if following[-1][1] == least else least
    return (usual if healthy is None else healthy) + _GONE * peak


def _enough(points: Points, gone: float) -> int:
    """How many samples to look at: the fall, and as many again of what follows it."""
    fall = next((place for place, (_, value) in enumerate(points) if value <= gone), len(points))
    return 2 * fall + _FEWEST


def _thinned(points: Points) -> Points:
    """At most so many stretches of samples, each by its mean."""
    if len(points) <= _MOST_POINTS:
        return points
    edges = [n * len(points) // _MOST_POINTS for n in range(_MOST_POINTS + 1)]
    parts = [points[a:b] for a, b in pairwise(edges)]
    return [(sum(at for at, _ in part) / len(part), sum(v for _, v in part) / len(part)) for part in parts]


def _drain(points: Points) -> Sequence[Line]:
    """The lines from where it falls about as fast as it ever does to the last such one."""
    found = lines(points)
    steepest = min((line.slope for line in found if line.slope + _CERTAIN * line.error < 0), default=0.0)
    steep = [place for place, line in enumerate(found) if line.slope <= _STEEP * steepest]
    return found[steep[0] : steep[-1] + 1] if steepest < 0 else ()


def _for_good(points: Points, drain: Sequence[Line], left: float, gone: float) -> bool:
    """Whether what fell has not come back, and a fall that is not over goes on to the last sample."""
    lowest = min(value for _, value in points[drain[0].first :])
    fell = points[drain[0].first][1] - lowest
    return left - lowest <= _BACK * fell and (lowest <= gone or drain[-1].last == len(points) - 1)


def _bend(points: Points, line: Line) -> tuple[float, float]:
    """Where the fall begins: where its line leaves the level of the sample before, near its first sample."""
    level = points[max(0, line.first - 1)][1]
    earliest, latest = points[max(0, line.first - 1)][0], points[line.first + 1][0]
    met = line.mean_at + (level - line.mean) / line.slope if line.first else earliest
    began = min(max(met, earliest), latest)
    return began, line.mean + line.slope * (began - line.mean_at)


def _rate(line: Line) -> Interval:
    return Interval(max(0.0, -line.slope - 2 * line.error), -line.slope, -line.slope + 2 * line.error)


def _crossed(points: Points, gone: float) -> float | None:
    """When the straight lines between the samples first reach the level."""
    below = next((place for place, (_, value) in enumerate(points) if value <= gone), None)
    if not below:
        return None if below is None else points[0][0]
    (at, value), (until, then) = points[below - 1], points[below]
    return at + (until - at) * (value - gone) / (value - then)


def _took(points: Points, began: float, reached: float) -> Interval:
    off = max((b - a for (a, _), (b, _) in pairwise(points) if b > began and a < reached), default=0.0)
    return Interval(max(0.0, reached - began - off), reached - began, reached - began + off)


def _expected(line: Line, rate: Interval, gone: float) -> Interval:
    def at(speed: float) -> float:
        return line.mean_at + (line.mean - gone) / speed if speed > 0 else inf

    return Interval(at(rate.high), at(rate.likely), at(rate.low))
