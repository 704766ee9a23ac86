"""What an assignor sees of a consumer group, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mqlab.models.assignors.hashing import string_hash, utf16, walk

Partition = tuple[str, int]
"""A topic and the number of one of its partitions."""

Assignment = Mapping[str, tuple[Partition, ...]]
"""What each member owns, by member id."""

DEFAULT_GENERATION = -1
"""The generation of a member that has not been part of the group yet."""


@dataclass(frozen=True, slots=True)
class Group:
    """The members of a group that rebalances. No racks.

    Names that fall into one bin of a ``HashMap`` are taken to have been inserted in their own order.
    """

    partitions: Mapping[str, int]
    """Number of partitions by topic. Subscribed topics that are absent do not exist."""
    subscriptions: Mapping[str, Sequence[str]]
    """Topics by member id."""
    owned: Mapping[str, Sequence[Partition]] = field(default_factory=dict)
    """What members say they own, by member id. Members that own nothing may be absent."""
    generations: Mapping[str, int] = field(default_factory=dict)
    """The generation in which a member got what it owns, by member id; absent is -1."""
    instances: Mapping[str, str] = field(default_factory=dict)
    """``group.instance.id`` of the static members, by member id."""

    def members(self) -> list[str]:
        """Return the member ids in the order in which the leader's ``HashMap`` holds them."""
        return walk(sorted(self.subscriptions, key=utf16), string_hash)

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of each subscribed topic that has some, in the order of a ``HashMap``."""
        subscribed = {topic for topics in self.subscriptions.values() for topic in topics}
        existing = sorted((topic for topic in subscribed if self.partitions.get(topic, 0) > 0), key=utf16)
        return {topic: self.partitions[topic] for topic in walk(existing, string_hash)}

    def generation(self, member: str) -> int:
        """Return the generation of *member*, -1 where it has none."""
        return self.generations.get(member, DEFAULT_GENERATION)

    def in_member_order(self) -> list[str]:
        """Return the member ids as ``MemberInfo.compareTo`` sorts them: static members by instance id come first."""
        return sorted(self.members(), key=self._rank)

    def _rank(self, member: str) -> tuple[bool, bytes]:
        instance = self.instances.get(member)
        return instance is None, utf16(member if instance is None else instance)


def frozen(assignment: Mapping[str, Sequence[Partition]]) -> Assignment:
    """Return *assignment* sorted by member id, its partitions in their order."""
    return {member: tuple(assignment[member]) for member in sorted(assignment, key=utf16)}
