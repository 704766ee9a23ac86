"""What a consumer of Kafka says when its position is of no use: why, and where it goes on instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.delivery_groups.offsets import Offsets
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.rebalances.index import homes

_SOON = 600.0
"""Seconds within which a consumer says where it goes on: it asks for offsets until a broker answers."""


@dataclass(frozen=True, slots=True)
class Jump:
    """A consumer's own words about a position that was refused or missing, and where it went instead."""

    at: float
    client: str | None
    refused: int | None
    """None where there was no committed offset."""
    target: int
    truncated: bool
    places: tuple[Evidence, ...]


def jumps(facts: Facts, known: Offsets) -> Iterator[Jump]:
    """Jumps of one partition, by time."""
    cause: Episode | None = None
    for line in known.lines:
        if line.kind in ("offset-missing", "offset-reset"):
            cause = line
        elif line.kind == "offset-set":
            cause = None
        elif line.kind == "offset-reset-to" and cause is not None and line.value_max is not None:
            begun, at = cause.first_at or 0.0, line.first_at or 0.0
            if cause.source == line.source and at - begun <= _SOON:
                who = line.client_id or homes(facts, known.group).get(line.source)
                target, places = int(line.value_max), (cause.first, line.first)
                yield Jump(at, who, _refused(cause), target, _truncated(cause), places)
            cause = None


def _refused(cause: Episode) -> int | None:
    return None if cause.kind == "offset-missing" or cause.value_max is None else int(cause.value_max)


def _truncated(cause: Episode) -> bool:
    return "Truncation detected" in cause.first.text
