"""Lag of groups: where it grew beyond what is usual, when nobody moved a queue, and when it rose to its peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from statistics import median, median_low, quantiles

from mqlab import words
from mqlab.facts import Facts
from mqlab.models.lag import TimeLag, time_lags
from mqlab.shared.queues import (
    OWN,
    Pace,
    Points,
    complete,
    lag,
    next_read,
    of_groups,
    paces,
    snapshots,
    totals,
)
from mqlab.units import Interval, between, moment
from mqlab.words import Text

say = words.room("lag")

BEHIND = 60.0
"""Seconds of production that lag may grow by before it is a symptom. Judgement, no default behind it: commits, every
five seconds, and listings a minute apart make about as much."""
STILL = 120.0
"""Seconds without a commit, while messages come in, from which a queue stands still. Judgement, no default behind it:
two of the longest usual scrape intervals."""
LEAST = 10
"""Messages below which lag is no lag. Judgement, no default behind it."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A group whose lag grew."""

    at: float
    group: str
    topic: str
    usual: int
    peak: int

    @property
    def told(self) -> Text:
        """One sentence."""
        since, levels = moment(self.at), {"usual": self.usual, "peak": self.peak}
        return say("grew", since=since, group=self.group, topic=self.topic, **levels)


def grown(facts: Facts) -> Iterator[Grown]:
    """Every group and topic whose lag grew, in at least two of three snapshots or more."""
    for (group, topic), queues in of_groups(facts).items():
        found = _grown(group, topic, totals(queues)) if not topic.startswith(OWN) else None
        if found is not None:
            yield found


def stuck(facts: Facts) -> Iterator[tuple[float, Text]]:
    """(since, sentence) for every queue that stood still for long while messages came in and others of it moved."""
    for (group, topic), queues in of_groups(facts).items():
        still = {queue: found for queue, points in queues.items() if (found := _still(points)) is not None}
        if topic.startswith(OWN) or len(still) == len(queues):
            continue
        for queue, (since, waiting) in still.items():
            where = {"group": group, "topic": topic, "queue": queue}
            yield since, say("stands", since=moment(since), waiting=waiting, **where)


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


_ABOUT = 0.05
"""Share of a rise by which lag may be above its lowest level and still count as there. Judgement, no default behind
it."""


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
    for since, until in _runs(steps(queues), lambda step: _unmoved(queues, step)):
        found = stretch_between(queues, since, until)
        if found.seconds >= shortest and found.paces and found.consumed == 0:
            yield found


def _unmoved(queues: Mapping[str, Points], step: Stretch) -> bool:
    """No position moved, not even in a queue that took no messages in."""
    return all(pace.consumed == 0 for pace in paces(queues, step.since, step.until).values())


def climb(queues: Mapping[str, Points]) -> Stretch | None:
    """From the last time at which lag was as low as usual before it rose to its peak, to the peak; None without a rise.

    What is usual is the median of the time up to the last moment at which it was about as low as ever. A rise that was
    not worked off is part of the next one: a dip between them does not reach down to what was usual.
    """
    points = totals(queues)
    peak = max(range(len(points)), key=lambda n: (points[n][1], -n), default=0)
    before = points[: peak + 1]
    if len(before) < 2:
        return None
    low = min(waiting for _, waiting, _ in before)
    calm = max(n for n, (_, waiting, _) in enumerate(before) if waiting <= low + _ABOUT * (before[-1][1] - low))
    usual = median_low(waiting for _, waiting, _ in before[: calm + 1])
    start = max(at for at, waiting, _ in before[: calm + 1] if waiting <= usual)
    return stretch_between(queues, start, before[-1][0]) if start < before[-1][0] else None


def trend(points: Sequence[tuple[float, float]]) -> float | None:
    """By how much a second a value grows: the median slope of all pairs; None where no two moments differ.

    Neither the teeth of a saw nor the pause of a restart at one end moves it, as they move a line through both ends.
    """
    slopes = [(y - x) / (b - a) for n, (a, x) in enumerate(points) for b, y in points[n + 1 :] if b > a]
    return median(slopes) if slopes else None


def growth(points: Sequence[tuple[float, float]]) -> Interval | None:
    """The ``trend`` of a value, between the quartiles of what it was from one moment to the next."""
    likely = trend(points)
    if likely is None:
        return None
    each = [(y - x) / (b - a) for (a, x), (b, y) in pairwise(points) if b > a]
    return between(likely, quantiles(each, n=4, method="inclusive") if len(each) > 1 else each)


def speeds(queues: Mapping[str, Points], stretch: Stretch) -> tuple[float, Interval]:
    """(messages a second that came in, by which the lag grew) in the stretch, over all queues.

    What lag grew by from the first to the last moment lies within the bounds.
    """
    inside = [point for point in totals(queues) if stretch.since <= point[0] <= stretch.until]
    came, grows = trend([(at, float(end)) for at, _, end in inside]), growth([(at, float(w)) for at, w, _ in inside])
    whole = stretch.grown / stretch.seconds
    if came is None or grows is None:
        return stretch.produced / stretch.seconds, between(whole, ())
    return came, between(grows.likely, (grows.low, grows.high, whole))


def ages(queues: Mapping[str, Points]) -> Sequence[tuple[float, TimeLag | None]]:
    """Seconds that the oldest waiting message had waited at each complete snapshot; the longest of all queues.

    Where the age of one of them is not known, that of all is at least the most of what is known.
    """
    of_point = {
        (queue, point.at): age
        for queue, points in queues.items()
        for point, age in zip(points, time_lags([(p.at or 0.0, p.end or 0, next_read(p)) for p in points]), strict=True)
    }
    found = []
    for points in complete(queues):
        each = [of_point[point.queue, point.at] for point in points]
        found.append((points[-1].at or 0.0, _longest(each)))
    return found


def _longest(each: Sequence[TimeLag | None]) -> TimeLag | None:
    known = [age for age in each if age is not None]
    likely, high = [age.likely for age in known], [age.high for age in known]
    if not known:
        return None
    low = max(age.low for age in known)
    if len(known) < len(each) or None in likely:
        return TimeLag(low, None, None)
    return TimeLag(low, max(one or 0.0 for one in likely), max(one or 0.0 for one in high))


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
