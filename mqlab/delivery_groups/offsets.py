"""Where a Kafka group stood in one partition over time, and where the partition began and ended meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.delivery_groups.places import begins, moved, positions
from mqlab.facts import Episode, Facts, Position
from mqlab.findings import Evidence
from mqlab.groups.queues import TOGETHER
from mqlab.memo import per_facts
from mqlab.rebalances.index import homes


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
        return Evidence(self.row.last.source, self.row.last.line, self.row.last.text, self.why)


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
    rows = positions(facts).get((topic, queue), ())
    lines = _lines(facts, group, topic, queue)
    told = [_of_line(e, "the committed offset it begins at") for e in lines if e.kind == "offset-set"]
    raised = [_of_line(e, "the log start moved") for e in moved(facts).get((topic, queue), ())]
    own = [_mark(p, p.committed, "committed") for p in rows if p.group == group and p.committed is not None]
    return Offsets(
        group, topic, queue,
        committed=_by_time([*own, *told]),
        starts=_by_time([*(_mark(p, p.start, "log start") for p in rows if p.start is not None), *raised]),
        ends=_by_time([_mark(p, p.end, "log end") for p in rows if p.end is not None]),
        lines=lines,
    )  # fmt: skip


@per_facts
def partitions(facts: Facts, group: str, topic: str) -> tuple[str, ...]:
    """Partitions of *topic* that the material tells of, by number; all of them are the group's."""
    known = {queue for named, queue in positions(facts) if named == topic}
    known |= {f.queue for f in facts.fates if f.topic == topic}
    known |= {a.queue for a in facts.assignments if (a.group, a.topic) == (group, topic)}
    return tuple(sorted((q for q in known if q.isdigit()), key=int))


def place_ends(facts: Facts, topic: str) -> Mapping[str, int]:
    """The last end that was seen of each partition of *topic*, by its number."""
    known = {queue: rows for (named, queue), rows in positions(facts).items() if named == topic}
    seen = {queue: [p.end for p in rows if p.end is not None] for queue, rows in sorted(known.items())}
    return {queue: ends[-1] for queue, ends in seen.items() if ends}


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
        e for e in begins(facts).get((topic, queue), ())
        if e.group == group or (e.group is None and e.source in homes(facts, group))
    )  # fmt: skip


def _mark(row: Position, offset: int | None, why: str) -> Mark | None:
    return None if row.at is None or offset is None or offset < 0 else Mark(row.at, offset, row, why)


def _of_line(line: Episode, why: str) -> Mark | None:
    at = line.last_at or line.first_at
    return None if at is None or line.value_max is None else Mark(at, int(line.value_max), line, why)


def _by_time(marks: Sequence[Mark | None]) -> tuple[Mark, ...]:
    known = [mark for mark in marks if mark is not None]
    return tuple(sorted(known, key=_in_order))


def _in_order(mark: Mark) -> tuple[float, str, int]:
    line = mark.row.line if isinstance(mark.row, Position) else mark.row.last.line
    return (mark.at, mark.row.source, line or 0)
