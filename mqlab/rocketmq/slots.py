"""Does a group's allocation rule put its orphans where messages were seen to pile up?

Does a group's allocation rule put its orphans where messages were seen to pile up?

The rule gives each process a share of a topic's queues by the place of its id among all ids. What it predicts is held
against the queues whose committed position stood still while messages came in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.models import ownership
from mqlab.shared.queues import OWN, Pace, of_groups, paces

SETTLING = 30.0
"""Seconds until every client has rebalanced (20 s), committed (5 s) and the broker has written it down (5 s)."""
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
_PREDICTABLE = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
"""Strategies that need nothing but ids and queues."""
_BY_PLACE = ("AVG", "AVG_BY_CIRCLE")
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
    facts: Facts, group: str, ids: Sequence[str], since: float, until: float, absent: Mapping[str, Collection[str]]
) -> tuple[Judgement, ...]:
    """A judgement for each topic of *group* while its ids were *ids*; *absent* names who does not read a topic.

    Where nobody names a strategy, the default is taken, or the other that goes by places if that one fits.
    """
    return _judged(facts, (group, ids), (since, until), absent, _BY_PLACE)


def judged_by_hash(facts: Facts, group: str, ids: Sequence[str], since: float, until: float) -> tuple[Judgement, ...]:
    """The same, with consistent hashing where nobody names a strategy: it leaves no queue without an owner."""
    return _judged(facts, (group, ids), (since, until), {}, ("CONSISTENT_HASH",))


def _judged(
    facts: Facts,
    who: tuple[str, Sequence[str]],
    span: tuple[float, float],
    absent: Mapping[str, Collection[str]],
    tried: Sequence[str],
) -> tuple[Judgement, ...]:
    (group, ids), (since, until) = who, span
    named = strategies(facts, group)
    subscribed = _subscribed(facts, group)
    queues = {topic: found for (owner, topic), found in of_groups(facts).items() if owner == group}
    held = _held(facts, group)
    found = []
    for topic in sorted(name for name in {*queues, *held} if not name.startswith(OWN)):
        if subscribed and topic not in {*subscribed, *absent}:
            continue
        known = queues.get(topic, {})
        seen = {q: p for q, p in paces(known, since + SETTLING, until).items() if p.produced > 0}
        found.append(_best(topic, {*known, *held.get(topic, ())}, ids, seen, (named, tried), absent.get(topic, ())))
    return tuple(found)


def _subscribed(facts: Facts, group: str) -> set[str]:
    """Topics that any member or listing of *group* subscribes to; none where nothing says it."""
    told = {c.subscription for c in facts.clients if c.group == group and c.subscription}
    return {part.partition(":")[0] for subscription in told for part in subscription.split(";")}


def _held(facts: Facts, group: str) -> Mapping[str, set[str]]:
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
    return tuple(sorted(told & set(_PREDICTABLE))) or tuple(sorted(told - {""}))


def _best(
    topic: str,
    queues: Collection[str],
    ids: Sequence[str],
    seen: Mapping[str, Pace],
    strategies: tuple[Sequence[str], Sequence[str]],
    absent: Collection[str],
) -> Judgement:
    """The judgement by the strategy that is named, else by the default, else by the one that fits."""
    named, likely = strategies
    tried = [s for s in named if s in _PREDICTABLE] or (["custom"] if named else list(likely))
    names = tuple(sorted(queues, key=_place))
    every = [Judgement(topic, s, bool(named), names, owners(s, ids, topic, names, absent), seen) for s in tried]
    fitting = [j for j in every if j.agrees and (j.expected or not j.orphans)]
    return min(fitting, key=lambda j: len(j.stuck), default=every[0])


def owners(
    strategy: str, ids: Sequence[str], topic: str, queues: Sequence[str], absent: Collection[str] = ()
) -> Mapping[str, tuple[str, ...]]:
    """Ids of the processes that own each of the *queues*, named ``broker/id``; empty for an unknown *strategy*."""
    if strategy not in _PREDICTABLE:
        return {}
    places = {(topic, *_place(queue)): queue for queue in queues}
    table = ownership.owned(strategy, ids, list(places), absent=absent)
    return {places[place]: table.owners[place] for place in places}


def _place(queue: str) -> tuple[str, int]:
    broker, _, number = queue.rpartition("/")
    return broker, int(number) if number.isdigit() else 0
