"""Rows of what left its own earlier level when, and how they are ordered."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.findings import Evidence

CLOCKS = 1.0
"""Seconds by which the clocks of two sources may differ unseen: the error of ``clocks.offsets`` for whole seconds."""


@dataclass(frozen=True, slots=True)
class Riser:
    """One quantity that left the level that it had."""

    quantity: str
    """What is measured: ``connects``, ``takeovers``, ``published``, ``log end``, a metric's name."""
    who: str
    """Client id, ledger, topic, group or log; empty for the total of a broker."""
    unit: str
    """``/s``, ``/min``, ``messages``, ``B`` and so on."""
    before: float
    after: float
    since: float
    """The last sample at the level before."""
    at: float
    """The first sample at the new level; the change lies between the two."""
    share: float | None
    """Part that *who* has of all that was measured of this quantity after the change; None where nobody else is."""
    source: str
    lasting: bool = True
    """It stayed up to the end."""
    evidence: tuple[Evidence, ...] = ()

    @property
    def rises(self) -> bool:
        """It went up."""
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class Course:
    """What is measured of one quantity: points by time, with where to find them."""

    quantity: str
    who: str
    unit: str
    points: tuple[tuple[float, float], ...]
    source: str
    places: tuple[Evidence, ...] = ()
    """One a point, or none."""
    events: bool = False
    """Counts of what happens at random."""


def earlier(one: Riser, other: Riser) -> bool:
    """*one* surely left its level before *other* did, whatever lies between the samples and the clocks."""
    clocks = 0.0 if one.source == other.source else CLOCKS
    return one.at + clocks < other.since or (one.source == other.source and one.at <= other.since)
