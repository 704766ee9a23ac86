"""A mark of what was seen at several moments and places."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.findings import Evidence
from mqlab.known_errors import words
from mqlab.marks import LINES, Mark, say


def mark(
    kind: str,
    told: Sequence[tuple[float | None, Evidence]],
    names: str | Sequence[str],
    times: int | None = None,
    until: float | None = None,
) -> Mark:
    """A mark of what was seen at these moments and places, up to *until*, of these *names* or of one."""
    first = sorted(told, key=lambda one: (one[0] or 0.0, one[1].source, one[1].line or 0))
    at = first[0][0]
    count = len(told) if times is None else times
    who = (names,) if isinstance(names, str) else names
    text = say("mark", what=words()[kind], times=count, at=at, until=until, names=who)
    return Mark(kind, count, text, tuple(place.because(words()[kind]) for _, place in first[:LINES]), at)
