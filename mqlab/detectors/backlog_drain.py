"""Kafka and RocketMQ: a backlog is being worked off, or was; a state, not a fault.

Fires: lag of a topic fell for good from a peak that was well above what is usual, while messages came in.
Quiet: lag that stands, rises or goes up and down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.membership import topics
from mqlab.models.falling import Falling, falling
from mqlab.rows import GRID
from mqlab.scenarios import drain
from mqlab.shared.lag import LEAST
from mqlab.shared.queues import Points, lag, totals
from mqlab.units import Interval, moment
from mqlab.words.filling import Value

INCIDENT = "backlog-drain"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq")
say = words.room(INCIDENT)

BEHIND = 2 * GRID
"""Seconds of production that the peak must be above the level at the end: commits and snapshots make up to one grid."""


_SMALL = 0.05
"""Share of what waits that a queue must hold to be asked when it is through: a few messages go up and down."""


def detect(facts: Facts) -> Result:
    """One notice for each group and topic."""
    known = topics(facts)
    if not known:
        return Result(missing=(say("no-offsets"),))
    findings = []
    for (group, topic), queues in known.items():
        points = totals(queues)
        fall = falling([(at, float(waiting)) for at, waiting, _ in points])
        if fall is not None and fall.peak - fall.left >= max(LEAST, BEHIND * _inflow(points)):
            findings.append(_finding(facts, group, topic, queues, fall))
    return Result(tuple(findings))


def _inflow(points: Sequence[tuple[float, int, int]]) -> float:
    """Messages a second that came in."""
    (first, _, before), (last, _, after) = points[0], points[-1]
    return (after - before) / (last - first) if last > first else 0.0


def _finding(facts: Facts, group: str, topic: str, queues: Mapping[str, Points], fall: Falling) -> Finding:
    done = fall.reached_at is not None
    peak = max(waiting for _, waiting, _ in totals(queues))
    return finding(
        INCIDENT,
        f"{group}/{topic}",
        Certainty.PROVEN,
        (fall.began_at, fall.reached_at),
        severity=Severity.NOTICE,
        ongoing=not done,
        slots={"group": group, "topic": topic, "ongoing": not done, "kafka": _is_kafka(queues), **_end(fall, queues)},
        measures={
            "peak_lag": peak,
            "pending_records": fall.left,
            **fall.messages_per_second.measures("drained_per_second"),
            **(drain.measures(drain.foreseen(facts, group)) if done else {}),
            **(fall.seconds.measures("drain_seconds") if fall.seconds is not None else {}),
        },
        evidence=_places(queues, fall),
    )


def _end(fall: Falling, queues: Mapping[str, Points]) -> dict[str, Value]:
    """How long it took; else what is left, and when that will be worked off at this rate."""
    if fall.seconds is not None:
        return {"took": fall.seconds}
    left: dict[str, Value] = {"left": round(fall.left), "last": moment(fall.last_at)}
    last, ends = _slowest(fall, queues), fall.expected_at
    if last is None or ends is None:
        return left
    ends = last if last.likely > ends.high else ends
    if not isfinite(ends.likely):
        return {**left, "endless": True}
    moments = {"earliest": ends.low, "expected": ends.likely, "latest": ends.high}
    return {**left, **{name: moment(at) for name, at in moments.items() if isfinite(at)}}


def _slowest(fall: Falling, queues: Mapping[str, Points]) -> Interval | None:
    """When the queue that takes longest is through: owners are not alike. None where one of them does not fall."""
    ends = [fall.expected_at] if fall.expected_at is not None else []
    for points in queues.values():
        own = [(p.at or 0.0, float(lag(p))) for p in points]
        if own[-1][1] > max(LEAST, _SMALL * fall.left):
            one = falling(own)
            if one is None:
                return None
            ends += [one.expected_at] if one.expected_at is not None else []
    latest = (max(getattr(end, bound) for end in ends) for bound in ("low", "likely", "high"))
    return Interval(*latest) if ends else None


def _is_kafka(queues: Mapping[str, Points]) -> bool:
    """Kafka's partitions are plain numbers."""
    return all(name.isdigit() for name in queues)


def _places(queues: Mapping[str, Points], fall: Falling) -> tuple[Evidence, ...]:
    """The queue with the highest lag, when the fall began and when it ended."""
    inside = [p for points in queues.values() for p in points if fall.began_at <= (p.at or 0.0) <= fall.last_at]
    worst = max(inside, key=lambda p: ((p.end or 0) - (p.committed or 0), p.queue))
    same = [p for p in inside if p.queue == worst.queue]
    return tuple(p.evidence.because(say("waits", queue=p.queue, waiting=lag(p))) for p in (same[0], same[-1]))
