"""A ratio that stood at one level before and at another for a while, or to the end: found by segmentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

LEAST_RISE = 0.3
"""Below this a rise of a ratio around one is noise."""
FOR_A_WHILE = 2
"""Windows that a rise must last where it ends again; one alone may be a reader's hiccup."""

Values = Sequence[tuple[float, float, float | None]]
"""(from, to, value) of windows by time; None where nothing was measured."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A ratio that stood at one level before and at another after, with the windows on both sides."""

    before: float
    after: float
    at: float
    """Start of the first window at the new level."""
    until: float
    """End of the last window at the new level."""
    lasting: bool
    """True where it is the level of the last window."""


def shift(values: Values, least: float = 1.5) -> Shift | None:
    """The rise of a ratio, cut where the means in and outside differ most for their number of windows."""
    known = [(a, b, v) for a, b, v in values if v is not None]
    levels = [v for _, _, v in known]
    if len(known) < 2:
        return None
    first, last = max(_segments(len(known)), key=lambda cut: (_contrast(levels, *cut), cut))
    inside, outside = levels[first:last], levels[:first] + levels[last:]
    before, after = median(outside), median(inside)
    if after < least * before or after - before < LEAST_RISE or _contrast(levels, first, last) <= 0:
        return None
    lasting = last == len(known)
    if not lasting and min(inside) < (before + after) / 2:
        return None
    return Shift(before, after, known[first][0], known[last - 1][1], lasting)


def _segments(count: int) -> Iterator[tuple[int, int]]:
    for first in range(1, count):
        yield from ((first, last) for last in range(first + FOR_A_WHILE, count))
        yield first, count


def _contrast(levels: Sequence[float], first: int, last: int) -> float:
    inside, outside = levels[first:last], [*levels[:first], *levels[last:]]
    rise = fmean(inside) - fmean(outside)
    return len(inside) * len(outside) * rise * abs(rise)
