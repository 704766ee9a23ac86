"""Lag of groups, derived from positions: where it grew beyond what is usual for the group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from mqlab.facts import Facts
from mqlab.groups.queues import OWN, Points, lag, of_groups, totals
from mqlab.questions.wording import clock
from mqlab.units import number

BEHIND = 60.0
"""Seconds of production that lag may grow by before it is a symptom."""
STILL = 120.0
"""Seconds without a commit, while messages come in, from which a queue stands still."""
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


def stuck(facts: Facts) -> Iterator[tuple[float, str]]:
    """(since, sentence) for every queue that stood still for long while messages came in and others of it moved."""
    for (group, topic), queues in of_groups(facts).items():
        still = {queue: found for queue, points in queues.items() if (found := _still(points)) is not None}
        if topic.startswith(OWN) or len(still) == len(queues):
            continue
        for queue, (since, waiting) in still.items():
            told = f"{clock(since)} UTC: {group} stands still on {topic} {queue}, {number(waiting)} messages wait there"
            yield since, told


def _still(points: Points) -> tuple[float, int] | None:
    """When the last time began in which the position did not move, if it was long and messages came in all the time."""
    last = points[-1]
    same = list(takewhile(lambda p: p.committed == last.committed, reversed(points)))
    seconds, came = (last.at or 0.0) - (same[-1].at or 0.0), (last.end or 0) - (same[-1].end or 0)
    return (same[-1].at or 0.0, lag(last)) if seconds >= STILL and came >= LEAST and len(same) > 3 else None


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
