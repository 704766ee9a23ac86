"""The sticky assignment of a group whose members subscribe to different topics.

Class: ``AbstractStickyAssignor.GeneralAssignmentBuilder``. Members keep what they own, each unassigned partition goes
to the subscriber that has the fewest, and then partitions move while that makes two members more alike.

The class ends in a ``NullPointerException`` where the owner of an older generation takes no part in balancing; here it
gets the partition back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from mqlab.models.assignors.claims import claims, former_owners
from mqlab.models.assignors.group import Assignment, Group, Partition, frozen
from mqlab.models.assignors.hashing import utf16
from mqlab.models.assignors.movements import Movements


@dataclass(slots=True)
class Balancing:
    """An assignment while it is being made."""

    topics: Mapping[str, int]
    subscribers: Mapping[str, Sequence[str]]
    """Member ids by topic."""
    limits: Mapping[str, int]
    """Partitions that a member could have at most, by member id."""
    former: Mapping[Partition, str]
    """Who owned a partition in an older generation."""
    found: dict[str, list[Partition]]
    owner: dict[Partition, str] = field(default_factory=dict)
    movements: Movements = field(default_factory=Movements)

    def load(self, member: str) -> int:
        """Return how many partitions *member* has."""
        return len(self.found[member])

    def idlest(self, topic: str) -> str:
        """Return the subscriber of *topic* that has the fewest partitions, the first by id of several."""
        return min(self.subscribers[topic], key=lambda member: (self.load(member), utf16(member)))

    def give(self, partition: Partition, member: str) -> None:
        """Assign *partition*, which nobody has, to *member*."""
        self.found[member].append(partition)
        self.owner[partition] = member

    def move(self, wanted: Partition, receiver: str) -> None:
        """Move *wanted*, or what the movements so far put in its place, to *receiver*."""
        partition = self.movements.instead_of(wanted, self.owner[wanted], receiver)
        owner = self.owner[partition]
        self.movements.record(partition, owner, receiver)
        self.found[owner].remove(partition)
        self.give(partition, receiver)

    def balanced(self) -> bool:
        """Return whether no partition could go to a subscriber that has at least two fewer than its owner."""
        return not any(self._could_move(topic, count) for topic, count in self.topics.items())

    def _could_move(self, topic: str, count: int) -> bool:
        lacking = [self.load(member) for member in self.subscribers[topic] if self.load(member) != self.limits[member]]
        most = max(self.load(self.owner[topic, number]) for number in range(count))
        return bool(lacking) and min(lacking) + 1 < most


def general(group: Group) -> Assignment:
    """Return what the members keep and get, in the order in which the assignor put it there."""
    topics = group.topics()
    subscribers = {
        topic: [each for each in group.subscriptions if topic in group.subscriptions[each]] for topic in topics
    }
    claimed = claims(group).kept
    kept = {
        member: [partition for partition in partitions if partition[0] in group.subscriptions[member]]
        for member, partitions in claimed.items()
    }
    limits = {
        member: sum(count for topic, count in topics.items() if topic in wanted)
        for member, wanted in group.subscriptions.items()
    }
    balancing = Balancing(topics, subscribers, limits, former_owners(group), kept)
    balancing.owner.update({partition: member for member in kept for partition in kept[member]})
    _balance(balancing, new=not any(kept.values()), revoked=kept != claimed)
    return frozen(balancing.found)


def _balance(balancing: Balancing, new: bool, revoked: bool) -> None:
    """Assign what nobody has and move what makes the group more even.

    *new*: nobody owned anything. *revoked*: somebody gave something up, so that more than new partitions may move.
    """
    partitions = _by_choice(balancing)
    unassigned = [partition for partition in partitions if partition not in balancing.owner]
    for partition in unassigned:
        balancing.give(partition, balancing.idlest(partition[0]))
    movable = [partition for partition in partitions if len(balancing.subscribers[partition[0]]) > 1]
    taking_part = _taking_part(balancing)
    before = {member: list(found) for member, found in balancing.found.items()}
    unevenness = _unevenness(balancing, taking_part)
    if not revoked:
        fresh = set(unassigned)
        _move(balancing, [partition for partition in movable if partition in fresh])
    moved = _move(balancing, movable)
    if moved and not new and _unevenness(balancing, taking_part) >= unevenness:
        balancing.found = before


def _by_choice(balancing: Balancing) -> list[Partition]:
    """Return all partitions, those with the fewest subscribers first."""
    order = sorted(balancing.topics, key=lambda topic: (len(balancing.subscribers[topic]), utf16(topic)))
    return [(topic, number) for topic in order for number in range(balancing.topics[topic])]


def _move(balancing: Balancing, movable: Sequence[Partition]) -> bool:
    """Move partitions, one after the other and again from the first, until that changes nothing; return if it did."""
    ever = False
    moved = True
    while moved:
        moved = False
        for partition in movable:
            if balancing.balanced():
                break
            receiver = _receiver(balancing, partition)
            if receiver is not None:
                balancing.move(partition, receiver)
                moved = ever = True
    return ever


def _receiver(balancing: Balancing, partition: Partition) -> str | None:
    """Return who should have *partition* rather than its owner: the owner of old, or else the idlest subscriber."""
    enough = balancing.load(balancing.owner[partition]) - 1
    former = balancing.former.get(partition)
    if former is not None and balancing.load(former) < enough:
        return former
    idlest = balancing.idlest(partition[0])
    return idlest if balancing.load(idlest) < enough else None


def _taking_part(balancing: Balancing) -> list[str]:
    """Return the members whose share may change: they lack a partition they could have, or have one that others may."""
    return [
        member
        for member, found in balancing.found.items()
        if len(found) < balancing.limits[member] or any(len(balancing.subscribers[topic]) > 1 for topic, _ in found)
    ]


def _unevenness(balancing: Balancing, members: Sequence[str]) -> int:
    """Return the balance score: by how many partitions each two *members* differ, added up."""
    return sum(abs(balancing.load(one) - balancing.load(other)) for one, other in combinations(members, 2))
