"""When retention deletes what a group has not read yet, if all goes on as it did.

The oldest unread record ages by one second each second, less what reading gains: where *r* records a second are read
and *p* come in, its age grows by 1 - r/p. It goes once it is older than the retention time
(``UnifiedLog.deleteRetentionMsBreachedSegments``): a segment goes as a whole when its newest record is that old, and
never the one that is written to, so that a record stays for longer than that, never shorter.
"""

from __future__ import annotations

from dataclasses import dataclass

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
