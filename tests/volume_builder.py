"""Logs drawn minute by minute: what Spark would hand over, in a few lines."""

from __future__ import annotations

from facts_builder import at

from mqlab.findings import Evidence
from mqlab.rows import LineShape, Minute, Volume

LINE = 200
"""Bytes of one line."""


def shape(text, legs, *, level="INFO", source="app.log", line=1, first=None):
    """A shape that writes (from, to, bytes a minute), in minutes since 10:00; *first* is its first second."""
    minutes = tuple(
        Minute(at(n * 60), size // LINE, size) for start, end, size in legs for n in range(start, end) if size
    )
    begins = minutes[0].at if first is None else at(first)
    return LineShape(level, text, Evidence(source, line, f"{text} word by word"), begins, minutes)


def volume(*shapes, rest=(), source="app.log", first=0, undated=0, before=None):
    """A log of these shapes and the *rest*, whose shapes are too many to be told; it begins at second *first*."""
    total: dict[float, int] = {}
    for one in (*shapes, *([shape("rest", rest)] if rest else ())):
        for minute in one.minutes:
            total[minute.at] = total.get(minute.at, 0) + minute.bytes
    minutes = tuple(Minute(when, size // LINE, size) for when, size in sorted(total.items()))
    begins = at(first) if minutes else None
    return Volume(source, begins, minutes, tuple(shapes), undated, before)


QUIET = [(0, 60, 2_000)]
LOOP = [(42, 60, 20_000_000)]


def loop(legs=tuple(LOOP), *, level="ERROR", rest=tuple(QUIET), second=2_532, **more):
    """A log of some lines a minute in which a loop begins at 10:42:12."""
    looping = shape("publish failed id=# attempt=#", legs, level=level, line=301, first=second)
    return volume(looping, rest=rest, **more)
