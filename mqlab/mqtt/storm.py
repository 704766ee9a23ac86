"""Clients of an MQTT broker that lost their connections together and came back: what a storm is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.facts import Episode
from mqlab.mqtt.connection import Connection

LEAST = 5
"""Clients that come back together at least: fewer are a handful."""
MOST = 0.5
"""Share of the clients that were connected, or of those behind one address, that must come back together."""
AGAIN = 2
"""Connects of each client that follow, on average, from which on it does not end."""
RATE = 300.0
"""Seconds after a burst in which connects should be few again."""
ONE_RETURN = 2.0
"""Seconds in which several connects of a client from one address are one return; brokers may print whole seconds. The
earlier ones waited at the listener (listen(2), backlog) until the broker read them, and their client had given up."""


@dataclass(frozen=True, slots=True)
class Storm:
    """Clients that came back together."""

    broker: str | None
    cause: str
    """``restart``, ``address``, ``standstill`` (of the broker, or of what is before it) or ``network``."""
    down: float
    """When they were cut off: the broker's stop, else the last moment before one of them came back."""
    up: float
    """The broker's start, else the first that came back."""
    connected: int
    """Clients that were connected before."""
    back: tuple[Connection, ...]
    """First connection of each that came back, by time."""
    again: int
    """Connects of the same clients in the five minutes that followed."""
    lines: tuple[Episode, ...]
    """The broker's stop and start."""
    quiet_since: float | None = None
    """Since when the log of a broker that stood still had told nothing."""

    @property
    def count(self) -> int:
        """Clients that came back."""
        return sum(c.count for c in self.back)

    @property
    def until(self) -> float:
        """When the last of them was back."""
        return self.back[-1].since or self.up

    @property
    def goes_on(self) -> bool:
        """They connected again and again within the next minutes: once more is another event of the same kind."""
        return self.again >= AGAIN * len(self.back)


def firsts(after: Sequence[Connection], until: float) -> tuple[Connection, ...]:
    """The first of each client up to *until*, by time."""
    found: dict[str, Connection] = {}
    for connection in sorted(after, key=lambda c: (c.since or 0.0, c.source, c.client_id)):
        if (connection.since or 0.0) <= until:
            found.setdefault(connection.client_id, connection)
    return tuple(found.values())


def again(after: Sequence[Connection], back: Sequence[Connection]) -> int:
    """How often the clients of *back* connected once more in the minutes after the last was back."""
    first, last = {c.client_id: c.since or 0.0 for c in back}, back[-1].since or 0.0
    later = [c for c in after if c.client_id in first and (c.since or 0.0) > first[c.client_id] + ONE_RETURN]
    return sum(c.count for c in later if (c.since or 0.0) <= last + RATE)
