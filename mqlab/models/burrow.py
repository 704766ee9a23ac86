"""The verdict of LinkedIn's Burrow on a consumer's lag, from a few commits and the ends of the log.

Source: ``evaluatePartitionStatus`` and ``calculatePartitionStatus`` of core/internal/evaluator/caching.go, and
``fetchConsumer`` of storage/inmemory.go. Burrow looks at the last ten commits of a partition, not at thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

INTERVALS = 10
"""Commits that Burrow keeps of each partition, and ends of the log."""


class Status(StrEnum):
    """Burrow's words for a partition, from good to bad."""

    OK = "OK"
    WARN = "WARN"
    """Commits go on, and the lag grows or stays in each of them."""
    STOP = "STOP"
    """No commit for longer than the kept ones span."""
    STALL = "STALL"
    """Commits go on, always of the same offset."""
    REWIND = "REWIND"
    """A commit went back, and none since has reached the offset before it."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One committed offset. ``lag`` is that at the moment of the commit; None where it was not known."""

    at: float
    offset: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class Partition:
    """What Burrow says of one partition."""

    status: Status
    complete: float
    """Share of the kept commits that there are."""
    lag: int
    """Now, not at the last commit."""


def kept(commits: Sequence[Commit], min_distance: float = 0.0) -> tuple[Commit, ...]:
    """The commits that Burrow keeps: the last ten, by time.

    One that comes sooner than *min_distance* seconds after the one before takes its place, but not its time.
    """
    found: list[Commit] = []
    for commit in commits:
        if found and commit.at - found[-1].at < min_distance:
            found[-1] = Commit(found[-1].at, commit.offset, commit.lag)
        else:
            found.append(commit)
    return tuple(found[-INTERVALS:])


def partition(
    commits: Sequence[Commit], ends: Sequence[int], now: float, allowed_lag: int = 0, least_complete: float = 0.0
) -> Partition:
    """Verdict on one partition at *now*, in seconds; *commits* and the last *ends* of the log as they are kept.

    Of a partition without commits Burrow says OK.
    """
    if not commits or not ends:
        return Partition(Status.OK, 0.0, 0)
    lag = max(0, ends[-1] - commits[-1].offset)
    complete = min(1.0, len(commits) / INTERVALS)
    if complete < least_complete:
        return Partition(Status.OK, complete, lag)
    return Partition(status(commits, ends, lag, now, allowed_lag), complete, lag)


def status(commits: Sequence[Commit], ends: Sequence[int], lag: int, now: float, allowed_lag: int = 0) -> Status:
    """The rules in their order; at least one commit. *lag* is that of now."""
    if lag <= allowed_lag:
        return Status.OK
    if _stopped(commits, now) and not any(end <= commits[-1].offset for end in ends):
        return Status.STOP
    if _went_back(commits):
        return Status.REWIND
    lags = [commit.lag for commit in commits if commit.lag is not None]
    if any(one <= allowed_lag for one in lags):
        return Status.OK
    if all(commit.offset == commits[0].offset for commit in commits):
        return Status.STALL
    return Status.OK if any(after < before for before, after in pairwise(lags)) else Status.WARN


def _stopped(commits: Sequence[Commit], now: float) -> bool:
    return now - commits[-1].at > commits[-1].at - commits[0].at


def _went_back(commits: Sequence[Commit]) -> bool:
    """Whether the first commit that went back was never made good."""
    for place, (before, after) in enumerate(pairwise(commits), start=1):
        if after.offset < before.offset:
            return all(commit.offset < before.offset for commit in commits[place:])
    return False
