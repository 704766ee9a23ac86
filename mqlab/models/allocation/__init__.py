"""Which client takes which queue: RocketMQ's AllocateMessageQueueStrategy, for ids that may repeat.

Every client computes the whole allocation for itself, from the broker's list of ids (ConsumerGroupInfo.getAllClientId,
duplicates included) and the topic's queues, and takes the share of its own id. Its place is the first occurrence of
that id, so duplicates take one share and the shares of the other places belong to nobody.
``python -m mqlab.models.allocation`` answers cases, see ``replay``.
"""

from __future__ import annotations

from mqlab.models.allocation.queues import Queue, java_order, queue_order
from mqlab.models.allocation.strategies import allocate

__all__ = ["Queue", "allocate", "java_order", "queue_order"]
