"""Kafka and RocketMQ: a backlog is being worked off, or was; a state, not a fault.

Fires: lag of a topic fell for good from a peak that was well above what is usual, while messages came in.
Quiet: lag that stands, rises or goes up and down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.membership import topics
from mqlab.models.falling import Falling, falling
from mqlab.scenarios import drain
from mqlab.shared.lag import LEAST
from mqlab.shared.queues import Points, totals
from mqlab.shared.wording import clock

INCIDENT = "backlog-drain"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq")

BEHIND = 20.0
"""Seconds of production that the peak must be above the level at the end or at the start."""


def detect(facts: Facts) -> Result:
    """One notice for each group and topic."""
    known = topics(facts)
    if not known:
        return Result(missing=("offsets of the groups, several times",))
    found = []
    for (group, topic), queues in known.items():
        points = totals(queues)
        fall = falling([(at, float(waiting)) for at, waiting, _ in points])
        if fall is not None and fall.peak - fall.left >= max(LEAST, BEHIND * _inflow(points)):
            foretold = drain.measures(drain.foreseen(facts, group))
            found.append(_notice(group, topic, queues, fall, foretold))
    return Result(tuple(found)) if found else CLEAR


def _inflow(points: Sequence[tuple[float, int, int]]) -> float:
    """Messages a second that came in."""
    (first, _, before), (last, _, after) = points[0], points[-1]
    return (after - before) / (last - first) if last > first else 0.0


def _notice(
    group: str, topic: str, queues: Mapping[str, Points], fall: Falling, foretold: Mapping[str, float]
) -> Finding:
    rate = fall.messages_per_second
    start = f"from {units.number(round(fall.peak))} messages at {clock(fall.began_at)} UTC"
    measures = {"peak_lag": fall.peak, "pending_records": fall.left, "drained_per_second": rate.likely}
    if fall.reached_at is not None:
        end = (
            f"It was through at {clock(fall.reached_at)} UTC, {units.duration(fall.reached_at - fall.began_at)} later."
        )
        measures |= {"drain_seconds": fall.reached_at - fall.began_at, **foretold}
    else:
        end = f"{units.number(round(fall.left))} messages were left at {clock(fall.last_at)} UTC. {_expected(fall)}"
    found = finding(
        INCIDENT,
        f"{group}/{topic}",
        Certainty.PROVEN,
        (fall.began_at, fall.reached_at),
        severity=Severity.NOTICE,
        statement=f"{group} works off a backlog of {topic} {start}, {units.digits(rate.likely)}/s net. {end}",
        measures=measures,
        evidence=_places(queues, fall),
        verify=f"The {_waiting(queues)} of {topic} is at its usual level.",
    )
    return replace(
        found, ongoing=fall.reached_at is None, remedy="None needed; keep retention longer than the drain lasts.",
    )  # fmt: skip


def _waiting(queues: Mapping[str, Points]) -> str:
    """How the commands of the system call what waits; Kafka's partitions are plain numbers."""
    return "LAG of every partition" if all(name.isdigit() for name in queues) else "diff of every queue"


def _expected(fall: Falling) -> str:
    if fall.expected_at is None or not isfinite(fall.expected_at.likely):
        return "It does not end at this rate."
    low, likely, high = (
        units.stamp(at) if isfinite(at) else "never"
        for at in (fall.expected_at.low, fall.expected_at.likely, fall.expected_at.high)
    )
    return f"At this rate it ends at {likely} UTC ({low} to {high})."


def _places(queues: Mapping[str, Points], fall: Falling) -> tuple[Evidence, ...]:
    """The queue with the highest lag, when the fall began and when it ended."""
    inside = [p for points in queues.values() for p in points if fall.began_at <= (p.at or 0.0) <= fall.last_at]
    worst = max(inside, key=lambda p: ((p.end or 0) - (p.committed or 0), p.queue))
    same = [p for p in inside if p.queue == worst.queue]
    return tuple(p.evidence.because(f"{p.queue}: what waits") for p in (same[0], same[-1]))
