"""Connections of MQTT clients from the lines of the brokers that accepted and ended them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import brokers
from mqlab.mqtt.connection import Connection, address_of

_KINDS = ("client-connected", "client-disconnected", "session-takeover", "broker-starting", "broker-stopping")
_REFUSED = ("publish-denied", "subscribe-denied")
_ENDING = "not-authorized"
"""The reason of a refusal with which the connection ended (HiveMQ says both in one line)."""
_AGAIN = 5.0
"""Seconds in which a broker tells of one end in two lines: that it closes a connection, and that it is closed."""

_NO_ADDRESS = "(null)"
"""What mosquitto prints as the address of a session without a connection."""
_MAYBE_RESUMED = "session taken over"
"""Words of mosquitto 2.1 from which alone no one knows whether there was a connection before the log."""


def lives(facts: Facts) -> Iterator[Connection]:
    """The connections that brokers' logs tell of, broker by broker."""
    for told in _told(facts):
        yield from told.every()


@per_facts
def resumed(facts: Facts) -> frozenset[Episode]:
    """Lines about takeovers that are none: a kept session is used again whose connection was over.

    mosquitto 2.1 prints ``session taken over`` for it, with the address of that connection, or ``(null):0`` where it
    was over before the broker started.
    """
    return frozenset(line for told in _told(facts) for line in told.resumed)


@per_facts
def _told(facts: Facts) -> tuple[_Told, ...]:
    every = []
    for broker in brokers(facts):
        every_line = [*facts.of_kind(*_KINDS), *(e for e in facts.of_kind(*_REFUSED) if e.reason == _ENDING)]
        lines = [e for e in every_line if e.source in broker.sources and e.first_at is not None]
        lines.sort(key=lambda e: (e.first_at, e.source, e.first.line or 0))
        told = _Told(broker.name)
        for line in lines:
            told.read(line)
        every.append(told)
    return tuple(every)


class _Told:
    """Connections of one broker while its lines are read."""

    def __init__(self, broker: str) -> None:
        self.resumed: list[Episode] = []
        """Lines about a session that is used again."""
        self._broker = broker
        self._open: dict[str, list[Connection]] = defaultdict(list)
        self._over: dict[str, list[Connection]] = defaultdict(list)

    def read(self, line: Episode) -> None:
        """Take the next line into account."""
        if line.kind in ("broker-stopping", "broker-starting"):
            self._all_over(line)
        elif line.kind == "client-connected":
            if line.client_id:
                self._open[line.client_id].append(self._begun(line, line.client_id))
        else:
            self._ended(line)

    def every(self) -> Iterator[Connection]:
        """All connections; those that no line ended are over where their id connected again."""
        for client in sorted({*self._open, *self._over}):
            own = sorted([*self._over[client], *self._open[client]], key=lambda c: c.since or 0.0)
            for number, connection in enumerate(own):
                later = [c.since for c in own[number + 1 :] if c.since is not None]
                over = connection.until is None and bool(later)
                yield replace(connection, until=later[0]) if over else connection

    def _begun(self, line: Episode, client: str) -> Connection:
        kept = {"persistent": True, "clean": False}.get(line.reason or "")
        return Connection(
            self._broker, client, line.source, "broker", line.first_at, None, None, line.peer, line.member_id,
            line.value_min, kept, line.first, count=line.count,
        )  # fmt: skip

    def _ended(self, line: Episode) -> None:
        reason = "taken-over" if line.kind == "session-takeover" else line.reason
        client = line.client_id or self._client_at(line.peer)
        if client is None:
            return
        over = _meant(self._open[client], line.peer)
        if over is not None:
            self._open[client].remove(over)
            self._over[client].append(replace(over, until=line.first_at, ended=reason, end=line.first))
        elif line.kind == "session-takeover" and self._is_resumed(line, client):
            self.resumed.append(line)
        elif not self._told_before(line, client) and line.reason != _MAYBE_RESUMED:
            unseen = Connection(
                self._broker, client, line.source, "broker", None, line.first_at, reason, line.peer, end=line.first
            )
            self._over[client].append(unseen)

    def _is_resumed(self, line: Episode, client: str) -> bool:
        """It calls a takeover of a connection that another line had ended, or that never was."""
        if line.peer is None or address_of(line.peer) == line.peer:
            return False
        same = [c for c in self._over[client] if c.peer == line.peer and c.ended != "taken-over"]
        return bool(same) or address_of(line.peer) == _NO_ADDRESS

    def _client_at(self, peer: str | None) -> str | None:
        """The client whose open connection comes from *peer*: some lines name the address only."""
        return next((client for client, own in self._open.items() for c in own if peer and c.peer == peer), None)

    def _told_before(self, line: Episode, client: str) -> bool:
        """The last connection of the client had just ended, or with the broker: this is a second line about it."""
        last = self._over[client][-1] if self._over[client] else None
        if last is None or last.until is None or line.first_at is None:
            return False
        return line.first_at - last.until <= _AGAIN or (last.ended or "").startswith("broker-")

    def _all_over(self, line: Episode) -> None:
        reason = "broker-stopped" if line.kind == "broker-stopping" else "broker-restarted"
        for client, own in sorted(self._open.items()):
            ended = [replace(c, until=line.first_at, ended=reason, end=line.first) for c in own]
            self._over[client] += ended
            own.clear()


def _meant(mine: Sequence[Connection], peer: str | None) -> Connection | None:
    """The open connection that a line ends: that from *peer*, else the oldest where one side tells no port."""
    exact = [c for c in mine if c.peer == peer]
    if exact or peer is None:
        return next(iter(exact or mine), None)
    host = address_of(peer)
    near = [c for c in mine if c.address in (host, None) and (c.address == c.peer or host == peer)]
    return near[0] if near else None
