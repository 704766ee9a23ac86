"""Whether a consumer can work off a poll before it must ask for the next one, and what it takes.

Source: KIP-62, and reference mechanics of ``ConsumerCoordinator`` and ``AbstractCoordinator.HeartbeatThread``. Since
0.10.1 the client itself leaves the group when max.poll.interval.ms has passed since its last poll; before, heartbeats
were sent by poll() only, so that the broker expelled it after session.timeout.ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor

from mqlab.models.kafka_defaults import Version

ADVISED_MARGIN = 0.5
"""Share of the interval to keep free: with less, one slow call or one pause is enough to be late."""

_POLL_INTERVAL = Version(0, 10, 1)

Polls = Sequence[tuple[int, float]]
"""(records, seconds) of polls."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Half of all and 99 of a hundred are at most so long; seconds."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class Work:
    """How long polls took.

    The time per record of a poll is its mean: percentiles of long polls are narrower than those of single records.
    """

    polls: int
    records: int
    record_seconds: Percentiles
    """By records: a poll of 500 weighs as much as 500 of one record."""
    poll_seconds: Percentiles
    most_records: int


def work(polls: Iterable[tuple[int, float]]) -> Work | None:
    """What is known of the time that polls took; None where none had a record."""
    known = [(records, seconds) for records, seconds in polls if records > 0]
    if not known:
        return None
    each = _percentiles([(seconds / records, records) for records, seconds in known])
    whole = _percentiles([(seconds, 1) for _, seconds in known])
    return Work(len(known), sum(n for n, _ in known), each, whole, max(n for n, _ in known))


def poll_seconds(records: int, seconds_per_record: float, threads: int = 1) -> float:
    """Seconds between two polls: the records, spread over the threads."""
    return records * seconds_per_record / threads


def largest_safe_records(
    interval: float, seconds_per_record: float, threads: int = 1, margin: float = 0.0
) -> int | None:
    """Largest max.poll.records with which polls come in time; None where not even one record is worked off in time.

    *interval* is max.poll.interval.ms in seconds (see ``which_timeout``). Without a margin it is just enough.
    *seconds_per_record* must be above zero.
    """
    limit = interval * (1 - margin)
    most = ceil(limit * threads / seconds_per_record) - 1
    if poll_seconds(most, seconds_per_record, threads) >= limit:
        most -= 1
    return most if most >= 1 else None


def smallest_safe_interval(records: int, seconds_per_record: float, margin: float = 0.0) -> float:
    """Smallest max.poll.interval.ms, in seconds, with which polls come in time; without a margin just enough."""
    needed = poll_seconds(records, seconds_per_record) / (1 - margin)
    return (floor(round(needed * 1000, 6)) + 1) / 1000


def share_over(polls: Polls, interval: float) -> float | None:
    """Share of polls that took as long as *interval* or longer; None without polls."""
    return sum(seconds >= interval for _, seconds in polls) / len(polls) if polls else None


def which_timeout(version: Version | None) -> str | None:
    """The client's setting that limits the time between two polls; None where the version is unknown."""
    if version is None:
        return None
    return "max.poll.interval.ms" if version >= _POLL_INTERVAL else "session.timeout.ms"


def _percentiles(weighted: Sequence[tuple[float, int]]) -> Percentiles:
    """The smallest values that so many hundredths of the weight do not exceed."""
    ordered, total = sorted(weighted), sum(weight for _, weight in weighted)

    def at(share: float) -> float:
        reached = 0
        for value, weight in ordered:
            reached += weight
            if reached >= share * total:
                return value
        return ordered[-1][0]

    return Percentiles(at(0.5), at(0.99))
