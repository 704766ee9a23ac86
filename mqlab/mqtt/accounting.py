"""What each receiver of MQTT messages should have got, by its filters, and what its ledgers note.

A share group is one receiver: any member's ledger will do. Counts are exact where a row of Facts lies within the time
that is asked for; a row that lies across its edge counts in proportion. A broker's trace counts what came in and went
out by topic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.mqtt import matches, shared
from mqlab.mqtt.brokers import EDGE, WHOLE_SECONDS
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.sessions import BEGIN, END, sessions
from mqlab.mqtt.subscriptions import (
    ShareGroup,
    Subscription,
    internal,
    receiving_ledgers,
    share_groups,
    subscriptions,
)
from mqlab.rows import Flow, TopicFlow, portion
from mqlab.units import Interval


@dataclass(frozen=True, slots=True)
class Traced:
    """Messages of one topic that a trace shows."""

    messages: int
    first: Episode
    """The first line of them."""


def _traced(lines: Iterable[Episode]) -> Mapping[str, Traced]:
    by_topic: dict[str, list[Episode]] = defaultdict(list)
    for line in lines:
        by_topic[line.topic or ""].append(line)
    return {
        topic: Traced(sum(e.count for e in own), min(own, key=lambda e: (e.first_at or 0.0, e.first.line or 0)))
        for topic, own in sorted(by_topic.items())
    }


@per_facts
def came_in(facts: Facts) -> Mapping[str, Traced]:
    """Topic → messages that brokers took in."""
    return _traced(line for line in facts.of_kind("publish-received") if line.topic)


@per_facts
def went_out(facts: Facts, flag: str | None) -> Mapping[str, Mapping[str, Traced]]:
    """Client id → topic → messages sent to it with *flag* (``dup``, ``retained``), or without any.

    Topics of the broker's own statistics are left out.
    """
    lines = [e for e in facts.of_kind("publish-sent") if e.client_id and e.topic and not e.topic.startswith("$")]
    sent = [e for e in lines if (flag in (e.reason or "").split(" ") if flag else e.reason is None)]
    clients = sorted({e.client_id or "" for e in sent})
    return {client: _traced(e for e in sent if e.client_id == client) for client in clients}


NOWHERE = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Row:
    """Published messages of which the same is told, as one receiver sees them."""

    sender: str
    party: str | None
    topic: str | None
    """None where the row is by time, of several topics."""
    messages: int
    failed: bool
    qos: int | None
    here: tuple[str, ...]
    """Ledgers of the receiver that note them."""
    copies: int
    """How often these do; 0 is missing."""
    first_at: float
    last_at: float
    first: Evidence
    last: Evidence

    def within(self, since: float, until: float) -> float:
        """How many of its messages were published in that time, if they were spread evenly."""
        return self.messages * portion(self.first_at, self.last_at, since, until)

    def certain(self, since: float, until: float) -> Interval:
        """The same with bounds: where it lies across an edge, its smaller part may be empty, or twice as large."""
        likely = self.within(since, until)
        if likely in (0.0, float(self.messages)):
            return Interval(likely, likely, likely)
        spread = min(likely, self.messages - likely) + 1
        return Interval(max(0.0, likely - spread), likely, min(float(self.messages), likely + spread))


@dataclass(frozen=True, slots=True)
class Account:
    """One receiver: a client, or the members of a share group."""

    name: str
    """Client id, or ``$share/GROUP/FILTER``."""
    group: ShareGroup | None
    subscriptions: tuple[Subscription, ...]
    """Those that are told; a client whose ledger shows that it got something may have none."""
    ledgers: Mapping[str, tuple[str, ...]]
    """Ledgers of each client that has any."""
    rows: tuple[Row, ...]
    """What was published that it should have got, by time."""
    known_until: float
    """Publish time up to which its ledgers tell: what was published later may be on its way."""

    @property
    def clients(self) -> tuple[str, ...]:
        """Client ids, sorted."""
        return tuple(sorted({s.client_id for s in self.subscriptions} | set(self.ledgers)))

    @property
    def published(self) -> int:
        """Messages of which the publisher did not note that they failed."""
        return sum(r.messages for r in self.rows if not r.failed)

    @property
    def received(self) -> int:
        """Different ones of them that it noted."""
        return sum(r.messages for r in self.rows if r.copies and not r.failed)

    @property
    def copies(self) -> int:
        """How often it noted one that it had noted before."""
        return sum(r.messages * (r.copies - 1) for r in self.rows if r.copies > 1)

    def missing(self, since: float = BEGIN, until: float = END) -> Interval:
        """Messages published in that time, and sure to be on no way any more, that it did not note."""
        return total(r.certain(since, min(until, self.known_until)) for r in self.lost)

    @property
    def lost(self) -> tuple[Row, ...]:
        """Rows that it does not note, although their publisher had no failure."""
        return tuple(r for r in self.rows if not r.copies and not r.failed)

    def sent(self, since: float, until: float) -> float:
        """Messages published in that time."""
        return sum(r.within(since, until) for r in self.rows if not r.failed)

    @property
    def counted(self) -> bool:
        """Some ledger tells what it got, and some what was published for it."""
        return bool(self.ledgers) and bool(self.rows)


def exactly(messages: float) -> Interval:
    """A count that is sure."""
    return Interval(float(messages), float(messages), float(messages))


def total(counts: Iterable[Interval]) -> Interval:
    """Sum, bounds added up."""
    found = NOWHERE
    for count in counts:
        found = found.plus(count)
    return found


def without_ledger(account: Account, since: float, until: float) -> tuple[str, ...]:
    """Clients that may have got messages in that time, connected, and have no ledger."""
    there = {
        s.client_id
        for s in account.subscriptions
        if s.since < until and s.until > since and not any(a <= since and until <= b for a, b in s.away)
    }
    return tuple(sorted(there - set(account.ledgers)))


@per_facts
def accounts(facts: Facts) -> tuple[Account, ...]:
    """Every receiver: share groups first, then clients, by name."""
    groups = share_groups(facts)
    grouped = [_account(facts, f"$share/{g.name}/{g.filter}", g, list(g.members)) for g in groups]
    own: dict[str, list[Subscription]] = defaultdict(list)
    for subscription in subscriptions(facts):
        if shared(subscription.filter)[0] is None and not internal(subscription.filter):
            own[subscription.client_id].append(subscription)
    members = {client for group in groups for client in group.clients}
    others = {client for client in receiving_ledgers(facts) if client not in members and not _shares(facts, client)}
    return (*grouped, *(_account(facts, name, None, own.get(name, [])) for name in sorted({*own, *others})))


def lost_by(
    facts: Facts, publishers: Collection[str | None] | None, since: float = BEGIN, until: float = END
) -> int | None:
    """Messages of *publishers* that no receiver of them noted, though they had no failure; None where nothing tells.

    A moment that ends the time and prints whole seconds is any in that second.

    What is lost before the broker is lost to all: what one receiver alone lacks is another story, and so is what was
    published before the first message that it noted. Among the publishers, None stands for ledgers that are named
    after no client; by default it is everybody.
    """
    missing: dict[str, float] = {}
    end = until + WHOLE_SECONDS if until.is_integer() else until
    for account in (account for account in accounts(facts) if account.ledgers):
        there = max(since, min((r.first_at for r in account.rows if r.copies), default=since))
        for sender in {r.sender for r in account.rows}:
            if publishers is None or client_of(facts, sender) in publishers:
                own = replace(account, rows=tuple(r for r in account.rows if r.sender == sender))
                likely = own.missing(there, end).likely
                missing[sender] = min(likely, missing.get(sender, likely))
    return round(sum(missing.values())) if missing else None


FlowRow = TypeVar("FlowRow", bound=Flow | TopicFlow)


def settled(facts: Facts, rows: Sequence[FlowRow]) -> tuple[FlowRow, ...]:
    """*rows*; those without an acknowledgement have not failed where the broker counts them as received, too."""
    if not any(row.unanswered for row in rows) or not _all_arrived(facts):
        return tuple(rows)
    return tuple(replace(row, failed=False, unanswered=False) if row.unanswered else row for row in rows)


def _all_arrived(facts: Facts) -> bool:
    """The only broker's counter began at zero, before all, and stands at what the ledgers note, who all have one."""
    counters = [s.points for s in facts.named("mqtt.publish_received") if s.points]
    refused = any(f.sender is None or (f.failed and not f.unanswered) for f in facts.flows)
    if len(counters) != 1 or refused or not facts.flows:
        return False
    (begin, first), (_, last) = counters[0][0], counters[0][-1]
    return first == 0 and begin <= min(f.first_at for f in facts.flows) and last == sum(f.messages for f in facts.flows)


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


def untold_groups(facts: Facts) -> tuple[Account, ...]:
    """Clients that share the messages of their topics in a group that nobody tells of: together, as one receiver."""
    every = receiving_ledgers(facts)
    told = {client for account in accounts(facts) for client in account.clients}
    found: list[tuple[set[str], set[str | None]]] = []
    for client in (client for client in every if client not in told and _shares(facts, client)):
        mine = set(every[client])
        clients, topics = {client}, {f.topic for f in facts.topic_flows if mine & dict(f.received).keys()}
        for other in [one for one in found if one[1] & topics]:
            found.remove(other)
            clients, topics = clients | other[0], topics | other[1]
        found.append((clients, topics))
    return tuple(_together(facts, {c: every[c] for c in sorted(clients)}) for clients, _ in found if len(clients) > 1)


def _together(facts: Facts, ledgers: Mapping[str, tuple[str, ...]]) -> Account:
    rows = tuple(_rows(facts, (), frozenset(source for own in ledgers.values() for source in own)))
    return Account(", ".join(ledgers), None, (), ledgers, rows, _known_until(facts, (), ledgers))


def _account(facts: Facts, name: str, group: ShareGroup | None, own: Sequence[Subscription]) -> Account:
    """What was published before it subscribed is left out, unless all that it got is older: then clocks differ."""
    every = receiving_ledgers(facts)
    clients = {s.client_id for s in own} or {name}
    ledgers = {client: every[client] for client in sorted(clients) if client in every}
    rows = tuple(_rows(facts, [s.filter for s in own], frozenset(x for these in ledgers.values() for x in these)))
    connected = min((s.since for s in sessions(facts) if s.client_id == name), default=BEGIN)
    since = min((s.since for s in own), default=connected)
    got = [r.last_at for r in rows if r.copies]
    fits = not got or max(got) > since
    begun = tuple(r for r in rows if r.copies or r.last_at > since or not fits)
    return Account(name, group, tuple(own), ledgers, begun, _known_until(facts, own, ledgers))


def _rows(facts: Facts, filters: Sequence[str], ledgers: frozenset[str]) -> Iterator[Row]:
    """Rows of each publisher: by time where all its topics are meant, else by topic.

    Where no filter or no topic is told, what is meant is of the publishers of which its ledgers note something.
    """
    by_sender: dict[str, list[TopicFlow]] = defaultdict(list)
    for flow in settled(facts, facts.topic_flows):
        if flow.sender is not None:
            by_sender[flow.sender].append(flow)
    whole = set()
    for sender, flows in by_sender.items():
        noted = {f.topic for f in flows if ledgers & dict(f.received).keys()}
        told = [name for name in noted if name is None or not filters]
        wanted = [f for f in flows if f.topic in told or (f.topic and any(matches(name, f.topic) for name in filters))]
        if wanted and len(wanted) == len(flows):
            whole.add(sender)
        else:
            yield from (_row(f, f.topic, ledgers) for f in wanted)
    yield from (_row(f, None, ledgers) for f in settled(facts, facts.flows) if f.sender in whole)


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
