"""Ranges of offsets that a Kafka group did not read: deleted before it came, jumped over, or skipped by hand.

A consumer whose position the log refuses, or that finds no committed one, goes where auto.offset.reset says
(SubscriptionState, ``offset out of range`` and ``Found no committed offset``); what lies between is not read. Below the
log start it was deleted (retention), from there on it was still there (reset). Without a consumer's log, a log start
above the committed offset of a group that stands still tells the same. librdkafka does not say where it goes: then the
ledger tells, which breaks off at a removed offset and goes on further behind.

Records that were there before the group are not its own. Those that were acknowledged after its members subscribed and
before they knew where to begin are passed over: on a busy host the assignment comes a minute after the first line, and
partitions that were added later are noticed after metadata.max.age.ms only. Who joins a topic that holds records
already has lost them only where a producer noted when they were acknowledged: from offsets alone it is a start. And a
group that starts for the first time has nothing to lose: where it begins is what was configured.
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
    first_start,
    furthest,
    offset_resets,
    offsets,
    positions,
)
from mqlab.facts import Facts, Position, span
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.member_ledgers import noting, readers
from mqlab.memo import per_facts
from mqlab.rows import GRID, Tally, times
from mqlab.shared.configured import consumer_value
from mqlab.shared.queues import TOGETHER

ORDINARY = 2 * 3.0 + 4 * 1.0
"""Seconds from the subscription to the position in an ordinary start: group.initial.rebalance.delay.ms (3 s), once more
for a member that joins meanwhile, and four requests (metadata, coordinator, join, offsets), each of them after a
connection that was tried again within reconnect.backoff.max.ms (1 s)."""


@dataclass(frozen=True, slots=True)
class _End:
    """Where the log ended at a moment, as an interval."""

    lowest: int
    guess: int
    highest: int
    noted: bool = False
    """Producers noted what was acknowledged, and when."""


def _first_start(
    facts: Facts, partition: Offsets, at: float, target: int, places: tuple[Evidence, ...]
) -> Iterator[Skip]:
    """What a group passed over that began at *target*, the end, without ever having had a position."""
    subscribed, seen = _reads_since(facts, partition.group, partition.topic), before(partition.starts, at)
    start = seen.offset if seen is not None else _oldest(facts, partition)
    if subscribed is None or target <= start:
        return
    end = _end(facts, partition, subscribed, start, target)
    is_start = first_start(facts, partition.group, at) and not _added(facts, partition, subscribed)
    if is_start or (end.guess > start and not (end.noted and at - subscribed > ORDINARY)):
        end = _End(target, target, target)
    if end.guess > start:
        yield Skip(Why.CONFIGURED, start, end.guess, at, places)
    if target > end.guess:
        yield Skip(Why.RESET, end.guess, target, at, places, lowest=end.lowest, highest=end.highest)


@per_facts
def _reads_since(facts: Facts, group: str, topic: str) -> float | None:
    """The first sign that *group* reads *topic*: a subscription, an assignment or a position."""
    moments = [p.at for p in facts.positions if (p.group, p.topic) == (group, topic)]
    moments += [a.at for a in facts.assignments if (a.group, a.topic) == (group, topic)]
    moments += [
        e.first_at for e in facts.of_kind("subscribed", "partitions-assigned")
        if e.group == group and _names(e.reason, topic, e.kind == "subscribed")
    ]  # fmt: skip
    return span(moments)[0]


def _names(reason: str | None, topic: str, whole: bool) -> bool:
    places = (reason or "").split(", ")
    return topic in places if whole else any(place.rpartition("-")[0] == topic for place in places)


def _end(facts: Facts, partition: Offsets, at: float, start: int, target: int) -> _End:
    """Where the log ended at *at*, from what producers noted as acknowledged, else from snapshots.

    Where nothing was seen before, it is taken to have ended where it was seen next.
    """
    if _added(facts, partition, at):
        return _End(start, start, start)
    earlier, later = before(partition.ends, at), after(partition.ends, at)
    lowest = start if earlier is None else max(start, min(earlier.offset, target))
    highest = target if later is None else max(lowest, min(target, later.offset))
    guess = highest
    if earlier is not None and later is not None and later.at > earlier.at:
        guess = lowest + round((highest - lowest) * (at - earlier.at) / (later.at - earlier.at))
    rows = [t for t in facts.tallies if t.role == "acked" and (t.topic, t.queue) == (partition.topic, partition.queue)]
    if not rows:
        return _End(lowest, guess, highest)
    return _counted(rows, at, _oldest(facts, partition), (lowest, highest))


def _added(facts: Facts, partition: Offsets, at: float) -> bool:
    """Snapshots after *at*, read whole, show other partitions of the topic and not yet this one."""
    snapshots = positions(facts)
    first = min((p.at for p in snapshots.get((partition.topic, partition.queue), ()) if p.at is not None), default=None)
    others = (
        p.at
        for (topic, _), rows in snapshots.items() if topic == partition.topic
        for p in rows if p.at is not None and p.source not in facts.unread
    )  # fmt: skip
    return first is not None and any(at <= moment < first - TOGETHER for moment in others)


def _counted(rows: Sequence[Tally], at: float, first: int, within: tuple[int, int]) -> _End:
    """The same from counts of ten seconds, on top of the *first* offset."""
    earlier = first + sum(t.messages for t in rows if t.at + GRID <= at)
    partly = [t for t in rows if t.at < at < t.at + GRID]
    later = earlier + sum(t.messages for t in partly)
    guess = earlier + round(sum(t.messages * (at - t.at) / GRID for t in partly))
    low, high = max(within[0], min(earlier, within[1])), min(within[1], max(later, within[0]))
    return _End(low, max(low, min(guess, high)), high, noted=True)


def _oldest(facts: Facts, partition: Offsets) -> int:
    """The first offset that producers noted as acknowledged; 0 without one."""
    acked = (f for f in facts.fates if (f.topic, f.queue) == (partition.topic, partition.queue) and f.acked)
    return min((f.first_offset for f in acked if f.first_offset is not None), default=0)


@per_facts
def _predecessors(facts: Facts, group: str, topic: str) -> tuple[str, ...]:
    """Groups with a client of the same id that read *topic* before *group* did and not any more, by name."""
    since = _reads_since(facts, group, topic)
    own = _clients(facts, group)
    others = [other for other in groups(facts) if other != group and other in readers(facts, topic)]
    return tuple(
        other for other in others
        if since is not None and own & _clients(facts, other) and (last := _last(facts, other, topic)) and last <= since
    )  # fmt: skip


@per_facts
def _clients(facts: Facts, group: str) -> frozenset[str]:
    named = {e.client_id for e in facts.episodes if e.group == group}
    named |= {p.client_id for p in facts.positions if p.group == group}
    return frozenset(name for name in named if name)


def _last(facts: Facts, group: str, topic: str) -> float | None:
    """When a member of *group* was last seen to own a partition of *topic* or to say where it reads there."""
    moments = [p.at for p in facts.positions if (p.group, p.topic) == (group, topic) and p.client_id]
    return span([*moments, *(e.first_at for e in facts.episodes if (e.group, e.topic) == (group, topic))])[1]


def _removed(facts: Facts, partition: Offsets) -> Iterator[Skip]:
    """What lies between such an offset and what the group noted next; nothing where it is told to begin anew."""
    own = noting(facts, partition.group, partition.topic)
    noted = [f.first_offset or 0 for f in fates(facts, partition.topic, partition.queue) if times(f, own)]
    for line in facts.of_kind("offsets-removed"):
        if (line.group, line.topic) != (partition.group, partition.topic) or line.queue not in (None, partition.queue):
            continue
        stood = before(partition.committed, line.first_at or 0.0)
        behind = min((offset for offset in noted if stood is not None and offset > stood.offset), default=None)
        if stood is not None and behind is not None and _to_end(facts, partition.group, line.first_at):
            yield Skip(Why.RESET, stood.offset, behind, line.first_at or 0.0, (stood.place, line.first))


def _to_end(facts: Facts, group: str, at: float | None) -> bool:
    """A setting of the group's members says so."""
    named = [s for s in facts.settings if (s.scope, s.key, s.value) == ("consumer", "group.id", group)]
    members = sorted({setting.owner for setting in named if setting.owner})
    values = [consumer_value(facts, member, "auto.offset.reset", at) for member in members]
    return any(
        value is not None and value.setting is not None and value.value in ("latest", "largest", "end")
        for value in values
    )


@per_facts
def skips(facts: Facts, group: str, topic: str, queue: str) -> tuple[Skip, ...]:
    """Ranges of one partition, by offset; those with a cause that is seen do not overlap."""
    partition = offsets(facts, group, topic, queue)
    ranges = [skip for reset in offset_resets(facts, partition) for skip in _of_reset(facts, partition, reset)]
    ranges += [skip for skip in _removed(facts, partition) if not _overlapping(skip, ranges)]
    ranges += [skip for skip in by_hand(facts, partition) if not _overlapping(skip, ranges)]
    seen = [skip for skip in _overtaken(facts, partition) if not _overlapping(skip, ranges)]
    return tuple(sorted((*ranges, *seen), key=lambda s: (s.low, s.high, s.why)))


def _of_reset(facts: Facts, partition: Offsets, reset: OffsetReset) -> Iterator[Skip]:
    """What lies between the position and where it went on; nothing where it went back."""
    stood = furthest(partition, reset.at)
    if reset.refused is None and not stood:
        earlier = _predecessors(facts, partition.group, partition.topic)
        committed = [
            furthest(offsets(facts, predecessor, partition.topic, partition.queue), reset.at) for predecessor in earlier
        ]
        stood = max(committed, default=0)
    low = stood if reset.refused is None else max(reset.refused, stood)
    to_end = _skipped_to_end(facts, partition, reset)
    if reset.truncated:
        return
    if reset.refused is not None and reset.refused >= reset.target:
        cut = _written_anew(facts, partition, reset)
        if to_end and cut is not None and cut < reset.target:
            yield Skip(Why.RESET, cut, reset.target, reset.at, reset.places)
        return
    if reset.refused is None and not stood:
        yield from _first_start(facts, partition, reset.at, reset.target, reset.places) if to_end else ()
        return
    begins = before(partition.starts, reset.at)
    log_start = reset.target if not to_end else begins.offset if begins is not None else 0
    start = max(low, min(reset.target, log_start))
    if start > low:
        yield Skip(Why.RETENTION, low, start, reset.at, reset.places)
    if reset.target > start:
        yield Skip(Why.RESET, start, reset.target, reset.at, reset.places)


def _skipped_to_end(facts: Facts, partition: Offsets, reset: OffsetReset) -> bool:
    """Its auto.offset.reset sent it to the end; where nobody says what that was, it got at least as far as the end."""
    value = consumer_value(facts, reset.client, "auto.offset.reset", reset.at)
    if value is not None and value.setting is not None:
        return value.value != "earliest"
    end = before(partition.ends, reset.at)
    return end is not None and reset.target >= end.offset


def _written_anew(facts: Facts, partition: Offsets, reset: OffsetReset) -> int | None:
    """Where the log was cut before a position turned out to be above its end: what is behind that is new."""
    cuts = [
        int(e.value_max) for e in facts.of_kind("leader-started", "log-truncated")
        if (e.topic, e.queue) == (partition.topic, partition.queue) and e.value_max is not None
        and (e.first_at or 0.0) <= reset.at and e.value_max <= (reset.refused or 0)
    ]  # fmt: skip
    return cuts[-1] if cuts else None


def _overtaken(facts: Facts, partition: Offsets) -> Iterator[Skip]:
    """A log start that was seen above the committed offset while that stood still."""
    spans = empty_intervals(facts, partition.group)
    for still, later in _passed(partition):
        until = later.at if later else float("inf")
        behind = [s for s in partition.starts if still[0].at <= s.at < until and s.offset > still[0].offset]
        alone = still[-1].at + (TOGETHER if later is None and _lists_nobody(facts, still[-1]) else 0.0)
        quiet = [s for s in behind if s.at <= alone or any(since <= s.at <= end for since, end in spans)]
        if later is None:
            quiet = [s for s in quiet if partition.looked is None or s.at <= partition.looked] or quiet
        if not quiet:
            continue
        low = max(still[0].offset, furthest(partition, still[0].at))
        high = quiet[-1].offset if later is None else min(quiet[-1].offset, max(later.offset, low))
        if high > low and not _read_on(partition, quiet[0].at, high):
            places = (still[-1].place, quiet[-1].place)
            back = later.at if later else None
            yield Skip(Why.RETENTION, low, high, quiet[0].at, places, ongoing=later is None, back=back)


def _lists_nobody(facts: Facts, seen: Mark) -> bool:
    """The listing that shows the position names no member of the group: nobody read on until the next look."""
    rows = [
        p for p in facts.positions if isinstance(seen.row, Position) and (p.group, p.at) == (seen.row.group, seen.at)
    ]
    assigned = any(one.group == seen.row.group for one in facts.assignments)
    return bool(rows) and not (assigned or any(p.member_id or p.client_id for p in rows))


def _read_on(partition: Offsets, at: float, high: int) -> bool:
    """A consumer's next word is that its position behind *high* is out of range: it had fetched what lies before."""
    line_after = next((line for line in partition.lines if (line.first_at or 0.0) > at), None)
    return line_after is not None and line_after.kind == "offset-reset" and (line_after.value_max or 0.0) >= high


def _passed(partition: Offsets) -> Iterator[tuple[list[Mark], Mark | None]]:
    """Committed offsets below a log start that was seen then, each as long as it stood, and the one after it."""
    stood = [list(marks) for _, marks in groupby(partition.committed, key=lambda m: m.offset)]
    since = [marks[0].at for marks in stood]
    seen = {(bisect_right(since, s.at) - 1, s.offset) for s in partition.starts}
    for place in sorted({n for n, offset in seen if n >= 0 and stood[n][0].offset < offset}):
        yield stood[place], stood[place + 1][0] if place + 1 < len(stood) else None


def _overlapping(skip: Skip, others: Sequence[Skip]) -> bool:
    return any(skip.low < other.high and other.low < skip.high for other in others)
