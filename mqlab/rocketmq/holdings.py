"""Which process of a RocketMQ group holds which queue, by the allocation rule, by its own words and by its offsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Facts
from mqlab.groups.queues import Pace, of_groups, paces
from mqlab.models.ownership import unique
from mqlab.rocketmq import slots
from mqlab.rocketmq.members import Member, folder
from mqlab.rocketmq.memberships import Era

_TOOL = "a tool that asked it"


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides who gets which queue of a topic."""

    topic: str
    queues: tuple[str, ...]
    """In the clients' order."""
    strategy: str
    absent: tuple[str, ...] = ()
    """Ids that do not read the topic; they hold a place in the list all the same."""


@dataclass(frozen=True, slots=True)
class Share:
    """One queue during one era."""

    topic: str
    queue: str
    owners: tuple[str, ...]
    """Ids that own it, one as often as processes have it."""
    said: Mapping[str, int]
    """Processes that say so themselves, by id."""
    speaking: Mapping[str, int]
    """Processes that say anything about the topic, by id."""
    pace: Pace | None
    """None where its offsets were not seen twice."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Who held what for as long as the group stayed the same."""

    title: str
    era: Era
    shares: tuple[Share, ...]
    by_rule: bool
    """The strategy is one that ids and queues suffice for; else owners are those that say so themselves."""

    @property
    def orphans(self) -> tuple[Share, ...]:
        """Queues that nobody owns."""
        return tuple(s for s in self.shares if not s.owners)

    @property
    def doubled(self) -> tuple[Share, ...]:
        """Queues with several owners."""
        return tuple(s for s in self.shares if len(s.owners) > 1)


def terms(
    facts: Facts, group: str, strategy: Mapping[str, str], absent: Mapping[str, Collection[str]], topic: str | None
) -> tuple[Terms, ...]:
    """The topics of *group* (or this *topic* only); *strategy* and *absent* by topic where they are known."""
    listed = {name: tuple(queues) for (owner, name), queues in of_groups(facts).items() if owner == group}
    held: dict[str, set[str]] = defaultdict(set)
    for one in facts.assignments:
        if one.group == group:
            held[one.topic].add(one.queue)
    named = slots.strategies(facts, group) or (slots.DEFAULT,)
    return tuple(
        Terms(
            name, tuple(sorted(listed.get(name) or held[name], key=place)), strategy.get(name, named[0]),
            tuple(sorted(absent.get(name, ()))),
        )
        for name in sorted({*listed, *held})
        if not name.startswith("%") and topic in (None, name)
    )  # fmt: skip


def panel(facts: Facts, group: str, title: str, era: Era, known: Sequence[Terms]) -> Panel:
    """Who holds what during *era*."""
    positions = of_groups(facts)
    shares: list[Share] = []
    by_rule = True
    for one in known:
        told = _told(facts, group, one.topic, era)
        speaking = {client: len(places) for client, places in told.items() if places}
        rule = slots.owners(one.strategy, era.ids, one.topic, one.queues, one.absent)
        by_rule = by_rule and bool(rule)
        seen = paces(positions.get((group, one.topic), {}), era.since + slots.SETTLING, era.seen)
        for queue in one.queues:
            said = {c: times for c, places in told.items() if (times := sum(queue in held for held in places))}
            owners = rule[queue] if rule else tuple(sorted(c for c, times in said.items() for _ in range(times)))
            shares.append(Share(one.topic, queue, owners, said, speaking, seen.get(queue)))
    return Panel(title, era, tuple(shares), by_rule)


def had_been_unique(facts: Facts, group: str, title: str, era: Era, known: Sequence[Terms]) -> Panel:
    """What the rule gives the same processes, had each an id of its own; nobody says so and no offset shows it."""
    own = unique(era.ids)
    names = dict(zip(own, sorted(era.members, key=lambda m: m.client_id), strict=True))
    absent = {given: [new for new, m in names.items() if m.client_id == given] for given in set(era.ids)}
    members = tuple(Member(new, m.place, m.evidence) for new, m in names.items())
    renamed = [replace(t, absent=tuple(new for given in t.absent for new in absent.get(given, ()))) for t in known]
    assumed = replace(era, members=members)
    found = panel(facts, group, title, assumed, renamed)
    return replace(found, shares=tuple(replace(s, said={}, speaking={}, pace=None) for s in found.shares))


def place(queue: str) -> tuple[str, int]:
    """Broker and number of ``broker-a/12``."""
    broker, _, number = queue.rpartition("/")
    return broker, int(number) if number.isdigit() else 0


def _told(facts: Facts, group: str, topic: str, era: Era) -> Mapping[str, tuple[Collection[str], ...]]:
    """By id: the queues that each place which speaks for it named last.

    Of an id that one process has, only the latest word counts: a client does not log every change. Where several have
    it, a tool that asks for an id reaches one of them, so the logs count.
    """
    told: dict[str, dict[str, tuple[float, set[str]]]] = defaultdict(dict)
    for where, (at, client) in _last_words(facts, group, topic, era).items():
        told[client][where] = (at, set())
    for one in facts.assignments:
        if one.group != group or one.topic != topic or one.client_id not in era.ids or one.at is None:
            continue
        words = told[one.client_id]
        own = words.get(folder(one.source))
        if own is not None:
            if own[0] == one.at:
                own[1].add(one.queue)
        elif era.since + slots.SETTLING <= one.at <= era.seen:
            if one.at > words.get(_TOOL, (0.0, set()))[0]:
                words[_TOOL] = (one.at, set())
            words[_TOOL][1].add(one.queue)
    return {client: tuple(_counting(words, era.ids.count(client))) for client, words in told.items()}


def _counting(words: Mapping[str, tuple[float, set[str]]], processes: int) -> Iterator[Collection[str]]:
    if processes == 1 and words:
        yield max(words.values(), key=lambda told: told[0])[1]
    else:
        yield from [held for where, (_, held) in words.items() if where != _TOOL or len(words) == 1]


def _last_words(facts: Facts, group: str, topic: str, era: Era) -> Mapping[str, tuple[float, str]]:
    """Folder of a log to the moment and the id of its last allocation in the era or before, if the id was there."""
    last: dict[str, tuple[float, str]] = {}
    for episode in facts.of_kind("queues-allocated"):
        if episode.group == group and episode.topic == topic and (episode.last_at or 0.0) <= era.seen:
            moment = (episode.last_at or 0.0, episode.client_id or "")
            last[folder(episode.source)] = max(last.get(folder(episode.source), moment), moment)
    return {where: moment for where, moment in last.items() if moment[1] in era.ids}
