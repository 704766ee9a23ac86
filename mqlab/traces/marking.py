"""A mark of what was seen at several moments and places."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.findings import Evidence
from mqlab.known_errors import words
from mqlab.marks import LINES, Mark
from mqlab.shared.wording import clock
from mqlab.units import counted


def mark(kind: str, told: Sequence[tuple[float | None, Evidence]], who: str, times: int | None = None) -> Mark:
    """A mark of what was seen at these moments and places."""
    first = sorted(told, key=lambda one: (one[0] or 0.0, one[1].source, one[1].line or 0))
    at = first[0][0]
    since = "" if at is None else f", from {clock(at)} UTC on"
    count = len(told) if times is None else times
    text = f"{words()[kind]}, {counted(count, 'time')}{since}: {who}"
    return Mark(kind, count, text, tuple(place.because(words()[kind]) for _, place in first[:LINES]), at)
