"""Sessions of MQTT clients: from when to when a broker kept one, and whose client was away meanwhile.

A clean session ends with its connection. A persistent one lasts over connections, until it expires or its id connects
clean (MQTT 3.1.1, 3.1.2.4; MQTT 5, 3.1.2-4). Logs tell of connections; lists of clients such as ``emqx_ctl clients
list`` tell of sessions themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import EDGE, broker_of
from mqlab.mqtt.connections import Connection, by_client
from mqlab.rows import Client
from mqlab.shared.working import TRIES, bridged

Span = tuple[float, float]
BEGIN, END = float("-inf"), float("inf")


@dataclass(frozen=True, slots=True)
class Session:
    """What a broker keeps for one client id."""

    broker: str | None
    """None where only clients tell of it."""
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
    def away(self) -> tuple[Span, ...]:
        """When it was kept while its client was not there."""
        return outside([(_or(c.since, BEGIN), _or(c.until, END)) for c in self.connections], self.since, self.until)

    @property
    def last(self) -> Connection:
        """The connection that it had last."""
        return self.connections[-1]


@per_facts
def sessions(facts: Facts) -> tuple[Session, ...]:
    """Every session that connections tell of, by broker, client id and begin."""
    every: list[Session] = []
    for (broker, client), own in {**by_client(facts), **bridges(facts)}.items():
        expired = [e.first_at for e in facts.of_kind("session-expired") if e.client_id == client]
        every += _of_client(broker, client, own, [at for at in expired if at is not None])
    return tuple(every)


def _of_client(
    broker: str | None, client: str, own: Sequence[Connection], expired: Sequence[float]
) -> Iterator[Session]:  # fmt: skip
    begin = 0
    for number, connection in enumerate(own, 1):
        following = own[number] if number < len(own) else None
        over, again = _or(connection.until, BEGIN), _or(following.since if following else None, END)
        kept = connection.persistent and following is not None and following.persistent
        if following is None or not kept or any(over <= at <= again for at in expired):
            ended = _or(connection.until, END)
            until = min([at for at in expired if at >= ended] + [again]) if connection.persistent else ended
            yield Session(broker, client, _or(own[begin].since, BEGIN), until, tuple(own[begin:number]))
            begin = number


@per_facts
def bridges(facts: Facts) -> Mapping[tuple[str | None, str], tuple[Connection, ...]]:
    """The connections of each bridge at the broker that opens it, which keeps its messages under a local client id.

    That ends with the bridge's name (``local.host.name``). mosquitto tells each try, and each end, but at its default
    level not what came of a try: one that an error, or another try follows, made no connection.
    """
    tries: dict[tuple[str | None, str], list[Episode]] = defaultdict(list)
    for line in facts.of_kind(TRIES):
        if line.client_id and line.first_at is not None:
            tries[broker_of(facts, line.source), line.client_id].append(line)
    found = {}
    for (broker, client), own in by_client(facts).items() if tries else ():
        names = [name for of, name in tries if of == broker and client.endswith(f".{name}")]
        if names and all(c.since is None for c in own):
            found[broker, client] = tuple(_of_bridge(facts, own, tries[broker, max(names, key=len)]))
    return {key: own for key, own in found.items() if own}


def _of_bridge(facts: Facts, ends: Sequence[Connection], tries: Sequence[Episode]) -> Iterator[Connection]:
    sources, worked = {e.source for e in tries}, set(bridged(facts))
    again = [e for e in facts.of_kind("broker-starting", "broker-stopping") if e.source in sources]
    every: list[tuple[float, Episode | Connection]] = [(e.first_at or 0.0, e) for e in (*tries, *again)]
    every += [(c.until, c) for c in ends if c.until is not None]
    made: Episode | None = None
    known = ends[0]
    for at, line in sorted(every, key=lambda one: one[0]):
        if isinstance(line, Episode) and line.kind == TRIES:
            made = line if line in worked else None
        elif made is not None:
            if at - (made.first_at or at) > EDGE:
                over = line if isinstance(line, Connection) else replace(known, until=at, ended="broker-stopped")
                yield _opened(over, made)
            made = None
        elif line is ends[0]:
            yield replace(known, persistent=True)
    if made is not None:
        yield _opened(replace(known, until=None, ended=None, end=None), made)


def _opened(connection: Connection, line: Episode) -> Connection:
    """It is kept: ``cleansession`` of a bridge is false, unless it is set."""
    return replace(connection, since=line.first_at, begin=line.first, peer=line.reason, persistent=True)


@per_facts
def left_behind(facts: Facts) -> tuple[Session, ...]:
    """Persistent sessions whose client was away at the end of the material, by the brokers' logs."""
    kept = [s for s in sessions(facts) if s.persistent and s.until == END and s.broker is not None]
    return tuple(s for s in kept if s.last.until is not None)


def outside(spans: Sequence[Span], since: float, until: float) -> tuple[Span, ...]:
    """The parts of *since* to *until* that no one of *spans* covers, by time."""
    left: list[Span] = []
    at = since
    for begin, end in sorted(spans):
        left.append((at, min(begin, until)))
        at = max(at, end)
    return tuple((a, b) for a, b in (*left, (at, until)) if a < b)


def _or(at: float | None, otherwise: float) -> float:
    return otherwise if at is None else at


_NO = frozenset({"false", "disconnected", "no", "0"})
_YES = frozenset({"true", "connected", "yes", "1", "idle"})


@per_facts
def rows(facts: Facts) -> Mapping[str, tuple[Client, ...]]:
    """Rows about each client of MQTT that tell whether it was connected, or what waits for it; by time."""
    telling = [r for r in facts.clients if (r.connected, r.queued, r.dropped) != (None, None, None)]
    of_mqtt = [r for r in telling if r.system == "mqtt" and r.client_id]
    of_mqtt.sort(key=lambda r: (r.client_id, r.at or 0.0, r.source, r.line or 0))
    return {client: tuple(own) for client, own in groupby(of_mqtt, key=lambda r: r.client_id or "")}


def is_away(row: Client) -> bool:
    """The list says that the client was not connected."""
    return (row.connected or "").lower() in _NO


def is_there(row: Client) -> bool:
    """The list says that the client was connected."""
    return (row.connected or "").lower() in _YES


def _is_clean(row: Client) -> bool | None:
    return None if row.clean is None else row.clean.lower() not in _NO


def away(facts: Facts, client: str, there: Sequence[float]) -> tuple[Span, ...]:
    """When lists say that *client* was not connected, with a session that is kept; *there* are times when it was.

    From when it was there last to when it was there again; a list that is not dated counts as the latest.
    """
    own = rows(facts).get(client, ())
    seen = [*there, *(r.at for r in own if is_there(r) and r.at is not None)]
    kept = [r for r in own if is_away(r) and (_is_clean(r) is False or r.expiry)]
    moments = [_or(row.at, END) for row in kept]
    return tuple(sorted({
        (max((t for t in seen if t <= at), default=BEGIN), min((t for t in seen if t > at), default=END))
        for at in moments
    }))  # fmt: skip


def waiting(facts: Facts, clients: Sequence[str]) -> int | None:
    """Messages in the queues of *clients* and dropped from them, by the last list; None where no list tells."""
    last = [rows(facts)[client][-1] for client in clients if client in rows(facts)]
    counted = [r for r in last if r.queued is not None or r.dropped is not None]
    return sum((r.queued or 0) + (r.dropped or 0) for r in counted) if counted else None


@dataclass(frozen=True, slots=True)
class Offline:
    """A session that a broker keeps for a client that is away."""

    broker: str | None
    client_id: str
    since: float
    """When its last connection ended; where only lists tell, the first that shows it away."""
    evidence: tuple[Evidence, ...]
    """The lines that began and ended its last connection, and the last list."""
    connection: Connection | None = None
    """Its last connection, where a log tells of it."""
    queued: int | None = None
    dropped: int | None = None
    """Messages by the last list."""


@per_facts
def offline_sessions(facts: Facts) -> tuple[Offline, ...]:
    """Sessions whose client is away at the end of the material, by broker and client id.

    A session is gone when the broker says that it expired, and used when its id connected again; a client that is not
    told to be persistent has none. A broker that stopped for good keeps none that matters.
    """
    found = {(offline.broker, offline.client_id): offline for offline in _of_lists(facts)}
    for session in left_behind(facts):
        last, key = session.last, (session.broker, session.client_id)
        starts = [e.first_at for e in facts.of_kind("broker-starting") if broker_of(facts, e.source) == session.broker]
        for_good = last.ended == "broker-stopped" and not any(at and at >= _or(last.until, 0.0) for at in starts)
        if not for_good:
            places = tuple(place for place in (last.begin, last.end) if place is not None)
            offline = Offline(*key, _or(last.until, 0.0), places, last)
            listed = found.get(key)
            found[key] = offline if listed is None else replace(
                offline, evidence=(*places, listed.evidence[-1]), queued=listed.queued, dropped=listed.dropped
            )  # fmt: skip
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0] or "", key[1])))


def _of_lists(facts: Facts) -> Iterator[Offline]:
    """Sessions that the last list shows without a connection, if no log tells that the client came or they expired."""
    by_id: dict[tuple[str | None, str], list[Client]] = {}
    for client, listed in rows(facts).items():
        for row in listed:
            if row.connected and row.at is not None:
                by_id.setdefault((broker_of(facts, row.source), client), []).append(row)
    for (broker, client), own in by_id.items():
        last = own[-1]
        moments = [c.since for c in by_client(facts).get((broker, client), ())]
        moments += [e.first_at for e in facts.of_kind("session-expired") if e.client_id == client]
        later = any(at is not None and at > _or(last.at, 0.0) for at in moments)
        if is_away(last) and not _is_clean(last) and not later:
            there = [number for number, row in enumerate(own) if not is_away(row)]
            first = own[there[-1] + 1 if there else 0]
            places = tuple(dict.fromkeys((first.evidence, last.evidence)))
            yield Offline(broker, client, first.at or 0.0, places, queued=last.queued, dropped=last.dropped)
