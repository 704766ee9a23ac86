"""How old the next record is that a group will read, and when retention deletes what it has not read.

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
    since = before[_regression(before) :]
    if not since:
        return None
    beyond = committed > since[-1][1] or committed < since[0][1]
    if beyond and len(since) < len(before):
        return None
    if committed >= since[-1][1]:
        return TimeLag(0.0, 0.0, 0.0)
    if committed < since[0][1]:
        return TimeLag(now - since[0][0], None, None)
    return _between(since, committed, now)


def _between(samples: History, committed: int, now: float) -> TimeLag:
    right = bisect_right([end for _, end in samples], committed)
    (began, low), (until, high) = samples[right - 1], samples[right]
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
