"""Line shapes that are the same shape, cut at different places: put together.

The scan cuts a message to 80 characters and masks its numbers then, so that ``attempt=9 error=`` and
``attempt=10 error=`` end in different letters. Of two long shapes one of which begins with the other, they are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from mqlab.rows import LineShape, Minute

_LONG = 40
"""Characters from which a shape may have been cut: half of what is kept, for the numbers in it."""


def together(shapes: Iterable[LineShape]) -> tuple[LineShape, ...]:
    """*shapes* of one log, each of them once, the one with the loudest minute first."""
    groups: dict[tuple[str | None, str], list[LineShape]] = {}
    for shape in sorted(shapes, key=lambda s: (-len(s.shape), s.shape, s.level or "", s.first.source)):
        groups.setdefault((shape.level, _whole(shape, groups)), []).append(shape)
    return tuple(sorted((_one(name, same) for (_, name), same in groups.items()), key=_loudest))


def _whole(shape: LineShape, known: Iterable[tuple[str | None, str]]) -> str:
    same = (name for level, name in known if level == shape.level and _is_cut(shape.shape, name))
    return min(same, default=shape.shape)


def _is_cut(shape: str, whole: str) -> bool:
    return shape == whole or (len(shape) >= _LONG and whole.startswith(shape))


def _one(name: str, same: list[LineShape]) -> LineShape:
    first = min(same, key=lambda s: (s.first_at is None, s.first_at or 0.0, s.first.source, s.first.line or 0))
    return replace(first, shape=name, minutes=summed(m for s in same for m in s.minutes))


def summed(minutes: Iterable[Minute]) -> tuple[Minute, ...]:
    """One entry a minute, by time."""
    counts: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for minute in minutes:
        counts[minute.at][0] += minute.lines
        counts[minute.at][1] += minute.bytes
    return tuple(Minute(at, lines, size) for at, (lines, size) in sorted(counts.items()))


def _loudest(shape: LineShape) -> tuple[int, str, int]:
    return (-max((m.bytes for m in shape.minutes), default=0), shape.first.source, shape.first.line or 0)
