"""Which client takes which queue: RocketMQ's AllocateMessageQueueStrategy, for ids that may repeat.

Every client computes the whole allocation for itself, from the broker's list of ids (ConsumerGroupInfo.getAllClientId,
duplicates included) and the topic's queues, and takes the share of its own id. Its place is the first occurrence of
that id, so duplicates take one share and the shares of the other places belong to nobody. A consistent hash is keyed by
id instead: a duplicate adds virtual nodes for the same id, so its share grows and no queue is orphaned.

Strategies have the names that AllocateMessageQueueStrategy.getName gives, as client logs print them. Who is in which
machine room is the application's own MachineRoomResolver; here a broker is in the room before the first @ of its name,
a client in the one before the first - of its id.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import md5
from typing import Any, Final, NamedTuple, TypeVar

from mqlab.errors import MqlabError

Queue = tuple[str, str, int]
"""Topic, broker name, queue id."""

Share = Callable[[str, Sequence[Queue], Sequence[str]], list[Queue]]
"""A strategy with its parameters: client, queues, ids to the client's queues."""


class IllegalArgumentError(ValueError):
    """The Java class throws IllegalArgumentException for this input."""


def java_order(text: str) -> bytes:
    """Sort key that orders texts as Java does: by UTF-16 code unit, so that U+1F600 comes before U+FF01."""
    return text.encode("utf-16-be", "surrogatepass")


def queue_order(queue: Queue) -> tuple[bytes, bytes, int]:
    """Sort key of queues: topic, then the broker's name as text (broker-10 before broker-2), then the id."""
    topic, broker, number = queue
    return java_order(topic), java_order(broker), number


def takes_part(client: str, queues: Sequence[Queue], ids: Sequence[str]) -> bool:
    """Whether the client is in the group: AbstractAllocateMessageQueueStrategy.check.

    Raises:
        IllegalArgumentError: There is no client, no queue or no id.
    """
    for name, value in (("currentCID", client), ("mqAll", queues), ("cidAll", ids)):
        if not value:
            raise IllegalArgumentError(f"{name} is empty")
    return client in ids


class _Ring(NamedTuple):
    places: list[int]
    clients: list[str]


def by_consistent_hash(virtual_nodes: int) -> Share:
    """The strategy that gives a client the queues whose hash is followed on the ring by a virtual node of it."""
    if virtual_nodes < 0:
        raise IllegalArgumentError(f"illegal virtualNodeCnt :{virtual_nodes}")
    return partial(_followed, virtual_nodes)


def _followed(virtual_nodes: int, client: str, queues: Sequence[Queue], ids: Sequence[str]) -> list[Queue]:
    if not takes_part(client, queues, ids):
        return []
    ring = _ring(tuple(ids), virtual_nodes)
    return [queue for queue in queues if _owner(ring, queue) == client]


@lru_cache(maxsize=64)
def _ring(ids: tuple[str, ...], virtual_nodes: int) -> _Ring:
    """The ring of a list of ids: an id that comes again numbers its virtual nodes on from those it has.

    A node that falls on a taken place drives out the one before, which then no longer counts as one of its id.
    """
    taken: dict[int, str] = {}
    nodes: Counter[str] = Counter()
    for client in ids:
        known = nodes[client]
        for replica in range(known, known + virtual_nodes):
            place = _hash(f"{client}-{replica}")
            if place in taken:
                nodes[taken[place]] -= 1
            taken[place] = client
            nodes[client] += 1
    places = sorted(taken)
    return _Ring(places, [taken[place] for place in places])


def _owner(ring: _Ring, queue: Queue) -> str | None:
    """Client of the first node at or after the queue's hash, else of the ring's first; None on an empty ring."""
    if not ring.places:
        return None
    at = bisect_left(ring.places, _hash(_text(queue)))
    return ring.clients[at % len(ring.clients)]


def _text(queue: Queue) -> str:
    """MessageQueue.toString, which is what is hashed."""
    topic, broker, number = queue
    return f"MessageQueue [topic={topic}, brokerName={broker}, queueId={number}]"


def _hash(key: str) -> int:
    """The first four bytes of the MD5, unsigned; a lone surrogate is a question mark, as in String.getBytes."""
    return int.from_bytes(md5(key.encode("utf-8", "replace"), usedforsecurity=False).digest()[:4], "big")


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


_NEARBY = "MACHINE_ROOM_NEARBY"
_NAMES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM", f"{_NEARBY}-<another>", "CONFIG")

VIRTUAL_NODES: Final = 10
"""Virtual nodes of an id where the application names no other number."""


class UnknownStrategyError(MqlabError):
    """No strategy has this name."""

    def __init__(self, name: object) -> None:
        super().__init__(f"No allocation strategy is called {name!r}; known are {', '.join(_NAMES)}.")


def allocate(
    strategy: str, client: str, queues: Sequence[Queue], ids: Sequence[str], params: Mapping[str, Any] | None = None
) -> list[Queue]:
    """Return what one client takes, in the order the Java class returns it.

    *queues* and *ids* are used as they stand, as by the Java class; real clients sort both (``queue_order``,
    ``java_order``) and ask topic by topic. *params*: ``virtual_nodes`` of CONSISTENT_HASH, ``consumer_idcs`` of
    MACHINE_ROOM, ``inner`` of MACHINE_ROOM_NEARBY where its name has none, ``message_queue_list`` of CONFIG, which
    looks neither at the queues nor at the ids.

    Raises:
        IllegalArgumentError: The Java class throws: no client, queue or id, or one of them is in no room.
        UnknownStrategyError: No strategy has this name.
    """
    return _share(strategy, params or {})(client, queues, ids)


def _share(strategy: str, params: Mapping[str, Any]) -> Share:
    name, _, inner = strategy.partition("-")
    if name == _NEARBY:
        return partial(nearby, _share(inner or params.get("inner", "AVG"), params))
    match strategy:
        case "AVG":
            return averagely
        case "AVG_BY_CIRCLE":
            return by_circle
        case "CONSISTENT_HASH":
            return by_consistent_hash(params.get("virtual_nodes", VIRTUAL_NODES))
        case "MACHINE_ROOM":
            return partial(by_machine_room, frozenset(params.get("consumer_idcs", ())))
        case "CONFIG":
            return partial(_configured, params.get("message_queue_list", ()))
    raise UnknownStrategyError(strategy)


def _configured(fixed: Sequence[Queue], _client: str, _queues: Sequence[Queue], _ids: Sequence[str]) -> list[Queue]:
    """The list that the application set, whoever asks: AllocateMessageQueueByConfig."""
    return list(fixed)


__all__ = ["Queue", "allocate", "java_order", "queue_order"]
