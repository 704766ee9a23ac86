"""Topics that mosquitto's access rules refuse, by publisher and receiver, and whether their messages arrived.

mosquitto answers a refused publish as any other one and filters deliveries; neither leaves a line at its default log
types. Its rules are evaluated for the user of each publisher and receiver; where it is not known whose a ledger is, a
topic counts as refused only if every user that may be meant is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts, Setting
from mqlab.memo import per_facts
from mqlab.models.mosquitto_acl import READ, WRITE, Rule, allowed
from mqlab.models.topic_filters import matches
from mqlab.mqtt import users as mqtt_users
from mqlab.mqtt.account import Account
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.ledgers import internal
from mqlab.mqtt.subscriptions import subscriptions
from mqlab.mqtt.users import Party
from mqlab.rows.mqtt import TopicFlow

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
        meant = mqtt_users.of_ledger(facts, sender)
        wanted = (not told or any(matches(name, topic) for name in told)) and not wanting(facts, sender, topic)
        if rules(facts) and meant and wanted and not any(allowed(rules(facts), WRITE, topic, *p) for p in meant):
            found.append(Refused(topic, sender, WRITE, None, _names(meant), flows, frozenset()))
    return tuple(found)


def _publishes(facts: Facts, own: Sequence[Rule]) -> Iterator[Refused]:
    for (sender, topic), flows in published(facts).items():
        meant = mqtt_users.of_ledger(facts, sender)
        ledgers = wanting(facts, sender, topic)
        if meant and ledgers and not any(allowed(own, WRITE, topic, *party) for party in meant):
            yield Refused(topic, sender, WRITE, None, _names(meant), flows, ledgers)


def _deliveries(facts: Facts, own: Sequence[Rule]) -> Iterator[Refused]:
    for account in accounts(facts):
        for client, ledgers in account.ledgers.items():
            meant = mqtt_users.of_client(facts, client)
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
            meant = mqtt_users.of_client(facts, client)
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
