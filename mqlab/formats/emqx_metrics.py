"""EMQX's part of the vocabulary of metrics: its command line, its API and Prometheus say the same with other dots.

``emqx.messages.dropped`` is what ``emqx_ctl metrics`` and the API print, ``emqx_messages_dropped`` what Prometheus
scrapes. ``connections.count`` counts sessions of clients that are away, too (emqx_cm); ``takeovered`` of 4.x is
``takenover`` in 5.x. The command line cuts names after 30 characters.
"""

from __future__ import annotations

CANONICAL: dict[str, str] = {
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
"""Canonical name → regex over whole names."""
