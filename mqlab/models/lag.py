"""What a group's lag means: Burrow's verdict on it, how old the next record is, and when retention deletes it.

Burrow looks at the last ten commits of a partition, not at thresholds: ``evaluatePartitionStatus`` and
``calculatePartitionStatus`` of its core/internal/evaluator/caching.go, ``fetchConsumer`` of storage/inmemory.go.

The record at an offset was written between the last sample whose end had not passed it and the first whose end had;
between the two a straight line is taken, as kafka-lag-exporter's ``LookupTable`` does. Unlike that one, nothing is
extrapolated beyond the samples, and nothing across an end that went back.

The oldest unread record ages by one second each second, less what reading gains: where *r* records a second are read
and *p* come in, its age grows by 1 - r/p. It goes once it is older than the retention time
(``UnifiedLog.deleteRetentionMsBreachedSegments``): a segment goes as a whole when its newest record is that old, and
never the one that is written to, so that a record stays for longer than that, never shorter.
"""

from __future__ import annotations

from bisect import bisect_right
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


def partition(commits: Sequence[Commit], ends: Sequence[int], now: float) -> Partition:
    """Verdict on one partition at *now*, in seconds, by its last ``INTERVALS`` *commits* and *ends* of the log.

    Of a partition without commits Burrow says OK.
    """
    if not commits or not ends:
        return Partition(Status.OK, 0.0, 0)
    lag = max(0, ends[-1] - commits[-1].offset)
    return Partition(status(commits, ends, lag, now), len(commits) / INTERVALS, lag)


def status(commits: Sequence[Commit], ends: Sequence[int], lag: int, now: float) -> Status:
    """The rules in their order; at least one commit. *lag* is that of now."""
    if lag <= 0:
        return Status.OK
    stopped = now - commits[-1].at > commits[-1].at - commits[0].at
    if stopped and not any(end <= commits[-1].offset for end in ends):
        return Status.STOP
    back = [
        (place, before.offset)
        for place, (before, after) in enumerate(pairwise(commits), 1)
        if after.offset < before.offset
    ]
    if back and all(commit.offset < back[0][1] for commit in commits[back[0][0] :]):
        return Status.REWIND
    lags = [commit.lag for commit in commits if commit.lag is not None]
    if any(each <= 0 for each in lags):
        return Status.OK
    if all(commit.offset == commits[0].offset for commit in commits):
        return Status.STALL
    return Status.OK if any(after < before for before, after in pairwise(lags)) else Status.WARN


History = Sequence[tuple[float, int]]
"""(seconds, end of the log), by time."""


@dataclass(frozen=True, slots=True)
class TimeLag:
    """Seconds that the oldest waiting record has waited."""

    low: float
    likely: float | None
    """None where it is older than the samples: then it is at least ``low``."""
    high: float | None


def time_lag(history: History, committed: int, now: float) -> TimeLag | None:
    """Age of the record at *committed* at the moment *now*; nothing waits where it is the newest end.

    None without samples until *now*, and where the end went back and the offset is outside of what was seen since.
    """
    before = [point for point in history if point[0] <= now]
    return _age(before, [end for _, end in before], _regression(before), committed, now)


def time_lags(samples: Sequence[tuple[float, int, int]]) -> Sequence[TimeLag | None]:
    """``time_lag`` at each of the *samples* (seconds, end of the log, committed offset), by time."""
    found: list[TimeLag | None] = []
    history: list[tuple[float, int]] = []
    ends: list[int] = []
    since = 0
    for at, end, committed in samples:
        since = len(ends) if ends and end < ends[-1] else since
        history.append((at, end))
        ends.append(end)
        found.append(_age(history, ends, since, committed, at))
    return found


def _age(history: History, ends: Sequence[int], since: int, committed: int, now: float) -> TimeLag | None:
    """Age at *now*, the end of the *history*, by what was seen *since* the end went back for the last time."""
    if not history:
        return None
    if since and not ends[since] <= committed <= ends[-1]:
        return None
    if committed >= ends[-1]:
        return TimeLag(0.0, 0.0, 0.0)
    if committed < ends[since]:
        return TimeLag(now - history[since][0], None, None)
    right = bisect_right(ends, committed, since)
    (began, low), (until, high) = history[right - 1], history[right]
    written = began + (until - began) * (committed - low) / (high - low)
    return TimeLag(now - until, now - written, now - began)


def _regression(samples: History) -> int:
    """Place of the last sample whose end is below the one before; 0 where it never went back."""
    return max((n for n in range(1, len(samples)) if samples[n][1] < samples[n - 1][1]), default=0)


DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Overtaken:
    """What retention may take within a day."""

    seconds: float
    """Until the first unread record is old enough to go; 0 where it is."""
    records: int
    """Lost within a day if all goes on as it did."""
    most: int
    """Lost within a day if nothing is read any more."""


def overtaken(age: float, retention: float, produced: float, consumed: float) -> Overtaken | None:
    """Prediction for a group whose oldest unread record is *age* seconds old; None where reading keeps pace.

    *retention* is in seconds, the paces are in records a second.
    """
    if produced <= 0 or consumed >= produced:
        return None
    left = max(0.0, retention - age)
    seconds = left / (1 - consumed / produced)
    records = (produced - consumed) * max(0.0, DAY - seconds)
    return Overtaken(seconds, round(records), round(produced * max(0.0, DAY - left)))
