"""Burrow's verdict on each partition of a group, and how old the next record is that it will read.

Commits are those of a dump of ``__consumer_offsets``; without one, each snapshot counts as a commit of what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from mqlab.facts import Facts, Position
from mqlab.groups.queues import Points
from mqlab.kafka.groups import topics
from mqlab.memo import per_facts
from mqlab.models.burrow import INTERVALS, Commit, Status, kept, partition
from mqlab.models.time_lag import TimeLag, time_lag


@dataclass(frozen=True, slots=True)
class LagStatus:
    """One partition of a group at the last snapshot that tells of it."""

    topic: str
    partition: str
    status: Status
    complete: float
    """Share of the ten commits, which Burrow looks at, that there are."""
    lag: int
    since: float | None
    """From when on the committed offset stands still, lags or went back; None where all is well."""
    time_lag: TimeLag | None


@per_facts
def statuses(facts: Facts, group: str) -> tuple[LagStatus, ...]:
    """A row for each partition of *group*, by topic and number."""
    found = []
    for (name, topic), queues in topics(facts).items():
        if name == group:
            logged = _logged(facts, group, topic)
            found += [_of(topic, queue, points, logged.get(queue, ())) for queue, points in queues.items()]
    return tuple(sorted(found, key=lambda row: (row.topic, row.partition.zfill(9))))


def _logged(facts: Facts, group: str, topic: str) -> dict[str, tuple[Position, ...]]:
    """Commits in dumps by partition, by time."""
    found: dict[str, list[Position]] = {}
    for one in facts.positions:
        if (one.group, one.topic) == (group, topic) and one.end is None and one.committed is not None and one.at:
            found.setdefault(one.queue, []).append(one)
    return {queue: tuple(sorted(rows, key=lambda p: (p.at or 0.0, p.line or 0))) for queue, rows in found.items()}


def _of(topic: str, queue: str, points: Points, logged: Sequence[Position]) -> LagStatus:
    now, last = points[-1].at or 0.0, points[-1]
    ends = [(p.at or 0.0, p.end or 0) for p in points]
    told = [p for p in logged if (p.at or 0.0) <= now] if len(logged) > 1 else list(points)
    commits = kept([Commit(p.at or 0.0, p.committed or 0, _lag(ends, p)) for p in told])
    found = partition(commits, [end for _, end in ends[-INTERVALS:]], now)
    age = time_lag(ends, last.committed or 0, now)
    return LagStatus(topic, queue, found.status, found.complete, found.lag, _since(found.status, commits), age)


def _lag(ends: Sequence[tuple[float, int]], commit: Position) -> int | None:
    """Lag at the moment of the commit, by the last end that was known then."""
    before = [end for at, end in ends if at <= (commit.at or 0.0)]
    return max(0, before[-1] - (commit.committed or 0)) if before else None


def _since(status: Status, commits: Sequence[Commit]) -> float | None:
    if status in (Status.STOP, Status.STALL):
        return [*takewhile(lambda c: c.offset == commits[-1].offset, reversed(commits))][-1].at
    if status is Status.REWIND:
        return next(after.at for before, after in pairwise(commits) if after.offset < before.offset)
    return commits[0].at if status is Status.WARN else None
