"""The order in which things happen in a simulation: by time, then by rank, then as they were planned."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Action = Callable[[float], None]
"""Something that happens; it is told when."""


class Clock:
    """What is still to happen."""

    def __init__(self) -> None:
        self._planned: list[tuple[float, int, int, Action]] = []
        self._count = 0

    def at(self, time: float, action: Action, rank: int = 1) -> None:
        """Plan *action*; of those of one moment the one with the lowest rank comes first."""
        self._count += 1
        heapq.heappush(self._planned, (time, rank, self._count, action))

    def run(self, until: float) -> None:
        """Let everything happen that is planned up to *until*."""
        while self._planned and self._planned[0][0] <= until:
            time, _, _, action = heapq.heappop(self._planned)
            action(time)
