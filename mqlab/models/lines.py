"""Samples as few straight lines: least squares, and the Bayesian information criterion against too many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log, sqrt

_MOST = 5
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
