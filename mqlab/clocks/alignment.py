"""By how much a clock is off, told by events that it shares with clocks that are known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

SHARED = 3
"""Shared events that an alignment needs."""
MOST = 0.6
"""Share of a source's events that an alignment must explain."""
NEARLY_ALL = 0.9
"""Share from which a long incident aligns, although its neighbours in time fit in part."""
_FARTHEST = 14 * 3600
_APART = 120.0
"""Seconds within which two logs tell of the same thing, if nothing is wrong but their zones."""


def aligned(events: Sequence[float], anchors: Sequence[tuple[float, float]], step: int) -> tuple[int, int] | None:
    """(offset in seconds, events that fit) where the *events* meet the *anchors* and no other offset comes near.

    *events* are seconds on the clock that is off, *anchors* intervals on a known one; offsets are multiples of *step*.
    """
    if len(events) < SHARED or len(anchors) < SHARED:
        return None
    merged = _merged(anchors)
    offsets = range(-_FARTHEST, _FARTHEST + step, step)
    scores = sorted(((_shared(events, merged, offset), -abs(offset), offset) for offset in offsets), reverse=True)
    (best, _, offset), (second, _, _) = scores[0], scores[1]
    if best < SHARED or best < MOST * len(events):
        return None
    whole = best >= NEARLY_ALL * len(events) and best - second >= max(SHARED, (1 - NEARLY_ALL) * best)
    if second * 2 > best and not whole:
        return None
    return offset, best


def by_name(
    events: Sequence[tuple[str, float]], known: Mapping[str, Collection[float]], step: int
) -> tuple[int, int] | None:
    """(offset in seconds, names that fit) where *events* carry names that clocks that are *known* saw, too.

    Every name that both know must fit one offset, a multiple of *step*; a name may stand for several moments.
    """
    offsets: dict[str, set[int]] = {}
    for name, wall in events:
        for epoch in known.get(name, ()):
            offset = round((wall - epoch) / step) * step
            if abs(wall - epoch - offset) <= _APART and abs(offset) <= _FARTHEST:
                offsets.setdefault(name, set()).add(offset)
    shared = {name for name, _ in events if name in known}
    if len(shared) < SHARED or len(offsets) < len(shared):
        return None
    common = set.intersection(*offsets.values())
    return (common.pop(), len(shared)) if len(common) == 1 else None


def _merged(anchors: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for first, last in sorted(anchors):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def _shared(events: Sequence[float], merged: Sequence[tuple[float, float]], offset: float) -> int:
    starts = [first for first, _ in merged]
    count = 0
    for event in events:
        place = bisect_right(starts, event - offset) - 1
        count += place >= 0 and event - offset <= merged[place][1]
    return count
