"""Consumer groups of any system: what they read, who was in them, and how their queues are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqlab.facts import Facts
from mqlab.groups.queues import Points, spread
from mqlab.kafka import groups
from mqlab.kafka import members as kafka_members
from mqlab.memo import per_facts
from mqlab.rocketmq import members
from mqlab.rocketmq.members import Stream


@per_facts
def topics(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, Points]]:
    """Queues of every (group, topic), without RocketMQ's retry topics; Kafka's partitions are plain numbers."""
    numbered = {key: q for key, q in groups.topics(facts).items() if all(name.isdigit() for name in q)}
    return dict(sorted({**members.topics(facts), **numbered}.items()))


@per_facts
def streams(facts: Facts, group: str) -> tuple[Stream, ...]:
    """Every source's view of *group*, the most direct one first."""
    return kafka_members.streams(facts, group) if is_kafka(facts, group) else members.streams(facts, group)


def is_kafka(facts: Facts, group: str) -> bool:
    """True for a group of Kafka; a name that both systems use is RocketMQ's."""
    return group not in members.groups(facts) and group in groups.groups(facts)


def places(topic: str, queues: Iterable[str]) -> str:
    """``broker-a 0-3 of ORDERS``, or of Kafka ``partitions 0-3 of orders``."""
    names = list(queues)
    if any(not name.isdigit() for name in names):
        return f"{spread(names)} of {topic}"
    return f"{'partition' if len(names) == 1 else 'partitions'} {spread(names).replace(', ', ' and ')} of {topic}"
