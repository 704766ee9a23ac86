"""Times in which nobody moved any queue of a topic, and the time in which its lag rose to its peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.groups.queues import Pace, Points, lag, paces, snapshots, totals

_ABOUT = 0.05
"""Share of a rise by which lag may be above its lowest level and still count as there."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time from one snapshot to another, with the pace of each queue that took messages in."""

    since: float
    until: float
    paces: Mapping[str, Pace]

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.until - self.since

    @property
    def produced(self) -> int:
        """Messages that came in."""
        return sum(p.produced for p in self.paces.values())

    @property
    def consumed(self) -> int:
        """Messages by which the committed positions moved."""
        return sum(p.consumed for p in self.paces.values())

    @property
    def grown(self) -> int:
        """Messages by which the lag grew."""
        return sum(lag(p.last) - lag(p.first) for p in self.paces.values())


def steps(queues: Mapping[str, Points]) -> Sequence[Stretch]:
    """From each snapshot to the next."""
    found = []
    for one, two in pairwise(snapshots(queues)):
        before = {p.queue: p for p in one}
        seen = {p.queue: Pace(p.queue, before[p.queue], p) for p in two if p.queue in before}
        moving = {queue: pace for queue, pace in sorted(seen.items()) if pace.produced > 0}
        found.append(Stretch(one[0].at or 0.0, two[-1].at or 0.0, moving))
    return found


def stretch_between(queues: Mapping[str, Points], since: float, until: float) -> Stretch:
    """The time from the first to the last snapshot between two moments."""
    seen = {queue: pace for queue, pace in paces(queues, since, until).items() if pace.produced > 0}
    moments = [p.at for pace in seen.values() for p in (pace.first, pace.last) if p.at is not None]
    return Stretch(min(moments, default=since), max(moments, default=until), seen)


def stalled(queues: Mapping[str, Points], shortest: float) -> Iterator[Stretch]:
    """Stretches of at least so many seconds in which messages came in and no position moved."""
    for since, until in _runs(steps(queues), lambda step: _still(queues, step)):
        found = stretch_between(queues, since, until)
        if found.seconds >= shortest and found.paces and found.consumed == 0:
            yield found


def _still(queues: Mapping[str, Points], step: Stretch) -> bool:
    """No position moved, not even in a queue that took no messages in."""
    return all(pace.consumed == 0 for pace in paces(queues, step.since, step.until).values())


def climb(queues: Mapping[str, Points]) -> Stretch | None:
    """From the last time at which lag was about as low as ever before its peak, to the peak; None without a rise."""
    points = totals(queues)
    peak = max(range(len(points)), key=lambda n: (points[n][1], -n), default=0)
    before = points[: peak + 1]
    if len(before) < 2:
        return None
    low = min(waiting for _, waiting, _ in before)
    start = max(at for at, waiting, _ in before if waiting <= low + _ABOUT * (before[-1][1] - low))
    return stretch_between(queues, start, before[-1][0]) if start < before[-1][0] else None


def _runs(found: Sequence[Stretch], fits: Callable[[Stretch], bool]) -> Iterator[tuple[float, float]]:
    """Begin and end of the longest chains of steps that fit; steps without messages do not break one."""
    start: float | None = None
    end = 0.0
    for step in found:
        if fits(step) or (start is not None and not step.produced and not step.consumed):
            start = step.since if start is None else start
            end = step.until
        elif start is not None:
            yield start, end
            start = None
    if start is not None:
        yield start, end
