"""Which client takes which queue of RocketMQ, for ids that may repeat, and what repeated ids cost.

Every client computes the whole allocation for itself (AllocateMessageQueueStrategy), from the broker's list of ids
(ConsumerGroupInfo.getAllClientId, duplicates included) and the topic's queues, and takes the share of its own id, topic
by topic (RebalanceImpl.rebalanceByTopic). Its place is the first occurrence of that id, so duplicates take one share
and the shares of the other places belong to nobody: those queues are orphans, nobody pulls them. A consistent hash is
keyed by id instead: a duplicate adds virtual nodes for the same id, so its share grows and no queue is orphaned. The
retry topic ``%RETRY%group`` has one queue a broker, fewer than there are processes as a rule: all of a repeated id own
the same one, and each sends a message that fails back again, so that copies multiply with every retry.

Strategies have the names that AllocateMessageQueueStrategy.getName gives, as client logs print them; only those are
here that need nothing but ids and queues.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import md5
from math import fsum

Queue = tuple[str, str, int]
"""Topic, broker name, queue id."""

STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
"""What ``allocate`` knows."""
VIRTUAL_NODES = 10
"""Virtual nodes of an id in a consistent hash where the application names no other number."""


def java_order(text: str) -> bytes:
    """Sort key that orders texts as Java does: by UTF-16 code unit, so that U+1F600 comes before U+FF01."""
    return text.encode("utf-16-be", "surrogatepass")


def queue_order(queue: Queue) -> tuple[bytes, bytes, int]:
    """Sort key of queues: topic, then the broker's name as text (broker-10 before broker-2), then the id."""
    topic, broker, number = queue
    return java_order(topic), java_order(broker), number


def allocate(
    strategy: str, client: str, queues: Sequence[Queue], ids: Sequence[str], virtual_nodes: int = VIRTUAL_NODES
) -> list[Queue]:
    """What one client takes by one of ``STRATEGIES``, in the order of the Java class; at least one queue and id.

    *queues* and *ids* are used as they stand, as by the Java class; real clients sort both (``queue_order``,
    ``java_order``) and ask topic by topic.
    """
    if client not in ids:
        return []
    place = ids.index(client)
    if strategy == "AVG_BY_CIRCLE":
        return list(queues[place :: len(ids)])
    if strategy == "CONSISTENT_HASH":
        places, clients = _ring(tuple(ids), virtual_nodes)
        owners = [clients[bisect_left(places, _hash(_text(queue))) % len(clients)] for queue in queues]
        return [queue for queue, owner in zip(queues, owners, strict=True) if owner == client]
    share, rest = divmod(len(queues), len(ids))
    start = place * share + min(place, rest)
    return list(queues[start : start + share + (place < rest)])


@lru_cache(maxsize=64)
def _ring(ids: tuple[str, ...], virtual_nodes: int) -> tuple[list[int], list[str]]:
    """Places of the ring of a list of ids, and whose they are; a queue belongs to the first at or after its hash.

    An id that comes again numbers its virtual nodes on from those it has. A node that falls on a taken place drives out
    the one before, which then no longer counts as one of its id.
    """
    taken: dict[int, str] = {}
    nodes: Counter[str] = Counter()
    for client in ids:
        first = nodes[client]
        for replica in range(first, first + virtual_nodes):
            place = _hash(f"{client}-{replica}")
            if place in taken:
                nodes[taken[place]] -= 1
            taken[place] = client
            nodes[client] += 1
    places = sorted(taken)
    return places, [taken[place] for place in places]


def _text(queue: Queue) -> str:
    """MessageQueue.toString, which is what is hashed."""
    topic, broker, number = queue
    return f"MessageQueue [topic={topic}, brokerName={broker}, queueId={number}]"


def _hash(key: str) -> int:
    """The first four bytes of the MD5, unsigned; a lone surrogate is a question mark, as in String.getBytes."""
    return int.from_bytes(md5(key.encode("utf-8", "replace"), usedforsecurity=False).digest()[:4], "big")


@dataclass(frozen=True)
class Capacity:
    """How much of a group's work is of use."""

    queues: int
    served: int
    """Queues with at least one owner."""
    owned: int
    """Queues summed over the processes: a queue with two owners counts twice."""
    processes: int
    useful_processes: float
    """Processes whose work is distinct: of a queue with k owners each does 1/k; a process without queues does none."""

    @property
    def served_share(self) -> float:
        """Served queues / all queues: 1 where nothing is orphaned; also where there is no queue."""
        return self.served / self.queues if self.queues else 1.0

    @property
    def distinct_share(self) -> float:
        """Served queues / owned queues: 1 where no queue is owned twice; the rest is done again by another process."""
        return self.served / self.owned if self.owned else 1.0


@dataclass(frozen=True)
class Ownership:
    """Queues and their owners."""

    owners: Mapping[Queue, tuple[str, ...]]
    """Every queue, in the clients' order, to the ids that own it; an id is there once for each of its processes."""
    capacity: Capacity
    unique_capacity: Capacity
    """What it would be had each process an id of its own."""


def owned(
    strategy: str,
    ids: Sequence[str],
    queues: Iterable[Queue],
    absent: Collection[str] = (),
) -> Ownership:
    """Return who owns what once every process has rebalanced.

    *ids*: the broker's list, one per process, in any order. *absent*: ids of members that do not subscribe to these
    queues' topics; they hold a place in the list and take nothing (subscriptions that differ within a group).
    """
    known = sorted(set(queues), key=queue_order)
    own_ids = unique(ids)
    away = {own for given, own in zip(ids, own_ids, strict=True) if given in absent}
    owners = _owners(strategy, ids, known, absent)
    return Ownership(
        owners=owners,
        capacity=_capacity(owners, ids),
        unique_capacity=_capacity(_owners(strategy, own_ids, known, away), own_ids),
    )


def unique(ids: Sequence[str]) -> tuple[str, ...]:
    """Each process with an id of its own, in the places the given ids have when sorted: ``a``, ``a (2)``, ``a (3)``.

    Ids hold no blank; one sorts before every character they hold. CONSISTENT_HASH depends on the text of ids, so there
    the result is an example of what unique ids would give.
    """
    width = len(str(len(ids)))
    seen: Counter[str] = Counter()
    result = []
    for client in ids:
        seen[client] += 1
        result.append(client if seen[client] == 1 else f"{client} ({seen[client]:0{width}d})")
    return tuple(result)


def _owners(
    strategy: str, ids: Sequence[str], queues: Sequence[Queue], absent: Collection[str]
) -> dict[Queue, tuple[str, ...]]:
    in_order = sorted(ids, key=java_order)
    topics = defaultdict(list)
    for queue in queues:
        topics[queue[0]].append(queue)
    owners: dict[Queue, list[str]] = {queue: [] for queue in queues}
    for client, processes in Counter(in_order).items():
        if client in absent:
            continue
        for topic in topics.values():
            for queue in allocate(strategy, client, topic, in_order):
                owners[queue] += [client] * processes
    return {queue: tuple(clients) for queue, clients in owners.items()}


def _capacity(owners: Mapping[Queue, tuple[str, ...]], ids: Sequence[str]) -> Capacity:
    parts = defaultdict(list)
    for clients in owners.values():
        for client in clients:
            parts[client].append(1 / len(clients))
    return Capacity(
        queues=len(owners),
        served=sum(1 for clients in owners.values() if clients),
        owned=sum(map(len, owners.values())),
        processes=len(ids),
        useful_processes=fsum(fsum(parts[client]) / len(parts[client]) for client in ids if client in parts),
    )
