"""Messages of MQTT counted at each receiver: what it should have got, by its filters, and what its ledgers note.

A share group is one receiver: any member's ledger will do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.models.topic_filters import matches, shared
from mqlab.mqtt.account import Account, Row
from mqlab.mqtt.ledgers import internal, receiving_ledgers
from mqlab.mqtt.queue_case import EDGE
from mqlab.mqtt.sessions import BEGIN, END, sessions
from mqlab.mqtt.share_groups import ShareGroup, share_groups
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.rows.mqtt import Flow, TopicFlow


@per_facts
def accounts(facts: Facts) -> tuple[Account, ...]:
    """Every receiver: share groups first, then clients, by name."""
    grouped = [_of_group(facts, group) for group in share_groups(facts)]
    own: dict[str, list[Subscription]] = defaultdict(list)
    for one in subscriptions(facts):
        if shared(one.filter)[0] is None and not internal(one.filter):
            own[one.client_id].append(one)
    members = {client for group in share_groups(facts) for client in group.clients}
    untold = {c for c in receiving_ledgers(facts) if c not in members and c not in own}
    names = sorted(set(own) | {c for c in untold if not _shares(facts, c)})
    return (*grouped, *(_account(facts, name, None, own.get(name, [])) for name in names))


def _shares(facts: Facts, client: str) -> bool:
    """Others get messages of its topics, and none that it gets: it shares them in a group that nobody tells of."""
    every = receiving_ledgers(facts)
    mine = set(every[client])
    topics = {f.topic for f in facts.topic_flows if mine & dict(f.received).keys()}
    for other in (set(these) for name, these in every.items() if name != client):
        theirs = [f for f in facts.topic_flows if f.topic in topics and other & dict(f.received).keys()]
        if theirs and not any(mine & dict(f.received).keys() for f in theirs):
            return True
    return False


def _of_group(facts: Facts, group: ShareGroup) -> Account:
    return _account(facts, f"$share/{group.name}/{group.filter}", group, list(group.members))


def _account(facts: Facts, name: str, group: ShareGroup | None, own: Sequence[Subscription]) -> Account:
    """What was published before it subscribed is left out, unless all that it got is older: then clocks differ."""
    every = receiving_ledgers(facts)
    clients = {s.client_id for s in own} or {name}
    ledgers = {client: every[client] for client in sorted(clients) if client in every}
    rows = tuple(_rows(facts, [s.filter for s in own], frozenset(x for these in ledgers.values() for x in these)))
    since = min((s.since for s in own), default=_connected(facts, name))
    got = [r.last_at for r in rows if r.copies]
    fits = not got or max(got) > since
    begun = tuple(r for r in rows if r.copies or r.last_at > since or not fits)
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
    """The last message that came to each ledger of a client that was there to the last publish; the earliest.

    Brokers print whole seconds: who leaves in the second of the last publish was there.
    """
    end = max((f.last_at for f in facts.flows if f.sender), default=END)
    gone = {s.client_id for s in own if s.until < end - EDGE or any(a < end - EDGE and end <= b for a, b in s.away)}
    staying = [source for client, these in ledgers.items() if client not in gone for source in these]
    last = [max((f.last_at for f in facts.flows if source in dict(f.received)), default=END) for source in staying]
    return min(last, default=END)
