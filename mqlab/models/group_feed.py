"""What one consumer holds: its partitions, how far it has handed out, and what its fetcher has brought.

``Fetcher.collectFetch``: a poll returns what was fetched before it, partition after partition, at most
max.poll.records; then partitions without records are fetched again while the application works. A fetch that finds
nothing waits fetch.max.wait.ms (0.5 s) for the first record. Partitions that the member had first are read first: the
fetch session of the broker lists new ones behind those that it knows (KIP-227).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import floor, inf

from mqlab.models.group_curves import Rising
from mqlab.models.group_terms import Partition

_WAIT = 0.5
_ROUNDING = 1e-6

Taken = list[tuple[Partition, int, int]]
"""Partition, first offset, offset after the last."""


class Feed:
    """Partitions of one member."""

    def __init__(self, ends: Mapping[Partition, Rising]) -> None:
        self._ends = ends
        self.positions: dict[Partition, int] = {}
        self._fetched: dict[Partition, int] = {}
        self._ranks: dict[Partition, int] = {}

    def keep(self, partitions: Iterable[Partition]) -> None:
        """Give up all but *partitions*."""
        kept = set(partitions)
        for partition in [p for p in self.positions if p not in kept]:
            del self.positions[partition]
            self._fetched.pop(partition, None)

    def add(self, partition: Partition, committed: int) -> None:
        """Read *partition* from its committed offset."""
        self.positions[partition] = committed
        self._ranks.setdefault(partition, len(self._ranks))
        self._fetched.pop(partition, None)

    def take(self, now: float, most: int) -> Taken:
        """Records that a poll returns now, at most so many; nothing where none is there."""
        if not self._fetched:
            self._fetch(now)
        taken: Taken = []
        for partition, fetched in list(self._fetched.items()):
            position = self.positions[partition]
            count = min(most, fetched - position)
            if count > 0:
                taken.append((partition, position, position + count))
                self.positions[partition] = position + count
                most -= count
            if position + count >= fetched:
                del self._fetched[partition]
            if most <= 0:
                break
        if taken:
            self._fetch(now)
        return taken

    def next_record(self, now: float) -> float:
        """When the next record comes in; infinite where none does."""
        return max(now, self._first(self.positions))

    def _fetch(self, now: float) -> None:
        empty = sorted((p for p in self.positions if p not in self._fetched), key=self._ranks.__getitem__)
        ready = self._filled(empty, now)
        first = inf if ready else self._first(empty)
        if first <= now + _WAIT:
            ready = self._filled(empty, first + _ROUNDING)
        self._fetched.update(ready)

    def _filled(self, partitions: Iterable[Partition], at: float) -> dict[Partition, int]:
        ends = {p: floor(self._ends[p].at(at) + _ROUNDING) for p in partitions}
        return {p: end for p, end in ends.items() if end > self.positions[p]}

    def _first(self, partitions: Iterable[Partition]) -> float:
        return min((self._ends[p].reached(self.positions[p] + 1) for p in partitions), default=inf)
