"""Files that are one log: ``server.log`` and what was rotated away from it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from mqlab.log_growth.shapes import summed, together
from mqlab.rows.lines import LineShape, Volume

_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst)$")
_DAY = r"\d{4}-?\d{2}-?\d{2}(?:[-_T.]?\d{1,6})?"
_ROTATED = re.compile(rf"(?:(?<=\.log)|(?<=\.out)|(?<=\.txt))[.-](?:\d{{1,3}}|{_DAY})$|[._-]{_DAY}(?=\.\w+$)")
"""A number behind the suffix, or a day: a number before the suffix is as often that of a node."""
_SHARED = 60.0
"""Seconds that two files of one log may have in common: the minute in which it was rotated."""


def logs(volumes: Iterable[Volume]) -> tuple[tuple[Volume, ...], ...]:
    """The files of each log by time, a log that was never rotated alone."""
    names: dict[str, list[Volume]] = {}
    for volume in volumes:
        names.setdefault(log_name(volume.source), []).append(volume)
    found: list[tuple[Volume, ...]] = []
    for _, files in sorted(names.items()):
        dated = sorted((v for v in files if v.minutes), key=lambda v: (v.minutes[0].at, v.minutes[-1].at, v.source))
        if all(b.minutes[0].at >= a.minutes[-1].at + 60 - _SHARED for a, b in pairwise(dated)):
            found += [tuple(dated)] if dated else []
        else:
            found += [(v,) for v in dated]
        found += [(v,) for v in files if not v.minutes]
    return tuple(found)


def log_name(source: str) -> str:
    """The path without what rotation and compression added."""
    return _ROTATED.sub("", _PACKED.sub("", source))


def joined(files: tuple[Volume, ...]) -> Volume:
    """The files of one log as one volume, under the shortest of their names."""
    if len(files) == 1:
        return files[0]
    shapes: tuple[LineShape, ...] = together(s for v in files for s in v.shapes)
    loudest = next((v for v in files if shapes and v.source == shapes[0].first.source), files[-1])
    return replace(
        loudest,
        source=min((v.source for v in files), key=lambda name: (len(name), name)),
        first_at=min((v.first_at for v in files if v.first_at is not None), default=None),
        minutes=summed(m for v in files for m in v.minutes),
        shapes=shapes,
        undated_bytes=sum(v.undated_bytes for v in files),
    )
