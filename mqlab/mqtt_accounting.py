"""Messages of MQTT counted at each receiver: what it should have got, by its filters, and what its ledgers note.

A share group is one receiver: any member's ledger will do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab import mqtt_copies
from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.topic_filters import matches, shared
from mqlab.mqtt_account import Account, Row
from mqlab.mqtt_rows import Flow, TopicFlow
from mqlab.mqtt_sessions import BEGIN, END, sessions
from mqlab.mqtt_share_groups import ShareGroup, share_groups
from mqlab.mqtt_subscriptions import Subscription, subscriptions


@per_facts
def receiving_ledgers(facts: Facts) -> Mapping[str, tuple[str, ...]]:
    """Client id → its ledgers of received messages, by names; the last ledger left is the last subscriber's."""
    sources = sorted({r.source for r in facts.receipts if r.role == "received"})
    named = {source: mqtt_copies.client_of(facts, source) for source in sources}
    nameless = [source for source, client in named.items() if client is None]
    without = sorted({s.client_id for s in subscriptions(facts) if not _internal(s.filter)} - set(named.values()))
    if len(nameless) == 1 and len(without) == 1:
        named[nameless[0]] = without[0]
    found: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        found[named[source] or source].append(source)
    return {client: tuple(own) for client, own in sorted(found.items())}


def _internal(name: str) -> bool:
    return shared(name)[1].startswith("$")


@per_facts
def accounts(facts: Facts) -> tuple[Account, ...]:
    """Every receiver: share groups first, then clients, by name."""
    grouped = [_of_group(facts, group) for group in share_groups(facts)]
    own: dict[str, list[Subscription]] = defaultdict(list)
    for one in subscriptions(facts):
        if shared(one.filter)[0] is None and not _internal(one.filter):
            own[one.client_id].append(one)
    members = {client for group in share_groups(facts) for client in group.clients}
    names = sorted(set(own) | {c for c in receiving_ledgers(facts) if c not in members})
    return (*grouped, *(_account(facts, name, None, own.get(name, [])) for name in names))


def _of_group(facts: Facts, group: ShareGroup) -> Account:
    return _account(facts, f"$share/{group.name}/{group.filter}", group, list(group.members))


def _account(facts: Facts, name: str, group: ShareGroup | None, own: Sequence[Subscription]) -> Account:
    every = receiving_ledgers(facts)
    clients = {s.client_id for s in own} or {name}
    ledgers = {client: every[client] for client in sorted(clients) if client in every}
    rows = tuple(_rows(facts, [s.filter for s in own], frozenset(x for these in ledgers.values() for x in these)))
    since = min((s.since for s in own), default=_connected(facts, name))
    begun = tuple(r for r in rows if r.copies or r.last_at > since)
    return Account(name, group, tuple(own), ledgers, begun, _known_until(facts, own, ledgers))


def _connected(facts: Facts, client: str) -> float:
    """When a client connected first, as far as it is told: what is published before it subscribed is no loss."""
    return min((s.since for s in sessions(facts) if s.client_id == client), default=BEGIN)


def _rows(facts: Facts, filters: Sequence[str], ledgers: frozenset[str]) -> Iterator[Row]:
    """Rows of each publisher: by time where all its topics are meant, else by topic."""
    by_sender: dict[str, list[TopicFlow]] = defaultdict(list)
    for flow in facts.topic_flows:
        if flow.sender is not None:
            by_sender[flow.sender].append(flow)
    whole = set()
    for sender, flows in by_sender.items():
        wanted = [f for f in flows if _wanted(f, filters, ledgers, flows)]
        if wanted and len(wanted) == len(flows):
            whole.add(sender)
        else:
            yield from (_row(f, f.topic, ledgers) for f in wanted)
    yield from (_row(f, None, ledgers) for f in facts.flows if f.sender in whole)


def _wanted(flow: TopicFlow, filters: Sequence[str], ledgers: frozenset[str], flows: Sequence[TopicFlow]) -> bool:
    """Its topic is subscribed to; where no filter is told, some message of the topic was received."""
    if filters:
        return flow.topic is None or any(matches(name, flow.topic) for name in filters)
    return any(ledgers & dict(f.received).keys() for f in flows if f.topic == flow.topic)


def _row(flow: Flow | TopicFlow, topic: str | None, ledgers: frozenset[str]) -> Row:
    mine = [(source, count) for source, count in flow.received if source in ledgers]
    return Row(
        flow.sender or "", flow.party, topic, flow.messages, flow.failed, flow.qos, tuple(s for s, _ in mine),
        sum(count for _, count in mine), flow.first_at, flow.last_at, flow.first, flow.last,
    )  # fmt: skip


def _known_until(facts: Facts, own: Sequence[Subscription], ledgers: Mapping[str, tuple[str, ...]]) -> float:
    """The last message that came to each ledger of a client that stayed connected; the earliest of these."""
    gone = {s.client_id for s in own if s.until < END or any(end == END for _, end in s.away)}
    staying = [source for client, these in ledgers.items() if client not in gone for source in these]
    last = [max((f.last_at for f in facts.flows if source in dict(f.received)), default=END) for source in staying]
    return min(last, default=END)
