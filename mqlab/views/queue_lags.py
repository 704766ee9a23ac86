"""How the queues of a group fared: lag of each over time, and messages a second that came in and were read."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from mqlab.facts import Facts
from mqlab.shared.queues import Points, lag, of_groups
from mqlab.views.rocketmq_group import GroupView

ORPHAN, DOUBLED, ALONE, UNKNOWN = "nobody reads it", "several read it", "one process reads it", "each queue"


@dataclass(frozen=True, slots=True)
class QueueLag:
    """One queue over time."""

    topic: str
    queue: str
    kind: str
    """What the allocation made of it while ids were shared or subscriptions differed."""
    points: tuple[tuple[float, int], ...]
    """(at, messages that wait)."""

    @property
    def peak(self) -> int:
        """Most that ever waited."""
        return max(waiting for _, waiting in self.points)


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages a second between two snapshots, over all queues that both tell."""

    since: float
    at: float
    produced: float
    consumed: float


def queue_lags(facts: Facts, view: GroupView) -> tuple[QueueLag, ...]:
    """Every queue of the group's topics whose lag is known, orphans first, then by their highest lag."""
    kinds = _kinds(view)
    found = [
        QueueLag(topic, queue, kinds.get((topic, queue), UNKNOWN), tuple((p.at or 0.0, lag(p)) for p in points))
        for topic, queues in _positions(facts, view).items()
        for queue, points in queues.items()
    ]
    order = (ORPHAN, DOUBLED, ALONE, UNKNOWN)
    return tuple(sorted(found, key=lambda f: (order.index(f.kind), -f.peak, f.topic, f.queue)))


def flows(facts: Facts, view: GroupView) -> tuple[Flow, ...]:
    """What came in and by how much offsets moved, from snapshot to snapshot, as long as every queue is told."""
    told = [points for queues in _positions(facts, view).values() for points in queues.values() if len(points) > 1]
    steps: dict[float, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for points in told:
        for one, other in pairwise(points):
            since, at = one.at or 0.0, other.at or 0.0
            came, read = (other.end or 0) - (one.end or 0), (other.committed or 0) - (one.committed or 0)
            for moment, sign in ((since, 1), (at, -1)):
                rates = (sign * came / (at - since), sign * read / (at - since), float(sign))
                steps[moment] = [a + b for a, b in zip(steps[moment], rates, strict=True)]
    moments = sorted(steps)
    levels = accumulate((steps[at] for at in moments), lambda a, b: [x + y for x, y in zip(a, b, strict=True)])
    spans = zip(pairwise(moments), levels, strict=False)
    return tuple(Flow(a, b, came, read) for (a, b), (came, read, queues) in spans if round(queues) == len(told))


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


def growth(view: GroupView) -> tuple[tuple[float, float], ...]:
    """A mean queue that nobody reads, had it grown by what was produced: (at, messages) twice; empty without one."""
    paces = [s.pace for s in view.during.orphans if s.pace is not None] if view.during else []
    if not paces:
        return ()
    first, last = paces[0].first.at or 0.0, paces[0].last.at or 0.0
    begin = sum(lag(p.first) for p in paces) / len(paces)
    return (first, begin), (last, begin + sum(p.produced for p in paces) / len(paces))


def _kinds(view: GroupView) -> Mapping[tuple[str, str], str]:
    """Kind of each queue where some have no owner or several; else nothing tells queues apart."""
    if view.during is None or not (view.during.orphans or view.during.doubled):
        return {}
    return {
        (s.topic, s.queue): ORPHAN if not s.owners else DOUBLED if len(s.owners) > 1 else ALONE
        for s in view.during.shares
    }


def _positions(facts: Facts, view: GroupView) -> Mapping[str, Mapping[str, Points]]:
    wanted: Sequence[str] = [t.topic for t in view.terms]
    return {topic: queues for (group, topic), queues in of_groups(facts).items()
            if group == view.group and topic in wanted}  # fmt: skip
