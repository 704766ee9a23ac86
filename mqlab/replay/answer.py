"""What a replay of a consumer group answers, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.models.courses import Interval


@dataclass(frozen=True, slots=True)
class Told:
    """What simulations of one setting say, with bounds."""

    rebalances: Interval
    longest_poll_seconds: Interval
    late_share: Interval
    """Of the polls that took the poll interval or longer."""
    final_lag: Interval
    repeated: Interval
    """Records that were handed out more than once."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What really happened; None where the material does not tell."""

    rebalances: int | None
    longest_poll_seconds: float | None
    late_share: float | None
    """Of the polls that applications tell of."""
    final_lag: float | None
    """None where offsets were not listed near the end."""
    peak_lag: float
    repeated: int | None
    """Records that were handled before a rebalance and handed out again after it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a poll fits into the interval, and whether the group is as fast as what comes in."""

    records: int
    threads: int
    record_seconds: float
    poll_seconds: float
    interval_seconds: float
    largest_safe_records: int | None
    """That an average poll works off in time; None where not even one record fits."""
    advised_records: int | None
    """The same with half of the time kept free, for polls that take longer than the average."""
    capacity_per_second: float
    """Of all members while they were there, each with its own time per record."""
    arriving_per_second: float

    @property
    def feasible(self) -> bool:
        """An average poll comes in time."""
        return self.poll_seconds < self.interval_seconds


@dataclass(frozen=True, slots=True)
class Answer:
    """What the replay says; moments as epoch seconds."""

    group: str
    changes: str
    """``max.poll.records=50``; empty for a replay of what was."""
    since: float
    until: float
    incident: bool
    """The time was cut to an incident: from the first late poll to the first change."""
    recorded: Recorded
    before: Told
    """The replay of what was."""
    error_share: float
    """By which it is off, of the record."""
    agrees: bool
    after: Told | None
    """None without changes, and where the replay of what was has nothing in common with the record."""
    fit_before: Fit
    fit_after: Fit
    assumed: tuple[str, ...]
