"""Where a Kafka group stood in one partition over time, where the log began and ended, and positions that were moved.

kafka-consumer-groups --reset-offsets works only on a group without members, and nobody else commits for one then; an
application may seek. A consumer whose position is of no use says why, and where it goes on instead.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

from mqlab.facts import Episode, Facts, Position
from mqlab.findings import Evidence
from mqlab.groups.membership import commits_alone, present
from mqlab.kafka.groups import empty
from mqlab.kafka.log_lines import homes, lines
from mqlab.memo import per_facts
from mqlab.shared.queues import TOGETHER, of_groups
from mqlab.words import room

ways = room("delivery-ways")

Place = tuple[str, str]
"""Topic and partition."""
R = TypeVar("R", Position, Episode)
BEGINS = ("offset-set", "offset-missing", "offset-reset", "offset-reset-to", "offset-sought")
"""Lines with which a consumer tells where it goes on to read."""


@per_facts
def begins(facts: Facts) -> Mapping[Place, Sequence[Episode]]:
    """Lines of consumers about where they go on to read, by time."""
    dated = (e for e in facts.of_kind(*BEGINS) if e.topic and e.first_at is not None)
    return _by_place(sorted(dated, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)))


@per_facts
def positions(facts: Facts) -> Mapping[Place, Sequence[Position]]:
    """Rows of positions, by time."""
    return _by_place(facts.positions)


@per_facts
def moved(facts: Facts) -> Mapping[Place, Sequence[Episode]]:
    """Moves of log starts, those that several brokers tell of too."""
    return _by_place(facts.of_kind("log-start-moved"))


def _by_place(rows: Iterable[R]) -> Mapping[Place, Sequence[R]]:
    found: dict[Place, list[R]] = defaultdict(list)
    for row in rows:
        found[row.topic or "", row.queue or ""].append(row)
    return dict(found)


@per_facts
def empty_intervals(facts: Facts, group: str) -> tuple[tuple[float, float], ...]:
    """Times between two words that the group had no members, without a sign of one in between; infinite at the end."""
    nobody = sorted({e.first_at or 0.0 for e in empty(facts, group)})
    here = [*present(facts, group), float("inf")]
    intervals: list[tuple[float, float]] = []
    for at in nobody:
        if not intervals or intervals[-1][1] < at:
            intervals.append((at, here[bisect_right(here, at)]))
    return tuple(intervals)


class Why(StrEnum):
    """What made a group pass over records without reading them."""

    RETENTION = "retention-loss"
    """They had been deleted."""
    RESET = "offset-reset-loss"
    """It had no position that was of any use, and auto.offset.reset sent it past them."""
    HAND = "set by hand"
    """Somebody moved the committed offset while the group had no members, or the application sought."""
    CONFIGURED = "began at the end, as configured"
    """The group was told to begin at the end (auto.offset.reset=latest)."""


@dataclass(frozen=True, slots=True)
class Skip:
    """One such range."""

    why: Why
    low: int
    high: int
    """The first offset after it."""
    at: float
    """When it was passed over, or was seen to be gone."""
    places: tuple[Evidence, ...]
    ongoing: bool = False
    """The group has not come back to notice it."""
    back: float | None = None
    """When the group was seen to be past it, of a range that was seen to be gone before."""
    lowest: int | None = None
    highest: int | None = None
    """Interval in which ``low`` lies, where it is an estimate."""

    @property
    def least(self) -> int:
        """Offsets that are in it at least."""
        return max(0, self.high - (self.low if self.highest is None else self.highest))

    @property
    def most(self) -> int:
        """Offsets that are in it at most."""
        return self.high - (self.low if self.lowest is None else self.lowest)


@dataclass(frozen=True, slots=True)
class Mark:
    """An offset that was seen at a moment."""

    at: float
    offset: int
    row: Position | Episode
    why: str

    @property
    def place(self) -> Evidence:
        """Where it stands."""
        if isinstance(self.row, Position):
            return Evidence(self.row.source, self.row.line, self.row.text, self.why)
        return replace(self.row.first if self.at == self.row.first_at else self.row.last, why=self.why)


@dataclass(frozen=True, slots=True)
class Offsets:
    """What is known of one partition, each by time."""

    group: str
    topic: str
    queue: str
    committed: tuple[Mark, ...]
    starts: tuple[Mark, ...]
    ends: tuple[Mark, ...]
    lines: tuple[Episode, ...]
    """Lines of the group's own consumers about where they begin to read."""

    @property
    def last(self) -> Mark | None:
        """The last position that is known."""
        return self.committed[-1] if self.committed else None

    @property
    def looked(self) -> float | None:
        """The last look at committed offset, start or end; what brokers and clients wrote later is not counted."""
        seen = (*self.committed, *self.starts, *self.ends)
        return max((mark.at for mark in seen if isinstance(mark.row, Position)), default=None)

    @property
    def start(self) -> Mark | None:
        """The log start at the last look, so that it fits the position and the end."""
        looked = self.looked
        seen = [mark for mark in self.starts if looked is None or mark.at <= looked]
        return seen[-1] if seen else None

    @property
    def moved_on(self) -> Mark | None:
        """A log start that was told of after the last look."""
        later = self.starts[-1] if self.starts else None
        return later if later is not None and later is not self.start else None

    @property
    def end(self) -> Mark | None:
        """The last end that is known."""
        return self.ends[-1] if self.ends else None


@per_facts
def offsets(facts: Facts, group: str, topic: str, queue: str) -> Offsets:
    """Everything about *group* in one partition."""
    lines = _lines(facts, group, topic, queue)
    committed, starts, ends = list[Mark](), list[Mark](), list[Mark]()
    for row in positions(facts).get((topic, queue), ()):
        if row.at is None:
            continue
        if row.group == group and row.committed is not None and row.committed >= 0:
            committed.append(Mark(row.at, row.committed, row, ways("committed")))
        if row.start is not None and row.start >= 0:
            starts.append(Mark(row.at, row.start, row, ways("log-start")))
        if row.end is not None and row.end >= 0:
            ends.append(Mark(row.at, row.end, row, ways("log-end")))
    for line in (e for e in lines if e.kind == "offset-set"):
        committed += _marks((line.last_at or line.first_at, line.value_max), line, ways("starts-at"))
    starts += _start_marks(moved(facts).get((topic, queue), ()))
    return Offsets(group, topic, queue, _by_time(committed), _by_time(starts), _by_time(ends), lines)


def _start_marks(lines: Sequence[Episode]) -> Iterator[Mark]:
    """Where a log began; it only moves forward, so that of several lines the first has the lowest offset."""
    for line in lines:
        if line.count > 1:
            yield from _marks((line.first_at, line.value_min), line, ways("start-moved"))
        yield from _marks((line.last_at or line.first_at, line.value_max), line, ways("start-moved"))


def _marks(seen: tuple[float | None, float | None], line: Episode, why: str) -> Iterator[Mark]:
    at, offset = seen
    if at is not None and offset is not None:
        yield Mark(at, int(offset), line, why)


@per_facts
def partitions(facts: Facts, group: str, topic: str) -> tuple[str, ...]:
    """Partitions of *topic* that the material tells of, by number; all of them are the group's."""
    known = {queue for named, queue in positions(facts) if named == topic}
    known |= {f.queue for f in facts.fates if f.topic == topic}
    known |= {a.queue for a in facts.assignments if (a.group, a.topic) == (group, topic)}
    return tuple(sorted((q for q in known if q.isdigit()), key=int))


def before(marks: Sequence[Mark], at: float) -> Mark | None:
    """The last of *marks* up to *at*."""
    return next((mark for mark in reversed(marks) if mark.at <= at), None)


def after(marks: Sequence[Mark], at: float) -> Mark | None:
    """The first of *marks* after *at*."""
    return next((mark for mark in marks if mark.at > at), None)


def furthest(partition: Offsets, at: float) -> int:
    """The highest offset that the group had committed up to *at*, since the log's end last went back; 0 without one."""
    fell = max((moment for moment in _falls(partition.ends) if moment <= at), default=float("-inf"))
    return max((m.offset for m in partition.committed if fell < m.at <= at), default=0)


def _falls(ends: Sequence[Mark]) -> Iterator[float]:
    """When the end was seen below what another snapshot had shown: a truncation, or the topic was made anew."""
    highest, waiting = 0, 0
    for mark in ends:
        while ends[waiting].at < mark.at - TOGETHER:
            highest, waiting = max(highest, ends[waiting].offset), waiting + 1
        if mark.offset < highest:
            yield mark.at
            highest = mark.offset


def _lines(facts: Facts, group: str, topic: str, queue: str) -> tuple[Episode, ...]:
    return tuple(
        e for e in begins(facts).get((topic, queue), ())
        if e.group == group or (e.group is None and e.source in homes(facts, group))
    )  # fmt: skip


def _by_time(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    return tuple(sorted(marks, key=lambda m: (m.at, m.row.source, m.place.line or 0)))


def by_hand(facts: Facts, partition: Offsets) -> Iterator[Skip]:
    """Ranges that such a move passed over; one that goes back is none."""
    for earlier, later in moves(facts, partition):
        if later.offset > earlier.offset:
            yield Skip(Why.HAND, earlier.offset, later.offset, later.at, (earlier.place, later.place))
    yield from _by_tool(facts, partition)
    failed = {
        int(e.value_max)
        for e in facts.of_kind("record-failed")
        if (e.topic, e.queue) == (partition.topic, partition.queue) and e.value_max is not None
    }
    for line in partition.lines:
        stood = before(partition.committed, line.first_at or 0.0)
        if line.kind != "offset-sought" or line.value_max is None or stood is None:
            continue
        if int(line.value_max) > stood.offset and int(line.value_max) not in failed:
            yield Skip(Why.HAND, stood.offset, int(line.value_max), line.first_at or 0.0, (line.first,))


def _by_tool(facts: Facts, partition: Offsets) -> Iterator[Skip]:
    """Where no log tells that nobody was there: the tool printed an offset, and the group stood there next.

    A dry run prints the same, and leaves the group where it is.
    """
    noticed = {later.at for _, later in moves(facts, partition)}
    for line in facts.of_kind("offsets-set"):
        if (line.group, line.topic, line.queue) != (partition.group, partition.topic, partition.queue):
            continue
        at = line.first_at or 0.0
        earlier, later = before(partition.committed, at), after(partition.committed, at)
        if earlier is None or later is None or later.at in noticed:
            continue
        if earlier.offset < later.offset == line.value_max:
            yield Skip(Why.HAND, earlier.offset, later.offset, at, (earlier.place, line.first))


def moved_by_hand(facts: Facts, place: tuple[str, str, str]) -> Iterator[str]:
    """In words, what somebody moved in *place*: a group, a topic and a partition."""
    group, topic, queue = place
    partition = offsets(facts, *place)
    for earlier, later in moves(facts, partition):
        yield ways(
            "set-by-hand", group=group, topic=topic, queue=queue, low=str(earlier.offset), high=str(later.offset)
        )
    for skip in by_hand(facts, partition):
        if len(skip.places) == 1:
            yield ways("sought", group=group, topic=topic, queue=queue, low=str(skip.low), high=str(skip.high))


def moves(facts: Facts, partition: Offsets) -> Iterator[tuple[Mark, Mark]]:
    """Committed offsets before and after somebody moved them, forward or back.

    The next member that begins to read shows where they are as well as a snapshot does. Where neither the coordinator's
    log nor one of a client is there, members may have come and gone between two snapshots.
    """
    logs = lines(facts, partition.group)
    if not (logs.coordinator or logs.clients) or _alone(facts, partition.group, partition.topic):
        return
    spans = empty_intervals(facts, partition.group)
    starts = {(e.source, e.first.line) for e in partition.lines if e.kind == "offset-set"}
    for earlier, later in pairwise(partition.committed):
        if earlier.offset == later.offset:
            continue
        inside = [span for span in spans if span[0] <= earlier.at < span[1]]
        first = (later.place.source, later.place.line) in starts
        if any(later.at < until or first for _, until in inside):
            yield earlier, later


@per_facts
def _alone(facts: Facts, group: str, topic: str) -> bool:
    return commits_alone(facts, group, of_groups(facts).get((group, topic), {}))


_NUMBERED = ("assignment-made", "join-completed", "sync-completed", "rebalance-started", "rebalance-stabilized")
"""Lines that tell a generation of a group."""


@per_facts
def generations_told(facts: Facts, group: str) -> tuple[tuple[float, int], ...]:
    """When lines told of a generation of *group*, and which, by time; a rebalance that starts tells the one before."""
    return tuple(sorted(
        (e.first_at, round(e.value_min) + (e.kind == "rebalance-started"))
        for e in facts.of_kind(*_NUMBERED)
        if e.group == group and e.first_at is not None and e.value_min is not None and e.value_min >= 0
    ))  # fmt: skip


def first_start(facts: Facts, group: str, at: float) -> bool:
    """*group* had no generation before its first and no committed offset, as far as the material tells until *at*."""
    committed = [p.at for p in facts.positions if p.group == group and p.committed is not None and p.committed >= 0]
    committed += [e.first_at for e in facts.of_kind("offset-set") if e.group == group]
    committed += [e.first_at for e in facts.of_kind("offsets-expired", "offsets-removed") if e.group in (group, None)]
    if any(when is not None and when < at for when in committed):
        return False
    told = generations_told(facts, group)
    return not told or told[0][0] > at or told[0][1] == 1


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """A consumer's own words about a position that was refused or missing, and where it went instead."""

    at: float
    client: str | None
    refused: int | None
    """None where there was no committed offset."""
    target: int
    truncated: bool
    places: tuple[Evidence, ...]


def offset_resets(facts: Facts, partition: Offsets) -> Iterator[OffsetReset]:
    """Those of one partition, by time."""
    cause: Episode | None = None
    for line in partition.lines:
        if line.kind in ("offset-missing", "offset-reset"):
            cause = line
        elif line.kind == "offset-set":
            cause = None
        elif line.kind == "offset-reset-to" and cause is not None and line.value_max is not None:
            if cause.source == line.source:
                who = line.client_id or homes(facts, partition.group).get(line.source)
                refused = None if cause.kind == "offset-missing" or cause.value_max is None else int(cause.value_max)
                truncated = "Truncation detected" in cause.first.text
                yield OffsetReset(
                    line.first_at or 0.0, who, refused, int(line.value_max), truncated, (cause.first, line.first)
                )
            cause = None
