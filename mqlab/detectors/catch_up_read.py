"""A group replays, or a new group reads from the start: more goes out than comes in, for a while.

Fires: a group's position advances clearly faster than its topic's end, and its lag falls.
Quiet: it reads as fast as is produced (fan-out); its lag does not fall (slow-consumer).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from operator import itemgetter

from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.shared.queues import Points, of_groups, snapshots
from mqlab.shared.wording import clock, notice
from mqlab.units import number

INCIDENT = "catch-up-read"
SYSTEMS: tuple[str, ...] = ("kafka",)

FASTER = 1.5
"""Times the produce rate from which a group is catching up."""
LEAST = 0.2
"""Share of the topic's messages that must have been behind for the reading to matter."""


Sums = tuple[int, int, Points]
"""(committed, end, positions) of a whole topic."""
_NEVER: tuple[int, Sums, Sums] = (0, (0, 0, ()), (0, 0, ()))


def detect(facts: Facts) -> Result:
    """One notice per group and topic that caught up."""
    known = {key: snapshots(queues) for key, queues in of_groups(facts).items()}
    if not any(len(every) >= 2 for every in known.values()):
        return Result(missing=("two dated outputs of kafka-consumer-groups --describe",))
    found = [_caught_up(group, topic, every) for (group, topic), every in known.items()]
    return Result(tuple(f for f in found if f is not None)) if any(found) else CLEAR


def _caught_up(group: str, topic: str, every: Sequence[Points]) -> Finding | None:
    """The time in which its lag fell most, between snapshots that tell of all partitions."""
    partitions = max(map(len, every))
    sums = [
        (sum(p.committed or 0 for p in points), sum(p.end or 0 for p in points), points)
        for points in every
        if len(points) == partitions
    ]
    fell, one, two = max(((_fell(*pair), *pair) for pair in combinations(sums, 2)), key=itemgetter(0), default=_NEVER)
    if not fell:
        return None
    (c1, e1, first), (c2, e2, last) = one, two
    since, until = first[-1].at, last[-1].at
    return notice(
        f"{INCIDENT}:{group}/{topic}",
        (since, until),
        f"Group {group} read {number(c2 - c1)} messages of {topic} between {clock(since)} and {clock(until)} UTC while "
        f"{number(e2 - e1)} were produced: it was working off {number(e1 - c1)} older ones.",
        {"caught_up_messages": float(fell), "peak_lag": float(e1 - c1)},
        tuple(p.evidence.because("far behind at this moment") for p in first[:3]),
        verify="The group's lag is back at its usual level, and bytes out fall to the number of groups times bytes in.",
    )


def _fell(one: Sums, two: Sums) -> int:
    """By how much the lag fell between two moments, 0 where that is no catching up."""
    (c1, e1, _), (c2, e2, _) = one, two
    behind, read, made = e1 - c1, c2 - c1, max(0, e2 - e1)
    fell = behind - (e2 - c2)
    return fell if behind > LEAST * e2 and fell > behind / 2 and read > FASTER * made else 0
