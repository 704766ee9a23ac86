"""Who worked on one partition of a Kafka group from when to when, how far it had committed, and commits before work.

A stint begins where a consumer says at which offset it begins to read. One that goes on after a rebalance with the same
process is the same stint: what the process has in memory stays there.
Automatic commit takes what the last poll returned for done (ConsumerCoordinator.maybeAutoCommitOffsetsAsync): true for
a loop in one thread, wrong once records are handed to a queue or to other threads, and close() commits all of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from mqlab.delivery.positions import Mark, Offsets, before, empty_intervals, offset_resets, offsets
from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Evidence
from mqlab.kafka.heartbeat_loss import judged
from mqlab.kafka.lives import lives
from mqlab.kafka.log_lines import homes, lines
from mqlab.kafka.member_ledgers import kept, noting
from mqlab.kafka.poll_limits import client_of, signs_of_life
from mqlab.kafka.rows import End
from mqlab.memo import per_facts
from mqlab.rows import GRID
from mqlab.shared.configured import consumer_value

_EDGE = 0.001
"""Seconds before a listing in which what it shows is not so yet."""
_STOPS = ("app-stopping", "consumer-closed", "process-exit")
_FELL_OUT = frozenset({End.POLL_TIMEOUT, End.DROPPED, End.FENCED})
"""Ends of a member whose process went on."""


@dataclass(frozen=True, slots=True)
class Stint:
    """One of them."""

    client: str
    """Empty where nothing tells."""
    since: float
    low: int
    """Where it began to read."""
    high: int
    """The committed offset when it was over: what others began with."""
    until: float | None
    """None while it goes on."""
    stopped: bool
    """Its process ended."""
    orderly: bool
    """It said that it stops."""
    places: tuple[Evidence, ...]
    """Where it began and how it ended."""
    heard: float | None = None
    """When its process was last heard of, where only what came after its end shows that it ended."""
    again: tuple[Begin, ...] = ()
    """Where the same process began anew in between: after a rebalance that took all partitions from it."""


@dataclass(frozen=True, slots=True)
class Begin:
    """A process begins to read a partition, or goes on with one that it had given back, at the committed offset."""

    at: float
    offset: int
    place: Evidence


@dataclass(frozen=True, slots=True)
class _Stop:
    """A process ended."""

    at: float
    orderly: bool
    place: Evidence
    seen: bool = True
    """It is told when it ended, not only that it was gone by then: expelled, or a new process in its place."""


@per_facts
def stints(facts: Facts, group: str, topic: str, queue: str) -> tuple[Stint, ...]:
    """Stints on one partition, by time; none where no position of the group is known."""
    partition = offsets(facts, group, topic, queue)
    starts = _begins(facts, partition) or _after_vacancies(facts, partition)
    ends = [later.at for _, later in starts[1:]] + [float("inf")]
    intervals: list[Stint] = []
    for begin, end in zip(starts, ends, strict=False):
        stint = _stint(facts, partition, begin, end)
        if intervals and intervals[-1].client == stint.client and not intervals[-1].stopped:
            earlier = intervals.pop()
            stint = replace(
                stint,
                since=earlier.since,
                low=min(earlier.low, stint.low),
                high=max(earlier.high, stint.high),
                places=(*earlier.places[:1], *stint.places[1:]),
                again=(*earlier.again, Begin(stint.since, stint.low, stint.places[0])),
            )
        intervals.append(stint)
    return tuple(intervals)


def until_given_back(stint: Stint, offset: int) -> Stint | None:
    """The part of *stint* that ended when its process gave the partition back with *offset* committed, if it did."""
    begin = next((again for again in stint.again if again.offset == offset), None)
    if begin is None:
        return None
    return replace(
        stint,
        high=offset,
        until=begin.at,
        stopped=False,
        orderly=False,
        heard=None,
        places=(stint.places[0], begin.place),
        again=(),
    )


def _begins(facts: Facts, partition: Offsets) -> list[tuple[str, Begin]]:
    """Clients that say where they begin to read, by time."""
    home = homes(facts, partition.group)
    begins = [
        (e.client_id or home.get(e.source, ""), Begin(e.first_at or 0.0, int(e.value_max), e.first))
        for e in partition.lines if e.kind == "offset-set" and e.value_max is not None
    ]  # fmt: skip
    begins += [
        (j.client or "", Begin(j.at, j.target, j.places[-1]))
        for j in offset_resets(facts, partition)
        if j.refused is None
    ]
    return sorted(begins, key=lambda b: (b[1].at, b[1].place.source, b[1].place.line or 0))


def _after_vacancies(facts: Facts, partition: Offsets) -> list[tuple[str, Begin]]:
    """Without the logs of consumers: the group begins anew after each time in which it had no members.

    Where listings show the members, so does the partition with each that takes it over from one that is gone.
    """
    if not partition.committed:
        return []
    moments = {back: "" for _, back in empty_intervals(facts, partition.group) if back < float("inf")}
    moments |= {partition.committed[0].at: "", **_taken_over(facts, partition)}
    marks = [(client, at, before(partition.committed, at)) for at, client in sorted(moments.items())]
    return [(client, Begin(at, mark.offset, mark.place)) for client, at, mark in marks if mark is not None]


def _taken_over(facts: Facts, partition: Offsets) -> dict[float, str]:
    """Clients by the moment right before a listing that shows one of them in the place of a member that is gone.

    The first is whom the first listing shows, where another one took over from it.
    """
    own = [p for p in facts.positions if p.group == partition.group and p.at is not None and p.member_id]
    rows = [p for p in own if (p.topic, p.queue) == (partition.topic, partition.queue)]
    rows.sort(key=lambda p: p.at or 0.0)
    there: dict[float | None, set[str | None]] = defaultdict(set)
    for row in own:
        there[row.at].add(row.member_id)
    found = {
        (new.at or 0.0) - _EDGE: new.client_id or ""
        for old, new in pairwise(rows)
        if old.member_id != new.member_id and old.member_id not in there[new.at]
    }
    return {partition.committed[0].at: rows[0].client_id or "", **found} if found else {}


def _stint(facts: Facts, partition: Offsets, begin: tuple[str, Begin], end: float) -> Stint:
    client, one = begin
    stop = next((s for s in _stops(facts, partition.group, client) if one.at < s.at < end), None)
    until = stop.at if stop is not None else end if end < float("inf") else None
    mark = before(partition.committed, end)
    high = max(one.offset, mark.offset if mark is not None else one.offset)
    places = (one.place, stop.place) if stop is not None else (one.place,)
    heard = None if stop is None or stop.seen else _last_heard(facts, partition.group, client, stop.at)
    orderly = stop is not None and stop.orderly
    return Stint(client, one.at, one.offset, high, until, stop is not None, orderly, places, heard)


def _last_heard(facts: Facts, group: str, client: str, before_then: float) -> float | None:
    """The last line, ledger row or heartbeat of *client* before that: its process ended no earlier."""
    signs = signs_of_life(facts, group).get(client, ())
    noted = [tally.at for tally in facts.tallies if kept(facts, group).get(tally.source) == client]
    heartbeats = [one.silent_since for one, _ in judged(facts, group) if one.client_id == client]
    return max((at for at in (*signs, *noted, *heartbeats) if at < before_then), default=None)


@per_facts
def _stops(facts: Facts, group: str, client: str) -> tuple[_Stop, ...]:
    """Ends of the processes of *client*, by time; of the whole group where no client is known."""
    if not client:
        nobody = [e for e in facts.of_kind("group-emptied", "group-state") if e.group == group]
        spans = [since for since, _ in empty_intervals(facts, group)]
        return tuple(_Stop(e.first_at or 0.0, False, e.first) for e in nobody if e.first_at in spans)
    own = lines(facts, group).of(client, *_STOPS)
    ends = [_Stop(e.first_at or 0.0, e.kind != "process-exit", e.first) for e in own]
    for life in lives(facts, group):
        if life.client_id != client or not life.evidence:
            continue
        if life.until is not None and life.end not in _FELL_OUT:
            orderly = life.process_stopped is not None or life.end is End.LEFT
            ends.append(_Stop(life.process_stopped or life.until, orderly, life.evidence[-1], orderly))
        if life.process_started is not None:
            # Where a new process begins, the one before it has ended.
            ends.append(_Stop(life.process_started, False, life.evidence[0], seen=False))
    return tuple(sorted(ends, key=lambda s: (s.at, s.place.source, s.place.line or 0)))


@dataclass(frozen=True, slots=True)
class Early:
    """What shows it in one stint; None where nothing does."""

    auto: Setting | None
    """enable.auto.commit=true, as somebody set or printed it."""
    waiting: Episode | None
    """The last line about records that were handed to a queue and still wait there."""
    ahead: Mark | None
    """A commit beyond everything that was handled until then."""

    @property
    def seen(self) -> bool:
        """Something shows it."""
        return bool(self.auto or self.waiting or self.ahead)


def early(facts: Facts, place: tuple[str, str, str], stint: Stint) -> Early:
    """Signs in *stint*; *place* is a group, a topic and a partition."""
    value = consumer_value(facts, stint.client or None, "enable.auto.commit", stint.since)
    auto = value.setting if value is not None and value.value == "true" else None
    until = stint.until if stint.until is not None else float("inf")
    waiting = [
        e for e in facts.of_kind("handed-over")
        if e.first_at is not None and stint.since <= e.first_at <= until
        and client_of(facts, place[0], e) in (stint.client, stint.client or None)
    ]  # fmt: skip
    last = max(waiting, key=lambda e: (e.last_at or 0.0, e.source, e.first.line or 0), default=None)
    full = last if last is not None and (last.value_max or 0.0) > 0 else None
    return Early(auto, full, _ahead(facts, place, stint))


def _ahead(facts: Facts, place: tuple[str, str, str], stint: Stint) -> Mark | None:
    """The commit that was furthest ahead of the rows of ledgers, those of the same ten seconds included."""
    group, topic, queue = place
    own = noting(facts, group, topic)
    rows = sorted(
        (t.at, t.messages) for t in facts.tallies
        if t.source in own and (t.topic, t.queue) == (topic, queue) and t.at + GRID > stint.since
    )  # fmt: skip
    moments, handled = [at for at, _ in rows], [0, *accumulate(many for _, many in rows)]
    until = stint.until if stint.until is not None else float("inf")
    inside = [m for m in offsets(facts, *place).committed if stint.since <= m.at <= until - GRID]
    lead = [(m.offset - stint.low - handled[bisect_right(moments, m.at)], m) for m in inside]
    best = max(lead, key=lambda pair: (pair[0], -pair[1].at), default=None)
    return best[1] if best is not None and best[0] > 0 and own else None
