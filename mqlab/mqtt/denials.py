"""Topics that access rules refuse.

Topics that mosquitto's access rules refuse, by publisher and receiver, and whether their messages arrived.

mosquitto answers a refused publish as any other one and filters deliveries; neither leaves a line at its default log
types. Its rules are evaluated for the user of each publisher and receiver; where it is not known whose a ledger is, a
topic counts as refused only if every user that may be meant is refused.

What lines tell of one MQTT client that was refused: its publishes, or one filter, and what it lost with it.

Publishes and subscriptions that a broker or a client says were refused, and what became of these messages.

The findings about messages that access rules refuse: their words, numbers and places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.memo import per_facts
from mqlab.models.mosquitto_acl import READ, WRITE, Rule, allowed
from mqlab.models.mqtt import matches, shared
from mqlab.mqtt import brokers, connections
from mqlab.mqtt import subscriptions as mqtt_subscriptions
from mqlab.mqtt.accounting import EDGE, Account, accounts
from mqlab.mqtt.sessions import END
from mqlab.mqtt.subscriptions import SKEW, Party, internal, receiving_ledgers, subscriber_of, subscriptions
from mqlab.rows import GRID, TopicFlow
from mqlab.shared.wording import moment

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

    @property
    def messages(self) -> int:
        """Messages that the publisher did not note as failed."""
        return sum(f.messages for f in self.flows)

    @property
    def arrived(self) -> int:
        """Those that came to a ledger all the same."""
        return sum(f.messages for f in self.flows if self.ledgers & dict(f.received).keys())


@per_facts
def rules(facts: Facts) -> tuple[Rule, ...]:
    """Mosquitto's rules, in their order; none where no configuration has them in force."""
    return tuple(Rule(s.owner, s.key.removeprefix(_PATTERN), s.value, s.key.startswith(_PATTERN)) for s in lines(facts))


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


@per_facts
def refused(facts: Facts) -> tuple[Refused, ...]:
    """Every topic that the rules refuse and that somebody with a ledger subscribed to, by access, topic, publisher."""
    own = rules(facts)
    found = [*_publishes(facts, own), *_deliveries(facts, own)] if own else []
    return tuple(sorted(found, key=lambda r: (r.access, r.topic, r.sender, r.receiver or "")))


@per_facts
def unseen(facts: Facts) -> tuple[Refused, ...]:
    """Topics that nobody may publish to, that somebody subscribed to, and of which no receiver's ledger is there.

    Where nobody's subscriptions are told, a topic to which somebody publishes is taken to be read.
    """
    found = []
    told = [s.filter for s in subscriptions(facts) if not internal(s.filter)]
    for (sender, topic), flows in published(facts).items():
        meant = mqtt_subscriptions.of_ledger(facts, sender)
        wanted = (not told or any(matches(name, topic) for name in told)) and not wanting(facts, sender, topic)
        if rules(facts) and meant and wanted and not any(allowed(rules(facts), WRITE, topic, *p) for p in meant):
            found.append(Refused(topic, sender, WRITE, None, _names(meant), flows, frozenset()))
    return tuple(found)


def _publishes(facts: Facts, own: Sequence[Rule]) -> Iterator[Refused]:
    for (sender, topic), flows in published(facts).items():
        meant = mqtt_subscriptions.of_ledger(facts, sender)
        ledgers = wanting(facts, sender, topic)
        if meant and ledgers and not any(allowed(own, WRITE, topic, *party) for party in meant):
            yield Refused(topic, sender, WRITE, None, _names(meant), flows, ledgers)


def _deliveries(facts: Facts, own: Sequence[Rule]) -> Iterator[Refused]:
    for account in accounts(facts):
        for client, ledgers in account.ledgers.items():
            meant = mqtt_subscriptions.of_client(facts, client)
            for (sender, topic), flows in published(facts).items():
                there = meant and subscribed(account, topic)
                if there and not any(allowed(own, READ, topic, *party) for party in meant):
                    yield Refused(topic, sender, READ, client, _names(meant), flows, frozenset(ledgers))


@per_facts
def unheard(facts: Facts) -> tuple[str, ...]:
    """Clients without a ledger that subscribed to topics that are published and that the rules do not let them read."""
    own, topics = rules(facts), sorted({topic for _, topic in published(facts)})
    found = set()
    for account in accounts(facts):
        for client in {s.client_id for s in account.subscriptions} - account.ledgers.keys():
            meant = mqtt_subscriptions.of_client(facts, client)
            wanted = [topic for topic in topics if meant and own and subscribed(account, topic)]
            if any(not any(allowed(own, READ, topic, *party) for party in meant) for topic in wanted):
                found.add(client)
    return tuple(sorted(found))


def wanting(facts: Facts, sender: str, topic: str) -> frozenset[str]:
    """Ledgers of those who subscribed to *topic*; where no filters are told, of those who get others of *sender*."""
    every = [a for a in accounts(facts) if a.ledgers]
    wanted = [a for a in every if subscribed(a, topic)]
    if not any(a.subscriptions for a in every):
        wanted = [a for a in every if any(r.sender == sender and r.copies for r in a.rows)]
    return frozenset(source for a in wanted for these in a.ledgers.values() for source in these)


def subscribed(account: Account, topic: str) -> bool:
    """Some filter of the receiver, as far as they are told, matches *topic*."""
    return any(matches(s.filter, topic) for s in account.subscriptions)


def _names(meant: Sequence[Party]) -> tuple[str, ...]:
    return tuple(sorted({user or "anonymous" for user, _ in meant}))


PUBLISH, SUBSCRIBE = "publish-denied", "subscribe-denied"
LOOP = 3
"""Refusals of one filter from which closed connections are no chance."""
NEAR = 0.05
"""How far two counts of refusals may differ."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one client: its refused publishes, or one filter that it was refused."""

    kind: str
    client_id: str
    lines: tuple[Episode, ...]
    filter: str | None
    """Of a refused subscription."""
    flows: tuple[TopicFlow, ...]
    """Messages that were published to these topics, by ledgers."""
    ledgers: frozenset[str]
    """The receivers' ledgers that would have them; those of the client itself for a subscription."""
    closed: int
    """Connections of the client that the broker closed for it."""

    @property
    def count(self) -> int:
        """How often it was refused, by lines."""
        return sum(e.count for e in self.lines)

    @property
    def closed_each(self) -> bool:
        """Lines of their own tell that as many connections were closed, and the client came again to be refused."""
        return self.kind == SUBSCRIBE and self.count >= LOOP and abs(self.closed - self.count) <= NEAR * self.count

    @property
    def thrown_out(self) -> bool:
        """The broker closes the connection: publishes get no answer, and the client sends them again."""
        return self.closed > 0

    @property
    def messages(self) -> int:
        """Messages of these topics of which the publisher got no refusal."""
        return sum(f.messages for f in self._meant)

    @property
    def failed(self) -> int:
        """Those that it noted as failed."""
        return sum(f.messages for f in self.flows if f.failed)

    @property
    def _meant(self) -> tuple[TopicFlow, ...]:
        unanswered = self.kind == PUBLISH and self.thrown_out
        return tuple(f for f in self.flows if unanswered or not f.failed)

    @property
    def agrees(self) -> bool:
        """Messages that came to none of the ledgers are all of these topics, or as many as lines tell."""
        if not self.nowhere or (self.kind == SUBSCRIBE and not self.ledgers):
            return self.closed_each
        as_many = abs(self.nowhere - self.count) <= max(2.0, NEAR * self.nowhere)
        return self.kind == SUBSCRIBE or as_many or (bool(self.ledgers) and self.nowhere == self.messages)

    @property
    def nowhere(self) -> int:
        """Messages that came to none of the ledgers."""
        return sum(f.messages for f in self._meant if not self.ledgers & dict(f.received).keys())


FAULTS = frozenset({"not-authorized", "protocol-error"})
"""How a connection ends that the broker closes for a refusal: HiveMQ and EMQX say why, RabbitMQ calls it an error."""


@per_facts
def denied(facts: Facts) -> tuple[Told, ...]:
    """Every client of which lines say that it was refused, by client id; ``$SYS`` topics do no harm."""
    return (*_refused_publishes(facts), *_subscriptions(facts))


def _refused_publishes(facts: Facts) -> Iterator[Told]:
    for client, own in sorted(_by_client(facts, PUBLISH).items()):
        topics = {e.topic for e in own if e.topic}
        mine = {s for s in _senders(facts) if mqtt_subscriptions.client_of(facts, s) in (client, None)}
        flows = tuple(f for f in facts.topic_flows if f.topic in topics and f.sender in mine)
        yield Told(PUBLISH, client, tuple(own), None, flows, _every(facts), _closed(facts, client, own))


def _subscriptions(facts: Facts) -> Iterator[Told]:
    for client, own in sorted(_by_client(facts, SUBSCRIBE).items()):
        ledgers = frozenset(receiving_ledgers(facts).get(client, ()))
        for name in sorted({e.topic for e in own if e.topic}):
            if not _granted(facts, client, name):
                lines = tuple(e for e in own if e.topic == name)
                since = min((e.first_at for e in lines if e.first_at is not None), default=0.0)
                closed = _closed(facts, client, lines)
                meant = (name, *_filters(facts, client)) if closed else (name,)
                flows = tuple(f for f in facts.topic_flows if f.sender and _meant(f, meant) and f.last_at >= since)
                yield Told(SUBSCRIBE, client, lines, name, flows, ledgers, closed)


def _filters(facts: Facts, client: str) -> tuple[str, ...]:
    """Its filters of sessions that end with the connection: what is published for them meanwhile is lost, too."""
    own = [s for s in subscriptions(facts) if s.client_id == client and s.session is not None]
    return tuple(sorted({shared(s.filter)[1] for s in own if not (s.session and s.session.persistent)}))


def _meant(flow: TopicFlow, names: Sequence[str]) -> bool:
    return flow.topic is not None and any(matches(name, flow.topic) for name in names)


def _by_client(facts: Facts, kind: str) -> Mapping[str, list[Episode]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind(kind):
        client = subscriber_of(facts, line) or _only_subscriber(facts, line.topic)
        if client and line.system == "mqtt" and not shared(line.topic or "")[1].startswith("$"):
            found[client].append(line)
    return found


def _only_subscriber(facts: Facts, name: str | None) -> str | None:
    """The only client that says that it subscribed to this filter, for lines that name none."""
    own = {s.client_id for s in subscriptions(facts) if name and s.filter == name}
    return next(iter(own)) if len(own) == 1 else None


def _granted(facts: Facts, client: str, name: str) -> bool:
    """After the last refusal of the filter the client subscribed to it again; many note it before the answer comes."""
    refused = [e.last_at for e in facts.of_kind(SUBSCRIBE) if e.topic == name and e.last_at is not None]
    lines = [e for e in facts.of_kind("client-subscribed") if e.topic == name and subscriber_of(facts, e) == client]
    last = max(refused, default=0.0)
    return any(e.first_at is not None and e.first_at > last + SKEW and e.value_max in (None, 0, 1, 2) for e in lines)


def _senders(facts: Facts) -> frozenset[str]:
    return frozenset(f.sender for f in facts.topic_flows if f.sender)


def _every(facts: Facts) -> frozenset[str]:
    return frozenset(source for own in receiving_ledgers(facts).values() for source in own)


def _closed(facts: Facts, client: str, lines: Sequence[Episode]) -> int:
    """Connections that the broker ended for a fault of the client's in the moments of these lines."""
    own = [c for c in connections.connections(facts) if c.client_id == client and c.told_by == "broker"]
    ended = [c for c in own if c.ended in FAULTS and c.until is not None]
    return sum(c.count for c in ended if any(_during(e, c.until) for e in lines))


def _during(line: Episode, at: float | None) -> bool:
    first, last = line.first_at, line.last_at
    return at is not None and first is not None and first - EDGE <= at <= (first if last is None else last) + EDGE


def closes(facts: Facts, client: str | None, at: float | None) -> bool:
    """A refusal for which the broker closes connections was then, of this client, or of anyone where it is None."""
    every = [one for one in denied(facts) if one.thrown_out and client in (None, one.client_id)]
    return any(_during(e, at) for one in every for e in one.lines)


def sent_again(facts: Facts, at: float) -> bool:
    """A publisher that loses its connection for a refusal sends again what has no answer yet: copies from then on."""
    own = [e for one in denied(facts) if one.kind == PUBLISH and one.closed > 1 for e in one.lines]
    return any(e.first_at is not None and e.first_at - GRID <= at for e in own)


def counter_agrees(facts: Facts, one: Told) -> bool:
    """The broker's count of refused publishes rose by as many as lines tell, or the publishers' ledgers."""
    counter = brokers.gauge(facts, "mqtt.publish_denied", None)
    rose = brokers.increase(counter, 0.0, END)
    if rose is None or rose < 1:
        return False
    return any(abs(rose - n) <= max(2.0, NEAR * rose) for n in (one.count, one.messages))


INCIDENT = "acl-silent-drop"
_SHOWN = 4
_MITIGATE = "Allow the topic and reload the rules; side effect: whoever the rule matches may use it."
_REMEDY = "Test rules against the topics in use, let publishers use MQTT 5 and read reason codes, log what is refused."


def of_rules(facts: Facts, subject: str, own: Sequence[Refused], certainty: Certainty) -> Finding:
    """What mosquitto's rules refuse one publisher or one receiver."""
    lost = sum(r.messages for r in own)
    writes = own[0].access == WRITE
    users = ", ".join(sorted({user for r in own for user in r.users}))
    first = min((f for r in own for f in r.flows), key=lambda f: f.first_at)
    last = max((f for r in own for f in r.flows), key=lambda f: f.last_at)
    sent = sum(f.messages for (sender, _), fs in published(facts).items() for f in fs if sender == own[0].sender)
    what = "writing" if writes else "reading"
    where = "that arrived nowhere" if writes else f"that did not come to {subject}"
    seen = certainty is Certainty.PROVEN
    where += (
        ", all of these topics and no other ones." if seen else " by these rules; no ledger of a receiver shows it."
    )
    return Finding(
        id=f"{INCIDENT}:{subject}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING,
        certainty=certainty,
        subject=subject,
        started_at=moment(first.first_at),
        ended_at=moment(last.last_at),
        ongoing=False,
        statement=(
            f"No rule of the ACL file allows {what} {topics(own)} to user {users}, and mosquitto tells nobody: "
            f"the publisher noted success for {units.counted(lost, 'message')} {where}"
        ),
        measures={
            "lost_records": float(lost),
            "topics": float(len({r.topic for r in own})),
            "published_messages": float(sent),
        },
        evidence=_evidence(facts, own),
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify="Received / published = 1 for each of these topics.",
        facts={"user": users, "topics": topics(own), "access": own[0].access},
    )


def topics(own: Sequence[Refused]) -> str:
    """The topics, the first few by name."""
    names = sorted({r.topic for r in own})
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more topics" if len(names) > _SHOWN else "")


def _evidence(facts: Facts, own: Sequence[Refused]) -> tuple[Evidence, ...]:
    users = {user for r in own for user in r.users}
    why = "a rule of this user; none allows the topic"
    rule_lines = [s for s in lines(facts) if (s.owner or "anonymous") in users]
    rules = [Evidence(s.source, s.line, s.text, why) for s in rule_lines[: 2 * _SHOWN]]
    conf = [Evidence(s.source, s.line, s.text, "the rules are in force") for s in facts.settings if s.key == "acl_file"]
    first = [r.flows[0].first for r in own[:_SHOWN]]
    lost = [Evidence(place.source, place.line, place.text, "published, and did not arrive") for place in first]
    return (*rules, *conf[:1], *lost)


def of_lines(one: Told, certainty: Certainty) -> Finding:
    """What lines say that one client was refused."""
    lost = one.nowhere or (one.count if one.kind == PUBLISH and not one.thrown_out else 0)
    topics = sorted({e.topic for e in one.lines if e.topic})
    shown = ", ".join(topics[:_SHOWN]) + (f" and {len(topics) - _SHOWN} more" if len(topics) > _SHOWN else "")
    what = "publishing to" if one.kind == PUBLISH else "subscribing to"
    moments = sorted(at for e in one.lines for at in (e.first_at, e.last_at) if at is not None)
    return Finding(
        id=f"{INCIDENT}:{one.client_id}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING,
        certainty=certainty,
        subject=one.client_id,
        started_at=moment(moments[0]) if moments else None,
        ended_at=moment(moments[-1]) if moments else None,
        ongoing=False,
        statement=(
            f"{one.client_id} was refused {what} {shown} {units.counted(one.count, 'time')} and {_then(one)}. "
            f"{_lost(one, lost)}."
        ),
        measures={"denied": float(one.count), "topics": float(len(topics))}
        | ({"lost_records": float(lost)} if lost else {})
        | ({"closed_connections": float(one.closed)} if one.thrown_out else {}),
        evidence=tuple(Evidence(e.first.source, e.first.line, e.first.text, "refused") for e in one.lines[:_SHOWN]),
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify="No further refusals, and received / published = 1 for each topic.",
        facts={"topics": shown},
        explains=("reconnect-flaky-link",) if one.thrown_out else (),
    )


def _then(one: Told) -> str:
    """What the broker does with the connection."""
    if not one.thrown_out:
        return "stayed connected"
    again = ", and the client connected again to be refused again" if one.closed > 1 else ""
    closed = units.counted(one.closed, "connection")
    return f"the broker closed {closed} for it, which tells a client of MQTT 3.1.1 no reason{again}"


def _lost(one: Told, lost: int) -> str:
    if not lost:
        return "How many messages were lost with it is not told"
    if one.kind == SUBSCRIBE and not one.ledgers:
        return f"{units.counted(lost, 'message')} were published for it meanwhile"
    return f"{units.counted(lost, 'message')} were lost with it"
