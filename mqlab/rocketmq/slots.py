"""Does a group's allocation rule put its orphans where messages were seen to pile up?

The rule gives each process a share of a topic's queues by the place of its id among all ids. What it predicts is held
against the queues whose committed position stood still while messages came in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.models.queue_allocation import STRATEGIES, owned
from mqlab.shared.queues import OWN, Pace, of_groups, paces, place

REBALANCED = 20.0
"""Seconds until every client has rebalanced (RebalanceService waits 20 s)."""
SETTLING = 30.0
"""Seconds until every client has rebalanced, committed (5 s) and the broker has written it down (5 s)."""
DEFAULT = "AVG"
"""What a push consumer uses where nobody chose a strategy (DefaultMQPushConsumer)."""
_CLASSES = {
    "AllocateMessageQueueAveragely": "AVG",
    "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
    "AllocateMessageQueueConsistentHash": "CONSISTENT_HASH",
    "AllocateMachineRoomNearby": "MACHINE_ROOM_NEARBY",
    "AllocateMessageQueueByMachineRoom": "MACHINE_ROOM",
    "AllocateMessageQueueByConfig": "CONFIG",
}
BY_PLACE = ("AVG", "AVG_BY_CIRCLE")
"""Those that are taken where nobody names one: what they leave without an owner can be seen."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One topic of a group during one membership."""

    topic: str
    strategy: str
    said: bool
    """The strategy stands in the material; else it is the default, or the one that fits."""
    queues: tuple[str, ...]
    owners: Mapping[str, tuple[str, ...]]
    """Ids of the processes that the rule gives each queue, one as often as it is shared; empty for a strategy that
    cannot be predicted from ids and queues."""
    paces: Mapping[str, Pace]
    """Of the queues that took messages in and were seen at least twice."""

    @property
    def orphans(self) -> tuple[str, ...]:
        """Queues that the rule gives to nobody."""
        return tuple(queue for queue, owners in self.owners.items() if not owners)

    @property
    def doubled(self) -> Mapping[str, int]:
        """Queues that the rule gives to several processes, and to how many."""
        return {queue: len(owners) for queue, owners in self.owners.items() if len(owners) > 1}

    @property
    def frozen(self) -> tuple[str, ...]:
        """Queues that took messages in and whose committed position stood still."""
        return tuple(queue for queue, pace in self.paces.items() if pace.frozen)

    @property
    def expected(self) -> tuple[str, ...]:
        """Of the queues that can be judged, those that the rule leaves without an owner."""
        return tuple(queue for queue in self.paces if queue in self.orphans)

    @property
    def stuck(self) -> tuple[str, ...]:
        """Queues that stand still although the rule gives them an owner."""
        return tuple(queue for queue in self.frozen if queue not in self.orphans)

    @property
    def unread(self) -> bool:
        """Nothing moves: the group does not read this topic, or nobody consumes."""
        return bool(self.paces) and len(self.frozen) == len(self.paces)

    @property
    def agrees(self) -> bool:
        """All queues stand still that the rule says have no owner, and of the others most move."""
        owned = len(self.paces) - len(self.expected)
        fits = set(self.expected) <= set(self.frozen) and 2 * len(self.stuck) < owned
        return bool(self.owners and self.paces) and fits

    @property
    def seconds(self) -> float:
        """For how long the queues were watched."""
        return min((p.seconds for p in self.paces.values()), default=0.0)


def judged(
    facts: Facts,
    group: str,
    ids: Sequence[str],
    span: tuple[float, float],
    subscribing: Collection[str] = (),
    likely: Sequence[str] = BY_PLACE,
) -> tuple[Judgement, ...]:
    """A judgement for each topic of *group* while its ids were *ids*.

    *subscribing*: topics that some members read though no listing says so. Where nobody names a strategy, the first of
    the *likely* ones is taken, or the other if that one fits.
    """
    named = strategies(facts, group)
    tried = [s for s in named if s in STRATEGIES] or (["custom"] if named else list(likely))
    read = {topic for c in facts.clients if c.group == group for topic in topics_of(c.subscription)}
    queues = {topic: found for (owner, topic), found in of_groups(facts).items() if owner == group}
    held = held_by_topic(facts, group)
    found = []
    for topic in sorted(name for name in {*queues, *held} if not name.startswith(OWN)):
        if read and topic not in {*read, *subscribing}:
            continue
        known = queues.get(topic, {})
        names = tuple(sorted({*known, *held.get(topic, ())}, key=place))
        seen = {q: p for q, p in paces(known, span[0] + SETTLING, span[1]).items() if p.produced > 0}
        each = [Judgement(topic, s, bool(named), names, owners(s, ids, topic, names), seen) for s in tried]
        fitting = [j for j in each if j.agrees and (j.expected or not j.orphans)]
        found.append(min(fitting, key=lambda j: len(j.stuck), default=each[0]))
    return tuple(found)


def topics_of(subscription: str | None) -> Mapping[str, str]:
    """Topic → expression of a subscription ``TOPIC:expression;TOPIC:expression``."""
    parts = (part.partition(":") for part in (subscription or "").split(";"))
    return {topic: expression for topic, _, expression in parts if topic}


def held_by_topic(facts: Facts, group: str) -> Mapping[str, set[str]]:
    """Queues that members of *group* ever said they hold, by topic."""
    found: dict[str, set[str]] = {}
    for row in facts.assignments:
        if row.group == group:
            found.setdefault(row.topic, set()).add(row.queue)
    return found


def strategies(facts: Facts, group: str) -> tuple[str, ...]:
    """Names of the strategies that the material says *group* uses."""
    told = {e.reason for e in facts.of_kind("queues-allocated") if e.group == group and e.reason}
    members = {c.client_id for c in facts.clients if c.group == group}
    for setting in facts.settings:
        if setting.key == "allocateMessageQueueStrategy" and setting.owner in members:
            told.add(_CLASSES.get(setting.value.rsplit(".", 1)[-1].split("@")[0], ""))
    return tuple(sorted(told & set(STRATEGIES))) or tuple(sorted(told - {""}))


def owners(
    strategy: str, ids: Sequence[str], topic: str, queues: Sequence[str], absent: Collection[str] = ()
) -> Mapping[str, tuple[str, ...]]:
    """Ids of the processes that own each of the *queues*, named ``broker/id``; empty for an unknown *strategy*."""
    if strategy not in STRATEGIES:
        return {}
    names = {(topic, *place(queue)): queue for queue in queues}
    return {names[queue]: ids for queue, ids in owned(strategy, ids, names, absent).owners.items()}
