"""Queues and the order in which every client sees them: MessageQueue.compareTo and String.compareTo."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
