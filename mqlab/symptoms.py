"""What is out of the ordinary and whether a finding explains it: the guard against calling trouble health.

Symptoms are new ERROR and WARN shapes, events that mean trouble, lag that grows, and a lasting rise of bytes out
over bytes in. Lines that brokers and clients print in every start, restart or hand-over are no symptoms.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab import flows
from mqlab.facts import Facts, Shape
from mqlab.findings import Finding
from mqlab.units import number
from mqlab.wording import clock

NEAR = 120.0
"""Seconds around a finding in which it may explain a line."""
STARTING = 90.0
"""Seconds after a log's first line, or a process's start, that belong to the start."""
REPEATED = 3
"""Lines from which a WARN shape is no single remark."""
BEHIND = 60.0
"""Seconds of production that lag may grow by before it is a symptom."""

ORDINARY = re.compile(
    r"No meta\.properties file|Performing controller activation|Bootstrap broker|may not be available"
    r"|marked as failed|not the correct coordinator|coordinator is loading|Coordinator load in progress"
    r"|Writing records to __consumer_offsets|Execution of FlushBatch failed|already been closed|Renouncing the leadership"
    r"|Error registering AppInfo mbean|InstanceAlreadyExists|(?:isn't|aren't|are not|was not) (?:a )?known config"
    r"|LEADER_NOT_AVAILABLE|UNKNOWN_TOPIC_OR_PARTITION|Attempting to send response via channel|SLF4J|log4j:WARN"
    r"|Error while fetching metadata|No broker metadata found|deprecated|Connection refused"
)
"""What a healthy start, restart or hand-over prints at WARN or ERROR."""

TROUBLE: dict[str, tuple[str, ...]] = {
    "batch-split": ("batch-split-loop", "format-inflation"),
    "produce-retry": ("retry-amplification", "batch-split-loop", "format-inflation", "rolling-restart"),
    "record-too-large": ("oversize-record-rejected", "retry-amplification", "batch-split-loop"),
    "record-expired": ("retry-amplification", "batch-split-loop"),
    "buffer-exhausted": ("retry-amplification", "batch-split-loop"),
    "producer-stuck": ("batch-split-loop",),
    "sender-error": ("batch-split-loop",),
    "send-failed": ("retry-amplification", "batch-split-loop", "oversize-record-rejected"),
    "request-timeout": ("retry-amplification",),
    "out-of-memory": ("batch-split-loop",),
    "process-exit": ("batch-split-loop",),
    "isr-shrunk": ("rolling-restart", "replica-catch-up"),
    "member-expired": (),
    "poll-timeout": (),
    "commit-failed": (),
    "static-member-fenced": (),
    "offset-reset": (),
    "session-timeout": (),
    "unclean-election": (),
    "replication-too-large": (),
    "broker-fenced": ("rolling-restart",),
}
"""Events that mean trouble, and the classes that account for them."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that no finding explains."""

    at: float | None
    text: str


def unexplained(facts: Facts, findings: Sequence[Finding]) -> tuple[Symptom, ...]:
    """What remains, earliest first."""
    found = [*_events(facts, findings), *_shapes(facts, findings), *_lag(facts, findings), *_ratio(facts, findings)]
    return tuple(sorted(found, key=lambda s: (s.at or float("inf"), s.text)))


def _events(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    for kind, classes in TROUBLE.items():
        left = [e for e in facts.of_kind(kind) if not _explained(e.first_at, findings, classes)]
        if kind == "process-exit":
            left = [e for e in left if e.value_max]
        if kind == "produce-retry" and sum(e.count for e in left) < REPEATED:
            continue
        if left:
            first, count = left[0], sum(e.count for e in left)
            yield Symptom(
                first.first_at,
                f"{clock(first.first_at)} UTC: {kind}, {count} time(s), first at {first.source}:{first.first.line}",
            )


def _explained(at: float | None, findings: Sequence[Finding], classes: Sequence[str] | None) -> bool:
    for finding in findings:
        if classes is not None and finding.incident not in classes:
            continue
        if at is None or finding.started_at is None or finding.ended_at is None:
            return True
        if finding.started_at.timestamp() - NEAR <= at <= finding.ended_at.timestamp() + NEAR or (
            finding.ongoing and at >= finding.started_at.timestamp() - NEAR
        ):
            return True
    return False


def _shapes(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    begins: dict[str, float] = {}
    for shape in facts.shapes:
        if shape.first_at is not None:
            begins[shape.source] = min(begins.get(shape.source, shape.first_at), shape.first_at)
    starts = [e.first_at for e in facts.of_kind("settings-printed", "broker-started") if e.first_at is not None]
    for shape in facts.shapes:
        if _notable(shape) and not _at_start(shape, begins, starts) and not _explained(shape.first_at, findings, None):
            text = shape.shape.strip()[:120]
            yield Symptom(
                shape.first_at,
                f"{clock(shape.first_at)} UTC: new {shape.level} shape, {shape.lines} line(s), "
                f"{shape.source}:{shape.first_line}  {text}",
            )


def _notable(shape: Shape) -> bool:
    if shape.level not in ("WARN", "ERROR", "FATAL") or ORDINARY.search(shape.shape):
        return False
    return shape.level != "WARN" or shape.lines >= REPEATED


def _at_start(shape: Shape, begins: dict[str, float], starts: Sequence[float]) -> bool:
    if shape.first_at is None or shape.last_at is None:
        return False
    near = [begins.get(shape.source, 0.0), *starts]
    return any(0 <= shape.last_at - (s - 60) <= STARTING + 60 for s in near)


def _lag(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    totals: dict[tuple[str, str], dict[float, tuple[int, int]]] = defaultdict(dict)
    for position in facts.positions:
        if position.group and position.at is not None and position.end is not None and position.committed is not None:
            lag, end = totals[position.group, position.topic].get(position.at, (0, 0))
            totals[position.group, position.topic][position.at] = (lag + position.end - position.committed, end + position.end)
    for (group, topic), moments in sorted(totals.items()):
        points = [(at, *moments[at]) for at in sorted(moments)]
        if len(points) < 3:
            continue
        (start, _, first_end), (until, _, last_end) = points[0], points[-1]
        rate = max(0.0, (last_end - first_end) / (until - start)) if until > start else 0.0
        calm = sorted(lag for _, lag, _ in points[: max(1, len(points) // 3)])
        usual = calm[len(calm) // 2]
        high = [at for at, lag, _ in points if lag > max(2 * usual, usual + BEHIND * rate, 10)]
        if len(high) >= 2 and not _explained(high[0], findings, None):
            peak = max(lag for _, lag, _ in points)
            yield Symptom(
                high[0], f"{clock(high[0])} UTC: lag of {group} on {topic} grew from {number(usual)} to {number(peak)} messages"
            )


def _ratio(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    pieces = flows.flows(facts)
    shift = flows.shift([(p.since, p.until, p.out_per_in) for p in pieces])
    readers = max((p.consumers for p in pieces), default=0) or len({p.group for p in facts.positions if p.group})
    if shift is not None and shift.after > 1.3 * max(1, readers) and not _explained(shift.at, findings, None):
        yield Symptom(
            shift.at,
            f"{clock(shift.at)} UTC: bytes out over bytes in of the brokers rose from {shift.before:.3g} to {shift.after:.3g}",
        )
