"""One connection of an MQTT client, as a broker's or the client's own log tells of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mqlab.findings import Evidence

_PORT = re.compile(r"^(.*[^:]):(\d+)$")


@dataclass(frozen=True, slots=True)
class Connection:
    """From one accepted CONNECT until the connection was over."""

    broker: str | None
    """Name of the broker whose log tells of it; for one that only a client tells of, the address it connected to."""
    client_id: str
    source: str
    """The log that tells of it."""
    told_by: str
    """``broker`` or ``client``."""
    since: float | None
    """None: it began before the log."""
    until: float | None
    """None: no line ends it."""
    ended: str | None
    """How: a reason of client-disconnected, ``taken-over``, ``broker-stopped``, or the client's own words; None where
    no line says."""
    peer: str | None = None
    """Address and port of the client as the broker sees it."""
    user: str | None = None
    keep_alive: float | None = None
    """Seconds."""
    persistent: bool | None = None
    begin: Evidence | None = None
    end: Evidence | None = None
    count: int = 1
    """How many alike the line that begins it stands for; more than 1 in a flood only."""

    @property
    def address(self) -> str | None:
        """The client's address without the port."""
        return None if self.peer is None else address_of(self.peer)

    @property
    def seconds(self) -> float | None:
        """How long it lasted."""
        return None if self.since is None or self.until is None else self.until - self.since


def address_of(peer: str) -> str:
    """*peer* without its port; IPv6 stands without brackets in some logs."""
    found = _PORT.match(peer)
    return found.group(1).strip("[]") if found else peer
