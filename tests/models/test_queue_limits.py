"""Limits of session queues: what each broker and version has by default, and what settings make of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.kafka_defaults import Version
from mqlab.models.mqtt import NEWEST, OLDEST, Queue, queue


@pytest.mark.parametrize(
    ("broker", "version", "settings", "expected"),
    [
        ("mosquitto", Version(2, 0, 11), {}, Queue(1000, 20, OLDEST)),
        ("mosquitto", Version(1, 6, 9), {}, Queue(100, 20, OLDEST)),
        ("mosquitto", None, {"max_queued_messages": "0"}, Queue(None, 20, OLDEST)),
        (
            "mosquitto",
            Version(1, 6),
            {"max_queued_messages": "800", "max_inflight_messages": "30"},
            Queue(800, 30, OLDEST),
        ),
        ("emqx", None, {}, Queue(1000, 32, NEWEST)),
        ("emqx", Version(5, 8), {"mqtt.max_mqueue_len": "infinity"}, Queue(None, 32, NEWEST)),
        ("emqx", Version(4, 4), {"zone.external.max_mqueue_len": "0"}, Queue(None, 32, NEWEST)),
        ("hivemq", None, {}, Queue(1000, 10, OLDEST)),
        ("hivemq", None, {"strategy": "discard-oldest", "max-queue-size": "50"}, Queue(50, 10, NEWEST)),
        ("mosquitto", None, {"max_queued_messages": "many"}, Queue(1000, 20, OLDEST)),
        ("nobody-knows", None, {"max_queued_messages": "5"}, None),
    ],
)
def test_the_limits_are_those_of_the_broker_its_version_and_its_settings(broker, version, settings, expected):
    assert queue(broker, version, settings) == expected


@given(st.integers(1, 10**9))
def test_a_limit_that_is_set_is_in_force(limit):
    assert queue("mosquitto", None, {"max_queued_messages": str(limit)}).limit == limit
