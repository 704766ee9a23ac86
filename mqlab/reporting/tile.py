"""One tile of the report's first screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """One big number, what it is, and where it comes from."""

    title: str
    value: str
    note: str
    href: str
    muted: bool = False
