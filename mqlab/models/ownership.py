"""Who owns each queue of a group whose ids may repeat, and what that costs.

Each process of a repeated id takes what the id gets (``allocation``), topic by topic (RebalanceImpl.rebalanceByTopic).
The shares of an id's further places belong to nobody: those queues are orphans, nobody pulls them. The retry topic
``%RETRY%group`` has one queue a broker, fewer than there are processes as a rule: all of a repeated id own the same
one, and each sends a message that fails back again, so that copies multiply with every retry.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from mqlab.models.queue_allocation import Queue, allocate, java_order, queue_order


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
    orphans: tuple[Queue, ...]
    """Queues that nobody owns."""
    doubled: Mapping[Queue, int]
    """Queues with several owners, to how many."""
    capacity: Capacity
    unique_capacity: Capacity
    """What it would be had each process an id of its own."""


def owned(
    strategy: str,
    ids: Sequence[str],
    queues: Iterable[Queue],
    params: Mapping[str, Any] | None = None,
    absent: Collection[str] = (),
) -> Ownership:
    """Return who owns what once every process has rebalanced.

    *ids*: the broker's list, one per process, in any order. *absent*: ids of members that do not subscribe to these
    queues' topics; they hold a place in the list and take nothing (subscriptions that differ within a group).

    Raises:
        IllegalArgumentError, UnknownStrategyError: as ``allocate``.
    """
    known = sorted(set(queues), key=queue_order)
    own_ids = unique(ids)
    away = {own for given, own in zip(ids, own_ids, strict=True) if given in absent}
    owners = _owners(strategy, ids, known, params, absent)
    return Ownership(
        owners=owners,
        orphans=tuple(queue for queue, clients in owners.items() if not clients),
        doubled={queue: len(clients) for queue, clients in owners.items() if len(clients) > 1},
        capacity=_capacity(owners, ids),
        unique_capacity=_capacity(_owners(strategy, own_ids, known, params, away), own_ids),
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
    strategy: str,
    ids: Sequence[str],
    queues: Sequence[Queue],
    params: Mapping[str, Any] | None,
    absent: Collection[str],
) -> dict[Queue, tuple[str, ...]]:
    in_order = sorted(ids, key=java_order)
    topics = defaultdict(list)
    for queue in queues:
        topics[queue[0]].append(queue)
    owners: dict[Queue, list[str]] = {queue: [] for queue in queues}
    for client, processes in Counter(in_order).items():
        if client in absent:
            continue
        share = {queue for topic in topics.values() for queue in allocate(strategy, client, topic, in_order, params)}
        for queue in share & owners.keys():
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
