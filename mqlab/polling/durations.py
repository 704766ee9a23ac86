"""How long the polls of a Kafka group took: those that applications say they worked off (``Facts.batches``)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mqlab.models import polling
from mqlab.models.polling import Percentiles
from mqlab.rows.groups import Batch


@dataclass(frozen=True, slots=True)
class Pace:
    """How long polls took, by all that were noted."""

    polls: int
    records: int
    seconds: float
    longest: Batch
    each: Percentiles
    """Seconds per record; each record counts as the average of its poll."""
    largest: int
    """Most records of one poll."""

    @property
    def mean(self) -> float:
        """Seconds per record."""
        return self.seconds / self.records if self.records else 0.0


def within(batches: Sequence[Batch], since: float, until: float, clients: Collection[str] = ()) -> tuple[Batch, ...]:
    """Those that were done in this time, of *clients* only where there are some."""
    return tuple(b for b in batches if since <= b.at <= until and (not clients or b.client_id in clients))


def pace(batches: Sequence[Batch]) -> Pace | None:
    """How long *batches* took; None where there are none with records."""
    done = polling.work((b.records, b.seconds) for b in batches)
    if done is None:
        return None
    longest = max(batches, key=lambda b: (b.longest_seconds, -b.at))
    largest = max(max(b.longest_records, round(b.records / b.polls)) for b in batches)
    seconds = sum(b.seconds for b in batches)
    return Pace(sum(b.polls for b in batches), done.records, seconds, longest, done.record_seconds, largest)


def over(batches: Sequence[Batch], seconds: float) -> tuple[Batch, ...]:
    """Polls that took longer than *seconds*, one second at least: such polls have a row of their own."""
    return tuple(b for b in batches if b.longest_seconds > max(1.0, seconds))
