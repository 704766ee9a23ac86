"""Rows of the settings audit: what one setting of the delivery path makes possible, and for how many records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.findings import Evidence
from mqlab.units import number

_MOST = 5
"""Names that are told one by one, and places that are shown."""


@dataclass(frozen=True, slots=True)
class Risk:
    """One setting of one owner, and what it may lose or double each time it comes to that; nothing says that it did."""

    setting: str
    owner: str
    """``producer orders-app``, ``topic orders``, ``consumer sink-1`` or ``group billing on orders``."""
    value: str
    effective: str
    """What it means with that version, that cluster and the other settings."""
    may: str
    """What may happen, in a few words."""
    incident: str | None
    """Slug of the class; None where none is of it."""
    records: int | None
    """Most likely number; None where only its bounds are known."""
    low: int
    high: int | None
    """None where nothing bounds it."""
    how: str
    """How the numbers come about: rate, time, assumption."""
    evidence: tuple[Evidence, ...] = ()
    due_seconds: float | None = None
    """Seconds from the last snapshot until it happens if all goes on as it did; None where that is not known."""


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {number(more)} more" if more > 0 else "")


def shown(places: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The first places, each once."""
    return tuple(dict.fromkeys(places))[:_MOST]
