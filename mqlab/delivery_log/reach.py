"""How far the log of a partition was seen to reach while one broker led it: by brokers' log ends, by what was visible.

What consumers can see or commit lies below the high watermark; a broker's own log end may lie above it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.delivery_log.replica_history import Leadership, Place
from mqlab.facts import Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.questions.wording import sample

SLACK = 5.0
"""Seconds by which the clocks of two machines may differ, and a leader may begin after its election."""


@dataclass(frozen=True, slots=True)
class End:
    """How far a partition's log is known to have reached."""

    offset: int
    evidence: Evidence


Seen = tuple[float, int, Series | Position]
"""Moment, offset, and what shows it."""


def furthest(facts: Facts, known: tuple[Seen, ...], before: Leadership, after: Leadership, stale: int) -> End | None:
    """The largest of *known* while *before* led; what a replica shows that was not cut yet is not above *stale*.

    The last seconds do not count: by another clock they may belong to the new leader.
    """
    since, until = before.at or 0.0, after.at or 0.0
    own = [seen for seen in known if since <= seen[0] < until - SLACK and seen[1] > stale]
    best = max(own, key=lambda seen: (seen[1], -seen[0]), default=None)
    return End(best[1], _shown(facts, best)) if best is not None else None


def diverged(facts: Facts, after: Leadership) -> End | None:
    """The furthest position at which a consumer learned that the log goes on from the first offset of *after*."""
    own = [
        e for e in facts.of_kind("truncation-detected")
        if (e.topic, e.queue, e.reason) == (after.topic, after.queue, str(after.from_offset))
        and e.value_max is not None and (after.at is None or (e.first_at or 0.0) >= after.at - SLACK)
    ]  # fmt: skip
    last = max(own, key=lambda e: e.value_max or 0, default=None)
    return End(round(last.value_max or 0), last.last) if last is not None else None


def _shown(facts: Facts, seen: Seen) -> Evidence:
    at, _, row = seen
    if isinstance(row, Series):
        return sample(facts, row, at, "log end, as it was counted")
    return Evidence(row.source, row.line, row.text, "offset that consumers could see")


@per_facts
def log_ends(facts: Facts) -> Mapping[Place, tuple[Seen, ...]]:
    """Log ends that brokers count, of leaders and followers alike."""
    return _of_series(facts, "broker.log_end_offset")


@per_facts
def watermarks(facts: Facts) -> Mapping[Place, tuple[Seen, ...]]:
    """Ends that snapshots and exporters show, and offsets that were committed up to there."""
    found: dict[Place, list[Seen]] = defaultdict(list)
    for place, rows in _of_series(facts, "topic.end_offset").items():
        found[place] += rows
    for one in facts.positions:
        reached = one.committed if one.end is None else one.end
        if one.at is not None and reached is not None:
            found[one.topic, one.queue].append((one.at, reached, one))
    return {place: tuple(rows) for place, rows in found.items()}


def _of_series(facts: Facts, name: str) -> Mapping[Place, tuple[Seen, ...]]:
    found: dict[Place, list[Seen]] = defaultdict(list)
    for series in facts.named(name):
        topic, queue = series.labels.get("topic"), series.labels.get("partition")
        if topic and queue:
            found[topic, queue] += [(at, round(value), series) for at, value in series.points]
    return {place: tuple(rows) for place, rows in found.items()}
