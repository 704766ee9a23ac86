"""What the members of a group still own when it rebalances: the first step of ``AbstractStickyAssignor``.

A partition that two members claim stays with the one of the higher generation; with equal generations it is taken from
both (``Found multiple consumers … claiming the same TopicPartition``). Claims on partitions that are gone are dropped;
the class only drops topics that are gone, and lets a member keep a partition that its topic no longer has.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.models.assignors.group import DEFAULT_GENERATION, Group, Partition


@dataclass(frozen=True, slots=True)
class Claims:
    """Partitions that members may keep, and those that nobody may."""

    kept: dict[str, list[Partition]]
    """By member id, in the order in which the assignor walks the members."""
    contested: frozenset[Partition]
    """Claimed more than once in one generation."""


def claims(group: Group) -> Claims:
    """Return the claims on partitions that exist, also those on topics that the member has left."""
    topics = group.topics()
    kept: dict[str, list[Partition]] = {}
    contested = set()
    owner: dict[Partition, str] = {}
    for member in group.members():
        kept[member] = []
        for partition in group.owned.get(member, ()):
            if partition[1] >= topics.get(partition[0], 0) or _outranked(group, member, owner.get(partition)):
                continue
            other = owner.get(partition)
            if other is not None and partition in kept[other]:
                kept[other].remove(partition)
            if other is not None and group.generation(other) == group.generation(member):
                contested.add(partition)
            else:
                kept[member].append(partition)
            owner[partition] = member
    return Claims(kept, frozenset(contested))


def former_owners(group: Group) -> dict[Partition, str]:
    """Return who owned a partition in the latest generation before the current one, by partition."""
    current = max(map(group.generation, group.subscriptions), default=DEFAULT_GENERATION)
    found: dict[Partition, str] = {}
    for member in group.members():
        for partition in group.owned.get(member, ()) if group.generation(member) < current else ():
            if partition not in found or group.generation(member) > group.generation(found[partition]):
                found[partition] = member
    return found


def _outranked(group: Group, member: str, other: str | None) -> bool:
    return other is not None and group.generation(member) < group.generation(other)
