"""A symptom, and whether a finding explains what was seen at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.findings import Finding

NEAR = 120.0
"""Seconds around a finding in which it may explain a line."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that no finding explains."""

    at: float | None
    text: str


def explained(at: float | None, findings: Sequence[Finding], classes: Sequence[str] | None) -> bool:
    """True where a finding of one of these *classes* (None: of any) covers the moment *at*."""
    return any(covers(f, at) for f in findings if classes is None or f.incident in classes)


def covers(finding: Finding, at: float | None) -> bool:
    """True where *at* lies within the finding's time or near it; an unknown time is within every other."""
    if at is None or finding.started_at is None:
        return True
    if at < finding.started_at.timestamp() - NEAR:
        return False
    return finding.ongoing or finding.ended_at is None or at <= finding.ended_at.timestamp() + NEAR
