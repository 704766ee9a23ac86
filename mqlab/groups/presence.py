"""When a group had members, and what says that it had none, by every source that tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from mqlab.facts import Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.groups.consumer_groups import is_kafka, streams
from mqlab.groups.queues import TOGETHER, Points
from mqlab.kafka import members
from mqlab.questions.wording import sample
from mqlab.rocketmq.members import NOT_ONLINE


def present(facts: Facts, group: str) -> Sequence[float]:
    """When any source listed or counted members, sorted."""
    views = streams(facts, group)
    listed = {s.at for view in views for s in view.snapshots if s.members}
    if is_kafka(facts, group):
        ends = {
            later.at for view in views if view.lasting for one, later in pairwise(view.snapshots)
            if one.members and not later.members
        }  # fmt: skip
        return sorted(listed | ends | set(_stated(facts, group)))
    counted = {at for s in _counts(facts, group) for at, value in s.points if value > 0}
    return sorted(listed | counted)


def absent(facts: Facts, group: str, begin: float, end: float) -> Sequence[tuple[float, Evidence]]:
    """Lines between *begin* and *end* that say that the group has no members, with their moments."""
    if is_kafka(facts, group):
        said = [e for e in members.empty(facts, group) if begin <= (e.first_at or 0.0) < end]
        return (*((e.first_at or 0.0, e.first) for e in said), *_ownerless(facts, group, begin, end))
    offline = [e for e in facts.of_kind("group-offline") if e.group == group]
    errors = [e for e in facts.of_kind("tool-error") if e.group == group and NOT_ONLINE in (e.reason or "")]
    said = [e for e in (*offline, *errors) if begin <= (e.first_at or 0.0) < end]
    return (*((e.first_at or 0.0, e.first) for e in said), *_counted(facts, group, begin, end))


def known_empty_seconds(facts: Facts, group: str, said: Sequence[tuple[float, Evidence]], end: float) -> float:
    """How long the group was empty at least, by what *said* so; the coordinator's word holds until *end*."""
    moments = [at for at, _ in said]
    emptied = [e for e in facts.of_kind("group-emptied") if e.group == group and (e.first_at or 0.0) in moments]
    return max(moments, default=0.0) - min(moments, default=0.0) if not emptied else end - min(moments)


def commits_alone(facts: Facts, group: str, queues: Mapping[str, Points]) -> bool:
    """A Kafka group whose offsets move while it has no members: ``assign()``, Flink and Spark are none by design."""
    if not is_kafka(facts, group):
        return False
    moments = [e.first_at or 0.0 for e in members.empty(facts, group)]
    moments += [p.at or 0.0 for p in _unowned(facts, group)]
    here = present(facts, group)
    alone = [
        (first, last) for first, last in pairwise(sorted(moments))
        if last > first and not any(first - TOGETHER <= at <= last + TOGETHER for at in here)
    ]  # fmt: skip
    return any(_moved(points, *times) for times in alone for points in queues.values())


def _moved(points: Points, first: float, last: float) -> bool:
    inside = [p.committed or 0 for p in points if first <= (p.at or 0.0) <= last]
    return any(after > before for before, after in pairwise(inside))


def _stated(facts: Facts, group: str) -> Iterable[float]:
    """Moments of ``--state`` that count members."""
    told = [e for e in facts.of_kind("group-state") if e.group == group]
    return (e.first_at for e in told if e.first_at is not None and (e.value_max or 0.0) > 0)


def _unowned(facts: Facts, group: str) -> list[Position]:
    """Rows without an owner, of snapshots that name none and were not taken in the middle of a rebalance."""
    rows = [p for p in facts.positions if p.group == group and p.at is not None and p.committed is not None]
    rows = [p for p in rows if p.end is not None]
    owned = {p.source for p in rows if p.client_id or p.member_id}
    named = {p.source for p in facts.positions if p.group == group and (p.client_id or p.member_id)}
    moving = members.unsettled(facts, group)
    return [
        p for p in rows
        if named and p.source not in owned and not any(abs(at - (p.at or 0.0)) <= TOGETHER for at in moving)
    ]  # fmt: skip


def _ownerless(facts: Facts, group: str, begin: float, end: float) -> list[tuple[float, Evidence]]:
    """One row of each describe that names no owner, where others name some."""
    rows = {p.source: p for p in reversed(_unowned(facts, group)) if begin <= (p.at or 0.0) < end}
    ordered = sorted(rows.values(), key=lambda p: (p.at or 0.0, p.source))
    return [(p.at or 0.0, Evidence(p.source, p.line, p.text)) for p in ordered]


def _counts(facts: Facts, group: str) -> list[Series]:
    return [s for s in facts.named("rocketmq.group.members") if s.labels.get("group") == group]


def _counted(facts: Facts, group: str, begin: float, end: float) -> list[tuple[float, Evidence]]:
    """Samples that count no members."""
    return [
        (at, sample(facts, s, at, "no members are counted"))
        for s in _counts(facts, group)
        for at, value in s.points
        if value == 0 and begin <= at < end
    ]
