"""Kafka's ``StickyAssignor``: as even as possible, and of what is equally even the assignment that moves least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mqlab.models.assignors.claims import claims
from mqlab.models.assignors.constrained import constrained
from mqlab.models.assignors.general import general
from mqlab.models.assignors.group import Assignment, Group, Partition, frozen
from mqlab.models.assignors.hashing import string_hash, walk_computed


def assign(group: Group) -> Assignment:
    """Return the partitions of each member, first those it keeps."""
    if alike(group):
        return frozen(constrained(group.topics(), claims(group)).found)
    return general(replace(group, owned={member: _sent(owned) for member, owned in group.owned.items()}))


def alike(group: Group) -> bool:
    """Return whether all members subscribe to the same topics, as ``AbstractStickyAssignor`` sees it.

    Members without a topic count as alike until the first one that has some.
    """
    first: set[str] = set()
    for member in group.members():
        topics = group.subscriptions[member]
        if not first:
            first = set(topics)
        elif len(topics) != len(first) or not first.issuperset(topics):
            return False
    return True


def _sent(owned: Sequence[Partition]) -> list[Partition]:
    """Return *owned* in the order in which members send it: their user data hold a list for each topic."""
    topics = walk_computed([topic for topic, _ in owned], string_hash)
    return sorted(owned, key=lambda partition: topics.index(partition[0]))
