"""Parts of a loss in the log: acknowledged messages of one partition that are gone, counted in one way."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.delivery_log.handovers import Handover
from mqlab.findings import Evidence

BY_PLACE = "ids whose place was given to another one"
BY_END = "ids at or behind the end at which the new leader began"
BY_DUMP = "ids that a dump of their offsets does not hold"
BY_OFFSETS = "offsets of both leaders"


@dataclass(frozen=True, slots=True)
class Piece:
    """Acknowledged messages of one partition that are gone from the log, counted in one way."""

    topic: str
    queue: str
    how: str
    records: int
    least: int
    most: int
    first_offset: int | None
    last_offset: int | None
    since: float | None
    until: float | None
    read: int
    """Of those, the ones that a consumer had read before."""
    twice: int
    """Of those, the ones that were stored at a second place too."""
    handover: Handover | None
    """The change of leader that fits."""
    evidence: tuple[Evidence, ...]

    @property
    def passed(self) -> bool:
        """Consumers had read some of them at that very place, so the high watermark lay beyond."""
        return self.read > self.twice
