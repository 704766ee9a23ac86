"""The sticky assignment of a group whose members all subscribe to the same topics.

Class: ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``. P partitions and m members: everybody gets ⌊P/m⌋, and
P mod m members one more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from mqlab.models.assignors.claims import Claims
from mqlab.models.assignors.group import Partition
from mqlab.models.assignors.hashing import utf16


@dataclass(frozen=True, slots=True)
class Dealing:
    """An assignment while it is being made."""

    least: int
    """Partitions that every member gets."""
    larger: int
    """Members that get one more."""
    found: dict[str, list[Partition]]
    revoked: dict[Partition, str] = field(default_factory=dict)
    """Who gave up a partition, by partition."""
    moving: set[Partition] = field(default_factory=set)
    """Partitions whose owner must give them up before the next one may have them."""

    @property
    def most(self) -> int:
        """How many partitions a member may have."""
        return self.least + (self.larger > 0)


def constrained(topics: Mapping[str, int], claimed: Claims) -> Dealing:
    """Return what members of *topics*, given with their number of partitions, keep and get."""
    least, larger = divmod(sum(topics.values()), len(claimed.kept))
    dealing = Dealing(least, larger, {member: [] for member in claimed.kept})
    below, at_least = _keep(dealing, claimed)
    _deal(dealing, claimed, _unassigned(topics, dealing), deque(below), deque(at_least))
    return dealing


def _keep(dealing: Dealing, claimed: Claims) -> tuple[list[str], list[str]]:
    """Let members keep what they own up to their quota.

    Returns who stays below the quota, and who has it and may get one more, both sorted.
    """
    below, at_least = [], []
    full = 0
    for member, partitions in claimed.kept.items():
        certain = (partition for partition in partitions if partition not in claimed.contested)
        owned = sorted(certain, key=lambda each: (each[1], utf16(each[0])))
        quota = dealing.least
        if len(owned) < dealing.least:
            below.append(member)
        elif len(owned) >= dealing.most and full < dealing.larger:
            full += 1
            quota = dealing.most
        else:
            at_least.append(member)
        dealing.found[member] += owned[:quota]
        dealing.revoked.update(dict.fromkeys(owned[quota:], member))
    return sorted(below, key=utf16), sorted(at_least, key=utf16) if full < dealing.larger else []


def _unassigned(topics: Mapping[str, int], dealing: Dealing) -> list[Partition]:
    """Return the partitions that nobody kept, by topic and number."""
    kept = {partition for partitions in dealing.found.values() for partition in partitions}
    existing = [(topic, number) for topic in sorted(topics, key=utf16) for number in range(topics[topic])]
    return [partition for partition in existing if partition not in kept]


def _deal(
    dealing: Dealing, claimed: Claims, unassigned: list[Partition], below: deque[str], at_least: deque[str]
) -> None:
    """Deal *unassigned* in turns to members below the quota, then one each to those that have just it."""
    for partition in unassigned:
        lacking = bool(below)
        member = below.popleft() if lacking else at_least.popleft()
        dealing.found[member].append(partition)
        if partition in claimed.contested or dealing.revoked.get(partition, member) != member:
            dealing.moving.add(partition)
        if lacking and len(dealing.found[member]) < dealing.least:
            below.append(member)
        elif lacking:
            at_least.append(member)
