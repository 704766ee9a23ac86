"""A group replays, or a new group reads from the start: more goes out than comes in, for a while.

Fires: a group's position advances clearly faster than its topic's end, and its lag falls.
Quiet: it reads as fast as is produced (fan-out); its lag does not fall (slow-consumer). What a reset moved it past is
neither read nor a backlog that was worked off; where nothing tells how much that is, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab import words
from mqlab.delivery.offset_gaps import skips
from mqlab.delivery.positions import Why, by_hand, moves, offset_resets, offsets
from mqlab.facts import Facts, Position
from mqlab.findings import Certainty, Finding, Result, Severity, finding
from mqlab.shared.queues import Pace, Points, lag, of_groups, snapshots

INCIDENT = "catch-up-read"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

FASTER = 1.5
"""Times the produce rate from which a group is catching up: between one, which keeps the lag, and two."""
LEAST = 0.2
"""Share of the topic's messages that must have been behind: below it the reading adds less than a fifth to what any
reader takes, which is within the noise of traffic."""


NEARLY = 0.95
"""Share of the fall of a lag after which it is worked off, and only its usual ups and downs follow. Judgement."""


@dataclass(frozen=True, slots=True)
class Jump:
    """A position that was set instead of read up to."""

    at: float
    origin: int | None
    """None where nothing tells where it stood."""
    target: int

    def is_in(self, pace: Pace) -> bool:
        """Between these two snapshots; commits come later than a jump, so one ahead is told by the offsets."""
        if self.origin is not None and self.origin < self.target:
            return (pace.first.committed or 0) <= self.origin and (pace.last.committed or 0) >= self.target
        return (pace.first.at or 0.0) < self.at <= (pace.last.at or 0.0)


Jumps = Mapping[str, Sequence[Jump]]
"""By partition."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a group read of a whole topic between two snapshots."""

    before: Points
    after: Points
    jumped: int
    """Messages that positions passed over unread; below zero where they went back."""

    @property
    def behind(self) -> int:
        """Messages that waited at its begin, or that it went back to, and were not passed over."""
        return _sum(self.before, "end") - _sum(self.before, "committed") - self.jumped

    @property
    def read(self) -> int:
        """Messages read meanwhile."""
        return _sum(self.after, "committed") - _sum(self.before, "committed") - self.jumped

    @property
    def produced(self) -> int:
        """Messages that came in meanwhile."""
        return _sum(self.after, "end") - _sum(self.before, "end")

    @property
    def caught_up(self) -> int:
        """By how much the lag fell; 0 where that is no catching up."""
        fell = self.read - self.produced
        much = self.behind > LEAST * _sum(self.after, "end") and fell > self.behind / 2
        return fell if much and self.read > FASTER * max(0, self.produced) else 0


def detect(facts: Facts) -> Result:
    """One notice per group and topic that caught up."""
    queues = of_groups(facts)
    known = {key: snapshots(rows) for key, rows in queues.items()}
    if not any(len(every) >= 2 for every in known.values()):
        return Result(missing=(say("no-snapshots"),))
    told = {
        key: every for key, every in known.items() if not any(_deleted(facts, *key, queue) for queue in queues[key])
    }
    readings = {key: _best(every, _jumps(facts, *key)) for key, every in told.items()}
    found = [_finding(*key, one) for key, one in readings.items() if one is not None and one.caught_up]
    untold = [say("deleted", group=group, topic=topic) for group, topic in known.keys() - told.keys()]
    return Result(tuple(found), missing=() if found else tuple(sorted(untold)))


def _deleted(facts: Facts, group: str, topic: str, queue: str) -> bool:
    """Messages were deleted before it read them, and no line tells how far it went past them."""
    if any(offset_resets(facts, offsets(facts, group, topic, queue))):
        return False
    return any(skip.why is Why.RETENTION for skip in skips(facts, group, topic, queue))


def _jumps(facts: Facts, group: str, topic: str) -> Jumps:
    return {queue: tuple(_of_queue(facts, group, topic, queue)) for queue in of_groups(facts)[group, topic]}


def _of_queue(facts: Facts, group: str, topic: str, queue: str) -> Iterator[Jump]:
    partition = offsets(facts, group, topic, queue)
    yield from (Jump(reset.at, reset.refused, reset.target) for reset in offset_resets(facts, partition))
    yield from (Jump(skip.at, skip.low, skip.high) for skip in by_hand(facts, partition))
    back = ((earlier, later) for earlier, later in moves(facts, partition) if later.offset < earlier.offset)
    yield from (Jump(later.at, earlier.offset, later.offset) for earlier, later in back)


def _best(every: Sequence[Points], jumps: Jumps) -> Reading | None:
    """The shortest time in which the lag fell by nearly the most, between snapshots that tell of all partitions."""
    whole = [points for points in every if len(points) == max(map(len, every))]
    apart = ((first, last) for far in range(1, len(whole)) for first, last in zip(whole, whole[far:], strict=False))
    readings = [one for pair in apart if (one := _reading(*pair, jumps))]
    most = max((one.caught_up for one in readings), default=0)
    return next((one for one in readings if one.caught_up >= NEARLY * most), None)


def _reading(before: Points, after: Points, jumps: Jumps) -> Reading | None:
    """None where a position was set meanwhile and nothing tells where it stood, or a log began anew."""
    first, last = ({point.queue: point for point in points} for points in (before, after))
    paces = [Pace(queue, first[queue], last[queue]) for queue in first.keys() & last.keys()]
    within = [jump for pace in paces for jump in jumps.get(pace.queue, ()) if jump.is_in(pace)]
    if any(jump.origin is None for jump in within) or any(pace.produced < 0 for pace in paces):
        return None
    return Reading(before, after, sum(jump.target - (jump.origin or 0) for jump in within))


def _sum(points: Points, what: str) -> int:
    return sum(getattr(point, what) or 0 for point in points)


def _behind(reading: Reading) -> Iterator[Position]:
    """Those furthest behind, of which each is so by itself."""
    furthest = sorted(reading.before, key=lag, reverse=True)[:3]
    return (point for point in furthest if lag(point) > LEAST * (point.end or 0))


def _finding(group: str, topic: str, reading: Reading) -> Finding:
    return finding(
        INCIDENT,
        f"{group}/{topic}",
        Certainty.PROVEN,
        (reading.before[-1].at, reading.after[-1].at),
        severity=Severity.NOTICE,
        slots={
            **{"group": group, "topic": topic, "read": reading.read, "produced": reading.produced},
            "unread": reading.jumped if reading.jumped > 0 else None,
        },
        measures={"caught_up_messages": reading.caught_up, "peak_lag": reading.behind},
        evidence=(p.evidence.because(say("behind")) for p in _behind(reading)),
    )
