"""Shares by nearby machine room: AllocateMachineRoomNearby around another strategy.

Who is in which room is the application's own MachineRoomResolver. Here a broker is in the room before the first @ of
its name, a client in the one before the first - of its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mqlab.models.allocation.queues import IllegalArgumentError, Queue, Share, java_order, takes_part

_Item = TypeVar("_Item")


def nearby(inner: Share, client: str, queues: Sequence[Queue], ids: Sequence[str]) -> list[Queue]:
    """The client's share of its own room, then of every room without clients, which all ids share."""
    if not takes_part(client, queues, ids):
        return []
    rooms = _grouped(queues, _broker_room)
    clients = _grouped(ids, _client_room)
    here = _client_room(client)
    mine = inner(client, rooms[here], clients[here]) if here in rooms else []
    for room in sorted(rooms.keys() - clients.keys(), key=java_order):
        mine = [*mine, *inner(client, rooms[room], ids)]
    return mine


def _broker_room(queue: Queue) -> str:
    return queue[1].split("@")[0]


def _client_room(client: str) -> str:
    return client.split("-")[0]


def _grouped(items: Iterable[_Item], room_of: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    """The items of each room, in their order."""
    rooms: dict[str, list[_Item]] = {}
    for item in items:
        room = room_of(item)
        if not room:
            raise IllegalArgumentError(f"Machine room is null for {item}")
        rooms.setdefault(room, []).append(item)
    return rooms
