"""Arithmetic of messages that circulate: how long a round takes, and how much more a broker takes in than is published.

A message that went round once is a new one to the broker, so with one copy a round each message that comes in adds one
round after the other, until the line or a queue is full.
"""

from __future__ import annotations


def round_trip(copies: int, seconds: float) -> float | None:
    """Seconds that one round took on average, of a message that was noted *copies* times within *seconds*."""
    return seconds / (copies - 1) if copies > 1 else None


def amplification(received: float, published: float) -> float | None:
    """Messages that a broker took in for each that somebody published; None where nobody published."""
    return received / published if published > 0 else None
