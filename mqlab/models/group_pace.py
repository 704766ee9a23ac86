"""How long the polls of one simulated member take.

A poll of n records takes n times the time per record, over its threads, and the commit; it deviates from that by the
deviation of one record times the root of n. The deviations come from a golden-ratio sequence, which spreads evenly
over the normal distribution: the same course has the same polls again. Where a member stood still, that comes on top,
whatever the records.
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from statistics import NormalDist

from mqlab.models.group_curves import workable
from mqlab.models.group_terms import Course, Member

_GOLDEN, _PLASTIC = 0.6180339887498949, 0.7548776662466927
"""Steps from poll to poll and from member to member that spread evenly over 0 to 1."""
_LEAST = 0.2
"""Share of the mean below which no poll is taken to fall."""
_TAIL = 0.005
_SHORTEST = 1e-6
"""Seconds of a poll: less is lost beside seconds since 1970, which have so many digits."""
_USUAL = NormalDist()


class Speed:
    """Of one member; polls that together take less than *grain* seconds are worked off as one."""

    def __init__(self, member: Member, number: int, course: Course, grain: float) -> None:
        self.grain = grain
        self._settings = member.settings
        pace = member.pace or course.pace
        (first, seconds), *later = pace.steps
        self._work = workable([(min(first, course.since), seconds), *later])
        self._deviation = pace.deviation
        self._luck = 0.5 + course.phase + number * _PLASTIC
        self._count = 0
        began = member.busy.began if member.busy else -inf
        self._stalls = [stall for stall in member.stalls if stall[0] > began]

    def most(self, now: float) -> int:
        """Records of as many polls as fit into the grain, one at least."""
        one = self._mean(now, self._settings.records) + self._settings.commit_seconds
        return self._settings.records * max(1, int(self.grain / max(one, _SHORTEST)))

    def polls(self, now: float, records: int) -> tuple[int, float]:
        """Polls that *records* make, and seconds that they take in all."""
        polls = ceil(records / self._settings.records)
        self._count += 1
        mean = self._mean(now, records)
        luck = min(max((self._luck + self._count * _GOLDEN) % 1, _TAIL), 1 - _TAIL)
        away = _USUAL.inv_cdf(luck) * self._deviation * sqrt(records) / self._settings.threads if self._deviation else 0
        work = max(_LEAST * mean, mean + away) + self._settings.commit_seconds * polls
        stalls = [seconds for at, seconds in self._stalls if at <= now]
        self._stalls = self._stalls[len(stalls) :]
        return (1 if stalls else polls), work + sum(stalls)

    def _mean(self, now: float, records: int) -> float:
        return self._work.reached(self._work.at(now) + records / self._settings.threads) - now
