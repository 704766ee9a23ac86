"""Kept MQTT sessions that are taken up again: only then a broker sends again what has no answer yet.

MQTT 5 §4.4 allows resending at a reconnect only, and so do mosquitto since 1.5 (``retry_interval`` has no effect),
HiveMQ and RabbitMQ with MQTT 3.1.1; EMQX and VerneMQ resend by a timer.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt import lives, software
from mqlab.mqtt.brokers import brokers
from mqlab.mqtt.connection import Connection

CONNECTS = 3
"""Connects of one client from which messages that come again are a storm."""
_AT_RECONNECT = frozenset({"mosquitto", "hivemq", "rabbitmq"})
_BY_TIMER = ("0.", "1.0", "1.1", "1.2", "1.3", "1.4")
"""Versions of mosquitto with a timer."""


@per_facts
def often(facts: Facts) -> tuple[str, ...]:
    """Clients that brokers saw connect so often with a session that is, or may be, kept; sorted."""
    return tuple(client for client, clean, many in _clients(facts) if not clean and many >= CONNECTS)


@per_facts
def never(facts: Facts) -> bool:
    """Brokers that resend at a reconnect only tell of connections, and no client came so often."""
    told = any(c.told_by == "broker" for c in lives.connections(facts))
    return told and not often(facts) and all(_at_reconnect(facts, b.name) for b in brokers(facts))


@per_facts
def kept_often(facts: Facts) -> bool:
    """Some client surely came back to a kept session so often, since its connections broke: answers were under way."""
    own = lives.by_client(facts).values()
    return any(sum(c.count for c in each if _broke(c)) >= CONNECTS for each in own)


def _broke(one: Connection) -> bool:
    return one.told_by == "broker" and bool(one.persistent) and one.ended not in (None, "normal", "broker-stopped")


def _clients(facts: Facts) -> Iterator[tuple[str, bool, int]]:
    for (_, client), own in sorted(lives.by_client(facts).items(), key=lambda item: (item[0][0] or "", item[0][1])):
        told = [c for c in own if c.told_by == "broker"]
        yield client, all(c.persistent is False for c in told), sum(c.count for c in told)


def _at_reconnect(facts: Facts, broker: str) -> bool:
    product, version = software.software(facts, broker), software.version(facts, broker) or ""
    return product in _AT_RECONNECT and not (product == "mosquitto" and version.startswith(_BY_TIMER))
