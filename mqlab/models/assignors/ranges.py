"""Kafka's ``RangeAssignor``: each topic is cut into runs of partitions, one for each of its subscribers.

Without racks the topics do not know each other: the first subscribers get the larger runs of every topic, which is why
members that come early in the order carry more.
"""

from __future__ import annotations

from itertools import pairwise

from mqlab.models.assignors.group import Assignment, Group, Partition, frozen


def assign(group: Group) -> Assignment:
    """Return the partitions of each member, topic after topic in the order in which the assignor meets them."""
    found: dict[str, list[Partition]] = {member: [] for member in group.subscriptions}
    order = group.in_member_order()
    for topic, count in group.topics().items():
        subscribers = [member for member in order if topic in group.subscriptions[member]]
        for member, run in zip(subscribers, _runs(count, len(subscribers)), strict=True):
            found[member] += [(topic, number) for number in run]
    return frozen(found)


def _runs(partitions: int, members: int) -> list[range]:
    """Cut *partitions* into runs for *members*: the first ones are longer by one where it does not come out even."""
    least, longer = divmod(partitions, members)
    starts = [least * index + min(index, longer) for index in range(members + 1)]
    return [range(start, end) for start, end in pairwise(starts)]
