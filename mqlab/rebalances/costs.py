"""What a rebalance cost: records that came in while nobody worked, and records that were handed out again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mqlab.facts import Facts
from mqlab.kafka.groups import topics
from mqlab.memo import per_facts

Curve = tuple[tuple[float, ...], tuple[float, ...]]
"""Moments and values, by time."""


def delayed(facts: Facts, group: str, since: float, until: float) -> int | None:
    """Records that came into the group's topics from *since* to *until*; None where nothing tells.

    Ends of partitions are taken to grow evenly between two snapshots.
    """
    for curves in _curves(facts, group):
        grown = [_grown(curve, since, until) for curve in curves]
        known = [one for one in grown if one is not None]
        if curves and len(known) == len(curves):
            return round(sum(known))
    return None


def _grown(curve: Curve, since: float, until: float) -> float | None:
    begin, end = _value(curve, since), _value(curve, until)
    return None if begin is None or end is None or end < begin else end - begin


def _value(curve: Curve, at: float) -> float | None:
    times, values = curve
    place = bisect_left(times, at)
    if place == len(times) or (place == 0 and times[0] > at):
        return None
    if times[place] == at or place == 0:
        return values[place]
    share = (at - times[place - 1]) / (times[place] - times[place - 1])
    return values[place - 1] + share * (values[place] - values[place - 1])


@per_facts
def _curves(facts: Facts, group: str) -> Sequence[Sequence[Curve]]:
    """How the partitions of the group's topics grew, by each kind of source that tells of all of them."""
    own = {topic: queues for (name, topic), queues in topics(facts).items() if name == group}
    positions = [
        (tuple(p.at or 0.0 for p in points), tuple(float(p.end or 0) for p in points))
        for queues in own.values()
        for points in queues.values()
    ]
    read = _read(facts, group)
    told = [positions] if set(own) >= read else []
    for name in ("broker.log_end_offset", "broker.messages_in"):
        series = [s for s in facts.named(name) if s.labels.get("topic") in read and s.points]
        if {s.labels.get("topic") for s in series} == read:
            told.append([(tuple(at for at, _ in s.points), tuple(v for _, v in s.points)) for s in series])
    return told


@per_facts
def _read(facts: Facts, group: str) -> frozenset[str]:
    """Topics that the group reads."""
    found = {a.topic for a in facts.assignments if a.group == group}
    found |= {p.topic for p in facts.positions if p.group == group}
    return frozenset(found | {e.topic for e in facts.of_kind("offset-set") if e.group == group and e.topic})


def repeated(facts: Facts, group: str, since: float, until: float) -> int | None:
    """Records first handled from *since* to *until* and handled again later; None where no ledger tells.

    A ledger does not say whose it is: where two groups read one topic, nothing is told.
    """
    moments, counts = _repeats(facts, group)
    if not moments:
        return None
    return sum(counts[bisect_left(moments, since) : bisect_right(moments, until)])


@per_facts
def _repeats(facts: Facts, group: str) -> tuple[Sequence[float], Sequence[int]]:
    """Moments, and how many records that were first handled then were handled more than once."""
    readers = _readers(facts)
    own = {topic for topic in _read(facts, group) if readers.get(topic) == {group}}
    rows = sorted((d.at, d.messages if len(d.sources) > 1 else 0) for d in facts.deliveries if d.topic in own)
    return [at for at, _ in rows], [count for _, count in rows]


@per_facts
def _readers(facts: Facts) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    pairs: Iterable[tuple[str, str | None]] = (
        *((a.topic, a.group) for a in facts.assignments),
        *((p.topic, p.group) for p in facts.positions),
    )
    for topic, group in pairs:
        if group:
            found[topic].add(group)
    return found
