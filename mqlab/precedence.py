"""Which finding comes first, and which change ended it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mqlab.findings import Change, Finding, Severity

_ENDED = (-10.0, 60.0)
"""Seconds around a finding's end in which a change may have ended it."""
_CURES = (
    "batch.size", "max.message.bytes", "max.request.size", "timeout.ms", "compression.type", "linger.ms",
    "max.poll.records", "max.poll.interval.ms",
)  # fmt: skip
"""Settings that end incidents, if several changed at once."""


def ordered_by_weight(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """*findings* by severity; consequences after their cause; then by certainty, impact, start and slug."""

    def consequence(finding: Finding) -> bool:
        return any(
            finding.incident in other.explains and other.severity == finding.severity
            for other in findings
            if other is not finding
        )

    def impact(finding: Finding) -> float:
        messages = sum(finding.measures.get(n, 0.0) for n in ("lost_records", "duplicated_records", "rejected_records"))
        return messages * 1e15 + finding.measures.get("excess_bytes", finding.measures.get("bytes_out", 0.0))

    return tuple(
        sorted(
            findings,
            key=lambda f: (
                -f.severity,
                consequence(f),
                -f.certainty,
                -impact(f),
                f.started_at.timestamp() if f.started_at else float("inf"),
                f.incident,
                f.id,
            ),
        )
    )


def ended_by(finding: Finding, happened: Sequence[Change]) -> Finding:
    """*finding* with the change that probably ended it, marked as inferred."""
    if finding.ended_at is None or finding.ongoing or finding.severity is Severity.NOTICE:
        return finding
    end = finding.ended_at.timestamp()
    names = [p for p in (*finding.subject.split(" -> "), *finding.facts.get("members", "").split(", ")) if p]
    near = [
        c
        for c in happened
        if c.at is not None
        and _ENDED[0] <= c.at - end <= _ENDED[1]
        and c.before is not None
        and any(f" {name} " in f" {c.what} " for name in names)
    ]
    if not near:
        return finding
    change = min(near, key=lambda c: not c.what.endswith(_CURES))
    text = f"{change.what} {change.before} -> {change.after}"
    return replace(
        finding,
        facts={**finding.facts, "mitigation": f"{text} (inferred)"},
        evidence=(*finding.evidence, *change.evidence),
    )
