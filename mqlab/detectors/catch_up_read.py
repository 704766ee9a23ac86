"""A group replays, or a new group reads from the start: more goes out than comes in, for a while.

Fires: a group's position advances clearly faster than its topic's end, and its lag falls.
Quiet: it reads as fast as is produced (fan-out); its lag does not fall (slow-consumer).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts, Position
from mqlab.findings import Evidence, Finding
from mqlab.shared.wording import clock, notice
from mqlab.units import number

INCIDENT = "catch-up-read"
SYSTEMS: tuple[str, ...] = ("kafka",)

FASTER = 1.5
"""Times the produce rate from which a group is catching up."""
LEAST = 0.2
"""Share of the topic's messages that must have been behind for the reading to matter."""

Moment = tuple[float, int, int, list[Position]]
"""(at, committed, end, rows) of a whole topic."""


def detect(facts: Facts) -> Result:
    """One notice per group and topic that caught up."""
    history: dict[tuple[str, str], dict[float, dict[str, Position]]] = defaultdict(lambda: defaultdict(dict))
    for position in facts.positions:
        if position.group and position.at is not None and position.end is not None:
            history[position.group, position.topic][position.at][position.queue] = position
    if not any(len(moments) >= 2 for moments in history.values()):
        return Result(missing=("two dated outputs of kafka-consumer-groups --describe",))
    found = [_caught_up(group, topic, _totals(moments)) for (group, topic), moments in sorted(history.items())]
    return Result(tuple(f for f in found if f is not None)) if any(found) else CLEAR


def _totals(moments: dict[float, dict[str, Position]]) -> list[Moment]:
    """Sums over all partitions; moments that miss one, or in which one has no position yet, are left out."""
    queues = {queue for rows in moments.values() for queue in rows}
    found = []
    for at, rows in sorted(moments.items()):
        if set(rows) == queues and all(p.committed is not None for p in rows.values()):
            ordered = [rows[queue] for queue in sorted(rows)]
            found.append((at, sum(p.committed or 0 for p in ordered), sum(p.end or 0 for p in ordered), ordered))
    return found


def _caught_up(group: str, topic: str, totals: Sequence[Moment]) -> Finding | None:
    best: tuple[int, int, int] | None = None
    for first in range(len(totals)):
        for last in range(first + 1, len(totals)):
            fell = _fell(totals[first], totals[last])
            if fell and (best is None or fell > best[0]):
                best = (fell, first, last)
    if best is None:
        return None
    fell, first, last = best
    (a, c1, e1, rows), (b, c2, e2, _) = totals[first], totals[last]
    return notice(
        f"{INCIDENT}:{group}/{topic}",
        (a, b),
        f"Group {group} read {number(c2 - c1)} messages of {topic} between {clock(a)} and {clock(b)} UTC while "
        f"{number(e2 - e1)} were produced: it was working off {number(e1 - c1)} older ones.",
        {"caught_up_messages": float(fell), "peak_lag": float(e1 - c1)},
        tuple(_evidence(p) for p in rows[:3]),
        verify="The group's lag is back at its usual level, and bytes out fall to the number of groups times bytes in.",
    )


def _fell(one: Moment, two: Moment) -> int:
    """By how much the lag fell between two moments, 0 where that is no catching up."""
    (_, c1, e1, _), (_, c2, e2, _) = one, two
    behind, read, made = e1 - c1, c2 - c1, max(0, e2 - e1)
    fell = behind - (e2 - c2)
    return fell if behind > LEAST * e2 and fell > behind / 2 and read > FASTER * made else 0


def _evidence(position: Position) -> Evidence:
    return Evidence(position.source, position.line, position.text, "far behind at this moment")
