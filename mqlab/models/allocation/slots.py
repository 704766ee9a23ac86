"""Shares by place in the list of ids: averagely, by circle, by machine room.

AllocateMessageQueueAveragely, AllocateMessageQueueAveragelyByCircle, AllocateMessageQueueByMachineRoom.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mqlab.models.allocation.queues import Queue, takes_part


def averagely(client: str, queues: Sequence[Queue], ids: Sequence[str]) -> list[Queue]:
    """Consecutive queues; the first places have one more where the division leaves a rest."""
    if not takes_part(client, queues, ids):
        return []
    place = ids.index(client)
    share, rest = divmod(len(queues), len(ids))
    start = place * share + min(place, rest)
    return list(queues[start : start + share + (place < rest)])


def by_circle(client: str, queues: Sequence[Queue], ids: Sequence[str]) -> list[Queue]:
    """Each queue whose position is the place, modulo the number of ids."""
    if not takes_part(client, queues, ids):
        return []
    return list(queues[ids.index(client) :: len(ids)])


def by_machine_room(rooms: Collection[str], client: str, queues: Sequence[Queue], ids: Sequence[str]) -> list[Queue]:
    """Consecutive queues of brokers called room@name with one of *rooms*; the rest goes one by one to the first."""
    if not takes_part(client, queues, ids):
        return []
    place = ids.index(client)
    inside = [queue for queue in queues if _room(queue) in rooms]
    share, rest = divmod(len(inside), len(ids))
    mine = inside[place * share : (place + 1) * share]
    return [*mine, inside[share * len(ids) + place]] if place < rest else mine


def _room(queue: Queue) -> str | None:
    """Room of a broker's name in exactly two parts; String.split drops empty parts at the end."""
    parts = queue[1].rstrip("@").split("@")
    return parts[0] if len(parts) == 2 else None
