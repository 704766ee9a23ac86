"""One time that a member of a Kafka group left because it had not polled, and whether that is measured."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.findings import Evidence
from mqlab.polling.limits import Limit
from mqlab.rows.groups import Batch

EARLY = 0.9
"""Share of the limit from which a wait is the limit: the last sign of a poll may come a little after it."""
LATE = 3.0
"""Seconds by which the coordinator may note a departure later than the limit."""


@dataclass(frozen=True, slots=True)
class Departure:
    """One time that a member left."""

    at: float
    client_id: str
    host: str | None
    told: bool
    """A line says that the poll was late; else it is concluded."""
    limit: Limit | None
    poll: Batch | None
    """The poll that was being worked off, where a line tells how long it took."""
    waited: float | None
    """Seconds since the last sign of a poll."""
    counted: bool
    """The client itself says by how much the limit was exceeded, or its metric of the time between polls does."""
    evidence: tuple[Evidence, ...]

    @property
    def measured(self) -> bool:
        """The time between two polls is known, and longer than the limit."""
        if self.counted:
            return True
        if self.limit is None:
            return False
        if self.poll is not None and self.poll.longest_seconds > self.limit.seconds:
            return True
        return self.waited is not None and _near(self.waited, self.limit.seconds)

    @property
    def contradicted(self) -> bool:
        """It is only concluded, and its polls were in time."""
        if self.told or self.measured or self.limit is None:
            return False
        return self.waited is not None and self.waited < EARLY * self.limit.seconds


def _near(waited: float, limit: float) -> bool:
    return EARLY * limit <= waited <= limit + max(LATE, (1 - EARLY) * limit)
