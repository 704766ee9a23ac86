"""Messages of MQTT counted at each receiver.

Messages that brokers print one by one (message trace): how many came in of each topic, and went to each client.

What one receiver of MQTT messages should have got and what its ledgers note, as rows that are counted by time.

Counts are exact where a row of Facts lies within the time that is asked for; a row that lies across its edge counts in
proportion.

One queue of an MQTT session that was full: what says so, and what it lost, by ids.

Messages of MQTT counted at each receiver: what it should have got, by its filters, and what its ledgers note.

A share group is one receiver: any member's ledger will do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.draining import Interval
from mqlab.models.mqtt import NEWEST, OLDEST, Queue, matches, shared
from mqlab.mqtt import sessions as mqtt_sessions
from mqlab.mqtt.sessions import BEGIN, END, Session, Span, sessions
from mqlab.mqtt.subscriptions import (
    SKEW,
    ShareGroup,
    Subscription,
    internal,
    receiving_ledgers,
    share_groups,
    subscriptions,
)
from mqlab.rows import Client, Flow, TopicFlow


@dataclass(frozen=True, slots=True)
class Traced:
    """Messages of one topic that a trace shows."""

    messages: int
    first: Episode
    """The first line of them."""


@per_facts
def came_in(facts: Facts) -> Mapping[str, Traced]:
    """Topic → messages that brokers took in."""
    lines: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind("publish-received"):
        if line.topic:
            lines[line.topic].append(line)
    return {topic: _traced(lines[topic]) for topic in sorted(lines)}


@per_facts
def went_out(facts: Facts, flag: str | None) -> Mapping[str, Mapping[str, Traced]]:
    """Client id → topic → messages sent to it with *flag* (``dup``, ``retained``), or without any.

    Topics of the broker's own statistics are left out.
    """
    lines: dict[str, dict[str, list[Episode]]] = defaultdict(lambda: defaultdict(list))
    for line in facts.of_kind("publish-sent"):
        known = line.client_id and line.topic and not line.topic.startswith("$")
        if known and (flag in (line.reason or "").split(" ") if flag else line.reason is None):
            lines[line.client_id or ""][line.topic or ""].append(line)
    return {
        client: {topic: _traced(lines[client][topic]) for topic in sorted(lines[client])} for client in sorted(lines)
    }


def _traced(lines: list[Episode]) -> Traced:
    return Traced(sum(line.count for line in lines), min(lines, key=lambda e: (e.first_at or 0.0, e.first.line or 0)))


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
        if since <= self.first_at and self.last_at <= until:
            return float(self.messages)
        common = min(until, self.last_at) - max(since, self.first_at)
        return self.messages * common / (self.last_at - self.first_at) if common > 0 else 0.0

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


def total(counts: Iterator[Interval]) -> Interval:
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


LEAST = 10
"""Messages below which nothing is told from what is on its way."""
NEAR = 0.05
"""How far two counts of one loss may differ."""
EDGE = 1.5
"""Seconds by which an edge may be off: brokers print whole seconds, and clocks differ."""
MIXED = "scattered"
_WHOLE = 0.9
"""Share of the survivors that lies before or after all that is lost where the queue kept one end."""


@dataclass(frozen=True, slots=True)
class QueueCase:
    """One client's queue, or that of a share group's living members."""

    client_id: str
    broker: str | None
    queue: Queue | None
    lines: tuple[Episode, ...]
    """With which the broker tells that the queue dropped."""
    row: Client | None
    """The last list about it."""
    account: Account | None
    session: Session | None
    """The last of the client's sessions; None where no connection is known."""
    counter: float | None
    """How far the broker's own count of dropped messages rose, for all its clients."""

    @property
    def away(self) -> tuple[Span, ...]:
        """When the session was kept while its client was not connected."""
        return self.session.away if self.session is not None else ()

    @property
    def was_away(self) -> bool:
        """The queue dropped while its client was away: by the lines, else by what is lost."""
        moments = [e.first_at for e in self.lines if e.first_at is not None]
        lost = self.account.lost if self.account is not None else ()
        moments = moments or [(r.first_at + r.last_at) / 2 for r in lost]
        inside = sum(any(a - SKEW <= at <= b + SKEW for a, b in self.away) for at in moments)
        listed = self.row is not None and mqtt_sessions.is_away(self.row)
        return listed if not moments else 2 * inside > len(moments)

    @property
    def silent(self) -> bool:
        """Its ledgers note nothing any more when its queue drops: nobody reads it, though no line says that it left."""
        own = self.account.ledgers.get(self.client_id, ()) if self.account is not None else ()
        at = min((e.first_at for e in self.lines if e.first_at is not None), default=None)
        got = [r.last_at for r in self.account.rows if set(own) & set(r.here)] if self.account is not None else []
        return at is not None and bool(got) and max(got) < at - EDGE and not self.was_away

    @property
    def flooded(self) -> bool:
        """Most of what it got it had got before: copies fill the queue, and who makes them is the cause."""
        return self.account is not None and self.account.copies > self.account.received

    @property
    def missing(self) -> Interval | None:
        """Messages that it did not note; None where no ledger tells."""
        own = self.account
        if own is None or not own.counted or any(client not in own.ledgers for client in own.clients):
            return None
        return own.missing()

    @property
    def waiting(self) -> float:
        """How many of the missing ones are in the queue of a client that did not come back."""
        if not self.away or self.away[-1][1] < END or self.account is None:
            return 0.0
        since = self.away[-1][0] - SKEW
        late = total(r.certain(since, END) for r in self.account.lost).likely
        limit = self.queue.limit if self.queue is not None else None
        return late if limit is None else min(late, float(limit))

    @property
    def lost(self) -> float | None:
        """Missing messages that are in no queue either."""
        return None if self.missing is None else max(0.0, self.missing.likely - self.waiting)

    @property
    def span(self) -> Span | None:
        """When the messages that are lost were published, from the first to the last."""
        lost = self.account.lost if self.account is not None and self.missing is not None else ()
        if lost:
            return min(r.first_at for r in lost), max(r.last_at for r in lost)
        moments = [at for e in self.lines for at in (e.first_at, e.last_at) if at is not None]
        return (min(moments), max(moments)) if moments else None

    @property
    def survivors(self) -> float:
        """Messages that were published while the client was away and came to it afterwards.

        The limit, where they differ by no more than a broker that prints whole seconds makes.
        """
        got = [r for r in self.account.rows if r.copies] if self.account is not None else []
        found = sum(r.within(a, b) for r in got for a, b in self.away)
        limit = self.queue.limit if self.queue is not None else None
        edges = sum(r.within(a - EDGE, a + EDGE) for r in got for a, _ in self.away)
        return float(limit) if limit is not None and abs(found - limit) <= edges / 2 else found

    @property
    def kept(self) -> str | None:
        """Which end of an absence survived: oldest, newest or scattered; None where nothing tells."""
        if self.account is None or not self.was_away:
            return None
        inside = [r for r in self.account.rows if any(r.within(a, b) for a, b in self.away)]
        got, lost = [r for r in inside if r.copies], [r for r in inside if not r.copies]
        return _end(got, lost) if got and lost else None


def _end(got: list[Row], lost: list[Row]) -> str:
    begin, end = min(r.first_at for r in lost), max(r.last_at for r in lost)
    every = sum(r.messages for r in got)
    if sum(r.within(float("-inf"), begin) for r in got) >= _WHOLE * every:
        return OLDEST
    return NEWEST if sum(r.within(end, END) for r in got) >= _WHOLE * every else MIXED


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
