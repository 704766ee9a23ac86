"""A group replays, or a new group reads from the start: more goes out than comes in, for a while.

Fires: a group's position advances clearly faster than its topic's end, and its lag falls.
Quiet: it reads as fast as is produced (fan-out); its lag does not fall (slow-consumer).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Result, Severity, finding
from mqlab.shared.queues import Points, of_groups, snapshots

INCIDENT = "catch-up-read"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

FASTER = 1.5
"""Times the produce rate from which a group is catching up: between one, which keeps the lag, and two."""
LEAST = 0.2
"""Share of the topic's messages that must have been behind: below it the reading adds less than a fifth to what any
reader takes, which is within the noise of traffic."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a group read of a whole topic between two snapshots."""

    before: Points
    after: Points

    @property
    def behind(self) -> int:
        """Messages that waited at its begin."""
        return _sum(self.before, "end") - _sum(self.before, "committed")

    @property
    def read(self) -> int:
        """Messages read meanwhile."""
        return _sum(self.after, "committed") - _sum(self.before, "committed")

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
    known = {key: snapshots(queues) for key, queues in of_groups(facts).items()}
    if not any(len(every) >= 2 for every in known.values()):
        return Result(missing=(say("no-snapshots"),))
    readings = {key: _best(every) for key, every in known.items()}
    return Result(
        tuple(_finding(*key, reading) for key, reading in readings.items() if reading is not None and reading.caught_up)
    )


def _best(every: Sequence[Points]) -> Reading | None:
    """The time in which the lag fell most, between snapshots that tell of all partitions."""
    whole = [points for points in every if len(points) == max(map(len, every))]
    return max((Reading(*pair) for pair in combinations(whole, 2)), key=lambda reading: reading.caught_up, default=None)


def _sum(points: Points, what: str) -> int:
    return sum(getattr(point, what) or 0 for point in points)


def _finding(group: str, topic: str, reading: Reading) -> Finding:
    return finding(
        INCIDENT,
        f"{group}/{topic}",
        Certainty.PROVEN,
        (reading.before[-1].at, reading.after[-1].at),
        severity=Severity.NOTICE,
        slots={"group": group, "topic": topic, "read": reading.read, "produced": reading.produced},
        measures={"caught_up_messages": reading.caught_up, "peak_lag": reading.behind},
        evidence=(p.evidence.because(say("behind")) for p in reading.before[:3]),
    )
