"""Kafka's ``RoundRobinAssignor``: partitions are dealt like cards, and who did not subscribe to a topic is passed over.

The turn goes on from the member that was served last, so unequal subscriptions leave unequal hands.
"""

from __future__ import annotations

from mqlab.models.assignors.group import Assignment, Group, Partition, frozen
from mqlab.models.assignors.hashing import utf16


def assign(group: Group) -> Assignment:
    """Return the partitions of each member in the order in which they were dealt."""
    found: dict[str, list[Partition]] = {member: [] for member in group.subscriptions}
    order = group.in_member_order()
    turn = 0
    for topic, count in sorted(group.topics().items(), key=lambda item: utf16(item[0])):
        for number in range(count):
            while topic not in group.subscriptions[order[turn % len(order)]]:
                turn += 1
            found[order[turn % len(order)]].append((topic, number))
            turn += 1
    return frozen(found)
