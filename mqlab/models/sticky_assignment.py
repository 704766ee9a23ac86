"""The sticky assignment of Kafka's partitions (``AbstractStickyAssignor``).

The assignors iterate over maps, so the order in which Java walks a ``HashMap`` decides who gets what: a table whose
size is a power of two, at least 16 and never more than three quarters full, from the first bin, each bin in the order
of insertion.
A partition that two members claim stays with the one of the higher generation; with equal generations it is taken from
both (``Found multiple consumers … claiming the same TopicPartition``). Claims on partitions that are gone are dropped;
the class only drops topics that are gone, and lets a member keep a partition that its topic no longer has.
``PartitionMovements`` keeps two members from swapping partitions of one topic: before a partition moves from A to B,
one of the same topic that moved from B to A moves back.
``ConstrainedAssignmentBuilder``, where all members subscribe to the same topics, P partitions and m members: everybody
gets ⌊P/m⌋, and P mod m members one more. ``GeneralAssignmentBuilder``, where they do not: members keep what they own,
each unassigned partition goes to the subscriber that has the fewest, and then partitions move while that makes two
members more alike. That class ends in a ``NullPointerException`` where the owner of an older generation takes no part
in balancing; here it gets the partition back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import TypeVar

_Key = TypeVar("_Key")

_LOAD_FACTOR = 0.75
_SMALLEST_TABLE = 16
_WORD = 0xFFFFFFFF


def utf16(text: str) -> bytes:
    """Return the key by which ``String.compareTo`` orders *text*."""
    return text.encode("utf-16-be", "surrogatepass")


def string_hash(text: str) -> int:
    """Return ``String.hashCode`` of *text* as an unsigned number of 32 bits."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return reduce(lambda total, unit: (31 * total + unit) & _WORD, units, 0)


def partition_hash(partition: tuple[str, int]) -> int:
    """Return ``TopicPartition.hashCode`` of *partition* as an unsigned number of 32 bits."""
    topic, number = partition
    return (31 * (31 + number) + string_hash(topic)) & _WORD


def walk(inserted: Iterable[_Key], hash_of: Callable[[_Key], int], sized_for: int | None = None) -> list[_Key]:
    """Return distinct keys in the order in which a ``HashMap`` that got them in this order hands them out.

    *sized_for* is the number of keys that the table had to hold, where that is not how many there are: tables do not
    shrink.
    """
    keys = list(dict.fromkeys(inserted))
    bins = _table_size(len(keys) if sized_for is None else sized_for)
    return sorted(keys, key=lambda key: _spread(hash_of(key)) & (bins - 1))


def walk_computed(asked: Sequence[_Key], hash_of: Callable[[_Key], int]) -> list[_Key]:
    """Return distinct keys in the order of a ``HashMap`` for which ``computeIfAbsent`` was *asked*, key after key.

    That puts a new key before those in its bin, and enlarges the table only when it is asked the next time.
    """
    newest_first = reversed(dict.fromkeys(asked))
    return walk(newest_first, hash_of, len(set(asked[:-1])))


def _table_size(entries: int) -> int:
    size = _SMALLEST_TABLE
    while entries > size * _LOAD_FACTOR:
        size *= 2
    return size


def _spread(code: int) -> int:
    return code ^ (code >> 16)


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
