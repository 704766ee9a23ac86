"""Positions of groups by queue, how fast both ends moved, and who was in a group at a moment.

A snapshot may be told by several commands at once, so each queue has one position a moment. Lag is always the end
minus the committed position, never a printed column.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, zip_longest
from math import inf

from mqlab.facts import Facts, Position
from mqlab.findings import Evidence
from mqlab.memo import per_facts

OWN = ("%RETRY%", "%DLQ%")
"""How RocketMQ's names of a group's own topics begin."""

_GONE = 4
"""Snapshots before the end from which a queue that none of them tells of is gone. Judgement, no default behind it: one
or two may have failed."""
TOGETHER = 10.0
"""Seconds that the commands of one snapshot may take. Judgement, no default behind it: each starts a JVM, which takes a
second or two."""

Points = tuple[Position, ...]
"""Positions of one group in one queue, one a moment, by time; all with a committed and an end offset."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What happened to one queue between two snapshots."""

    queue: str
    first: Position
    last: Position

    @property
    def seconds(self) -> float:
        """Time between the two snapshots."""
        return (self.last.at or 0.0) - (self.first.at or 0.0)

    @property
    def produced(self) -> int:
        """Messages that came in."""
        return (self.last.end or 0) - (self.first.end or 0)

    @property
    def consumed(self) -> int:
        """Messages by which the committed position moved; negative where it went back."""
        return (self.last.committed or 0) - (self.first.committed or 0)

    @property
    def frozen(self) -> bool:
        """Messages came in, and nobody moved the committed position."""
        return self.produced > 0 and self.consumed == 0


def lag(position: Position) -> int:
    """Messages that wait: from the committed position, or from the oldest that is left where that is later."""
    return max(0, (position.end or 0) - next_read(position))


def next_read(position: Position) -> int:
    """Offset of the oldest message that waits, or the next one that comes: committed, or the oldest that is left."""
    return max(position.committed or 0, position.start or 0)


@per_facts
def _log_starts(facts: Facts) -> Mapping[tuple[str, str], Sequence[tuple[float, int]]]:
    """Oldest offsets that are left by (topic, queue), by time: as listings show them and as brokers say."""
    found: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    for one in facts.positions:
        if one.at is not None and one.start is not None:
            found[one.topic, one.queue].append((one.at, one.start))
    for line in facts.of_kind("log-start-moved"):
        if line.topic and line.queue and line.last_at is not None and line.value_max is not None:
            found[line.topic, line.queue].append((line.last_at, int(line.value_max)))
    return {queue: sorted(starts) for queue, starts in found.items()}


def at_log_start(facts: Facts, position: Position, at: float) -> Position:
    """*position* with the oldest offset that was left at a moment, where that is told and within it."""
    known = _log_starts(facts).get((position.topic, position.queue), ())
    place = bisect_right(known, (at, inf))
    start = known[place - 1][1] if place else 0
    return replace(position, start=start) if (position.committed or 0) < start <= (position.end or 0) else position


@per_facts
def of_groups(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, Points]]:
    """Points by (group, topic) and queue."""
    found: dict[tuple[str, str], dict[str, dict[float, Position]]] = defaultdict(lambda: defaultdict(dict))
    for one in facts.positions:
        if one.group and one.at is not None and one.committed is not None and one.end is not None:
            moments = found[one.group, one.topic][one.queue]
            known = moments.get(one.at)
            if known is None or (one.end, one.committed) > (known.end, known.committed):
                moments[one.at] = one
    return {
        key: {queue: tuple(moments[at] for at in sorted(moments)) for queue, moments in sorted(queues.items())}
        for key, queues in sorted(found.items())
    }


def set_back(facts: Facts) -> list[tuple[Position, Position]]:
    """Rows of two listings between which the committed offset of a Kafka partition went back and its log did not."""
    queues = (queue for of_topic in of_groups(facts).values() for queue in of_topic.items() if queue[0].isdigit())
    steps = (Pace(name, one, two) for name, points in queues for one, two in pairwise(points))
    return [(s.first, s.last) for s in steps if s.consumed < 0 <= s.produced and s.seconds > TOGETHER]


@per_facts
def gets_on(facts: Facts, group: str) -> float | None:
    """The last moment of a snapshot since the one before which *group* has gone on in every queue that had something.

    None where there is none. Queues that are not in both snapshots tell nothing.
    """
    moves: dict[float, list[bool]] = defaultdict(list)
    for (name, _), queues in of_groups(facts).items():
        for points in queues.values() if name == group else ():
            for before, after in pairwise(points):
                if after.at is not None and (after.end or 0) > (before.committed or 0):
                    moves[after.at].append((after.committed or 0) > (before.committed or 0))
    return max((at for at, each in moves.items() if all(each)), default=None)


def paces(queues: Mapping[str, Points], since: float, until: float) -> Mapping[str, Pace]:
    """Pace of each queue between the first and the last snapshot inside, where there are two."""
    found = {}
    for queue, points in queues.items():
        inside = [p for p in points if p.at is not None and since <= p.at <= until]
        if len(inside) > 1:
            found[queue] = Pace(queue, inside[0], inside[-1])
    return found


def totals(queues: Mapping[str, Points]) -> Sequence[tuple[float, int, int]]:
    """(at, lag, end) over all queues, at each of the ``complete`` snapshots."""
    return [
        (points[-1].at or 0.0, sum(map(lag, points)), sum(p.end or 0 for p in points)) for points in complete(queues)
    ]


def complete(queues: Mapping[str, Points]) -> Sequence[Points]:
    """The snapshots that tell of every queue that there was then.

    A queue is gone when several snapshots have come without it.
    """
    every = snapshots(queues)
    late = every[-_GONE][0].at or 0.0 if len(every) >= _GONE else 0.0
    lives = {
        queue: (points[0].at or 0.0, inf if (points[-1].at or 0.0) >= late else points[-1].at or 0.0)
        for queue, points in queues.items()
    }
    found = []
    for points in every:
        first, last = points[0].at or 0.0, points[-1].at or 0.0
        told = {p.queue for p in points}
        if all(queue in told for queue, (begin, end) in lives.items() if begin <= first and last <= end):
            found.append(points)
    return found


def snapshots(queues: Mapping[str, Points]) -> Sequence[Points]:
    """Positions that belong together: each queue once, within the seconds that the commands of one snapshot take.

    What one moment tells stays together; it is nearer to its own snapshot than to the next one.
    """
    by_time = sorted((p for points in queues.values() for p in points), key=lambda p: (p.at or 0.0, p.queue))
    moments = [tuple(points) for _, points in groupby(by_time, lambda p: p.at or 0.0)]
    found: list[list[Position]] = []
    last: Points = ()
    for points, after in zip_longest(moments, moments[1:], fillvalue=()):
        near = found and _at(points) - _at(found[-1]) <= TOGETHER and _apart(found[-1], points)
        if near and not (after and _apart(points, after) and _at(after) - _at(points) < _at(points) - _at(last)):
            found[-1] += points
        else:
            found.append([*points])
        last = points
    return [tuple(points) for points in found]


def _at(points: Sequence[Position]) -> float:
    return points[0].at or 0.0


def _apart(one: Sequence[Position], other: Sequence[Position]) -> bool:
    return {p.queue for p in one}.isdisjoint(p.queue for p in other)


def place(queue: str) -> tuple[str, int]:
    """Broker and number of ``broker-a/12``."""
    broker, _, number = queue.rpartition("/")
    return broker, int(number) if number.isdigit() else 0


def spread(queues: Iterable[str]) -> str:
    """Names of queues, those of one broker together: ``broker-a 8-15, broker-b 0``."""
    by_broker: dict[str, list[int]] = defaultdict(list)
    for queue in queues:
        broker, number = place(queue)
        by_broker[broker].append(number)
    return ", ".join(f"{broker} {_ranges(sorted(numbers))}".strip() for broker, numbers in sorted(by_broker.items()))


def _ranges(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


@dataclass(frozen=True, slots=True)
class Member:
    """One process in a group."""

    client_id: str
    place: str
    """``ip:port`` as the broker sees it, or the folder of the client's log."""
    evidence: Evidence

    @property
    def host(self) -> str:
        """The place without the port."""
        head, colon, port = self.place.rpartition(":")
        return head if colon and port.isdigit() else self.place


class Membership:
    """Who is in a group."""

    __slots__ = ()
    members: tuple[Member, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Client ids, sorted, one as often as it is there: what the broker hands to every client (cidAll)."""
        return tuple(sorted(m.client_id for m in self.members))

    @property
    def shared(self) -> tuple[str, ...]:
        """Ids that are there more than once, sorted."""
        return tuple(client for client, times in Counter(self.ids).items() if times > 1)

    def of(self, client: str) -> Sequence[Member]:
        """The processes that have this id."""
        return [m for m in self.members if m.client_id == client]


@dataclass(frozen=True, slots=True)
class Snapshot(Membership):
    """The members at one moment."""

    at: float
    members: tuple[Member, ...]
    source: str = ""
    """The output that lists them."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What one kind of source says about one group, by time."""

    how: str
    """listing, broker log or client logs."""
    snapshots: tuple[Snapshot, ...]
    until: float
    """How long the last snapshot is known to hold."""
    lasting: bool
    """Each snapshot holds until the next one; a listing is true for its moment only."""

    def changes(self) -> Iterator[tuple[Snapshot, Snapshot]]:
        """Snapshots before and after each change of members, who are other ones under another address."""
        for before, after in pairwise(self.snapshots):
            if {(m.client_id, m.place) for m in before.members} != {(m.client_id, m.place) for m in after.members}:
                yield before, after

    def runs(self, alike: Callable[[Snapshot], object]) -> Iterator[tuple[tuple[Snapshot, ...], float, float]]:
        """Snapshots that follow each other and are alike; when that was over, and until when it is known to hold."""
        runs = [tuple(run) for _, run in groupby(self.snapshots, alike)]
        for run, following in zip_longest(runs, runs[1:]):
            until = following[0].at if following else max(self.until, run[-1].at)
            yield run, until, until if self.lasting else run[-1].at
