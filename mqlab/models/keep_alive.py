"""When an MQTT connection whose pings are not answered, or whose packets are not read, is given up.

Sources: MQTT 3.1.1, 3.1.2.10 and MQTT 5, 3.1.2.10 (the server closes after one and a half keep-alive without a packet);
``ping.go`` of paho Go 1.4 (check every 5 s, or half a keep-alive of 10 s and less; PingTimeout 10 s);
``_check_keepalive`` of paho Python and ``ClientState.checkForActivity`` of paho Java (an answer is due within another
keep-alive); ``keepalive.c`` of mosquitto 2.0 (looks every 5 s); ``emqx_keepalive.erl`` of EMQX 4.x (looks every
0.75 keep-alive, closes at the second look without a byte).
"""

from __future__ import annotations

from dataclasses import dataclass

PING_TIMEOUT = 10.0
"""Seconds that paho Go waits for an answer to its ping, by default."""
ANSWERED = 2
"""Pings answered in one life at most that the lives of a limited connection are compared with: with more, any life
fits."""
_CHECK = 5.0
_PATIENCE = 1.5
_EMQX = 2.25
_LOOK = 5.0


@dataclass(frozen=True, slots=True)
class Span:
    """From so many seconds to so many."""

    low: float
    high: float

    def holds(self, seconds: float, tolerance: float = 0.0) -> bool:
        """*seconds* lies in it, or outside by *tolerance* at most."""
        return self.low - tolerance <= seconds <= self.high + tolerance


def broker_gives_up(keep_alive: float) -> Span:
    """Seconds from the last packet read until the broker closes: 1.5 keep-alive, up to 2.25 with EMQX 4.x."""
    return Span(_PATIENCE * keep_alive, max(_PATIENCE * keep_alive + _LOOK, _EMQX * keep_alive))


def go_gives_up(keep_alive: float, ping_timeout: float = PING_TIMEOUT, answered: int = 0) -> Span:
    """Seconds from connecting until paho Go gives up, when *answered* pings were answered before."""
    check = _check(keep_alive)
    pings = answered + 1
    return Span(pings * keep_alive + ping_timeout, pings * (keep_alive + check) + max(ping_timeout, check))


def double_gives_up(keep_alive: float, answered: int = 0) -> Span:
    """The same for paho Python and Java, which look once a second or when something is sent."""
    return Span((2 + answered) * keep_alive, (2 + answered) * (keep_alive + 1.0))


def fits(life: float, keep_alive: float, ping_timeout: float = PING_TIMEOUT) -> bool:
    """A life so long is what client or broker make of a connection that is not read, after a few answered pings."""
    spans = [broker_gives_up(keep_alive)]
    for answered in range(ANSWERED + 1):
        spans += [go_gives_up(keep_alive, ping_timeout, answered), double_gives_up(keep_alive, answered)]
    return any(span.holds(life, 1.0) for span in spans)


def pause(batch_bytes: float, burst_bytes: float, bytes_per_second: float) -> float:
    """Seconds for which a token bucket does not read after a batch, 0 where it fits into the burst."""
    return max(0.0, batch_bytes - burst_bytes) / bytes_per_second


def survives(paused: float, keep_alive: float, ping_timeout: float = PING_TIMEOUT) -> bool:
    """A pause so long ends no connection: both sides wait longer."""
    return paused < min(broker_gives_up(keep_alive).low, keep_alive + ping_timeout)


def _check(keep_alive: float) -> float:
    return _CHECK if keep_alive > 10 else keep_alive / 2
