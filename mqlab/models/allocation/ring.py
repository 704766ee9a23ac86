"""Shares by consistent hash: AllocateMessageQueueConsistentHash, ConsistentHashRouter, VirtualNode.

The ring is keyed by id: a duplicate adds virtual nodes for the same id, so its share grows and no queue is orphaned.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from hashlib import md5
from typing import NamedTuple

from mqlab.models.allocation.queues import IllegalArgumentError, Queue, Share, takes_part


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
