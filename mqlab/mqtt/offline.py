"""Sessions that an MQTT broker keeps for clients that are away at the end of the material.

A client that connected without a clean session, and is away, has one until it expires or the client comes back (MQTT
3.1.1, 3.1.2.4). Logs tell of connections; snapshots such as ``emqx_ctl clients list`` tell of sessions themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import broker_of, brokers
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.lives import by_client
from mqlab.rows.groups import Client

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
