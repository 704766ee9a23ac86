"""The connections of MQTT clients: who, from where, from when until when, and how each ended.

A broker's log tells of all its clients; what only clients tell of themselves is added for ids that no broker names.
EMQX prints no connects by default: what a line ends that none began was what had taken over the one before.
mosquitto prints whole seconds and gives no address where a connection ends: an end belongs to the oldest connection of
its client id that is open. The protocol allows one connection for each id (MQTT 3.1.1, 3.1.4-2; MQTT 5, 3.1.4-3), so a
connection that no line ends was over when the id connected again.

Many lines of clients' logs do not name the id: they belong to the only one that the same log names. Library and
application tell of one connection in a line each.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import brokers

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


_KINDS = ("client-connected", "client-disconnected", "session-takeover", "broker-starting", "broker-stopping")
_REFUSED = ("publish-denied", "subscribe-denied")
_ENDING = "not-authorized"
"""The reason of a refusal with which the connection ended (HiveMQ says both in one line)."""
_AGAIN = 5.0
"""Seconds in which a broker tells of one end in two lines: that it closes a connection, and that it is closed. A peer
that does not answer delays the second. Judgement, no default behind it."""
_KEPT = {"persistent": True, "clean": False}

_NO_ADDRESS = "(null)"
"""What mosquitto prints as the address of a session without a connection."""
_MAYBE_RESUMED = "session taken over"
"""Words of mosquitto 2.1 from which alone no one knows whether there was a connection before the log."""


@per_facts
def resumed(facts: Facts) -> frozenset[Episode]:
    """Lines about takeovers that are none: a kept session is used again whose connection was over.

    mosquitto 2.1 prints ``session taken over`` for it, with the address of that connection, or ``(null):0`` where it
    was over before the broker started.
    """
    return frozenset(line for log in _by_brokers(facts) for line in log.resumed)


@per_facts
def _by_brokers(facts: Facts) -> tuple[_BrokerLog, ...]:
    every = [*facts.of_kind(*_KINDS), *(e for e in facts.of_kind(*_REFUSED) if e.reason == _ENDING)]
    lines = sorted(
        (e for e in every if e.first_at is not None), key=lambda e: (e.first_at, e.source, e.first.line or 0)
    )
    logs = []
    for broker in brokers(facts):
        log = _BrokerLog(broker.name)
        for line in lines:
            if line.source in broker.sources:
                log.read(line)
        logs.append(log)
    return tuple(logs)


class _BrokerLog:
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
            reason = "broker-stopped" if line.kind == "broker-stopping" else "broker-restarted"
            for client, own in self._open.items():
                self._over[client] += [replace(c, until=line.first_at, ended=reason, end=line.first) for c in own]
                own.clear()
        elif line.kind != "client-connected":
            self._end(line)
        elif line.client_id:
            self._open[line.client_id].append(Connection(
                self._broker, line.client_id, line.source, "broker", line.first_at, None, None, line.peer,
                line.member_id, line.value_min, _KEPT.get(line.reason or ""), line.first, count=line.count,
            ))  # fmt: skip

    def connections(self) -> Iterator[Connection]:
        """All connections; those that no line ended are over where their id connected again."""
        for client in sorted({*self._open, *self._over}):
            own = sorted([*self._over[client], *self._open[client]], key=lambda c: c.since or 0.0)
            for number, connection in enumerate(own, 1):
                later = next((c.since for c in own[number:] if c.since is not None), None)
                yield replace(connection, until=later) if connection.until is None else connection

    def _end(self, line: Episode) -> None:
        """Some lines name the address only: the client is the one whose open connection comes from there."""
        at_peer = (client for client, own in self._open.items() for c in own if line.peer and c.peer == line.peer)
        client = line.client_id or next(at_peer, None)
        if client is None:
            return
        takeover = line.kind == "session-takeover"
        reason = "taken-over" if takeover else line.reason
        over = _meant(self._open[client], line.peer)
        if over is not None:
            self._open[client].remove(over)
            self._over[client].append(replace(over, until=line.first_at, ended=reason, end=line.first))
        elif takeover and self._is_resumed(line, client):
            self.resumed.append(line)
        elif not self._told_before(line, client) and line.reason != _MAYBE_RESUMED:
            last = self._over[client][-1] if self._over[client] else None
            since = last.until if last is not None and last.ended == "taken-over" else None
            self._over[client].append(Connection(
                self._broker, client, line.source, "broker", since, line.first_at, reason, line.peer, end=line.first
            ))  # fmt: skip

    def _is_resumed(self, line: Episode, client: str) -> bool:
        """It calls a takeover of a connection that another line had ended, or that never was."""
        if line.peer is None or address_of(line.peer) == line.peer:
            return False
        same = any(c.peer == line.peer and c.ended != "taken-over" for c in self._over[client])
        return same or address_of(line.peer) == _NO_ADDRESS

    def _told_before(self, line: Episode, client: str) -> bool:
        """The last connection of the client had just ended, or with the broker: this is a second line about it."""
        last = self._over[client][-1] if self._over[client] else None
        if last is None or last.until is None or line.first_at is None:
            return False
        if last.ended == "taken-over" and last.peer and line.peer and last.peer != line.peer:
            return False
        return line.first_at - last.until <= _AGAIN or (last.ended or "").startswith("broker-")


def _meant(mine: Sequence[Connection], peer: str | None) -> Connection | None:
    """The open connection that a line ends: that from *peer*, else the oldest where one side tells no port."""
    exact = [c for c in mine if c.peer == peer]
    if exact or peer is None:
        return next(iter(exact or mine), None)
    host = address_of(peer)
    near = (c for c in mine if c.address in (host, None) and (c.address == c.peer or host == peer))
    return next(near, None)


SILENT = "Keep alive timeout"
"""Why a client lost its connection that says so in one line: nobody answered its ping."""
_CLIENT_KINDS = ("client-configured", "connection-made", "connection-lost", "connection-closed")
_SAME = 0.5
"""Seconds within which two lines tell of one connection, or of one loss, if nothing stands between them. Judgement, no
default behind it: both are written within milliseconds, and rounded."""


@per_facts
def _client_logs(facts: Facts) -> Mapping[str, list[Episode]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind(*_CLIENT_KINDS):
        if line.system == "mqtt":
            found[line.source].append(line)
    for line in facts.of_kind("app-stopping"):
        if line.source in found:
            found[line.source].append(line)
    return found


@per_facts
def _own_id(facts: Facts) -> Mapping[str, str]:
    """The client id of each client's log that names exactly one."""
    named = {source: {e.client_id for e in lines} - {None, ""} for source, lines in _client_logs(facts).items()}
    return {source: ids.pop() or "" for source, ids in named.items() if len(ids) == 1}


def client_of(facts: Facts, line: Episode) -> str | None:
    """The client id that a line of a client's log is about; None where it names none and the log names several."""
    return line.client_id or _own_id(facts).get(line.source)


@per_facts
def silent_ends(facts: Facts) -> Mapping[str, tuple[Episode, ...]]:
    """Lines of clients' logs that say that a ping had no answer, by client."""
    found: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind("ping-unanswered", "connection-lost"):
        silent = line.kind == "ping-unanswered" or line.reason == SILENT
        client = client_of(facts, line) if silent and line.system == "mqtt" else None
        if client is not None and line.first_at is not None:
            found[client].append(line)
    return {client: tuple(lines) for client, lines in found.items()}


@per_facts
def told_by_clients(facts: Facts) -> tuple[Connection, ...]:
    """Every connection that a client's own log tells of, by begin; ``source`` says which log."""
    return tuple(sorted((c for lines in _client_logs(facts).values() for c in _of_log(facts, lines)), key=_order))


@per_facts
def by_own_log(facts: Facts) -> Mapping[str, tuple[Connection, ...]]:
    """Client id → the connections that clients' own logs tell of, by begin."""
    found: dict[str, list[Connection]] = defaultdict(list)
    for connection in told_by_clients(facts):
        found[connection.client_id].append(connection)
    return {client: tuple(own) for client, own in found.items()}


def _of_log(facts: Facts, lines: Sequence[Episode]) -> Iterator[Connection]:
    configured: dict[str, Episode] = {}
    running: dict[str, Connection] = {}
    ended: dict[str, float] = {}
    dated = [e for e in lines if e.first_at is not None]
    for line in sorted(dated, key=lambda e: (e.first_at, e.first.line or 0)):
        client, at = client_of(facts, line), line.first_at or 0.0
        if line.kind == "app-stopping" and client not in running:
            continue
        if client is None or _again(line, at, running.get(client), ended.get(client)):
            continue
        # In a log of many clients that prints one configuration it is that of all.
        settings = configured.get(client) or (next(iter(configured.values())) if len(configured) == 1 else None)
        before = running.pop(client, None)
        if line.kind in ("connection-lost", "connection-closed", "app-stopping"):
            ended[client] = at
            how = line.reason if line.kind == "connection-lost" else "normal"
            since = None if line.value_min is None else at - line.value_min
            over = before or replace(_made(line, client, settings), broker=None, since=since, begin=None)
            yield replace(over, until=at, ended=how, end=line.first)
            continue
        if before is not None:
            yield replace(before, until=at)
        if line.kind == "client-configured":
            configured[client] = line
        else:
            running[client] = _made(line, client, settings)
    yield from running.values()


def _again(line: Episode, at: float, running: Connection | None, ended: float | None) -> bool:
    """The line says again what the one before said: that there is a connection, or none."""
    if line.kind == "connection-made":
        return running is not None and at - (running.since or at) <= _SAME
    return line.kind != "client-configured" and running is None and ended is not None and at - ended <= _SAME


def _made(line: Episode, client: str, settings: Episode | None) -> Connection:
    return Connection(
        line.reason, client, line.source, "client", line.first_at, None, None,
        keep_alive=settings.value_min if settings else None,
        persistent=_KEPT.get((settings.reason if settings else None) or ""), begin=line.first, count=line.count,
    )  # fmt: skip


@per_facts
def connections(facts: Facts) -> tuple[Connection, ...]:
    """Every connection, by begin: as brokers tell, and as clients tell of ids that no broker's log names."""
    seen = [c for log in _by_brokers(facts) for c in log.connections()]
    named = {c.client_id for c in seen}
    return tuple(sorted((*seen, *(c for c in told_by_clients(facts) if c.client_id not in named)), key=_order))


@per_facts
def by_client(facts: Facts) -> Mapping[tuple[str | None, str], tuple[Connection, ...]]:
    """The connections of each client id at each broker, by begin; keys sorted.

    What only clients tell of has no broker: several names can mean the same one.
    """
    found: dict[tuple[str | None, str], list[Connection]] = defaultdict(list)
    for connection in connections(facts):
        broker = connection.broker if connection.told_by == "broker" else None
        found[broker, connection.client_id].append(connection)
    return {key: tuple(found[key]) for key in sorted(found, key=lambda key: (key[0] or "", key[1]))}


def _order(connection: Connection) -> tuple[float, str, int]:
    place = connection.begin or connection.end
    at = connection.since if connection.since is not None else connection.until
    return (at or 0.0, connection.source, (place.line if place else None) or 0)
