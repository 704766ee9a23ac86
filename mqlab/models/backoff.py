"""How long MQTT clients wait before they connect again.

Sources: ``backoff.go`` of paho Go 1.4 (at once after the first loss; 1, 2, 4 … s up to MaxReconnectInterval, 10 min,
while a connection lasts no longer than 6 s); ``MqttAsyncClient`` of paho Java (1 s, doubled only while connecting
fails); ``reconnect_delay_set`` of paho Python (1 s after any connection that was accepted); bridges of mosquitto wait
5 to 30 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

GO_LONGEST = 600.0
"""Seconds between two attempts of paho Go at most (MaxReconnectInterval)."""
SLOWEST = 30.0
"""Seconds that the slowest of these clients waits after a connection that was accepted, if it waits steadily."""
_ALIKE = 0.25
"""Share by which waits that are the same may differ: machines are busy."""


def steady(waits: Sequence[float], grain: float = 0.0) -> bool:
    """At least three of four waits are the same, as far as a clock that shows every *grain* seconds tells."""
    if not waits:
        return False
    middle = sorted(waits)[len(waits) // 2]
    alike = [w for w in waits if abs(w - middle) <= max(grain, _ALIKE * middle)]
    return len(alike) >= 0.75 * len(waits)


def doubling(waits: Sequence[float], grain: float = 0.0) -> bool:
    """Waits that grow to the double each time until they stay at the longest, as far as a clock shows: at least three.

    Those that it cannot tell from none are left out.
    """
    shown = [w for w in waits if w > grain]
    longest = max(shown, default=0.0)
    twice = [abs(b - min(2 * a, longest)) <= max(2 * grain, _ALIKE * b) for a, b in pairwise(shown)]
    return len(shown) >= 3 and longest >= 3 * shown[0] and all(twice)
