"""Metrics of HiveMQ, VerneMQ and RabbitMQ under mqlab's names."""

import pytest

from mqlab.formats.exporters import canonical, is_known


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("com_hivemq_messages_dropped_count", "mqtt.publish_dropped"),
        ("com.hivemq.messages.dropped.count", "mqtt.publish_dropped"),
        ("metrics:name=com.hivemq.messages.dropped.count:Count", "mqtt.publish_dropped"),
        ("com.hivemq.messages.dropped.queue-full.count", "mqtt.queue_full_dropped"),
        ("com_hivemq_messages_incoming_publish_count", "mqtt.publish_received"),
        ("com_hivemq_messages_outgoing_total_count", "mqtt.messages_sent"),
        ("com_hivemq_networking_connections_current", "mqtt.clients_connected"),
        ("com_hivemq_networking_bytes_read_total", "mqtt.bytes_received"),
        ("com_hivemq_sessions_overall_current", "mqtt.sessions"),
        ("mqtt_publish_received", "mqtt.publish_received"),
        ("mqtt_publish_auth_error", "mqtt.publish_denied"),
        ("queue_message_drop", "mqtt.queue_full_dropped"),
        ("queue_processes", "mqtt.sessions"),
        ("rabbitmq_process_resident_memory_bytes", "process.resident_bytes"),
        ("$SYS/broker/publish/messages/dropped", "mqtt.publish_dropped"),
    ],
)
def test_a_quantity_has_one_name_whoever_exports_it(original, name):
    assert canonical(original) == name
    assert is_known(original)


@pytest.mark.parametrize(
    "original",
    [
        "com_hivemq_messages_dropped_rate",
        "com_hivemq_messages_incoming_publish_rate_count",
        "bytes_received",
        "rabbitmq_global_messages_received_total",
        "enqueue_processes",
    ],
)
def test_rates_and_names_that_others_have_too_stay_unknown(original):
    assert canonical(original) is None
