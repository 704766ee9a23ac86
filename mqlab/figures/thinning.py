"""Fewer points for the eye: a week of samples must not make a report too large to send."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Point = TypeVar("_Point")

MOST_POINTS = 1000
MOST_MARKS = 300

Mark = tuple[float, float, str]
"""(from, to, what the reader sees when pointing at it)."""


def thinned(points: Sequence[_Point], value: Callable[[_Point], float], most: int = MOST_POINTS) -> tuple[_Point, ...]:
    """At most so many points, first and last among them; of each stretch its lowest and highest stay."""
    if len(points) <= most:
        return tuple(points)
    stretches = max(1, most // 2 - 1)
    kept = {0, len(points) - 1}
    for stretch in range(stretches):
        places = range(stretch * len(points) // stretches, (stretch + 1) * len(points) // stretches)
        kept |= {
            min(places, key=lambda place: value(points[place])),
            max(places, key=lambda place: value(points[place])),
        }
    return tuple(points[place] for place in sorted(kept))


def merged(marks: Sequence[Mark], most: int = MOST_MARKS) -> tuple[Mark, ...]:
    """Marks by time; where there are too many, neighbours become one that lasts and says how many it stands for."""
    ordered = sorted(marks)
    if len(ordered) <= most:
        return tuple(ordered)
    reach = (max(end for _, end, _ in ordered) - ordered[0][0]) / most
    groups: list[list[Mark]] = []
    for mark in ordered:
        if groups and mark[0] - groups[-1][0][0] < reach:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return tuple(_joined(group) for group in groups)


def _joined(group: Sequence[Mark]) -> Mark:
    start, _, words = group[0]
    more = f"<br>and {len(group) - 1} more marks" if len(group) > 1 else ""
    return (start, max(end for _, end, _ in group), words + more)
