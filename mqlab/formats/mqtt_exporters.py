"""The part of the vocabulary of metrics that HiveMQ and VerneMQ have.

HiveMQ registers ``com.hivemq.messages.dropped.count`` (class ``HiveMQMetrics``), which its extension for Prometheus
shows as ``com_hivemq_messages_dropped_count`` and JMX as ``metrics:name=com.hivemq.messages.dropped.count``. VerneMQ's
names have no prefix, so only those are known that nobody else has: ``bytes_received`` stays unknown. RabbitMQ counts
messages of all its protocols under one name, told apart by a label only, so none of them is known.
"""

from __future__ import annotations

_ANY = "[._-]"


def _hivemq(name: str) -> str:
    """All ways to write a metric of HiveMQ, whatever stands between the words of *name*."""
    return rf"(?:metrics[:_](?:name=)?)?com[._]hivemq{_ANY}{name.replace('.', _ANY)}(?:[:_](?:count|number|value))?"


EXPORTED: dict[str, str] = {
    "mqtt.messages_received": _hivemq("messages.incoming.total.count"),
    "mqtt.messages_sent": _hivemq("messages.outgoing.total.count"),
    "mqtt.publish_received": f"{_hivemq('messages.incoming.publish.count')}|mqtt_publish_received",
    "mqtt.publish_sent": f"{_hivemq('messages.outgoing.publish.count')}|mqtt_publish_sent",
    "mqtt.publish_dropped": _hivemq("messages.dropped.count"),
    "mqtt.queue_full_dropped": f"{_hivemq('messages.dropped.queue.full.count')}|queue_message_drop",
    "mqtt.publish_denied": "mqtt_publish_auth_error",
    "mqtt.bytes_received": _hivemq("networking.bytes.read.total"),
    "mqtt.bytes_sent": _hivemq("networking.bytes.write.total"),
    "mqtt.clients_connected": f"{_hivemq('networking.connections.current')}|active_mqtt_connections",
    "mqtt.sessions": f"{_hivemq('sessions.overall.current')}|queue_processes",
    "mqtt.retained_messages": f"{_hivemq('messages.retained.current')}|retain_messages",
    "mqtt.subscriptions": f"{_hivemq('subscriptions.overall.current')}|router_subscriptions",
}
"""Canonical name → regex over whole names of exporters; VerneMQ drops from full queues alone (``vmq_queue``)."""
