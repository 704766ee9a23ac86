"""Who subscribed to which topic filters at MQTT brokers and in which share groups, and whose ledgers tell of it.

Brokers' logs and lists name the client; a client's own lines often do not: they are about the client id that the same
log named last, else that the log is named after, or numbered as: ``w1/got.tsv`` and ``forwarded-1.csv`` are of
``fan-worker-1`` where files and ids have the same numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.mqtt import matches, shared
from mqlab.mqtt import connections, copies
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.brokers import SKEW
from mqlab.mqtt.sessions import BEGIN, END, Session, Span, outside, sessions
from mqlab.words import room

say = room("mqtt")

LEAST = 2
"""Numbers from which it is no chance that files and ids have the same ones."""
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
"""A longer one is a date or a process."""


def owners(sources: Iterable[str], clients: Iterable[str]) -> Mapping[str, str]:
    """Source → client id, for sources and ids that are alike but for a number each, and have the same numbers.

    Nothing for sources that fit ids of several kinds.
    """
    kinds = _alike((client, client) for client in set(clients))
    stems = [(folder + slash + name.partition(".")[0], f"{folder}{slash}{name}")
             for folder, slash, name in (source.rpartition("/") for source in set(sources))]  # fmt: skip
    found: dict[str, str] = {}
    for numbers in _alike(stems).values():
        fitting = [own for own in kinds.values() if own.keys() == numbers.keys()]
        if len(numbers) >= LEAST and len(fitting) == 1:
            found |= {source: fitting[0][number] for number, source in numbers.items()}
    return dict(sorted(found.items()))


def _alike(names: Iterable[tuple[str, str]]) -> Mapping[str, Mapping[int, str]]:
    """Kind of name, with ``#`` for its last number → number → what has that name; without kinds that count double."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name, whole in sorted(names):
        numbers = list(_NUMBER.finditer(name))
        if numbers:
            last = numbers[-1]
            found[f"{name[: last.start()]}#{name[last.end() :]}"].append((int(last[0]), whole))
    return {kind: dict(own) for kind, own in found.items() if len(dict(own)) == len(own)}


Party = tuple[str | None, str]
"""User name, None for a client without one, and client id."""


@per_facts
def parties(facts: Facts) -> tuple[Party, ...]:
    """Every user and client id that brokers saw connect."""
    seen = {(c.user, c.client_id) for c in connections.connections(facts) if c.told_by == "broker"}
    return tuple(sorted(seen, key=lambda party: (party[0] or "", party[1])))


@per_facts
def of_ledger(facts: Facts, ledger: str) -> tuple[Party, ...]:
    """Who may have written *ledger*: the client that it is named after, else all that connected."""
    return of_client(facts, copies.client_of(facts, ledger))


def of_client(facts: Facts, client: str | None) -> tuple[Party, ...]:
    """The users with which *client* connected; all that connected where no broker tells of it."""
    return tuple(party for party in parties(facts) if party[1] == client) or parties(facts)


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
    for kept in sessions(facts):
        own[kept.client_id].append(kept)
    found: dict[tuple[str, str, int], Subscription] = {}
    for client, name, at, qos, place in sorted(_subscribes(facts), key=lambda t: (t[0], t[1], t[2], t[4].line or 0)):
        number = _session(own[client], at)
        if (client, name, number) not in found:
            session = own[client][number] if own[client] else None
            begin = at if session is None else max(session.since, min(at, session.until))
            end = min(session.until if session else END, _unsubscribed(facts, client, name, begin))
            seen = [t for c in (session.connections if session else ()) for t in (c.since, c.until) if t is not None]
            away = mqtt_sessions.away(facts, client, seen)
            found[client, name, number] = Subscription(client, name, qos, begin, end, session, place, away)
    return tuple(found[key] for key in sorted(found))


@per_facts
def all_told(facts: Facts) -> bool:
    """Every log that tells who connects to a broker tells also who subscribes to what."""
    connects = {e.source for e in facts.of_kind("client-connected")}
    return bool(connects) and connects <= {e.source for e in facts.of_kind("client-subscribed")}


def _session(own: Sequence[Session], at: float) -> int:
    """Which of a client's sessions a line at that moment is about: the one that began last before it, or just after."""
    near = [n for n, session in enumerate(own) if abs(session.since - at) <= SKEW]
    before = [n for n, session in enumerate(own) if session.since <= at]
    return min(near, key=lambda n: abs(own[n].since - at)) if near else max(before, default=0)


def _subscribes(facts: Facts) -> Iterator[tuple[str, str, float, int | None, Evidence]]:
    for line in facts.of_kind("client-subscribed"):
        client = subscriber_of(facts, line)
        if client and line.topic:
            qos = None if line.value_max is None else int(line.value_max)
            yield client, line.topic, BEGIN if line.first_at is None else line.first_at, qos, line.first
    for row in facts.clients:
        if row.system == "mqtt" and row.client_id and row.subscription:
            yield from ((row.client_id, name, BEGIN, None, row.evidence) for name in filters_of(row.subscription))


def filters_of(text: str) -> list[str]:
    """The filters that a row of CLIENTS tells: ``FILTER:qos;FILTER:qos``."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    return [part.rpartition(":")[0] if part[-2:-1] == ":" and part[-1:] in "012" else part for part in parts]


def _unsubscribed(facts: Facts, client: str, name: str, since: float) -> float:
    lines = [e for e in facts.of_kind("client-unsubscribed") if e.topic == name and subscriber_of(facts, e) == client]
    return min((e.first_at for e in lines if e.first_at is not None and e.first_at >= since), default=END)


def subscriber_of(facts: Facts, line: Episode) -> str | None:
    """The client that a line is about: the id that it names, else the one that the same log named last before it.

    Where no line of the log names any, the log's own name tells.
    """
    if line.client_id:
        return line.client_id
    here = line.first.line or 0
    named = [client for number, client in _named(facts).get(line.source, ()) if number <= here]
    return named[-1] if named else connections.client_of(facts, line) or _by_name(facts).get(line.source)


@per_facts
def _by_name(facts: Facts) -> Mapping[str, str]:
    """Log → client id, of clients' logs whose lines about subscriptions name none."""
    lines = facts.of_kind("client-subscribed", "client-unsubscribed")
    silent = sorted({line.source for line in lines if line.client_id is None} - _named(facts).keys())
    own = {source: client for source in silent if (client := copies.client_of(facts, source)) is not None}
    known = {e.client_id for e in facts.of_kind("client-connected") if e.client_id} - set(own.values())
    return {**owners([source for source in silent if source not in own], known), **own}


@per_facts
def _named(facts: Facts) -> Mapping[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in facts.of_kind(*_NAMING):
        if line.client_id:
            found[line.source].append((line.first.line or 0, line.client_id))
    return {source: sorted(own) for source, own in found.items()}


@per_facts
def receiving_ledgers(facts: Facts) -> Mapping[str, tuple[str, ...]]:
    """Client id → its ledgers of received messages, by names; the last ledger left is the last subscriber's.

    Ledgers without the name of a client may be numbered as subscribers are that have none. Of a client that notes what
    it received and what it processed, what it received.
    """
    roles = {r.source: r.role for r in facts.receipts if r.role in copies.RECEIVING}
    named = {source: copies.client_of(facts, source) for source in sorted(roles)}
    sources = [source for source, client in named.items() if client is not None or roles[source] == "received"]
    nameless = [source for source in sources if named[source] is None]
    without = sorted({s.client_id for s in subscriptions(facts) if not internal(s.filter)} - set(named.values()))
    if len(nameless) == 1 and len(without) == 1:
        named[nameless[0]] = without[0]
    named |= owners(nameless, without)
    found: dict[str, list[str]] = defaultdict(list)
    for source in sorted(sources, key=lambda name: (copies.RECEIVING.index(roles[name]), name)):
        kept = found[named[source] or source]
        if not kept or roles[kept[0]] == roles[source]:
            kept.append(source)
    return {client: tuple(own) for client, own in sorted(found.items())}


def internal(name: str) -> bool:
    """The filter is for topics of the broker itself."""
    return shared(name)[1].startswith("$")


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """The members that share the messages of one filter."""

    broker: str | None
    name: str
    filter: str
    """Without what makes it shared."""
    members: tuple[Subscription, ...]
    """By client id and begin; a client that came again with a clean session is there twice."""

    @property
    def clients(self) -> tuple[str, ...]:
        """Client ids, sorted."""
        return tuple(sorted({m.client_id for m in self.members}))


@dataclass(frozen=True, slots=True)
class Phase:
    """A time in which the members of a share group and their connections stayed the same."""

    since: float
    until: float
    members: tuple[str, ...]
    dead: tuple[str, ...]
    """Those without connection."""


@per_facts
def share_groups(facts: Facts) -> tuple[ShareGroup, ...]:
    """Every share group, by broker, name and filter."""
    found: dict[tuple[str, str, str], list[Subscription]] = defaultdict(list)
    for subscription in subscriptions(facts):
        name, inner = shared(subscription.filter)
        if name is not None:
            broker = (subscription.session.broker if subscription.session else None) or ""
            found[broker, name, inner].append(subscription)
    names = [inner for _, _, inner in found]
    for key in sorted(found):
        if names.count(key[2]) == 1:
            found[key] += _presumed(facts, key[1], key[2], found[key])
    return tuple(ShareGroup(key[0] or None, key[1], key[2], tuple(found[key])) for key in sorted(found))


def _presumed(facts: Facts, name: str, inner: str, members_told: Sequence[Subscription]) -> list[Subscription]:
    """Clients whose subscriptions nobody tells, that got topics of the filter and no message that a member got, too.

    Only where no member's ledger shares a message with another one's: then they share what is published.
    """
    every = receiving_ledgers(facts)
    known = {s.client_id for s in subscriptions(facts)}
    members = [every[m.client_id] for m in members_told if m.client_id in every]
    found = []
    for client in sorted(set(every) - known):
        own: list[Session | None] = [s for s in sessions(facts) if s.client_id == client]
        noted = (r.first("") for r in facts.receipts if r.source in every[client])
        begin = (own[0].last.begin if own and own[0] else None) or next(noted, None)
        if begin is not None and _deals(facts, inner, [*members, every[client]]):
            place = begin.because(say("sharing-line"))
            kept = [(s.since, s.until) if s else (BEGIN, END) for s in own or [None]]
            found += [
                Subscription(client, f"$share/{name}/{inner}", None, *span, session, place)
                for span, session in zip(kept, own or [None], strict=True)
            ]
            members.append(every[client])
    return found


def _deals(facts: Facts, inner: str, ledgers: Sequence[tuple[str, ...]]) -> bool:
    """All that the last one of *ledgers* notes is of the filter, and no message is noted by two of them."""
    mine = [f for f in facts.topic_flows if set(ledgers[-1]) & dict(f.received).keys()]
    apart = all(sum(bool(set(these) & dict(f.received).keys()) for these in ledgers) < 2 for f in mine)
    return len(ledgers) > 1 and apart and all(f.topic is not None and matches(inner, f.topic) for f in mine)


def phases(group: ShareGroup, since: float, until: float) -> tuple[Phase, ...]:
    """The times of *group* between two moments, by what stayed the same; those without members are left out."""
    spans = [span for member in group.members for span in (*member.away, (member.since, member.until))]
    moments = sorted({since, until, *(at for span in spans for at in span if since < at < until)})
    found = []
    for begin, end in pairwise(moments):
        own = [m for m in group.members if m.since <= begin and end <= m.until]
        dead = {m.client_id for m in own if any(a <= begin and end <= b for a, b in m.away)}
        if own:
            found.append(Phase(begin, end, tuple(sorted({m.client_id for m in own})), tuple(sorted(dead))))
    return tuple(found)
