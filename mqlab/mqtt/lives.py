"""The connections of MQTT clients: who, from where, from when until when, and how each ended.

A broker's log tells of all its clients; what only clients tell of themselves is added for ids that no broker names.
mosquitto prints whole seconds and gives no address where a connection ends: an end belongs to the oldest connection of
its client id that is open. The protocol allows one connection for each id (MQTT 3.1.1, 3.1.4-2; MQTT 5, 3.1.4-3), so a
connection that no line ends was over when the id connected again. Sessions that are kept for clients that are away:
``mqtt_offline.offline_sessions``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt import broker_lives, client_lives
from mqlab.mqtt.connection import Connection


@per_facts
def connections(facts: Facts) -> tuple[Connection, ...]:
    """Every connection, by begin: as brokers tell, and as clients tell of ids that no broker's log names."""
    told = tuple(broker_lives.lives(facts))
    named = {c.client_id for c in told}
    own = [c for c in client_lives.lives(facts) if c.client_id not in named]
    return tuple(sorted((*told, *own), key=order))


@per_facts
def told_by_clients(facts: Facts) -> tuple[Connection, ...]:
    """Every connection that a client's own log tells of, by begin; ``source`` says which log."""
    return tuple(sorted(client_lives.lives(facts), key=order))


@per_facts
def by_client(facts: Facts) -> Mapping[tuple[str | None, str], tuple[Connection, ...]]:
    """The connections of each client id at each broker, by begin; keys sorted.

    What only clients tell of has no broker: several names can mean the same one.
    """
    found: dict[tuple[str | None, str], list[Connection]] = defaultdict(list)
    for connection in connections(facts):
        broker = connection.broker if connection.told_by == "broker" else None
        found[broker, connection.client_id].append(connection)
    return {key: tuple(found[key]) for key in sorted(found, key=lambda key: (key[0] or "", key[1]))}


def order(connection: Connection) -> tuple[float, str, int]:
    """What connections are sorted by: begin, else end; then source and line."""
    place = connection.begin or connection.end
    at = connection.since if connection.since is not None else connection.until
    return (at or 0.0, connection.source, (place.line if place else None) or 0)
