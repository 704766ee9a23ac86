r"""MQTT's part of the vocabulary of metrics: what brokers publish below ``$SYS``, and what exporters call it.

Mosquitto's ``sys_tree.c`` names them; ``clients/active``, ``clients/inactive`` and ``messages/stored`` are second names
of what stands here. A stored message is one that waits in a queue or is retained.
"""

from __future__ import annotations

from mqlab.formats import emqx_metrics, mqtt_exporters

_BROKER = r"\$SYS/broker/"

_PUBLISHED: dict[str, str] = {
    "mqtt.messages_received": rf"{_BROKER}messages/received",
    "mqtt.messages_sent": rf"{_BROKER}messages/sent",
    "mqtt.publish_received": rf"{_BROKER}publish/messages/received",
    "mqtt.publish_sent": rf"{_BROKER}publish/messages/sent",
    "mqtt.publish_dropped": rf"{_BROKER}publish/messages/dropped",
    "mqtt.bytes_received": rf"{_BROKER}bytes/received",
    "mqtt.bytes_sent": rf"{_BROKER}bytes/sent",
    "mqtt.clients_connected": rf"{_BROKER}clients/connected",
    "mqtt.clients_disconnected": rf"{_BROKER}clients/disconnected",
    "mqtt.clients_total": rf"{_BROKER}clients/total",
    "mqtt.stored_messages": rf"{_BROKER}store/messages/count",
    "mqtt.stored_bytes": rf"{_BROKER}store/messages/bytes",
    "mqtt.retained_messages": rf"{_BROKER}retained messages/count",
    "mqtt.inflight_messages": rf"{_BROKER}messages/inflight",
    "mqtt.subscriptions": rf"{_BROKER}subscriptions/count",
    "mqtt.shared_subscriptions": rf"{_BROKER}shared_subscriptions/count",
    "mqtt.heap_bytes": rf"{_BROKER}heap/current(?: size)?",
    "mqtt.uptime_seconds": rf"{_BROKER}uptime",
}

_ALL = (_PUBLISHED, mqtt_exporters.EXPORTED, emqx_metrics.CANONICAL)
CANONICAL: dict[str, str] = {
    name: "|".join(names[name] for names in _ALL if name in names) for name in dict.fromkeys(n for a in _ALL for n in a)
}
"""Canonical name → regex over whole names of exporters."""
