"""Access rules drawn by hand: a broker, a reader of a whole site, and two agents that publish to it."""

from __future__ import annotations

from facts_builder import episode
from mqtt_builder import broker
from mqtt_mail import mail


def subscribed(client, topic="site/#", when=1, source=None):
    """A client's own line about a subscription that was granted."""
    place = source or f"clients/{client}.log"
    return episode("client-subscribed", when, place, system="mqtt", client_id=client, topic=topic, left=1.0)


SUBSCRIBED = subscribed("hist")
LOG = broker(
    """
    10:00:00 - starting
    10:00:01 hist connected 10.0.0.1:1001 k30 c1 u=hist
    10:00:01 agent-a connected 10.0.0.2:1002 k30 c1 u=agent
    10:00:01 agent-b connected 10.0.0.3:1003 k30 c1 u=agent
    """,
    last="10:05:00",
)
TOPICS_A = ("site/a/status", "site/a/metrics")
TOPICS_B = ("site/b/status", "site/b/metrics")


def half(n, _):
    return ("hist",) if n % 2 == 0 else ()


A = mail(("hist",), sender="agent-a", topics=TOPICS_A, start=2, seconds=100)
B = mail(half, sender="agent-b", topics=TOPICS_B, start=2, seconds=100)
