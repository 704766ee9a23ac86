"""Sessions of MQTT clients: from when to when a broker kept one, and when its client was away meanwhile.

A clean session ends with its connection. A persistent one lasts over connections, until it expires or its id connects
clean (MQTT 3.1.1, 3.1.2.4; MQTT 5, 3.1.2-4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt import lives
from mqlab.mqtt.connection import Connection

Span = tuple[float, float]
BEGIN, END = float("-inf"), float("inf")


@dataclass(frozen=True, slots=True)
class Session:
    """What a broker keeps for one client id."""

    broker: str | None
    client_id: str
    since: float
    """Minus infinity where it began before the material."""
    until: float
    """Infinity where nothing ends it."""
    connections: tuple[Connection, ...]
    """Its connections, by time."""

    @property
    def persistent(self) -> bool:
        """It outlives its connections."""
        return bool(self.connections[-1].persistent)

    @property
    def connected(self) -> tuple[Span, ...]:
        """When its client was there."""
        return tuple((_or(c.since, BEGIN), _or(c.until, END)) for c in self.connections)

    @property
    def away(self) -> tuple[Span, ...]:
        """When it was kept while its client was not there."""
        return outside(self.connected, self.since, self.until)

    @property
    def last(self) -> Connection:
        """The connection that it had last."""
        return self.connections[-1]


@per_facts
def sessions(facts: Facts) -> tuple[Session, ...]:
    """Every session that connections tell of, by broker, client id and begin."""
    gone = _expired(facts)
    every: list[Session] = []
    for (broker, client), own in lives.by_client(facts).items():
        every += _of_client(broker, client, own, [at for name, at in gone if name == client])
    return tuple(every)


@per_facts
def left_behind(facts: Facts) -> tuple[Session, ...]:
    """Persistent sessions whose client was away at the end of the material, by the brokers' logs."""
    told = [s for s in sessions(facts) if s.persistent and s.until == END and s.last.told_by == "broker"]
    return tuple(s for s in told if s.last.until is not None)


def _expired(facts: Facts) -> list[tuple[str, float]]:
    lines = facts.of_kind("session-expired")
    return [(e.client_id, e.first_at) for e in lines if e.client_id and e.first_at is not None]


def _of_client(broker: str | None, client: str, own: Sequence[Connection], gone: Sequence[float]) -> Iterator[Session]:
    kept: list[Connection] = []
    for connection in own:
        if kept and not _goes_on(kept[-1], connection, gone):
            yield _session(broker, client, kept, gone, connection.since)
            kept = []
        kept.append(connection)
    if kept:
        yield _session(broker, client, kept, gone, None)


def _goes_on(before: Connection, after: Connection, gone: Sequence[float]) -> bool:
    if not (before.persistent and after.persistent):
        return False
    return not any(_or(before.until, BEGIN) <= at <= _or(after.since, END) for at in gone)


def _session(
    broker: str | None, client: str, kept: Sequence[Connection], gone: Sequence[float], following: float | None
) -> Session:
    over = _or(kept[-1].until, END)
    if kept[-1].persistent:
        ends = [at for at in gone if at >= over] + [_or(following, END)]
        over = min(ends)
    return Session(broker, client, _or(kept[0].since, BEGIN), over, tuple(kept))


def outside(spans: Sequence[Span], since: float, until: float) -> tuple[Span, ...]:
    """The parts of *since* to *until* that no one of *spans* covers, by time."""
    left: list[Span] = []
    at = since
    for begin, end in sorted(spans):
        if begin > at:
            left.append((at, min(begin, until)))
        at = max(at, end)
    if at < until:
        left.append((at, until))
    return tuple((a, b) for a, b in left if a < b)


def _or(at: float | None, otherwise: float) -> float:
    return otherwise if at is None else at
