"""Lists of MQTT clients that a broker printed or its REST API gave: who was connected, and what waits for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.mqtt.sessions import BEGIN, END, Span
from mqlab.rows.groups import Client

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
