"""Sessions of MQTT clients: kept, away, listed, taken up again.

Sessions of MQTT clients: from when to when a broker kept one, and when its client was away meanwhile.

A clean session ends with its connection. A persistent one lasts over connections, until it expires or its id connects
clean (MQTT 3.1.1, 3.1.2.4; MQTT 5, 3.1.2-4).

Lists of MQTT clients that a broker printed or its REST API gave: who was connected, and what waits for whom.

Sessions that an MQTT broker keeps for clients that are away at the end of the material.

A client that connected without a clean session, and is away, has one until it expires or the client comes back (MQTT
3.1.1, 3.1.2.4). Logs tell of connections; snapshots such as ``emqx_ctl clients list`` tell of sessions themselves.

Kept MQTT sessions that are taken up again: only then a broker sends again what has no answer yet.

MQTT 5 §4.4 allows resending at a reconnect only, and so do mosquitto since 1.5 (``retry_interval`` has no effect),
HiveMQ and RabbitMQ with MQTT 3.1.1; EMQX and VerneMQ resend by a timer.

How often an MQTT client came back: connections and subscriptions by its id, and how its connections ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt import brokers as mqtt_brokers
from mqlab.mqtt import connections as mqtt_connections
from mqlab.mqtt.brokers import broker_of, brokers
from mqlab.mqtt.connections import Connection, by_client
from mqlab.mqtt.copies import client_of
from mqlab.rows import Client

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
    for (broker, client), own in mqtt_connections.by_client(facts).items():
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


NO = frozenset({"false", "disconnected", "no", "0"})
YES = frozenset({"true", "connected", "yes", "1", "idle"})


@per_facts
def rows(facts: Facts) -> Mapping[str, tuple[Client, ...]]:
    """Rows about each client of MQTT that tell whether it was connected, or what waits for it; by time."""
    found: dict[str, list[Client]] = {}
    for row in facts.clients:
        told = row.connected is not None or row.queued is not None or row.dropped is not None
        if row.system == "mqtt" and row.client_id and told:
            found.setdefault(row.client_id, []).append(row)
    return {
        client: tuple(sorted(found[client], key=lambda r: (r.at or 0.0, r.source, r.line or 0)))
        for client in sorted(found)
    }


def is_away(row: Client) -> bool:
    """The list says that the client was not connected."""
    return (row.connected or "").lower() in NO


def is_there(row: Client) -> bool:
    """The list says that the client was connected."""
    return (row.connected or "").lower() in YES


def is_kept(row: Client) -> bool:
    """The session outlives its connection: it was not clean, or it has an expiry."""
    return (row.clean or "").lower() in NO or bool(row.expiry)


def away(facts: Facts, client: str, there: Sequence[float]) -> tuple[Span, ...]:
    """When lists say that *client* was not connected, with a session that is kept; *there* are times when it was.

    From when it was there last to when it was there again; a list that is not dated counts as the latest.
    """
    own = rows(facts).get(client, ())
    seen = sorted([*there, *(r.at for r in own if is_there(r) and r.at is not None)])
    spans = set()
    for row in own:
        if is_away(row) and is_kept(row):
            at = END if row.at is None else row.at
            spans.add((max((t for t in seen if t <= at), default=BEGIN), min((t for t in seen if t > at), default=END)))
    return tuple(sorted(spans))


def waiting(facts: Facts, clients: Sequence[str]) -> int | None:
    """Messages in the queues of *clients* and dropped from them, by the last list; None where no list tells."""
    last = [rows(facts)[client][-1] for client in clients if client in rows(facts)]
    told = [r for r in last if r.queued is not None or r.dropped is not None]
    return sum((r.queued or 0) + (r.dropped or 0) for r in told) if told else None


_NO = frozenset({"false", "no", "0"})
_Key = tuple[str | None, str]
"""Broker and client id."""


@dataclass(frozen=True, slots=True)
class Offline:
    """A session that a broker keeps for a client that is away."""

    broker: str | None
    client_id: str
    since: float
    """When its last connection ended; where only snapshots tell, the first that shows it away."""
    evidence: tuple[Evidence, ...]
    """The lines that began and ended its last connection, and the last snapshot."""
    connection: Connection | None = None
    """Its last connection, where a log tells of it."""
    queued: int | None = None
    dropped: int | None = None
    """Messages by the last snapshot."""


@per_facts
def offline_sessions(facts: Facts) -> tuple[Offline, ...]:
    """Sessions whose client is away at the end of the material, by broker and client id.

    A session is gone when the broker says that it expired, and used when its id connected again; a client that is not
    told to be persistent has none. A broker that stopped for good keeps none that matters.
    """
    seen = {(o.broker, o.client_id): o for o in _of_snapshots(facts)}
    told = {(o.broker, o.client_id): _with_counts(o, seen) for o in _of_logs(facts)}
    found = seen | told
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0] or "", key[1])))


def _of_logs(facts: Facts) -> Iterator[Offline]:
    expired = _last(facts, "session-expired")
    for (broker, client), own in by_client(facts).items():
        last = own[-1]
        if last.told_by != "broker" or not last.persistent or last.until is None:
            continue
        gone = expired.get((broker, client), 0.0) >= last.until
        if not gone and not _stopped_for_good(facts, last):
            told = tuple(place for place in (last.begin, last.end) if place is not None)
            yield Offline(broker, client, last.until, told, last)


def _of_snapshots(facts: Facts) -> Iterator[Offline]:
    """Sessions that the last snapshot shows without a connection."""
    rows: dict[_Key, list[Client]] = {}
    for row in facts.clients:
        if row.system == "mqtt" and row.client_id and row.connected and row.at is not None:
            rows.setdefault((broker_of(facts, row.source), row.client_id), []).append(row)
    for (broker, client), own in rows.items():
        own.sort(key=lambda row: (row.at, row.source, row.line or 0))
        last = own[-1]
        if _away(last) and (last.clean or "false").lower() in _NO and not _told_later(facts, broker, last):
            there = [number for number, row in enumerate(own) if not _away(row)]
            first = own[there[-1] + 1 if there else 0]
            told = tuple(dict.fromkeys((first.evidence, last.evidence)))
            yield Offline(broker, client, first.at or 0.0, told, queued=last.queued, dropped=last.dropped)


def _away(row: Client) -> bool:
    return (row.connected or "").lower() in _NO


def _told_later(facts: Facts, broker: str | None, row: Client) -> bool:
    """By a log the client connected, or its session expired, after the snapshot."""
    at, key = row.at or 0.0, (broker, row.client_id or "")
    again = any((c.since or 0.0) > at for c in by_client(facts).get(key, ()))
    return again or _last(facts, "session-expired").get(key, 0.0) > at


def _with_counts(session: Offline, known: Mapping[_Key, Offline]) -> Offline:
    seen = known.get((session.broker, session.client_id))
    if seen is None:
        return session
    told = (*session.evidence, seen.evidence[-1])
    return replace(session, evidence=told, queued=seen.queued, dropped=seen.dropped)


def _stopped_for_good(facts: Facts, last: Connection) -> bool:
    started = _last(facts, "broker-starting").get((last.broker, ""), 0.0)
    return last.ended == "broker-stopped" and started < (last.until or 0.0)


@per_facts
def _last(facts: Facts, kind: str) -> Mapping[_Key, float]:
    """When a broker last told something of this kind of each client; of no client under an empty id."""
    names = {source: broker.name for broker in brokers(facts) for source in broker.sources}
    found: dict[_Key, float] = {}
    for line in facts.of_kind(kind):
        if line.source in names and line.first_at is not None:
            key = (names[line.source], line.client_id or "")
            found[key] = max(found.get(key, 0.0), line.first_at)
    return found


CONNECTS = 3
"""Connects of one client from which messages that come again are a storm."""
_AT_RECONNECT = frozenset({"mosquitto", "hivemq", "rabbitmq"})
_BY_TIMER = ("0.", "1.0", "1.1", "1.2", "1.3", "1.4")
"""Versions of mosquitto with a timer."""


@per_facts
def often(facts: Facts) -> tuple[str, ...]:
    """Clients that brokers saw connect so often with a session that is, or may be, kept; sorted."""
    return tuple(client for client, clean, many in _clients(facts) if not clean and many >= CONNECTS)


@per_facts
def never(facts: Facts) -> bool:
    """Brokers that resend at a reconnect only tell of connections, and no client came so often."""
    told = any(c.told_by == "broker" for c in mqtt_connections.connections(facts))
    return told and not often(facts) and all(_at_reconnect(facts, b.name) for b in brokers(facts))


def _clients(facts: Facts) -> Iterator[tuple[str, bool, int]]:
    for (_, client), own in sorted(
        mqtt_connections.by_client(facts).items(), key=lambda item: (item[0][0] or "", item[0][1])
    ):
        told = [c for c in own if c.told_by == "broker"]
        yield client, all(c.persistent is False for c in told), sum(c.count for c in told)


def _at_reconnect(facts: Facts, broker: str) -> bool:
    product, version = mqtt_brokers.software(facts, broker), mqtt_brokers.version(facts, broker) or ""
    return product in _AT_RECONNECT and not (product == "mosquitto" and version.startswith(_BY_TIMER))


ENDS = {
    "normal": "it disconnects by itself each time: it is restarted, or its code connects anew",
    "taken-over": "another connection with its id takes over each time",
    "keep-alive": "the broker ends its connections, since it is silent for too long",
    "closed": "its connections break",
}
"""What the most frequent end of a client's connections says of the cause."""
_TOGETHER = 1.0
"""Seconds in which several filters are one subscription."""


@per_facts
def connections(facts: Facts, client: str) -> tuple[Connection, ...]:
    """The connections of a client whose begin is known, by begin."""
    own = [c for (_, name), found in by_client(facts).items() if name == client for c in found if c.since is not None]
    return tuple(sorted(own, key=lambda c: (c.since or 0.0, c.source)))


@per_facts
def connected(facts: Facts, client: str) -> tuple[float, ...]:
    """When a client connected."""
    return tuple(c.since for c in connections(facts, client) if c.since is not None)


@per_facts
def subscribed(facts: Facts, client: str) -> tuple[float, ...]:
    """When a client subscribed: as lines tell, or when it connected where fewer lines tell of it."""
    lines = [e.first_at for e in _subscriptions(facts, client) if e.first_at is not None]
    moments: list[float] = []
    for at in sorted(lines):
        if not moments or at - moments[-1] > _TOGETHER:
            moments.append(at)
    came = connected(facts, client)
    return tuple(moments) if len(moments) >= len(came) else came


def _subscriptions(facts: Facts, client: str) -> list[Episode]:
    named = [e for e in facts.of_kind("client-subscribed") if e.client_id == client]
    return named or [
        e for e in facts.of_kind("client-subscribed") if e.client_id is None and client_of(facts, e.source) == client
    ]


def usual_end(connections: Sequence[Connection]) -> str | None:
    """How most of these connections ended; None where no line says."""
    told = Counter(c.ended for c in connections if c.ended)
    return min(told, key=lambda end: (-told[end], end)) if told else None


def cause(connections: Sequence[Connection]) -> str:
    """Words about why a client comes back, empty where nothing tells."""
    return ENDS.get(usual_end(connections) or "", "")


def taken_over(connections: Sequence[Connection]) -> bool:
    """Most of them ended since another connection had the same client id: whatever follows is its consequence."""
    return usual_end(connections) == "taken-over"


def evidence(connections: Sequence[Connection]) -> tuple[Evidence, ...]:
    """The lines that begin and end these connections, as far as they are known."""
    places = [(c.begin, "it connects") for c in connections] + [(c.end, "its connection ends") for c in connections]
    known = [Evidence(place.source, place.line, place.text, why) for place, why in places if place is not None]
    return tuple(sorted(known, key=lambda place: (place.source, place.line or 0)))
