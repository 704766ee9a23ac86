"""What connects and disconnects do behind the broker: load of a web hook and of a database, by Little's law.

Rate of events = connects a second × events of each; busy workers = rate × response time. A hook that runs inside the
client's process (EMQX 4.x ``emqx_web_hook``, 32 workers) delays CONNACK once all are busy, and clients that wait for
it too long connect again: the load feeds itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Load:
    """What a hook gets; rates a second."""

    events: float
    busy: float
    """Workers that are busy at once: events × response time."""
    utilisation: float
    """Busy over workers; from 1 on requests wait ever longer."""
    queue_growth: float
    """Requests a second that nobody works off."""


def events(clients: int, period: float, each: int) -> float:
    """Events a second of *clients* that connect every *period* seconds, with *each* events for one round."""
    return clients * each / period if period > 0 else 0.0


def load(rate: float, response: float, workers: int) -> Load:
    """*rate* events a second at an endpoint that needs *response* seconds, with so many *workers*."""
    busy = rate * response
    able = workers / response if response > 0 else inf
    return Load(rate, busy, busy / workers if workers else inf, max(0.0, rate - able))


def patience(rate: float, response: float, workers: int, timeout: float) -> float:
    """Seconds until a client's CONNACK comes later than its *timeout*; infinity while the workers keep up."""
    growth = load(rate, response, workers).queue_growth
    able = workers / response if response > 0 else inf
    return timeout * able / growth if growth > 0 else inf


def writes(rate: float, each: float, devices: int, window: float = 0.0) -> float:
    """Updates a second of a database: *each* for an event, or one for each device within a *window* of seconds."""
    return min(rate * each, devices / window) if window > 0 else rate * each
