"""How long MQTT clients wait before they connect again, and what two or more with one id make of it.

Sources: ``backoff.go`` of paho Go 1.4 (at once after the first loss; 1, 2, 4 … s up to MaxReconnectInterval, 10 min,
while a connection lasts no longer than 6 s); ``MqttAsyncClient`` of paho Java (1 s, doubled only while connecting
fails); ``reconnect_delay_set`` of paho Python (1 s after any connection that was accepted); bridges of mosquitto wait
5 to 30 s. A broker closes the older connection when an id connects again (MQTT 3.1.1, 3.1.4-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

GO_LONGEST = 600.0
"""Seconds between two attempts of paho Go at most (MaxReconnectInterval)."""
SLOWEST = 30.0
"""Seconds that the slowest of these clients waits after a connection that was accepted, if it waits steadily."""
_SETTLED = 6.0
"""Seconds after which paho Go takes a connection for a good one (twice its processTime)."""
_ALIKE = 0.25
"""Share by which waits that are the same may differ: machines are busy."""


class Waiting(Protocol):
    """How long one client waits."""

    def after(self, lived: float) -> float:
        """Seconds until it connects again, after a connection that lasted so long."""
        ...


@dataclass(frozen=True, slots=True)
class Steady:
    """Java and Python: the same after every connection that was accepted."""

    seconds: float = 1.0

    def after(self, lived: float) -> float:
        """The same whatever *lived*."""
        return self.seconds if lived >= 0 else 0.0


@dataclass(slots=True)
class Doubling:
    """paho Go."""

    longest: float = GO_LONGEST
    _last: float | None = None

    def after(self, lived: float) -> float:
        """0 after a good connection, else twice as long as the last time, 1 s at least."""
        first = self._last is None or lived > _SETTLED
        self._last = 0.0 if first else min(max(1.0, 2 * (self._last or 0.0)), self.longest)
        return self._last


def war(parties: Sequence[Waiting], takeovers: int) -> tuple[tuple[float, int], ...]:
    """The first *takeovers* of a war: when, and which of *parties* took the id; the first party has it at 0.

    The others come one after another, a second apart.
    """
    back = [(float(number), number) for number in range(1, len(parties))]
    owner, since, found = 0, 0.0, list[tuple[float, int]]()
    while back and len(found) < takeovers:
        back.sort()
        at, party = back.pop(0)
        back.append((at + parties[owner].after(at - since), owner))
        owner, since = party, at
        found.append((at, party))
    return tuple(found)


def takeovers_per_hour(first: float, second: float) -> float:
    """Of two clients that wait so many seconds each: two in each round."""
    return 7200.0 / (first + second) if first + second else float("inf")


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
