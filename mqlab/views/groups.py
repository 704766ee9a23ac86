"""What groups of any system have: the finding that is about one, and how much waits for it over time."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from mqlab.diagnosis import Diagnosis
from mqlab.findings import Finding
from mqlab.shared.queues import Points, lag


def finding_about(diagnosis: Diagnosis, known: Collection[str]) -> tuple[Finding | None, str | None]:
    """The first finding whose subject begins with the name of one of these groups, and that name."""
    about = ((one, one.subject.partition("/")[0]) for one in diagnosis.findings)
    return next(((one, group) for one, group in about if group in known), (None, None))


def waiting_over_time(queues: Iterable[Points]) -> tuple[tuple[float, float], ...]:
    """(at, messages that wait in all queues) at every snapshot; between two of its own a queue's lag is on the line."""
    told = [[(p.at or 0.0, lag(p)) for p in points] for points in queues if points]
    totals: dict[float, float] = defaultdict(float)
    moments = sorted({at for points in told for at, _ in points})
    for points in told:
        known = dict(points)
        for at in moments[bisect_left(moments, points[0][0]) :]:
            totals[at] += known[at] if at in known else _between(points, at)
    return tuple(sorted(totals.items()))


def _between(points: Sequence[tuple[float, int]], at: float) -> float:
    """The lag then, on the line between its neighbours; after the last one as it was."""
    place = bisect_left(points, (at, 0))
    if place == len(points):
        return points[-1][1]
    (since, before), (until, after) = points[place - 1], points[place]
    return before + (after - before) * (at - since) / (until - since)
