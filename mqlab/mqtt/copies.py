"""What receivers of MQTT messages note more than once: how often, how late, with which flags, and of which topics.

Four mechanisms make copies, and each leaves its own mark in a receiver's ledger: filters that overlap (each message of
a topic as often, at the same moment), redelivery (DUP flag), replay of retained messages (RETAIN flag), and messages
that go round in a circle (no flag, later and later). Whose ledger it is, its name tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import words
from mqlab.rows import Flow, Receipt
from mqlab.shared.actors import base_name

RECEIVING = ("received", "consumed", "processed")
"""Roles of the ledgers of receivers."""
SENDING = ("sent", "acked")
"""Roles of the ledgers of publishers."""
_ROLES = frozenset({"published", "sent", "acked", "received", "forwarded", "ledger", "messages"})
"""Words that name what a ledger is about, not whose it is."""
SHORTEST = 3
"""Letters from which a word is taken for the beginning of a client's name."""
_TELLING = ("client-configured", "connection-made", "connection-lost")
"""Events of a client's own log."""
_SEEN = ("client-connected", "client-subscribed", "publish-received", "publish-sent")
"""Events of a broker's log that name clients."""
_OTHERS = ("kafka", "rocketmq")
"""Formats of systems behind a bridge, whose consumers handle messages again for reasons of their own."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """One receiver's ledger in all."""

    source: str
    client: str
    """Its client id; else the name of the ledger."""
    receipts: tuple[Receipt, ...]
    """Every ten seconds in which it notes something, by time."""

    @property
    def rows(self) -> int:
        """Messages that it notes, copies counted."""
        return sum(r.rows for r in self.receipts)

    @property
    def again(self) -> int:
        """Rows whose id it had noted before."""
        return sum(r.again for r in self.receipts)

    @property
    def dup(self) -> int:
        """Rows with the DUP flag."""
        return sum(r.dup for r in self.receipts)

    @property
    def retained(self) -> int:
        """Rows with the RETAIN flag."""
        return sum(r.retained for r in self.receipts)

    @property
    def unflagged(self) -> int:
        """Rows that came again for certain without either flag."""
        return sum(max(0, r.again - r.dup - r.retained) for r in self.receipts)

    def copied(self) -> tuple[Receipt, ...]:
        """The ten seconds in which ids came again."""
        return tuple(r for r in self.receipts if r.again)


@per_facts
def receivers(facts: Facts) -> tuple[Receiver, ...]:
    """All ledgers of receivers, by name."""
    return tuple(_ledgers(facts, RECEIVING))


@per_facts
def subscribers(facts: Facts) -> tuple[Receiver, ...]:
    """Ledgers of clients of an MQTT broker: beside another system, those that are named after such a client."""
    alone = not any(c.software in _OTHERS for c in facts.coverage)
    return tuple(ledger for ledger in receivers(facts) if alone or client_of(facts, ledger.source) is not None)


@per_facts
def senders(facts: Facts) -> tuple[Receiver, ...]:
    """All ledgers of publishers, by name: what comes again there was published again."""
    return tuple(_ledgers(facts, SENDING))


def _ledgers(facts: Facts, roles: tuple[str, ...]) -> Iterator[Receiver]:
    own: dict[str, list[Receipt]] = defaultdict(list)
    for receipt in facts.receipts:
        if receipt.role in roles:
            own[receipt.source].append(receipt)
    for source in sorted(own):
        yield Receiver(source, name_of(facts, source), tuple(sorted(own[source], key=lambda r: (r.at, r.line))))


def name_of(facts: Facts, ledger: str) -> str:
    """The client id behind a ledger, else the ledger's own name."""
    return client_of(facts, ledger) or base_name(ledger)


@per_facts
def client_of(facts: Facts, ledger: str) -> str | None:
    """Client id that a ledger or its folder is named after, or after whose log it is named; the longest that fits.

    Else the only client whose user has that name, or whose id begins with it; else the only one that connected whose
    id has all words of the ledger's name.
    """
    names = _names(facts)
    places = [name for name in (base_name(ledger), ledger.rpartition("/")[0].rpartition("/")[2]) if name]
    for own in places:
        if fitting := [n for n in names if _named_after(own, n)]:
            return names[max(sorted(fitting), key=len)]
    begun = [_called(facts, own) for own in places if len(own) >= SHORTEST]
    begun.append(_worded(facts, base_name(ledger)))
    return next((next(iter(clients)) for clients in begun if len(clients) == 1), None)


def _worded(facts: Facts, own: str) -> set[str]:
    wanted = words(own) - _ROLES
    ids = {e.client_id for e in facts.of_kind("client-connected") if e.client_id}
    return {client for client in ids if wanted and wanted <= words(client)}


def _called(facts: Facts, own: str) -> set[str]:
    """Clients whose user is called so, or whose id begins with this word."""
    users = {e.client_id for e in facts.of_kind("client-connected") if e.member_id == own and e.client_id}
    return users or {client for name, client in _names(facts).items() if name != own and _named_after(name, own)}


def _named_after(own: str, name: str) -> bool:
    begins = own.startswith(name) and not own[len(name) : len(name) + 1].isalnum()
    ends = own.endswith(name) and not own[: len(own) - len(name)][-1:].isalnum()
    return bool(name) and (begins or ends)


@per_facts
def _names(facts: Facts) -> Mapping[str, str]:
    """Name → client id: the ids themselves, and logs that tell of one client alone."""
    ids = {e.client_id: e.client_id for e in facts.of_kind(*_SEEN, *_TELLING) if e.client_id}
    by_log: dict[str, set[str]] = defaultdict(set)
    for episode in facts.of_kind(*_TELLING):
        if episode.client_id:
            by_log[base_name(episode.source)].add(episode.client_id)
    return {name: next(iter(own)) for name, own in by_log.items() if len(own) == 1} | ids


def worst(facts: Facts, source: str) -> tuple[int, Flow | None]:
    """How often the message that came most often is noted in a receiver's ledger, and the flow that it is of."""
    noted = ((times, f) for f in facts.flows for ledger, times in f.received if ledger == source)
    return max(noted, key=lambda pair: (pair[0], -pair[1].first_at, pair[1].first_key), default=(0, None))


def copies_by_topic(facts: Facts, source: str) -> Mapping[str, Mapping[int, int]]:
    """Topic → how often its messages are noted in a ledger → how many messages; those never noted are left out."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for flow in facts.topic_flows:
        times = dict(flow.received).get(source)
        if flow.topic is not None and times is not None:
            found[flow.topic][times] += flow.messages
    return {topic: dict(sorted(found[topic].items())) for topic in sorted(found)}


def distinct(facts: Facts, source: str) -> int:
    """Different messages that a receiver's ledger notes."""
    return sum(f.messages for f in facts.flows if source in dict(f.received))


def first_copy(ledger: Receiver, why: str) -> tuple[Evidence, ...]:
    """Where the first copy stands in a receiver's ledger."""
    return next(((place,) for r in ledger.receipts if (place := r.repeated(why))), ())
