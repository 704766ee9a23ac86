"""Members of a group, of any system, whose processes were started anew, and rounds of such restarts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from mqlab.findings import Evidence

BACKOFF = 300.0
"""Seconds that a supervisor waits at most before it starts a process again (CrashLoopBackOff of Kubernetes)."""
CLOCKS = 2.0
"""Seconds by which two logs may differ about one moment: clocks that are further apart are told as off (`clocks`)."""
TAKEN_BACK = 2
"""Restarts of one member by one release, at most: the release, and the one that takes it back."""


@dataclass(frozen=True, slots=True)
class Restart:
    """One member that came again as a new process."""

    member: str
    """Its client id; of RocketMQ, where a new process has another one, its host."""
    stopped: float
    started: float
    orderly: bool | None
    """The process said that it stops, or its member left; None where nothing tells how it ended."""
    lived: float | None
    """Seconds that the life lasted which ended; None where its begin is not known."""
    evidence: tuple[Evidence, ...]
    """Where it ended and where it came again."""
    joined: float | None = None
    """When the new process was a member; None where only its start is known."""

    @property
    def back(self) -> float:
        """When the member was there again."""
        return self.started if self.joined is None else self.joined


@dataclass(frozen=True, slots=True)
class Round:
    """Restarts of a group that follow each other, by time."""

    group: str
    restarts: tuple[Restart, ...]
    whole: bool
    """Every member of that time came again, all equally often."""

    @property
    def since(self) -> float:
        """The first stop."""
        return min(restart.stopped for restart in self.restarts)

    @property
    def until(self) -> float:
        """When the last one was a member again."""
        return max(restart.back for restart in self.restarts)

    @property
    def members(self) -> tuple[str, ...]:
        """Those that came again, sorted."""
        return tuple(sorted({restart.member for restart in self.restarts}))

    @property
    def times(self) -> int:
        """How often each came again."""
        return len(self.restarts) // len(self.members)

    @property
    def apart(self) -> bool:
        """Each was back before the next one was stopped."""
        by_time = sorted(self.restarts, key=lambda one: (one.stopped, one.member))
        return all(b.stopped >= a.started - CLOCKS for a, b in pairwise(by_time))

    @property
    def empty(self) -> tuple[float, float] | None:
        """The longest time in which all that came again were away, and the group had no other member."""
        moments = sorted({at for one in self.restarts for at in (one.stopped, one.back)})
        gone = [(a, b) for a, b in pairwise(moments) if self._away(a, b) == set(self.members)]
        return max(gone, key=lambda span: span[1] - span[0]) if gone and self.whole else None

    def _away(self, since: float, until: float) -> set[str]:
        return {one.member for one in self.restarts if one.stopped <= since and until <= one.back}

    @property
    def sequence(self) -> bool:
        """One was stopped after another; one command stops all at the same moment."""
        return all(b - a >= CLOCKS for a, b in pairwise(sorted(restart.stopped for restart in self.restarts)))


def runs(restarts: Iterable[Restart]) -> Iterator[tuple[Restart, ...]]:
    """Restarts of several members with no longer pause between two than a supervisor makes."""
    run: list[Restart] = []
    for restart in [*sorted(restarts, key=lambda one: (one.started, one.member)), None]:
        if run and (restart is None or restart.started - run[-1].started > BACKOFF):
            if len({one.member for one in run}) > 1:
                yield tuple(run)
            run = []
        if restart is not None:
            run.append(restart)
