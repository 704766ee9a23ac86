"""Who subscribed to which topic filters, in which share groups, and whose ledgers tell of it.

Files of clients that are numbered as their ids are: ``w1/got.tsv`` and ``forwarded-1.csv`` of ``fan-worker-1``.

Services that are started several times keep their files in folders, or under names, that tell only their numbers; the
folder of others is the first or the last word of their id: ``office/in.csv`` of ``office-view``.

Which users and client ids of MQTT a ledger or a client may be: what access rules are evaluated for.

Who subscribed to which topic filters at MQTT brokers, from when until when.

Brokers' logs and lists name the client; a client's own lines often do not: they are about the client id that the same
log named last, else that the log is named after, or numbered as.

Whose the ledgers of MQTT receivers are.

Share groups of MQTT: whose subscriptions share the messages of one filter, and which of them were away, by time.
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
from mqlab.mqtt.sessions import BEGIN, END, Session, Span, outside, sessions
from mqlab.shared.actors import base_name

LEAST = 2
"""Numbers from which it is no chance that files and ids have the same ones."""
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
"""A longer one is a date or a process."""


def owners(sources: Iterable[str], clients: Iterable[str]) -> Mapping[str, str]:
    """Source → client id, for sources and ids that are alike but for a number each, and have the same numbers.

    Nothing for sources that fit ids of several kinds.
    """
    kinds = _alike((client, client) for client in set(clients))
    found: dict[str, str] = {}
    for numbers in _alike((_without_ending(source), source) for source in set(sources)).values():
        fitting = [own for own in kinds.values() if own.keys() == numbers.keys()]
        if len(numbers) >= LEAST and len(fitting) == 1:
            found |= {source: fitting[0][number] for number, source in numbers.items()}
    return dict(sorted(found.items()))


def in_folders(sources: Iterable[str], clients: Iterable[str]) -> Mapping[str, str]:
    """Source → client id, where its folder is a word at an end of one id alone, and no other source is there."""
    by_folder: dict[str, list[str]] = defaultdict(list)
    for source in sorted(set(sources)):
        by_folder[source.rpartition("/")[0].rpartition("/")[2]].append(source)
    found: dict[str, str] = {}
    for folder, own in by_folder.items():
        fitting = [client for client in sorted(set(clients)) if folder and _ends_with(client, folder)]
        if len(own) == 1 and len(fitting) == 1:
            found[own[0]] = fitting[0]
    return {source: client for source, client in found.items() if list(found.values()).count(client) == 1}


def _ends_with(client: str, word: str) -> bool:
    parts = re.split(r"[-_.]", client)
    return word in (client, parts[0], parts[-1])


def _without_ending(source: str) -> str:
    folder, slash, name = source.rpartition("/")
    return folder + slash + name.partition(".")[0]


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
_WORD = re.compile(r"[A-Za-z0-9]+")
_ROLES = frozenset({"published", "sent", "acked", "received", "forwarded", "ledger", "messages"})


@per_facts
def parties(facts: Facts) -> tuple[Party, ...]:
    """Every user and client id that brokers saw connect."""
    return tuple(
        sorted({(c.user, c.client_id) for c in connections.connections(facts) if c.told_by == "broker"}, key=_key)
    )


@per_facts
def of_ledger(facts: Facts, ledger: str) -> tuple[Party, ...]:
    """Who may have written *ledger*: the client that it is named after, else all that connected."""
    client = client_of(facts, ledger)
    return of_client(facts, client) if client is not None else parties(facts)


def of_client(facts: Facts, client: str) -> tuple[Party, ...]:
    """The users with which *client* connected; all that connected where no broker tells of it."""
    own = tuple(party for party in parties(facts) if party[1] == client)
    return own or parties(facts)


@per_facts
def client_of(facts: Facts, ledger: str) -> str | None:
    """The client id that a ledger is named after, also where words of the id are left out: only one may fit."""
    named = copies.client_of(facts, ledger)
    if named is not None:
        return named
    words = {w.lower() for w in _WORD.findall(base_name(ledger))} - _ROLES
    ids = sorted({client for _, client in parties(facts)})
    fitting = [i for i in ids if words and words <= {w.lower() for w in _WORD.findall(i)}]
    return fitting[0] if len(fitting) == 1 else None


def name_of(facts: Facts, ledger: str) -> str:
    """The client id behind a ledger, else the ledger's own name."""
    return client_of(facts, ledger) or base_name(ledger)


def _key(party: Party) -> tuple[str, str]:
    return (party[0] or "", party[1])


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
            away = mqtt_sessions.away(facts, client, _there(session))
            found[client, name, number or 0] = Subscription(client, name, qos, begin, end, session, place, away)
    return tuple(found[key] for key in sorted(found))


@per_facts
def all_told(facts: Facts) -> bool:
    """Every log that tells who connects to a broker tells also who subscribes to what."""
    connects = {e.source for e in facts.of_kind("client-connected")}
    return bool(connects) and connects <= {e.source for e in facts.of_kind("client-subscribed")}


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
        client = subscriber_of(facts, line)
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
    at = [e.first_at for e in lines if e.topic == name and e.first_at and subscriber_of(facts, e) == client]
    return min((moment for moment in at if moment >= since), default=END)


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

    Ledgers without the name of a client may be numbered as subscribers are that have none, or be in their folders. Of a
    client that notes what it received and what it processed, what it received.
    """
    roles = {r.source: r.role for r in facts.receipts if r.role in copies.RECEIVING}
    named = {source: copies.client_of(facts, source) for source in sorted(roles)}
    sources = [source for source, client in named.items() if client is not None or roles[source] == "received"]
    nameless = [source for source in sources if named[source] is None]
    without = sorted({s.client_id for s in subscriptions(facts) if not internal(s.filter)} - set(named.values()))
    if len(nameless) == 1 and len(without) == 1:
        named[nameless[0]] = without[0]
    named |= {**in_folders(nameless, without), **owners(nameless, without)}
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
    for one in subscriptions(facts):
        name, inner = shared(one.filter)
        if name is not None:
            broker = (one.session.broker if one.session and one.session.last.told_by == "broker" else None) or ""
            found[broker, name, inner].append(one)
    names = [inner for _, _, inner in found]
    for key in sorted(found):
        if names.count(key[2]) == 1:
            found[key] += _presumed(facts, key[1], key[2], found[key])
    return tuple(ShareGroup(key[0] or None, key[1], key[2], tuple(found[key])) for key in sorted(found))


def _presumed(facts: Facts, name: str, inner: str, told: Sequence[Subscription]) -> list[Subscription]:
    """Clients whose subscriptions nobody tells, that got topics of the filter and no message that a member got, too.

    Only where no member's ledger shares a message with another one's: then they share what is published.
    """
    every = receiving_ledgers(facts)
    known = {s.client_id for s in subscriptions(facts)}
    members = [m.client_id for m in told]
    found = []
    for client in sorted(set(every) - known):
        own = [s for s in sessions(facts) if s.client_id == client]
        begin = (own[0].last.begin if own else None) or _first_row(facts, every[client])
        if begin is not None and _deals(
            facts, inner, [every[c] for c in (*members, client) if c in every], every[client]
        ):
            place = Evidence(begin.source, begin.line, begin.text, "gets messages that no member gets")
            shared_name = f"$share/{name}/{inner}"
            found += [Subscription(client, shared_name, None, s.since, s.until, s, place) for s in own]
            found += [] if own else [Subscription(client, shared_name, None, BEGIN, END, None, place)]
            members.append(client)
    return found


def _first_row(facts: Facts, ledgers: Sequence[str]) -> Evidence | None:
    """Where a client of whose connections no line tells notes its first message."""
    return next((r.first("") for r in facts.receipts if r.source in ledgers), None)


def _deals(facts: Facts, inner: str, ledgers: Sequence[tuple[str, ...]], own: tuple[str, ...]) -> bool:
    """All that *own* notes is of the filter, and no message is noted by two of *ledgers*."""
    mine = [f for f in facts.topic_flows if set(own) & dict(f.received).keys()]
    apart = all(sum(bool(set(these) & dict(f.received).keys()) for these in ledgers) < 2 for f in mine)
    return len(ledgers) > 1 and apart and all(f.topic is not None and matches(inner, f.topic) for f in mine)


def phases(group: ShareGroup, since: float, until: float) -> tuple[Phase, ...]:
    """The times of *group* between two moments, by what stayed the same; those without members are left out."""
    edges = {since, until}
    for member in group.members:
        edges |= {at for span in (*member.away, (member.since, member.until)) for at in span if since < at < until}
    moments = sorted(edges)
    every = (_phase(group, a, b) for a, b in pairwise(moments))
    return tuple(phase for phase in every if phase.members)


def _phase(group: ShareGroup, since: float, until: float) -> Phase:
    own = [m for m in group.members if m.since <= since and until <= m.until]
    dead = {m.client_id for m in own if any(a <= since and until <= b for a, b in m.away)}
    return Phase(since, until, tuple(sorted({m.client_id for m in own})), tuple(sorted(dead)))
