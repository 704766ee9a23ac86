"""What the rows that leave Spark have in common: moments in microseconds, texts of lines, places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqlab.clocks.zones import Instant
from mqlab.findings import Evidence

Row = Mapping[str, Any]
Quoted = Mapping[tuple[str, int], str]
"""Lines that were read once more, by link and number."""
MICRO = 1_000_000
"""Microseconds of a second."""
_LONGEST = 500
"""Characters of a line that are kept."""


def seconds(row: Row, name: str) -> float | None:
    """The moment *name* of *row* in seconds, on whatever clock it is told; None where the row has none."""
    micros = row.get(name)
    return None if micros is None else micros / MICRO


def moment(row: Row, path: str, instant: Instant, name: str = "wall") -> float | None:
    """Epoch seconds of the moment *name*, which the log behind *path* tells on its own clock."""
    return instant(path, seconds(row, name), row.get("offset"))


def text(row: Row) -> str:
    """The line itself, cut to what a reader needs."""
    told: str = (row.get("text") or "").rstrip("\r")
    return told if len(told) <= _LONGEST else told[:_LONGEST] + "…"


def place(path: str, row: Row) -> Evidence:
    """The line that *row* tells."""
    return Evidence(path, row.get("line"), text(row))


def cited(link: str, number: int, paths: Mapping[str, str], quoted: Quoted) -> Evidence:
    """A line that was read once more; without text where it could not be."""
    return Evidence(paths[link], number, quoted.get((link, number), ""))
