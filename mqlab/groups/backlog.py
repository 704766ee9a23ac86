"""What waited for a group because of something: what listings show before the end of the log, less what it had handled.

A listing counts from the committed offset. A group that commits seldom, or whose commits fail, has handled part of that
by then, as its ledgers tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from mqlab.facts import Facts, Position
from mqlab.kafka.member_ledgers import noting
from mqlab.memo import per_facts
from mqlab.rows import GRID
from mqlab.shared.copies import ledgers_of
from mqlab.shared.lag import LEAST, growth
from mqlab.shared.queues import OWN, TOGETHER, complete, lag, next_read, of_groups, totals
from mqlab.units import Interval, between

_ABOUT = 0.05
"""Share by which a backlog may grow faster than before, or be below its peak, and still be the same. Judgement, no
default behind it."""
_LATE = 0.1
"""Share of a listing's lag that had been handled before, from which commits come late enough to tell lag from what
waits. Judgement, no default behind it: a group that commits after each poll has none of it."""
Points = Sequence[tuple[float, int]]
"""Moments, and how much waited."""


def backlog(facts: Facts, group: str, since: float, until: float) -> dict[str, float]:
    """Measures of what waited for *group* because of something that lasted from *since* to *until*, over all topics.

    ``peak_lag`` is the most that waited until it fell, ``pending_records`` what of that waits when the material ends.
    Where more does, something else added to it after it fell, and how much of it is left is not known: it is left out.

    It grows by so much from its lowest to its highest meanwhile; where that was no even rise, nothing is said of it.

    A backlog goes on to grow until somebody works it off, so its peak may come after the end of its cause.
    """
    grows, waits = between(0.0, ()), {"peak_lag": 0, "pending_records": 0}
    for (name, topic), queues in of_groups(facts).items():
        points = [point for point in waiting(facts, name, topic) if point[0] >= since - TOGETHER]
        inside = [point for point in points if point[0] <= until]
        if name != group or topic.startswith(OWN) or len(inside) < 2:
            continue
        # What waited in the snapshot before it began is not its own.
        meanwhile = [amount for at, amount in inside if at >= since]
        waits["peak_lag"] += max((*meanwhile, *_growing_on(inside, points[len(inside) :])), default=0)
        waits["pending_records"] += points[-1][1]
        lags = [(at, behind) for at, behind, _ in totals(queues) if inside[0][0] <= at <= until]
        grows = grows.plus(_even(_rise(lags)) or between(0.0, ()))
    if waits["pending_records"] > waits["peak_lag"]:
        del waits["pending_records"]
    rose = grows.measures("lag_growth_per_second") if grows.likely > 0 else {}
    return {**waits, **rose} if waits["peak_lag"] else {}


def waited(facts: Facts, group: str, since: float | None, until: float | None) -> dict[str, float]:
    """``backlog`` without its growth, for what does not make a backlog itself; empty for what has no moments."""
    known = backlog(facts, group, since, until) if since is not None and until is not None else {}
    return {name: value for name, value in known.items() if not name.startswith("lag_growth")}


@per_facts
def waiting(facts: Facts, group: str, topic: str) -> Points:
    """What waited at each complete listing, by time."""
    queues, handled = of_groups(facts)[group, topic], _handled(facts, group, topic)
    listed = [(at, behind) for at, behind, _ in totals(queues)]
    rows = [(at, behind, points) for (at, behind), points in zip(listed, complete(queues), strict=True)]
    for at, behind, points in rows:
        before = sum(_beyond(handled[p.queue], next_read(p), at // GRID * GRID) for p in points if p.queue in handled)
        if before >= LEAST and before >= _LATE * behind:
            return [(at, sum(_unhandled(handled.get(p.queue), p, at) for p in points)) for at, _, points in rows]
    return listed


Handled = tuple[Mapping[float, int], Sequence[tuple[int, int, int]]]
"""What ledgers note of one queue: records by the ten seconds in which they were handled first, and runs of offsets
(first, last, records)."""


def _beyond(handled: Handled, offset: int, at: float) -> int:
    """Records from *offset* on that were handled by a moment."""
    times, runs = handled
    below = sum(n * min(1.0, max(0.0, (offset - a) / (b - a + 1))) for a, b, n in runs)
    by_then = sum(n * min(1.0, (at - begin) / GRID) for begin, n in times.items() if begin <= at)
    return max(0, round(by_then - below))


def _unhandled(handled: Handled | None, position: Position, at: float) -> int:
    """What of a listing's lag was not handled; none where the rest of it was within the same ten seconds."""
    behind, offset = lag(position), next_read(position)
    if handled is None:
        return behind
    soon = _beyond(handled, offset, at // GRID * GRID + GRID)
    return 0 if soon >= behind else behind - _beyond(handled, offset, at)


def _handled(facts: Facts, group: str, topic: str) -> Mapping[str, Handled]:
    """By queue; nothing where ledgers of other groups note the same records, or the log gave their places to others."""
    own = noting(facts, group, topic) or frozenset(ledgers_of(facts, group, topic))
    rows = [d for d in facts.deliveries if d.topic == topic]
    fates = [f for f in facts.fates if f.topic == topic]
    if any(not own.issuperset(d.sources) for d in rows) or any(f.overwritten for f in fates):
        return {}
    times: dict[str, dict[float, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        times[row.queue][row.at] += row.messages
    runs: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for fate in fates:
        if own.intersection(fate.handled) and fate.first_offset is not None and fate.last_offset is not None:
            runs[fate.queue].append((fate.first_offset, fate.last_offset, fate.messages))
    return {queue: (moments, runs[queue]) for queue, moments in times.items()}


def _growing_on(inside: Points, later: Points) -> Iterator[int]:
    """What waited after the end, as long as it grew on and no faster: what comes faster has another reason."""
    rise = _rise(inside)
    since, last = inside[-1]
    pace = (1 + _ABOUT) * max(((y - x) / (b - a) for (a, x), (b, y) in pairwise(rise) if b > a), default=0.0)
    before = last
    for at, amount in later if last >= (1 - _ABOUT) * rise[-1][1] else ():
        if not before <= amount <= last + pace * (at - since):
            return
        yield amount
        before = amount


def _rise(points: Points) -> Points:
    """From the last lowest point before the highest to it: what is worked off in between, or later, is no rise."""
    peak = max(range(len(points)), key=lambda n: (points[n][1], -n))
    low = min(range(peak + 1), key=lambda n: (points[n][1], -n))
    return points[low : peak + 1]


def _even(rise: Points) -> Interval | None:
    """The growth of a *rise*; None where it came by leaps that were worked off in between."""
    found, seconds = growth(rise), rise[-1][0] - rise[0][0]
    whole = (rise[-1][1] - rise[0][1]) / seconds if seconds else 0.0
    return found if found is not None and found.likely > whole / 2 else None
