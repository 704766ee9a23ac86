"""Connections that end with a refusal, which some brokers tell in one line."""

import pytest
from facts_builder import at, episode, facts
from mqtt_builder import broker

from mqlab.mqtt.connections import connections

LOG = broker(
    """
    10:00:00 mixer connected 10.0.0.1 k30
    10:00:09 mixer connected 10.0.0.1 k30
    """,
    "logs/event.log",
    "hivemq-log",
)


@pytest.mark.parametrize("kind", ["publish-denied", "subscribe-denied"])
@pytest.mark.parametrize(
    ("reason", "ends"),
    [("not-authorized", [(5.0, "not-authorized"), (None, None)]), (None, [(9.0, None), (None, None)])],
)
def test_a_refusal_ends_the_connection_where_its_line_says_so(kind, reason, ends):
    refused = episode(
        kind, "10:00:05", "logs/event.log", line=3, system="mqtt", client_id="mixer", peer="10.0.0.1", reason=reason
    )
    found = connections(facts(*LOG, refused))
    assert [(c.until and c.until - at("10:00:00"), c.ended) for c in found] == ends
