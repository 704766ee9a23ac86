"""Ranges of offsets in one partition that a Kafka group did not read, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mqlab.findings import Evidence


class Why(StrEnum):
    """What made a group pass over records without reading them."""

    RETENTION = "retention-loss"
    """They had been deleted."""
    RESET = "offset-reset-loss"
    """It had no position that was of any use, and auto.offset.reset sent it past them."""
    HAND = "set by hand"
    """Somebody moved the committed offset while the group had no members, or the application sought."""
    CONFIGURED = "older than the group"
    """They were there before the group, which was told to begin at the end."""


@dataclass(frozen=True, slots=True)
class Skip:
    """One such range."""

    why: Why
    low: int
    high: int
    """The first offset after it."""
    at: float
    """When it was passed over, or was seen to be gone."""
    places: tuple[Evidence, ...]
    ongoing: bool = False
    """The group has not come back to notice it."""
    lowest: int | None = None
    highest: int | None = None
    """Interval in which ``low`` lies, where it is an estimate."""

    @property
    def least(self) -> int:
        """Offsets that are in it at least."""
        return max(0, self.high - (self.low if self.highest is None else self.highest))

    @property
    def most(self) -> int:
        """Offsets that are in it at most."""
        return self.high - (self.low if self.lowest is None else self.lowest)
