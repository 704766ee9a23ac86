"""A Kafka group that finds no committed offset and is told to begin at the end: what came in while it was on its way.

Records that were there before the group are not its own. Those that were acknowledged after its members subscribed and
before they knew where to begin are passed over: on a busy host the assignment comes a minute after the first line, and
partitions that were added later are noticed after metadata.max.age.ms only. Who joins a topic that holds records
already has lost them only where a producer noted when they were acknowledged: from offsets alone it is a start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.delivery_groups.offsets import Offsets, after, before
from mqlab.delivery_groups.places import positions
from mqlab.delivery_groups.ranges import Skip, Why
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.groups.queues import TOGETHER
from mqlab.memo import per_facts
from mqlab.rows.groups import Tally
from mqlab.rows.messages import Fate

ORDINARY = 10.0
"""Seconds from the subscription to the position in an ordinary start: connections of a client that starts, and
group.initial.rebalance.delay.ms (3 s). Who joins a topic in use with ``latest`` begins when it has its position."""
_BUCKET = 10.0
"""Seconds that one row of tallies spans."""


@dataclass(frozen=True, slots=True)
class _End:
    """Where the log ended at a moment, as an interval."""

    lowest: int
    guess: int
    highest: int
    noted: bool = False
    """Producers noted what was acknowledged, and when."""


def first_start(facts: Facts, known: Offsets, at: float, target: int, places: tuple[Evidence, ...]) -> Iterator[Skip]:
    """What a group passed over that began at *target*, the end, without ever having had a position."""
    begun = since(facts, known.group, known.topic)
    seen = before(known.starts, at)
    start = seen.offset if seen is not None else _oldest(facts, known)
    if begun is None or target <= start:
        return
    end = _end(facts, known, begun, start, target)
    certain = end.noted and at - begun > ORDINARY
    if end.guess > start and not certain:
        end = _End(target, target, target)
    if end.guess > start:
        yield Skip(Why.CONFIGURED, start, end.guess, at, places)
    if target > end.guess:
        yield Skip(Why.RESET, end.guess, target, at, places, lowest=end.lowest, highest=end.highest)


@per_facts
def since(facts: Facts, group: str, topic: str) -> float | None:
    """The first sign that *group* reads *topic*: a subscription, an assignment or a position."""
    told = [p.at for p in facts.positions if (p.group, p.topic) == (group, topic)]
    told += [a.at for a in facts.assignments if (a.group, a.topic) == (group, topic)]
    told += [
        e.first_at for e in facts.of_kind("subscribed", "partitions-assigned")
        if e.group == group and _names(e.reason, topic, e.kind == "subscribed")
    ]  # fmt: skip
    return min((at for at in told if at is not None), default=None)


def _names(reason: str | None, topic: str, whole: bool) -> bool:
    places = (reason or "").split(", ")
    return topic in places if whole else any(place.rpartition("-")[0] == topic for place in places)


def _oldest(facts: Facts, known: Offsets) -> int:
    offsets = [f.first_offset for f in _own(facts, known) if f.first_offset is not None]
    return min(offsets, default=0)


def _end(facts: Facts, known: Offsets, at: float, start: int, target: int) -> _End:
    """Where the log ended at *at*, from what producers noted as acknowledged, else from snapshots.

    Where nothing was seen before, it is taken to have ended where it was seen next.
    """
    if _added(facts, known, at):
        return _End(start, start, start)
    one, next_ = before(known.ends, at), after(known.ends, at)
    lowest = start if one is None else max(start, min(one.offset, target))
    highest = target if next_ is None else max(lowest, min(target, next_.offset))
    guess = highest
    if one is not None and next_ is not None and next_.at > one.at:
        guess = lowest + round((highest - lowest) * (at - one.at) / (next_.at - one.at))
    rows = [t for t in facts.tallies if t.role == "acked" and (t.topic, t.queue) == (known.topic, known.queue)]
    if not rows:
        return _End(lowest, guess, highest)
    return _counted(rows, at, _oldest(facts, known), (lowest, highest))


def _added(facts: Facts, known: Offsets, at: float) -> bool:
    """Snapshots after *at* show other partitions of the topic and not yet this one."""
    every = positions(facts)
    first = min((p.at for p in every.get((known.topic, known.queue), ()) if p.at is not None), default=None)
    others = (p.at for (topic, _), rows in every.items() if topic == known.topic for p in rows if p.at is not None)
    return first is not None and any(at <= moment < first - TOGETHER for moment in others)


def _counted(rows: Sequence[Tally], at: float, first: int, within: tuple[int, int]) -> _End:
    """The same from counts of ten seconds, on top of the *first* offset."""
    earlier = first + sum(t.messages for t in rows if t.at + _BUCKET <= at)
    partly = [t for t in rows if t.at < at < t.at + _BUCKET]
    later = earlier + sum(t.messages for t in partly)
    guess = earlier + round(sum(t.messages * (at - t.at) / _BUCKET for t in partly))
    low, high = max(within[0], min(earlier, within[1])), min(within[1], max(later, within[0]))
    return _End(low, max(low, min(guess, high)), high, noted=True)


def _own(facts: Facts, known: Offsets) -> Iterator[Fate]:
    return (f for f in facts.fates if (f.topic, f.queue) == (known.topic, known.queue) and f.acked)
