"""What of the settings that keep acknowledged records is not in force for a topic, by the last that is known."""

from __future__ import annotations

from mqlab import words
from mqlab.delivery import durability
from mqlab.facts import Facts
from mqlab.traffic import resending
from mqlab.words import Text

say = words.room("advised")

COPIES, IN_SYNC = 3, 2
"""One broker may be away for maintenance and another fail."""


def durable(facts: Facts, topic: str) -> tuple[Text, ...]:
    """Each setting to change, or to make sure of where nothing tells it; none where all are in force."""
    acks = durability.acks(facts, topic)
    return (*([say("acks")] if acks is None or acks.leader_only else []), *replicated(facts, topic))


def replicated(facts: Facts, topic: str) -> tuple[Text, ...]:
    """Of those what brokers must have; none where it is in force."""
    copies, in_sync = durability.replicas(facts, topic), durability.min_in_sync(facts, topic)
    lacking = {"in-sync": in_sync is None or in_sync < IN_SYNC, "copies": copies is None or copies < COPIES}
    return tuple(say(key) for key, lacks in lacking.items() if lacks)


def once(facts: Facts, topic: str) -> tuple[Text, ...]:
    """What has every record stored once: each producer of *topic* numbers its batches, which acks=all allows."""
    acks, clients = durability.acks(facts, topic), [one for one in durability.producers(facts, topic) if one]
    numbered = bool(clients) and all(resending.idempotent(facts, client, None) for client in clients)
    lacking = {"idempotence": not numbered, "acks": acks is None or acks.leader_only}
    return tuple(say(key) for key, lacks in lacking.items() if lacks)
