"""Rows of Facts about single messages: what became of them, and which ledgers and dumps tell of them.

A message is told apart by its key where keys are those of messages, else by topic, partition and offset.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.findings import Evidence


@dataclass(frozen=True, slots=True)
class Fate:
    """Messages of one partition, one after the other by offset, of which the same is told; LEDGER, thinned."""

    topic: str
    """Empty where nothing tells it."""
    queue: str
    """Empty where nothing tells it: messages that were sent and never acknowledged."""
    messages: int
    first_offset: int | None
    last_offset: int | None
    """Offsets where they were acknowledged; else where they are stored or were handled."""
    first_at: float | None
    last_at: float | None
    """When they were acknowledged; else sent, stored or handled for the first time."""
    sent: int
    """How often a ledger notes each of them as sent."""
    acked: int
    """How often as acknowledged."""
    failed: int
    """How often as refused or given up."""
    offsets: int
    """Places in the log at which each was acknowledged, stored or handled: 2 is stored twice."""
    overwritten: bool
    """Another message was acknowledged later at the same place: the log lost this one in between."""
    stored: tuple[str, ...]
    """Dumps that hold it, sorted, one as often as it does."""
    handled: tuple[str, ...]
    """Ledgers of consumers that note it, sorted, one as often as it does."""
    keyed: bool
    """Told apart by key; else by offset, so that a place that was given to two messages counts as one."""
    first: Evidence
    last: Evidence
    """Lines of the first and the last of them, of the stage that dates them."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one ledger or dump tells of one partition."""

    source: str
    role: str
    """sent, acked, failed, stored, received, consumed, processed or committed."""
    told: str
    """What the role is known by: map, column, name (of the file), shape (of its rows) or format."""
    party: str | None
    group: str | None
    topic: str
    queue: str
    messages: int
    keys: int
    """Different keys among them, about; 0 where it notes none."""
    first_offset: int | None
    last_offset: int | None
    first_at: float | None
    last_at: float | None
    first: Evidence
    last: Evidence
    start: int | None = None
    """A dump's first offset, where it says so."""
    taken_at: float | None = None
    """When a dump was made, where that is known."""
