"""Ranges of offsets that a Kafka group did not read: deleted before it came, jumped over, or skipped by hand.

A consumer whose position the log refuses, or that finds no committed one, goes where auto.offset.reset says
(SubscriptionState, ``offset out of range`` and ``Found no committed offset``); what lies between is not read. Below the
log start it was deleted (retention), from there on it was still there (reset). Without a consumer's log, a log start
above the committed offset of a group that stands still tells the same. librdkafka does not say where it goes: then the
ledger tells, which breaks off at a removed offset and goes on further behind.

Records that were there before the group are not its own. Those that were acknowledged after its members subscribed and
before they knew where to begin are passed over: on a busy host the assignment comes a minute after the first line, and
partitions that were added later are noticed after metadata.max.age.ms only. Who joins a topic that holds records
already has lost them only where a producer noted when they were acknowledged: from offsets alone it is a start.
A group id of the same clients that replaces another one has no offsets yet and begins where the earlier one stood.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from mqlab.delivery.missing import fates
from mqlab.delivery.positions import (
    Mark,
    OffsetReset,
    Offsets,
    Skip,
    Why,
    after,
    before,
    by_hand,
    empty_intervals,
    furthest,
    offset_resets,
    offsets,
    positions,
)
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.redelivery import noting, readers
from mqlab.memo import per_facts
from mqlab.rows import GRID, Tally, times
from mqlab.shared.configured import consumer_value
from mqlab.shared.queues import TOGETHER

ORDINARY = 10.0
"""Seconds from the subscription to the position in an ordinary start: connections of a client that starts, and
group.initial.rebalance.delay.ms (3 s). Who joins a topic in use with ``latest`` begins when it has its position."""


@dataclass(frozen=True, slots=True)
class _End:
    """Where the log ended at a moment, as an interval."""

    lowest: int
    guess: int
    highest: int
    noted: bool = False
    """Producers noted what was acknowledged, and when."""


def _first_start(facts: Facts, known: Offsets, at: float, target: int, places: tuple[Evidence, ...]) -> Iterator[Skip]:
    """What a group passed over that began at *target*, the end, without ever having had a position."""
    begun, seen = _reads_since(facts, known.group, known.topic), before(known.starts, at)
    start = seen.offset if seen is not None else _oldest(facts, known)
    if begun is None or target <= start:
        return
    end = _end(facts, known, begun, start, target)
    if end.guess > start and not (end.noted and at - begun > ORDINARY):
        end = _End(target, target, target)
    if end.guess > start:
        yield Skip(Why.CONFIGURED, start, end.guess, at, places)
    if target > end.guess:
        yield Skip(Why.RESET, end.guess, target, at, places, lowest=end.lowest, highest=end.highest)


@per_facts
def _reads_since(facts: Facts, group: str, topic: str) -> float | None:
    """The first sign that *group* reads *topic*: a subscription, an assignment or a position."""
    told = [p.at for p in facts.positions if (p.group, p.topic) == (group, topic)]
    told += [a.at for a in facts.assignments if (a.group, a.topic) == (group, topic)]
    told += [
        e.first_at for e in facts.of_kind("subscribed", "partitions-assigned")
        if e.group == group and _names(e.reason, topic, e.kind == "subscribed")
    ]  # fmt: skip
    return span(told)[0]


def _names(reason: str | None, topic: str, whole: bool) -> bool:
    places = (reason or "").split(", ")
    return topic in places if whole else any(place.rpartition("-")[0] == topic for place in places)


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
    earlier = first + sum(t.messages for t in rows if t.at + GRID <= at)
    partly = [t for t in rows if t.at < at < t.at + GRID]
    later = earlier + sum(t.messages for t in partly)
    guess = earlier + round(sum(t.messages * (at - t.at) / GRID for t in partly))
    low, high = max(within[0], min(earlier, within[1])), min(within[1], max(later, within[0]))
    return _End(low, max(low, min(guess, high)), high, noted=True)


def _oldest(facts: Facts, known: Offsets) -> int:
    """The first offset that producers noted as acknowledged; 0 without one."""
    acked = (f for f in facts.fates if (f.topic, f.queue) == (known.topic, known.queue) and f.acked)
    return min((f.first_offset for f in acked if f.first_offset is not None), default=0)


@per_facts
def _predecessors(facts: Facts, group: str, topic: str) -> tuple[str, ...]:
    """Groups with a client of the same id that read *topic* before *group* did and not any more, by name."""
    begun = _reads_since(facts, group, topic)
    own = _clients(facts, group)
    others = [one for one in groups(facts) if one != group and one in readers(facts, topic)]
    return tuple(
        one for one in others
        if begun is not None and own & _clients(facts, one) and (last := _last(facts, one, topic)) and last <= begun
    )  # fmt: skip


@per_facts
def _clients(facts: Facts, group: str) -> frozenset[str]:
    named = {e.client_id for e in facts.episodes if e.group == group}
    named |= {p.client_id for p in facts.positions if p.group == group}
    return frozenset(name for name in named if name)


def _last(facts: Facts, group: str, topic: str) -> float | None:
    """When a member of *group* was last seen to own a partition of *topic* or to say where it reads there."""
    told = [p.at for p in facts.positions if (p.group, p.topic) == (group, topic) and p.client_id]
    return span([*told, *(e.first_at for e in facts.episodes if (e.group, e.topic) == (group, topic))])[1]


def _removed(facts: Facts, known: Offsets) -> Iterator[Skip]:
    """What lies between such an offset and what the group noted next; nothing where it is told to begin anew."""
    own = noting(facts, known.group, known.topic)
    noted = [f.first_offset or 0 for f in fates(facts, known.topic, known.queue) if times(f, own)]
    for line in facts.of_kind("offsets-removed"):
        if (line.group, line.topic) != (known.group, known.topic) or line.queue not in (None, known.queue):
            continue
        stood = before(known.committed, line.first_at or 0.0)
        behind = min((offset for offset in noted if stood is not None and offset > stood.offset), default=None)
        if stood is not None and behind is not None and _to_end(facts, known.group, line.first_at):
            yield Skip(Why.RESET, stood.offset, behind, line.first_at or 0.0, (stood.place, line.first))


def _to_end(facts: Facts, group: str, at: float | None) -> bool:
    """A setting of the group's members says so."""
    named = [s for s in facts.settings if (s.scope, s.key, s.value) == ("consumer", "group.id", group)]
    members = sorted({setting.owner for setting in named if setting.owner})
    told = [consumer_value(facts, member, "auto.offset.reset", at) for member in members]
    return any(
        one is not None and one.setting is not None and one.value in ("latest", "largest", "end") for one in told
    )


@per_facts
def skips(facts: Facts, group: str, topic: str, queue: str) -> tuple[Skip, ...]:
    """Ranges of one partition, by offset; those with a cause that is seen do not overlap."""
    known = offsets(facts, group, topic, queue)
    told = [skip for reset in offset_resets(facts, known) for skip in _of_reset(facts, known, reset)]
    told += [skip for skip in _removed(facts, known) if not _overlapping(skip, told)]
    told += [skip for skip in by_hand(facts, known) if not _overlapping(skip, told)]
    seen = [skip for skip in _overtaken(facts, known) if not _overlapping(skip, told)]
    return tuple(sorted((*told, *seen), key=lambda s: (s.low, s.high, s.why)))


def _of_reset(facts: Facts, known: Offsets, reset: OffsetReset) -> Iterator[Skip]:
    """What lies between the position and where it went on; nothing where it went back."""
    stood = furthest(known, reset.at)
    if reset.refused is None and not stood:
        earlier = _predecessors(facts, known.group, known.topic)
        committed = [furthest(offsets(facts, one, known.topic, known.queue), reset.at) for one in earlier]
        stood = max(committed, default=0)
    low = stood if reset.refused is None else max(reset.refused, stood)
    to_end = _skipped_to_end(facts, known, reset)
    if reset.truncated:
        return
    if reset.refused is not None and reset.refused >= reset.target:
        begun = _written_anew(facts, known, reset)
        if to_end and begun is not None and begun < reset.target:
            yield Skip(Why.RESET, begun, reset.target, reset.at, reset.places)
        return
    if reset.refused is None and not stood:
        yield from _first_start(facts, known, reset.at, reset.target, reset.places) if to_end else ()
        return
    begins = before(known.starts, reset.at)
    log_start = reset.target if not to_end else begins.offset if begins is not None else 0
    start = max(low, min(reset.target, log_start))
    if start > low:
        yield Skip(Why.RETENTION, low, start, reset.at, reset.places)
    if reset.target > start:
        yield Skip(Why.RESET, start, reset.target, reset.at, reset.places)


def _skipped_to_end(facts: Facts, known: Offsets, reset: OffsetReset) -> bool:
    """Its auto.offset.reset sent it to the end; where nobody says what that was, it got at least as far as the end."""
    value = consumer_value(facts, reset.client, "auto.offset.reset", reset.at)
    if value is not None and value.setting is not None:
        return value.value != "earliest"
    end = before(known.ends, reset.at)
    return end is not None and reset.target >= end.offset


def _written_anew(facts: Facts, known: Offsets, reset: OffsetReset) -> int | None:
    """Where the log was cut before a position turned out to be above its end: what is behind that is new."""
    told = [
        int(e.value_max) for e in facts.of_kind("leader-started", "log-truncated")
        if (e.topic, e.queue) == (known.topic, known.queue) and e.value_max is not None
        and (e.first_at or 0.0) <= reset.at and e.value_max <= (reset.refused or 0)
    ]  # fmt: skip
    return told[-1] if told else None


def _overtaken(facts: Facts, known: Offsets) -> Iterator[Skip]:
    """A log start that was seen above the committed offset while that stood still."""
    spans = empty_intervals(facts, known.group)
    for still, later in _passed(known):
        until = later.at if later else float("inf")
        gone = [s for s in known.starts if still[0].at <= s.at < until and s.offset > still[0].offset]
        quiet = [s for s in gone if s.at <= still[-1].at or any(since <= s.at <= end for since, end in spans)]
        if later is None:
            quiet = [s for s in quiet if known.looked is None or s.at <= known.looked] or quiet
        if not quiet:
            continue
        low = max(still[0].offset, furthest(known, still[0].at))
        high = quiet[-1].offset if later is None else min(quiet[-1].offset, max(later.offset, low))
        if high > low and not _read_on(known, quiet[0].at, high):
            places = (still[-1].place, quiet[-1].place)
            yield Skip(Why.RETENTION, low, high, quiet[0].at, places, ongoing=later is None)


def _read_on(known: Offsets, at: float, high: int) -> bool:
    """A consumer's next word is that its position behind *high* is out of range: it had fetched what lies before."""
    told = next((line for line in known.lines if (line.first_at or 0.0) > at), None)
    return told is not None and told.kind == "offset-reset" and (told.value_max or 0.0) >= high


def _passed(known: Offsets) -> Iterator[tuple[list[Mark], Mark | None]]:
    """Committed offsets below a log start that was seen then, each as long as it stood, and the one after it."""
    stood = [list(marks) for _, marks in groupby(known.committed, key=lambda m: m.offset)]
    begun = [marks[0].at for marks in stood]
    seen = {(bisect_right(begun, s.at) - 1, s.offset) for s in known.starts}
    for place in sorted({n for n, offset in seen if n >= 0 and stood[n][0].offset < offset}):
        yield stood[place], stood[place + 1][0] if place + 1 < len(stood) else None


def _overlapping(skip: Skip, others: Sequence[Skip]) -> bool:
    return any(skip.low < other.high and other.low < skip.high for other in others)
