"""Who subscribed to which topic filters at MQTT brokers, from when until when.

Brokers' logs and lists name the client; a client's own lines often do not: they are about the client id that the same
log named last, else that the log is named after, or numbered as.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt import client_lives, copies, lists, numbered
from mqlab.mqtt.sessions import BEGIN, END, Session, Span, outside, sessions

SKEW = 5.0
"""Seconds by which a subscription may seem older than its session: brokers print whole seconds, clocks differ."""
_NAMING = ("client-configured", "connection-made")


@dataclass(frozen=True, slots=True)
class Subscription:
    """One filter of one client, for as long as the session had it."""

    client_id: str
    filter: str
    """As subscribed to, ``$share/GROUP/`` included."""
    qos: int | None
    since: float
    until: float
    session: Session | None
    """None where no connection of the client is known."""
    evidence: Evidence
    listed_away: tuple[Span, ...] = ()
    """When lists of clients say that its client was not connected."""

    @property
    def away(self) -> tuple[Span, ...]:
        """When it was in force while its client was not connected."""
        spans = (*(self.session.away if self.session else ()), *self.listed_away)
        cut = [(max(a, self.since), min(b, self.until)) for a, b in spans]
        return outside(outside([(a, b) for a, b in cut if a < b], self.since, self.until), self.since, self.until)


@per_facts
def subscriptions(facts: Facts) -> tuple[Subscription, ...]:
    """Every subscription that lines or lists of clients tell of, by client id, filter and begin."""
    own: dict[str, list[Session]] = defaultdict(list)
    for one in sessions(facts):
        own[one.client_id].append(one)
    found: dict[tuple[str, str, int], Subscription] = {}
    for client, name, at, qos, place in sorted(_told(facts), key=lambda t: (t[0], t[1], t[2], t[4].line or 0)):
        number = _session(own[client], at)
        session = None if number is None else own[client][number]
        if (client, name, number or 0) not in found:
            begin = at if session is None else max(session.since, min(at, session.until))
            end = min(session.until if session else END, _left(facts, client, name, begin))
            away = lists.away(facts, client, _there(session))
            found[client, name, number or 0] = Subscription(client, name, qos, begin, end, session, place, away)
    return tuple(found[key] for key in sorted(found))


def _there(session: Session | None) -> tuple[float, ...]:
    """Moments at which lines say that the client was connected."""
    known = () if session is None else session.connections
    return tuple(at for c in known for at in (c.since, c.until) if at is not None)


def _session(own: list[Session], at: float) -> int | None:
    """Which of a client's sessions a line at that moment is about: the one that began last before it, or just after."""
    near = [n for n, session in enumerate(own) if abs(session.since - at) <= SKEW]
    if near:
        return min(near, key=lambda n: abs(own[n].since - at))
    before = [n for n, session in enumerate(own) if session.since <= at]
    return before[-1] if before else (0 if own else None)


def _told(facts: Facts) -> Iterator[tuple[str, str, float, int | None, Evidence]]:
    for line in facts.of_kind("client-subscribed"):
        client = client_of(facts, line)
        if client and line.topic:
            qos = None if line.value_max is None else int(line.value_max)
            yield client, line.topic, BEGIN if line.first_at is None else line.first_at, qos, line.first
    for row in facts.clients:
        if row.system == "mqtt" and row.client_id and row.subscription:
            for name in filters_of(row.subscription):
                yield row.client_id, name, BEGIN, None, row.evidence


def filters_of(text: str) -> list[str]:
    """The filters that a row of CLIENTS tells: ``FILTER:qos;FILTER:qos``."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    return [part.rpartition(":")[0] if part[-2:-1] == ":" and part[-1:] in "012" else part for part in parts]


def _left(facts: Facts, client: str, name: str, since: float) -> float:
    lines = facts.of_kind("client-unsubscribed")
    at = [e.first_at for e in lines if e.topic == name and e.first_at and client_of(facts, e) == client]
    return min((moment for moment in at if moment >= since), default=END)


def client_of(facts: Facts, line: Episode) -> str | None:
    """The client that a line is about: the id that it names, else the one that the same log named last before it.

    Where no line of the log names any, the log's own name tells.
    """
    if line.client_id:
        return line.client_id
    here = line.first.line or 0
    named = [client for number, client in _named(facts).get(line.source, ()) if number <= here]
    return named[-1] if named else client_lives.client_of(facts, line) or _by_name(facts).get(line.source)


@per_facts
def _by_name(facts: Facts) -> Mapping[str, str]:
    """Log → client id, of clients' logs whose lines about subscriptions name none."""
    lines = facts.of_kind("client-subscribed", "client-unsubscribed")
    silent = sorted({line.source for line in lines if line.client_id is None} - _named(facts).keys())
    own = {source: client for source in silent if (client := copies.client_of(facts, source)) is not None}
    known = {e.client_id for e in facts.of_kind("client-connected") if e.client_id} - set(own.values())
    return {**numbered.owners([source for source in silent if source not in own], known), **own}


@per_facts
def _named(facts: Facts) -> Mapping[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in facts.of_kind(*_NAMING):
        if line.client_id:
            found[line.source].append((line.first.line or 0, line.client_id))
    return {source: sorted(own) for source, own in found.items()}
