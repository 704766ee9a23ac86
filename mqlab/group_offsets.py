"""Where a Kafka group stood in one partition over time, and where the partition began and ended meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts, Position
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.queues import TOGETHER
from mqlab.rebalance_index import homes

BEGINS = ("offset-set", "offset-missing", "offset-reset", "offset-reset-to", "offset-sought")
"""Lines with which a consumer tells where it goes on to read."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An offset that was seen at a moment."""

    at: float
    offset: int
    place: Evidence


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
    def start(self) -> Mark | None:
        """The last log start that is known."""
        return self.starts[-1] if self.starts else None

    @property
    def end(self) -> Mark | None:
        """The last end that is known."""
        return self.ends[-1] if self.ends else None


@per_facts
def offsets(facts: Facts, group: str, topic: str, queue: str) -> Offsets:
    """Everything about *group* in one partition."""
    rows = [p for p in _positions(facts, topic) if p.queue == queue]
    lines = _lines(facts, group, topic, queue)
    committed = [_mark(p, p.committed, "committed") for p in rows if p.group == group]
    told = [_of_line(e, "the committed offset it begins at") for e in lines if e.kind == "offset-set"]
    moved = [_of_line(e, "the log start moved") for e in _moved(facts, topic, queue)]
    starts = [_mark(p, p.start, "log start") for p in rows]
    return Offsets(
        group, topic, queue,
        committed=_by_time([*committed, *told]),
        starts=_by_time([*starts, *moved]),
        ends=_by_time([_mark(p, p.end, "log end") for p in rows]),
        lines=lines,
    )  # fmt: skip


@per_facts
def partitions(facts: Facts, group: str, topic: str) -> tuple[str, ...]:
    """Partitions of *topic* that the material tells of, by number; all of them are the group's."""
    known = {p.queue for p in _positions(facts, topic)} | {f.queue for f in facts.fates if f.topic == topic}
    known |= {a.queue for a in facts.assignments if (a.group, a.topic) == (group, topic)}
    return tuple(sorted((q for q in known if q.isdigit()), key=int))


def before(marks: Sequence[Mark], at: float) -> Mark | None:
    """The last of *marks* up to *at*."""
    return next((mark for mark in reversed(marks) if mark.at <= at), None)


def after(marks: Sequence[Mark], at: float) -> Mark | None:
    """The first of *marks* after *at*."""
    return next((mark for mark in marks if mark.at > at), None)


def furthest(known: Offsets, at: float) -> int:
    """The highest offset that the group had committed up to *at*, since the log's end last went back; 0 without one."""
    fell = max((moment for moment in _falls(known.ends) if moment <= at), default=float("-inf"))
    return max((m.offset for m in known.committed if fell < m.at <= at), default=0)


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
        e for e in _of_topic(facts, topic)
        if e.queue == queue and (e.group == group or (e.group is None and e.source in homes(facts, group)))
    )  # fmt: skip


@per_facts
def _of_topic(facts: Facts, topic: str) -> tuple[Episode, ...]:
    own = [e for e in facts.of_kind(*BEGINS) if e.topic == topic and e.first_at is not None]
    return tuple(sorted(own, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)))


@per_facts
def _positions(facts: Facts, topic: str) -> tuple[Position, ...]:
    return tuple(p for p in facts.positions if p.topic == topic)


def _moved(facts: Facts, topic: str, queue: str) -> Iterator[Episode]:
    """Moves of the log start, those that several brokers tell of too."""
    return (e for e in facts.of_kind("log-start-moved") if (e.topic, e.queue) == (topic, queue))


def _mark(row: Position, offset: int | None, why: str) -> Mark | None:
    if row.at is None or offset is None or offset < 0:
        return None
    return Mark(row.at, offset, Evidence(row.source, row.line, row.text, why))


def _of_line(line: Episode, why: str) -> Mark | None:
    at = line.last_at or line.first_at
    if at is None or line.value_max is None:
        return None
    return Mark(at, int(line.value_max), Evidence(line.last.source, line.last.line, line.last.text, why))


def _by_time(marks: Sequence[Mark | None]) -> tuple[Mark, ...]:
    known = [mark for mark in marks if mark is not None]
    return tuple(sorted(known, key=lambda m: (m.at, m.place.source, m.place.line or 0)))
