"""Lag of groups, derived from positions: where it grew beyond what is usual for the group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.queues import OWN, of_groups, totals
from mqlab.units import number
from mqlab.wording import clock

BEHIND = 60.0
"""Seconds of production that lag may grow by before it is a symptom."""
LEAST = 10
"""Messages below which lag is no lag."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A group whose lag grew."""

    at: float
    group: str
    topic: str
    usual: int
    peak: int

    @property
    def told(self) -> str:
        """One sentence."""
        levels = f"from {number(self.usual)} to {number(self.peak)} messages"
        return f"{clock(self.at)} UTC: lag of {self.group} on {self.topic} grew {levels}"


def grown(facts: Facts) -> Iterator[Grown]:
    """Every group and topic whose lag grew, in at least two of three snapshots or more."""
    for (group, topic), queues in of_groups(facts).items():
        found = _grown(group, topic, totals(queues)) if not topic.startswith(OWN) else None
        if found is not None:
            yield found


def _grown(group: str, topic: str, points: Sequence[tuple[float, int, int]]) -> Grown | None:
    if len(points) < 3:
        return None
    (start, _, first_end), (until, _, last_end) = points[0], points[-1]
    rate = max(0.0, (last_end - first_end) / (until - start)) if until > start else 0.0
    calm = sorted(lag for _, lag, _ in points[: max(1, len(points) // 3)])
    usual = calm[len(calm) // 2]
    high = [at for at, lag, _ in points if lag > max(2 * usual, usual + BEHIND * rate, LEAST)]
    if len(high) < 2:
        return None
    return Grown(high[0], group, topic, usual, max(lag for _, lag, _ in points))
