"""Strategies by the name that AllocateMessageQueueStrategy.getName gives, as client logs print it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from mqlab.errors import MqlabError
from mqlab.models.allocation.queues import Queue, Share
from mqlab.models.allocation.ring import by_consistent_hash
from mqlab.models.allocation.rooms import nearby
from mqlab.models.allocation.slots import averagely, by_circle, by_machine_room

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
