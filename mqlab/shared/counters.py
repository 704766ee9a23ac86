"""Arithmetic of counters: increases over a window, resets, ratios, the moment at which a ratio changed.

A counter that falls was reset; what it shows afterwards was counted since. Increases run from the last sample at or
before the start to the first at or after the end, so that a window never loses its edges.
A ratio that stood at one level before and at another for a while, or to the end, is found by segmentation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import inf
from statistics import fmean, median

from mqlab.facts import Facts, Series
from mqlab.memo import per_facts

PEAK = 20.0
"""Seconds over which a peak is taken (or one scrape, where scrapes are further apart)."""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Increase:
    """How much a set of counters rose, and between which samples."""

    value: float
    since: float
    until: float
    resets: int

    @property
    def per_second(self) -> float | None:
        """Over the time between its samples; None where that is none."""
        return self.value / (self.until - self.since) if self.until > self.since else None


def increase(
    series: Iterable[Series], start: float, end: float, scraped: Mapping[str, float] | None = None
) -> Increase | None:
    """Sum of the increases of *series* over [start, end]; None where no series has two samples around it.

    Labelled counters (errors by kind, bytes by topic) appear with their first event: with *scraped*, the first
    moment at which each exporter was read at all, what they show at first counts from zero.
    """
    total, resets, since, until = 0.0, 0, float("inf"), float("-inf")
    for one in series:
        cut = around(one.points, start, end)
        born = _born(one, start, end, scraped)
        if len(cut) < 2 and not born:
            continue
        total += sum(_steps(cut)) + born
        resets += sum(b[1] < a[1] for a, b in pairwise(cut))
        since, until = min(since, cut[0][0]), max(until, cut[-1][0])
    return Increase(total, since, until, resets) if since <= until else None


_PROMETHEUS = re.compile(r"[A-Za-z_:][\w:]*")


def queried(facts: Facts, name: str, client: str) -> str | None:
    """What Prometheus calls the counter *name* of this client; None where no metric of the material is it."""
    return next((s.original for s in of_client(facts, name, client) if _PROMETHEUS.fullmatch(s.original)), None)


def of_client(facts: Facts, name: str, client: str) -> list[Series]:
    """The counters called *name* of this client."""
    return [s for s in facts.named(name) if s.labels.get("client_id") == client]


def rise(
    series: Iterable[Series], start: float, end: float, scraped: Mapping[str, float] | None = None
) -> float | None:
    """By how much *series* rose over [start, end] (``increase``); None where they do not cover it."""
    found = increase(series, start, end, scraped)
    return found.value if found else None


GAP = 1.5
"""Scrapes apart from which samples leave a gap: one was missed."""


def evenly(
    series: Iterable[Series], start: float, end: float, scraped: Mapping[str, float] | None = None
) -> float | None:
    """Like ``rise``, for what goes on all the time: of a gap that is cut by an edge of the window its share by time."""
    own = list(series)
    known = rise(own, start, end, scraped)
    if known is None:
        return None
    usual = GAP * (scrape(own) or 0.0)
    cut = 0.0
    for one in own:
        cut_points = around(one.points, start, end)
        for (a, _), (b, _), step in zip(cut_points, cut_points[1:], _steps(cut_points), strict=False):
            outside = max(0.0, start - a) + max(0.0, b - end)
            cut += step * min(1.0, outside / (b - a)) if b - a > usual else 0.0
    return known - cut


def around(points: Points, start: float, end: float) -> Points:
    """From the last sample at or before the start to the first at or after the end."""
    times = [at for at, _ in points]
    first = max(0, bisect_right(times, start) - 1)
    last = min(len(times) - 1, bisect_left(times, end))
    return points[first : last + 1]


def edges(series: Iterable[Series], start: float, end: float) -> Sequence[tuple[float, float]]:
    """The windows that begin and end at a scrape just outside or just inside [start, end], the widest first.

    What is counted over them is what a counter may say of a time whose ends lie between its scrapes.
    """
    times = sorted({at for one in series for at, _ in one.points})
    first, last = max(0, bisect_right(times, start) - 1), min(len(times) - 1, bisect_left(times, end))
    return [(a, b) for a in times[first : first + 2] for b in reversed(times[max(0, last - 1) : last + 1]) if a < b]


def _born(one: Series, start: float, end: float, scraped: Mapping[str, float] | None) -> float:
    """What a series counted before its first sample, where its exporter was read without it before."""
    if not one.points or scraped is None:
        return 0.0
    first, value = one.points[0]
    late = first - end > GAP * (scrape([one]) or 0.0)
    return value if first > start and scraped.get(_exporter(one), first) < first and not late else 0.0


@per_facts
def first_scrapes(facts: Facts) -> Mapping[str, float]:
    """The first moment at which each exporter was read, by instance, or by source where no instance is told."""
    found: dict[str, float] = {}
    for one in facts.series:
        if one.points:
            found[_exporter(one)] = min(one.points[0][0], found.get(_exporter(one), inf))
    return found


def _exporter(one: Series) -> str:
    return one.labels.get("instance") or one.source


def _steps(points: Points) -> list[float]:
    return [b - a if b >= a else b for (_, a), (_, b) in pairwise(points)]


def summed(series: Sequence[Series]) -> list[tuple[float, float, float]]:
    """(from, to, increase) between consecutive samples, added over *series* that are scraped together."""
    steps: dict[tuple[float, float], float] = {}
    for one in series:
        for (a, _), (b, _), step in zip(one.points, one.points[1:], _steps(one.points), strict=False):
            steps[a, b] = steps.get((a, b), 0.0) + step
    return sorted((a, b, step) for (a, b), step in steps.items())


def scrape(series: Sequence[Series]) -> float | None:
    """Usual seconds between two samples; None for fewer than two."""
    gaps = [b - a for one in series for (a, _), (b, _) in pairwise(one.points)]
    return median(gaps) if gaps else None


def card(facts: Facts, host: str, direction: str) -> list[Series]:
    """The network card's counters of *host*; *direction* is ``receive`` or ``transmit``. The loopback is left out."""
    return [
        s
        for s in facts.named(f"host.{direction}_bytes")
        if s.host == host and not str(s.labels.get("device", "")).startswith("lo")
    ]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Bytes out over bytes in of one host, over one window."""

    bytes_in: float
    bytes_out: float
    since: float
    until: float

    @property
    def factor(self) -> float | None:
        """Out over in; None where nothing came in."""
        return self.bytes_out / self.bytes_in if self.bytes_in > 0 else None


def ratio(facts: Facts, host: str, start: float, end: float) -> Ratio | None:
    """In and out of *host* over the window, from its network card."""
    came = increase(card(facts, host, "receive"), start, end)
    left = increase(card(facts, host, "transmit"), start, end)
    if came is None or left is None:
        return None
    return Ratio(came.value, left.value, min(came.since, left.since), max(came.until, left.until))


def ratios(facts: Facts, host: str, start: float, end: float) -> Sequence[Ratio]:
    """In and out of *host* over each window that scrapes allow for [start, end]."""
    windows = edges(card(facts, host, "transmit"), start, end)
    return [found for a, b in windows if (found := ratio(facts, host, a, b)) is not None]


def peak(facts: Facts, host: str, start: float, end: float) -> Ratio | None:
    """The window of ``PEAK`` seconds (or one scrape) inside [start, end] with the largest factor."""
    came = {(a, b): v for a, b, v in summed(card(facts, host, "receive"))}
    left = summed(card(facts, host, "transmit"))
    steps = [(a, b, came[a, b], out) for a, b, out in left if (a, b) in came and b > start and a < end]
    best: Ratio | None = None
    for first in range(len(steps)):
        last = first
        while last + 1 < len(steps) and steps[last][1] - steps[first][0] < PEAK - 0.5:
            last += 1
        if steps[last][1] - steps[first][0] < PEAK - 0.5:
            break
        found = Ratio(
            sum(s[2] for s in steps[first : last + 1]),
            sum(s[3] for s in steps[first : last + 1]),
            steps[first][0],
            steps[last][1],
        )
        if found.factor is not None and (best is None or found.factor > (best.factor or 0)):
            best = found
    return best


def usual_factor(facts: Facts, host: str, start: float, end: float) -> float | None:
    """Out over in of *host* over most of [start, end], None with fewer than three scrapes or nothing coming in.

    It is the level at which most bytes came in, without the windows far from it: those of a start, of a backlog that is
    worked off, of an earlier fault. What comes in leaves a scrape later, so a window is several scrapes long.
    """
    came = {(a, b): v for a, b, v in summed(card(facts, host, "receive"))}
    left = [s for s in summed(card(facts, host, "transmit")) if s[0] >= start and s[1] <= end]
    windows: dict[float, tuple[float, float]] = {}
    for a, b, out in left:
        into, gone = windows.get((a - left[0][0]) // PEAK, (0.0, 0.0))
        windows[(a - left[0][0]) // PEAK] = into + came.get((a, b), 0.0), gone + out
    levels = sorted((gone / into, into, gone) for into, gone in windows.values() if into > 0)
    if len(left) < 3 or not levels:
        return None
    half, passed = sum(into for _, into, _ in levels) / 2, accumulate(into for _, into, _ in levels)
    level = next(factor for (factor, _, _), bytes_in in zip(levels, passed, strict=True) if bytes_in >= half)
    usual = [(into, gone) for factor, into, gone in levels if level / RISE <= factor <= level * RISE]
    return sum(gone for _, gone in usual) / sum(into for into, _ in usual)


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """When something began: between two samples."""

    after: float
    before: float


def onset(steps: Sequence[tuple[float, float, float]], at: float) -> ChangePoint | None:
    """The samples between which the rise that contains *at* began.

    Walks back from *at* while the rate stays above twice the median of what came before *at*.
    """
    rates = [(a, b, v / (b - a)) for a, b, v in steps if b > a]
    earlier = [r for _, b, r in rates if b <= at]
    if len(earlier) < 3:
        return None
    usual = median(earlier)
    index = max((n for n, (a, _, _) in enumerate(rates) if a <= at), default=0)
    if rates[index][2] <= 2 * usual:
        return None
    while index > 0 and rates[index - 1][2] > 2 * usual:
        index -= 1
    return ChangePoint(rates[index][0], rates[index][1])


REPEATED = 0.02
"""Share of all transmissions from which repeats are more than what any disturbance leaves: they cost as many bytes."""
RISE = 1.5
"""Times the level before from which a ratio rose: one more reader of two makes as much, and noise far less."""
LEAST_RISE = 0.3
"""Below this a rise of a ratio around one is noise. Judgement, no default behind it: headers, and scrapes of in and out
that miss each other by a part of an interval."""
FOR_A_WHILE = 2
"""Windows that a rise must last where it ends again; one alone may be a reader's hiccup."""

Values = Sequence[tuple[float, float, float | None]]
"""(from, to, value) of windows by time; None where nothing was measured."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A ratio that stood at one level before and at another after, with the windows on both sides."""

    before: float
    after: float
    at: float
    """Start of the first window at the new level."""
    until: float
    """End of the last window at the new level."""
    lasting: bool
    """True where it is the level of the last window."""


def shift(values: Values) -> Shift | None:
    """The rise of a ratio, cut where the means in and outside differ most for their number of windows."""
    known = [(a, b, v) for a, b, v in values if v is not None]
    levels = [v for _, _, v in known]
    if len(known) < 2:
        return None
    first, last = max(_segments(len(known)), key=lambda cut: (_contrast(levels, *cut), cut))
    inside, outside = levels[first:last], levels[:first] + levels[last:]
    before, after = median(outside), median(inside)
    if after < RISE * before or after - before < LEAST_RISE or _contrast(levels, first, last) <= 0:
        return None
    lasting = last == len(known)
    if not lasting and min(inside) < (before + after) / 2:
        return None
    return Shift(before, after, known[first][0], known[last - 1][1], lasting)


def _segments(count: int) -> Iterator[tuple[int, int]]:
    for first in range(1, count):
        yield from ((first, last) for last in range(first + FOR_A_WHILE, count))
        yield first, count


def _contrast(levels: Sequence[float], first: int, last: int) -> float:
    inside, outside = levels[first:last], [*levels[:first], *levels[last:]]
    rise = fmean(inside) - fmean(outside)
    return len(inside) * len(outside) * rise * abs(rise)
