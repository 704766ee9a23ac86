"""Kafka's ``CooperativeStickyAssignor``: the sticky assignment without what its owner must give up first.

Such a partition has no owner in this round. Its old owner revokes it and rejoins, and the next round hands it out.
"""

from __future__ import annotations

from collections.abc import Set

from mqlab.models.assignors.claims import claims
from mqlab.models.assignors.constrained import constrained
from mqlab.models.assignors.general import general
from mqlab.models.assignors.group import Assignment, Group, Partition, frozen
from mqlab.models.assignors.sticky import alike


def assign(group: Group) -> Assignment:
    """Return the partitions of each member in this round."""
    if alike(group):
        dealing = constrained(group.topics(), claims(group))
        return _without(frozen(dealing.found), dealing.moving)
    target = general(group)
    return _without(target, _moving(group, target))


def _without(assignment: Assignment, withheld: Set[Partition]) -> Assignment:
    return {member: tuple(each for each in found if each not in withheld) for member, found in assignment.items()}


def _moving(group: Group, target: Assignment) -> set[Partition]:
    """Return the partitions that one member owns no longer and another one did not own before."""
    owned = {member: set(group.owned.get(member, ())) for member in target}
    added = {each for member, found in target.items() for each in found if each not in owned[member]}
    revoked = {each for member, mine in owned.items() for each in mine.difference(target[member])}
    return added & revoked
