"""Which partitions moved between which members while a group was balanced.

Class: ``AbstractStickyAssignor.PartitionMovements``. It keeps two members from swapping partitions of one topic: before
a partition moves from A to B, one of the same topic that moved from B to A moves back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.models.assignors.group import Partition
from mqlab.models.assignors.hashing import partition_hash, walk

_Route = tuple[str, str, str]
"""Topic, former owner, new owner."""


@dataclass(slots=True)
class _Moved:
    """Partitions of a topic that went one way, in the order in which they went, and how many there ever were."""

    partitions: dict[Partition, None] = field(default_factory=dict)
    most: int = 0


@dataclass(frozen=True, slots=True)
class Movements:
    """What moved since balancing began, each partition from its first owner to its last one."""

    _routes: dict[Partition, _Route] = field(default_factory=dict)
    _moved: dict[_Route, _Moved] = field(default_factory=dict)

    def instead_of(self, partition: Partition, owner: str, receiver: str) -> Partition:
        """Return the partition that should move to *receiver* where *partition* of *owner* was about to."""
        topic = partition[0]
        source = self._routes[partition][1] if partition in self._routes else owner
        opposite = self._moved.get((topic, receiver, source))
        return walk(opposite.partitions, partition_hash, opposite.most)[0] if opposite else partition

    def record(self, partition: Partition, owner: str, receiver: str) -> None:
        """Note that *partition* goes from *owner* to *receiver*; one that is back at its first owner has not moved."""
        known = self._routes.pop(partition, None)
        if known:
            self._forget(partition, known)
        source = known[1] if known else owner
        if source != receiver:
            self._add(partition, (partition[0], source, receiver))

    def _add(self, partition: Partition, route: _Route) -> None:
        self._routes[partition] = route
        moved = self._moved.setdefault(route, _Moved())
        moved.partitions[partition] = None
        moved.most = max(moved.most, len(moved.partitions))

    def _forget(self, partition: Partition, route: _Route) -> None:
        del self._moved[route].partitions[partition]
        if not self._moved[route].partitions:
            del self._moved[route]
