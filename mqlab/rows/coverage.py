"""Rows of Facts about the sources themselves: what became of each, and what no format understood."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reject:
    """Lines or a file that no format understood."""

    source: str
    reason: str
    lines: int
    bytes: int
    sample: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of one source. ``lines`` = data + noise + rejected, always."""

    source: str
    format: str
    lines: int
    bytes: int
    data: int
    noise: int
    rejected: int
    zone: str
    """The zone its undated-zone lines were read in, as shown to the user, e.g. ``+08:00`` or ``UTC``."""
    zone_why: str
    first_at: float | None = None
    last_at: float | None = None
    problem: str | None = None
