r"""MQTT's part of the vocabulary of metrics: what brokers publish below ``$SYS``, and what exporters call it.

Mosquitto's ``sys_tree.c`` names them; ``clients/active``, ``clients/inactive`` and ``messages/stored`` are second names
of what stands here. A stored message is one that waits in a queue or is retained.

EMQX's command line, its API and Prometheus say the same with other dots: ``emqx.messages.dropped`` is what ``emqx_ctl
metrics`` and the API print, ``emqx_messages_dropped`` what Prometheus scrapes. ``connections.count`` counts sessions of
clients that are away, too (emqx_cm); ``takeovered`` of 4.x is ``takenover`` in 5.x. The command line cuts names after
30 characters.

HiveMQ registers ``com.hivemq.messages.dropped.count`` (class ``HiveMQMetrics``), which its extension for Prometheus
shows as ``com_hivemq_messages_dropped_count`` and JMX as ``metrics:name=com.hivemq.messages.dropped.count``. VerneMQ's
names have no prefix, so only those are known that nobody else has: ``bytes_received`` stays unknown. RabbitMQ counts
messages of all its protocols under one name, told apart by a label only, so none of them is known.
"""

from __future__ import annotations

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

_ANY = "[._-]"


def _hivemq(name: str) -> str:
    """All ways to write a metric of HiveMQ, whatever stands between the words of *name*."""
    return rf"(?:metrics[:_](?:name=)?)?com[._]hivemq{_ANY}{name.replace('.', _ANY)}(?:[:_](?:count|number|value))?"


_EXPORTED: dict[str, str] = {
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
"""HiveMQ and VerneMQ; VerneMQ drops from full queues alone (``vmq_queue``)."""

_EMQX: dict[str, str] = {
    "mqtt.publish_received": r"emqx[._]packets[._]publish[._]received",
    "mqtt.publish_sent": r"emqx[._]packets[._]publish[._]sent",
    "mqtt.publish_dropped": r"emqx[._]delivery[._]dropped",
    "mqtt.queue_full_dropped": r"emqx[._]delivery[._]dropped[._]queue[._]full",
    "mqtt.publish_denied": r"emqx[._]packets[._]publish[._]auth[._]error|emqx[._]authorization[._]deny",
    "mqtt.quota_exceeded": r"emqx[._]packets[._]publish[._]quota[._]exceeded?",
    "mqtt.takeovers": r"emqx[._]session[._](?:takeovered|takenover)",
    "mqtt.bytes_received": r"emqx[._]bytes[._]received",
    "mqtt.bytes_sent": r"emqx[._]bytes[._]sent",
    "mqtt.clients_connected": r"emqx[._]live[._]connections[._]count",
    "mqtt.clients_total": r"emqx[._]connections[._]count",
    "mqtt.sessions": r"emqx[._]sessions[._]count",
    "mqtt.subscriptions": r"emqx[._]subscriptions[._]count",
    "mqtt.shared_subscriptions": r"emqx[._]subscriptions[._]shared[._]count",
    "mqtt.retained_messages": r"emqx[._]retained[._]count",
    "mqtt.heap_bytes": r"emqx[._]memory/total|emqx[._]vm[._]used[._]memory",
}

_ALL = (_PUBLISHED, _EXPORTED, _EMQX)
CANONICAL: dict[str, str] = {
    name: "|".join(names[name] for names in _ALL if name in names) for name in dict.fromkeys(n for a in _ALL for n in a)
}
"""Canonical name → regex over whole names of exporters."""
