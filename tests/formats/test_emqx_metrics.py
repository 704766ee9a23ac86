"""What EMQX calls a quantity: command line, API and Prometheus."""

import pytest

from mqlab.formats.exporters import canonical


@pytest.mark.parametrize(
    ("told", "known_as"),
    [
        ("emqx.delivery.dropped.queue_full", "mqtt.queue_full_dropped"),
        ("emqx_delivery_dropped_queue_full", "mqtt.queue_full_dropped"),
        ("emqx.session.takeovered", "mqtt.takeovers"),
        ("emqx_session_takenover", "mqtt.takeovers"),
        ("emqx.packets.publish.auth_error", "mqtt.publish_denied"),
        ("emqx.packets.publish.quota_exceede", "mqtt.quota_exceeded"),
        ("emqx.live_connections.count", "mqtt.clients_connected"),
        ("emqx_connections_count", "mqtt.clients_total"),
        ("emqx.memory/total", "mqtt.heap_bytes"),
        ("emqx.messages.dropped", None),
    ],
)
def test_one_quantity_has_one_name(told, known_as):
    assert canonical(told) == known_as
