"""What access rules refuse MQTT clients: by mosquitto's rules and by lines, and what became of these messages.

mosquitto answers a refused publish as any other one and filters deliveries; neither leaves a line at its default log
types. Its rules are evaluated for the user of each publisher and receiver; where it is not known whose a ledger is, a
topic counts as refused only if every user that may be meant is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Episode, Facts, Setting
from mqlab.memo import per_facts
from mqlab.models.mosquitto import READ, WRITE, AccessRule, allowed
from mqlab.models.mqtt import matches, shared
from mqlab.mqtt import brokers, connections
from mqlab.mqtt import subscriptions as mqtt_subscriptions
from mqlab.mqtt.accounting import Account, accounts
from mqlab.mqtt.brokers import EDGE, LEAST, NEAR, SKEW, agree
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.sessions import BEGIN, END
from mqlab.mqtt.subscriptions import Party, internal, receiving_ledgers, subscriber_of, subscriptions
from mqlab.rows import GRID, TopicFlow, portion

_PATTERN = "pattern-"


@dataclass(frozen=True, slots=True)
class Refused:
    """One topic of one publisher that the rules refuse, to the broker or to one receiver."""

    topic: str
    sender: str
    access: str
    """read or write."""
    receiver: str | None
    """Who may not read it; None for a publish, which nobody gets."""
    users: tuple[str, ...]
    """Users that the rules were evaluated for."""
    flows: tuple[TopicFlow, ...]
    """Messages that were published to it without a failure, by what became of them."""
    ledgers: frozenset[str]
    """Ledgers that would have them."""
    reloaded: float | None = None
    """When the broker loaded its rules again; only messages before are meant, and those after it arrive."""

    @property
    def messages(self) -> int:
        """Messages that the publisher did not note as failed."""
        return sum(f.messages for f in self.flows)

    @property
    def arrived(self) -> int:
        """Those that came to a ledger all the same."""
        return sum(f.messages for f in self.flows if self.ledgers & dict(f.received).keys())


@per_facts
def rules(facts: Facts) -> tuple[AccessRule, ...]:
    """Mosquitto's rules, in their order; none where no configuration has them in force."""
    return tuple(
        AccessRule(s.owner, s.key.removeprefix(_PATTERN), s.value, s.key.startswith(_PATTERN)) for s in lines(facts)
    )


@per_facts
def lines(facts: Facts) -> tuple[Setting, ...]:
    """The lines of the ACL file that is in force; of several files none, since nothing says which."""
    own = [s for s in facts.settings if s.scope == "acl"]
    if len({s.source for s in own}) > 1 or not any(s.key == "acl_file" for s in facts.settings):
        return ()
    return tuple(sorted(own, key=lambda s: s.line or 0))


@per_facts
def published(facts: Facts) -> Mapping[tuple[str, str], tuple[TopicFlow, ...]]:
    """(publisher's ledger, topic) → what was published without a failure."""
    found: dict[tuple[str, str], list[TopicFlow]] = defaultdict(list)
    for flow in facts.topic_flows:
        if flow.sender is not None and flow.topic is not None and not flow.failed:
            found[flow.sender, flow.topic].append(flow)
    return {key: tuple(found[key]) for key in sorted(found)}


def _refuse(facts: Facts, access: str, topic: str, parties: Sequence[Party]) -> bool:
    """The rules refuse all whom it may concern."""
    own = rules(facts)
    return bool(own and parties) and not any(allowed(own, access, topic, *party) for party in parties)


@per_facts
def refused(facts: Facts) -> tuple[Refused, ...]:
    """Every topic that the rules refuse and that somebody with a ledger subscribed to, by access, topic, publisher."""
    found = [refusal for refusal in _publishes(facts) if refusal.ledgers]
    for account in accounts(facts) if rules(facts) else ():
        for client, ledgers in account.ledgers.items():
            parties = mqtt_subscriptions.of_client(facts, client)
            for (sender, topic), flows in published(facts).items():
                if _subscribed(account, topic) and _refuse(facts, READ, topic, parties):
                    users = _users(parties)
                    found.append(Refused(topic, sender, READ, client, users, flows, frozenset(ledgers)))
    return tuple(sorted(found, key=lambda r: (r.access, r.topic, r.sender, r.receiver or "")))


@per_facts
def unseen(facts: Facts) -> tuple[Refused, ...]:
    """Topics that nobody may publish to, that somebody subscribed to, and of which no receiver's ledger is there.

    Where nobody's subscriptions are told, a topic to which somebody publishes is taken to be read.
    """
    filters = [s.filter for s in subscriptions(facts) if not internal(s.filter)]
    gone = [refusal for refusal in _publishes(facts) if not refusal.ledgers]
    return tuple(refusal for refusal in gone if not filters or any(matches(name, refusal.topic) for name in filters))


def _publishes(facts: Facts) -> Iterator[Refused]:
    for (sender, topic), flows in published(facts).items():
        parties = mqtt_subscriptions.of_ledger(facts, sender)
        if _refuse(facts, WRITE, topic, parties):
            yield Refused(topic, sender, WRITE, None, _users(parties), flows, _wanting(facts, sender, topic))


@per_facts
def unheard(facts: Facts) -> tuple[str, ...]:
    """Clients without a ledger that subscribed to topics that are published and that the rules do not let them read."""
    topics = sorted({topic for _, topic in published(facts)}) if rules(facts) else []
    found = set()
    for account in accounts(facts):
        for client in {s.client_id for s in account.subscriptions} - account.ledgers.keys():
            parties = mqtt_subscriptions.of_client(facts, client)
            if any(_subscribed(account, topic) and _refuse(facts, READ, topic, parties) for topic in topics):
                found.add(client)
    return tuple(sorted(found))


def _wanting(facts: Facts, sender: str, topic: str) -> frozenset[str]:
    """Ledgers of those who subscribed to *topic*; where no filters are told, of those who get others of *sender*."""
    every = [a for a in accounts(facts) if a.ledgers]
    wanted = [a for a in every if _subscribed(a, topic)]
    if not any(a.subscriptions for a in every):
        wanted = [a for a in every if any(r.sender == sender and r.copies for r in a.rows)]
    return frozenset(source for a in wanted for these in a.ledgers.values() for source in these)


def _subscribed(account: Account, topic: str) -> bool:
    """Some filter of the receiver, as far as they are told, matches *topic*."""
    return any(matches(s.filter, topic) for s in account.subscriptions)


def _users(parties: Sequence[Party]) -> tuple[str, ...]:
    return tuple(sorted({user or "anonymous" for user, _ in parties}))


def before_reload(facts: Facts, refusal: Refused) -> Refused | None:
    """What was refused until the broker loaded its rules again, after which messages arrive; None where nothing was.

    The file in the material may be the one before, or the one after.
    """
    arrived = [f.first_at for f in refusal.flows if refusal.ledgers & dict(f.received).keys()]
    loads = [e.first_at for e in facts.of_kind("settings-reloaded") if e.system == "mqtt" and e.first_at is not None]
    at = max((load for load in loads if arrived and load <= min(arrived)), default=None)
    if at is None:
        return None
    lost = tuple(cut for flow in _gone(facts, refusal) if (cut := _until(flow, min(arrived))).messages)
    return replace(refusal, flows=lost, reloaded=at) if sum(f.messages for f in lost) >= LEAST else None


def _until(flow: TopicFlow, end: float) -> TopicFlow:
    """Those of its messages that were published before *end*."""
    before = round(flow.messages * portion(flow.first_at, flow.last_at, BEGIN, end))
    return replace(flow, messages=before, last_at=min(flow.last_at, end))


def _gone(facts: Facts, refusal: Refused) -> Iterator[TopicFlow]:
    """Its messages in no ledger that would have them: by time where its publisher has no other topic."""
    topics = [topic for sender, topic in published(facts) if sender == refusal.sender]
    alone = [f for f in facts.flows if f.sender == refusal.sender and not f.failed] if len(topics) == 1 else []
    by_time = (
        replace(
            refusal.flows[0],
            messages=f.messages,
            received=f.received,
            first_at=f.first_at,
            last_at=f.last_at,
            first=f.first,
            last=f.last,
        )
        for f in alone
    )
    for flow in by_time if alone else refusal.flows:
        if not refusal.ledgers & dict(flow.received).keys():
            yield flow


def until_reload(facts: Facts) -> tuple[Refused, ...]:
    """The same of topics that no rule in the material refuses: which one did may stand in the file as it was before."""
    found = (
        before_reload(facts, Refused(topic, sender, WRITE, None, (), flows, _wanting(facts, sender, topic)))
        for (sender, topic), flows in published(facts).items()
    )
    return tuple(one for one in found if one is not None)


PUBLISH, SUBSCRIBE = "publish-denied", "subscribe-denied"
LOOP = 3
"""Refusals of one filter from which closed connections are no chance. Judgement, no default behind it: a client that is
tried, and tried again, makes two."""
_NOBODY_ASKED = "no_matching_hook_found"
"""VerneMQ's reason where no plug-in has rules: it refuses everybody everything."""
_FAULTS = frozenset({"not-authorized", "protocol-error"})
"""How a connection ends that the broker closes for a refusal: HiveMQ and EMQX say why, RabbitMQ calls it an error."""


@dataclass(frozen=True, slots=True)
class Denied:
    """What lines tell of one client: its refused publishes, or one filter that it was refused."""

    kind: str
    client_id: str
    lines: tuple[Episode, ...]
    flows: tuple[TopicFlow, ...]
    """Messages that were published to these topics, by ledgers."""
    ledgers: frozenset[str]
    """The receivers' ledgers that would have them; those of the client itself for a subscription."""
    closed: int
    """Connections of the client that the broker closed for it: publishes get no answer, and the client sends again."""

    @property
    def count(self) -> int:
        """How often it was refused, by lines."""
        return sum(e.count for e in self.lines)

    @property
    def meant(self) -> tuple[TopicFlow, ...]:
        """Messages of these topics of which the publisher got no refusal."""
        return tuple(f for f in self.flows if not f.failed or (self.kind == PUBLISH and self.closed))

    @property
    def messages(self) -> int:
        """How many these are."""
        return sum(f.messages for f in self.meant)

    @property
    def failed(self) -> int:
        """Those that the publisher noted as failed."""
        return sum(f.messages for f in self.flows if f.failed)

    @property
    def nowhere(self) -> int:
        """Messages that came to none of the ledgers."""
        return sum(f.messages for f in self.meant if not self.ledgers & dict(f.received).keys())

    @property
    def agrees(self) -> bool:
        """Messages that came to none of the ledgers are all of these topics, or as many as lines tell.

        Without ledgers, lines of their own tell that as many connections were closed, and the client came again.
        """
        if not self.nowhere or (self.kind == SUBSCRIBE and not self.ledgers):
            each = abs(self.closed - self.count) <= NEAR * self.count
            return self.kind == SUBSCRIBE and self.count >= LOOP and each
        return (
            self.kind == SUBSCRIBE
            or agree(self.nowhere, self.count)
            or (bool(self.ledgers) and self.nowhere == self.messages)
        )


@per_facts
def denied(facts: Facts) -> tuple[Denied, ...]:
    """Every client of which lines say that it was refused, by client id; ``$SYS`` topics do no harm."""
    return (*_publishers(facts), *_subscribers(facts))


def _publishers(facts: Facts) -> Iterator[Denied]:
    receiving = frozenset(source for own in receiving_ledgers(facts).values() for source in own)
    for client, own in sorted(_by_client(facts, PUBLISH).items()):
        topics = {e.topic for e in own if e.topic}
        sent = [f for f in facts.topic_flows if f.sender and f.topic in topics]
        mine = tuple(f for f in sent if client_of(facts, f.sender or "") in (client, None))
        yield Denied(PUBLISH, client, tuple(own), mine, receiving, _closed(facts, client, own))


def _subscribers(facts: Facts) -> Iterator[Denied]:
    """With each filter that was refused; a closed connection takes those of its session along that it does not keep."""
    for client, own in sorted(_by_client(facts, SUBSCRIBE).items()):
        ledgers = frozenset(receiving_ledgers(facts).get(client, ()))
        mine = [s for s in subscriptions(facts) if s.client_id == client and s.session and not s.session.persistent]
        for name in sorted({e.topic for e in own if e.topic}):
            if not _granted(facts, client, name):
                refusals = tuple(e for e in own if e.topic == name)
                since = min((e.first_at for e in refusals if e.first_at is not None), default=0.0)
                closed = _closed(facts, client, refusals)
                filters = {name, *(shared(s.filter)[1] for s in mine if closed)}
                sent = [f for f in facts.topic_flows if f.sender and f.topic is not None and f.last_at >= since]
                flows = tuple(f for f in sent if any(matches(pattern, f.topic or "") for pattern in filters))
                yield Denied(SUBSCRIBE, client, refusals, flows, ledgers, closed)


def _by_client(facts: Facts, kind: str) -> Mapping[str, list[Episode]]:
    """Lines by client; of one that names none, the only client that says that it subscribed to this filter."""
    found: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind(kind):
        own = {s.client_id for s in subscriptions(facts) if line.topic and s.filter == line.topic}
        client = subscriber_of(facts, line) or (next(iter(own)) if len(own) == 1 else None)
        if client and line.system == "mqtt" and line.reason != _NOBODY_ASKED and not internal(line.topic or ""):
            found[client].append(line)
    return found


def _granted(facts: Facts, client: str, name: str) -> bool:
    """After the last refusal of the filter the client subscribed to it again; many note it before the answer comes."""
    last = max((e.last_at for e in facts.of_kind(SUBSCRIBE) if e.topic == name and e.last_at is not None), default=0.0)
    lines = [e for e in facts.of_kind("client-subscribed") if e.topic == name and subscriber_of(facts, e) == client]
    return any(e.first_at is not None and e.first_at > last + SKEW and e.value_max in (None, 0, 1, 2) for e in lines)


def _closed(facts: Facts, client: str, lines: Sequence[Episode]) -> int:
    """Connections that the broker ended for a fault of the client's in the moments of these lines."""
    own = [c for c in connections.connections(facts) if c.client_id == client and c.told_by == "broker"]
    return sum(c.count for c in own if c.ended in _FAULTS and any(_during(e, c.until) for e in lines))


def _during(line: Episode, at: float | None) -> bool:
    first, last = line.first_at, line.last_at
    return at is not None and first is not None and first - EDGE <= at <= (first if last is None else last) + EDGE


def closes(facts: Facts, client: str | None, at: float | None) -> bool:
    """A refusal for which the broker closes connections was then, of this client, or of anyone where it is None."""
    every = [denial for denial in denied(facts) if denial.closed and client in (None, denial.client_id)]
    return any(_during(e, at) for denial in every for e in denial.lines)


def sent_again(facts: Facts, at: float) -> bool:
    """A publisher that loses its connection for a refusal sends again what has no answer yet: copies from then on."""
    own = [e for denial in denied(facts) if denial.kind == PUBLISH and denial.closed > 1 for e in denial.lines]
    return any(e.first_at is not None and e.first_at - GRID <= at for e in own)


def counter_agrees(facts: Facts, denial: Denied) -> bool:
    """The broker's count of refused publishes rose by as many as lines tell, or the publishers' ledgers."""
    rose = brokers.increase(brokers.gauge(facts, "mqtt.publish_denied", None), 0.0, END) or 0.0
    return rose >= 1 and any(agree(rose, n) for n in (denial.count, denial.messages))
