"""Arithmetic of messages that circulate: how fast a circle grows, and how often each message comes round.

A message that went round once is a new one to the broker. With one copy a round, messages that come in at p per second
and go round in T seconds make p × t / T messages a second after t seconds. A line that carries no more than c per
second makes each round longer: what is in the circle shares the line.
"""

from __future__ import annotations


def circling(published: float, seconds: float, round_seconds: float, line: float | None = None) -> float:
    """Messages a second that circulate *seconds* after a circle was closed; *line* is the most that it carries."""
    if published <= 0 or seconds <= 0:
        return 0.0
    free = published * seconds / round_seconds
    return free if line is None else min(free, line)


def round_trip(copies: int, seconds: float) -> float | None:
    """Seconds that one round took on average, of a message that was noted *copies* times within *seconds*."""
    return seconds / (copies - 1) if copies > 1 else None


def amplification(received: float, published: float) -> float | None:
    """Messages that a broker took in for each that somebody published; None where nobody published."""
    return received / published if published > 0 else None
