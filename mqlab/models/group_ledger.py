"""What a simulated group has committed, and counts of what happened."""

from __future__ import annotations

from math import floor

from mqlab.models.group_feed import Taken
from mqlab.models.group_terms import Begun, Course, Outcome, Partition

_ROUNDING = 1e-6


class Ledger:
    """Committed offsets and counts."""

    def __init__(self, course: Course) -> None:
        self._logs, self._until = course.logs, course.until
        self.committed = {log.partition: log.committed for log in course.logs}
        self._handed, self._again = dict(self.committed), dict(self.committed)
        self.rebalances: list[Begun] = []
        self.polls = self.late_polls = self.commits = self.failed_commits = self.handled = self._repeated = 0
        self.longest_seconds = 0.0
        self._lag: list[tuple[float, int]] = []

    def hand_out(self, taken: Taken) -> None:
        """Count records that somebody had before, each once."""
        for partition, first, after in taken:
            known, again = self._handed[partition], self._again[partition]
            if first < known:
                self._repeated += max(0, min(known, after) - max(first, again))
                self._again[partition] = max(again, min(known, after))
            self._handed[partition] = max(known, after)

    def begin_poll(self, now: float, seconds: float, polls: int) -> None:
        """Count *polls* that take *seconds* together."""
        self.polls += polls
        self.longest_seconds = max(self.longest_seconds, min(seconds / polls, self._until - now))

    def commit(self, offsets: dict[Partition, int]) -> None:
        """Take *offsets* as committed."""
        if offsets:
            self.commits += 1
            self.committed.update(offsets)

    def note_lag(self, at: float) -> None:
        """Keep how many records wait now."""
        waits = (floor(log.end.at(at) + _ROUNDING) - self.committed[log.partition] for log in self._logs)
        self._lag.append((at, sum(max(0, one) for one in waits)))

    def outcome(self) -> Outcome:
        """All of it."""
        return Outcome(
            tuple(self.rebalances),
            self.polls,
            self.late_polls,
            self.longest_seconds,
            tuple(self._lag),
            self.commits,
            self.failed_commits,
            self.handled,
            self._repeated,
        )
