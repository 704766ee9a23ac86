"""Times in which the processes of a RocketMQ group stayed the same, and who held which queue then.

One source is followed throughout, since each knows a process by another name: the brokers by its address, its own log
by the folder it lies in. A process that shows another port, as it does on each broker, is still the same.
Who holds a queue is told by the allocation rule, by the processes' own words and by the offsets.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Change, Evidence
from mqlab.models.queue_allocation import unique
from mqlab.rocketmq import slots
from mqlab.rocketmq.members import groups, streams
from mqlab.rocketmq.shared_client_ids import Case
from mqlab.rocketmq.slots import SETTLING
from mqlab.shared.actors import folder
from mqlab.shared.queues import Member, Membership, Pace, Snapshot, Stream, of_groups, paces, place
from mqlab.units import moment
from mqlab.words import Text

say = words.room("eras")
say_change = words.room("changes")

_RANKS = {"broker log": 2, "listing": 1, "client logs": 0}
"""Which source to follow where they know equally many processes: the log dates each coming and going."""


@dataclass(frozen=True, slots=True)
class Era(Membership):
    """A time in which the group did not change."""

    since: float
    until: float
    """When it was another."""
    seen: float
    """When it was last known to be this; a listing is true for its moment only."""
    members: tuple[Member, ...]

    @property
    def seconds(self) -> float:
        """How long it is known to have lasted."""
        return self.seen - self.since


@dataclass(frozen=True, slots=True)
class Stay:
    """One process for as long as it was in the group, and whether its id was its own."""

    member: Member
    since: float
    until: float
    shared: bool


def eras(facts: Facts, group: str, case: Case | None = None) -> tuple[Era, ...]:
    """Every time in which *group* stayed the same, by time, by the source that knows most; those without anybody too.

    With a *case* the source is one that shows its ids shared.
    """
    known = [(stream, _eras(stream)) for stream in streams(facts, group)]
    if not known:
        return ()
    return max(known, key=lambda pair: _telling(pair[0], pair[1], case))[1]


def stays(known: Sequence[Era]) -> tuple[Stay, ...]:
    """What each process did, those of one host together; a stay is cut where its id began or ceased to be shared."""
    found: list[Stay] = []
    for era in known:
        for member in era.members:
            shared = member.client_id in era.shared
            last = next((n for n, s in enumerate(found) if _same(s.member, member) and s.until == era.since), None)
            if last is not None and found[last].shared == shared:
                found[last] = Stay(found[last].member, found[last].since, era.until, shared)
            else:
                found.append(Stay(member, era.since, era.until, shared))
    first = {stay.member.host: stay.since for stay in reversed(found)}
    return tuple(sorted(found, key=lambda s: (first[s.member.host], s.member.host, s.since, s.member.client_id)))


def around(known: Sequence[Era], case: Case) -> tuple[Era | None, Era | None, Era | None]:
    """The longest times before, during and after the sharing of *case*: with as many processes, where there is one."""
    shared = [e for e in known if set(e.shared) & set(case.sharing.shared)]
    during = max(shared, key=lambda e: e.seconds, default=None)
    if during is None:
        return None, None, None
    own = [e for e in known if e.members and not e.shared]
    before = _longest([e for e in own if e.until <= during.since], during)
    return before, during, _longest([e for e in own if e.since >= during.until], during)


def lasting(known: Sequence[Era]) -> tuple[Era, ...]:
    """The three longest times with anybody there, by time: those in which every client could settle, at least one."""
    ranked = sorted((e for e in known if e.members), key=lambda e: (-e.seconds, e.since))
    settled = [e for e in ranked if e.seconds > SETTLING] or ranked[:1]
    return tuple(sorted(settled[:3], key=lambda e: e.since))


def _longest(found: Sequence[Era], during: Era) -> Era | None:
    whole = [e for e in found if len(e.members) >= len(during.members)]
    return max(whole or found, key=lambda e: e.seconds, default=None)


def _eras(stream: Stream) -> tuple[Era, ...]:
    return tuple(Era(run[0].at, until, seen, run[0].members) for run, until, seen in stream.runs(_who))


def _who(snapshot: Snapshot) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((m.client_id, m.host) for m in snapshot.members))


def _same(one: Member, other: Member) -> bool:
    return (one.client_id, one.host) == (other.client_id, other.host)


def _telling(stream: Stream, known: Sequence[Era], case: Case | None) -> tuple[bool, int, int, float]:
    shows = case is not None and any(set(e.shared) & set(case.sharing.shared) for e in known)
    most = max(len(e.members) for e in known)
    return shows, most, _RANKS[stream.how], sum(e.seconds for e in known if e.members)


_REPLACED = 120.0
"""Seconds in which processes that are stopped before others start have been replaced. Judgement, no default behind it:
two of the longest usual times of a graceful end (Kubernetes: 30 s) and of a start."""
_MOST = 4
"""Ids that are named, and lines that show them."""


def member_changes(facts: Facts) -> Iterator[Change]:
    """One change for each time in which a group was steady again with other ids; a restart under one id is none.

    It begins when the first of them left or came; after a time without anybody, which is no change, with the return.
    """
    for group in groups(facts):
        every = eras(facts, group)
        steady = _without_gaps([era for era in every if era.members and era.seconds > SETTLING])
        for before, after in pairwise(steady):
            went, came = Counter(before.ids) - Counter(after.ids), Counter(after.ids) - Counter(before.ids)
            if went or came:
                left = _leaving(facts, group, before, after, went)
                seen = (*_places(before, went)[:1], *_places(after, Counter(after.ids))[:1])
                joined = _places(after, came)
                both = tuple(dict.fromkeys((*left[-1:], joined[0], joined[-1]))) if joined and left else joined
                places = both or left or seen
                now = _named(came) or say_change("gone")
                empty = [era for era in every if before.until <= era.since < after.since and not era.members]
                away = sum(era.until - era.since for era in empty) > SETTLING
                begin = after.since if away else before.until
                until = moment(after.since) if after.since > begin else None
                yield Change(begin, say_change("members", group=group, until=until), _named(went), now, places)


def _without_gaps(steady: Sequence[Era]) -> list[Era]:
    """*steady* without those in which some were away until as many came instead: that is one replacement."""
    gaps = [
        between
        for before, between, after in zip(steady, steady[1:], steady[2:], strict=False)
        if after.since - before.until <= _REPLACED
        and len(before.ids) == len(after.ids)
        and not Counter(between.ids) - (Counter(before.ids) & Counter(after.ids))
    ]
    return [era for era in steady if era not in gaps]


def _leaving(facts: Facts, group: str, before: Era, after: Era, ids: Counter[str]) -> tuple[Evidence, ...]:
    """Lines with which a broker lets these go between the two; that of an expired channel names its address only."""
    places = {m.place for m in before.members if m.client_id in ids}
    told = (e for e in facts.of_kind("consumer-disconnected") if e.group in (group, None))
    ends = (e for e in told if e.client_id in ids or (not e.client_id and e.peer in places))
    lines = [e.first for e in ends if e.first_at is not None and before.since < e.first_at <= after.since]
    return tuple(lines[-_MOST:])


def _places(era: Era, ids: Counter[str]) -> tuple[Evidence, ...]:
    return tuple(m.evidence for m in era.members if m.client_id in ids)[:_MOST]


def _named(ids: Counter[str]) -> Text | None:
    """``a, 3 × b and 2 more``; None without any."""
    names = [name if times == 1 else f"{times} × {name}" for name, times in sorted(ids.items())]
    return say_change("ids", ids=names) if names else None


_TOOL = "*"
"""A tool that asked a process, among folders of logs."""


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
    held = slots.held_by_topic(facts, group)
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


def had_been_unique(facts: Facts, group: str, era: Era, known: Sequence[Terms]) -> Panel:
    """What the rule gives the same processes, had each an id of its own; nobody says so and no offset shows it."""
    own = unique(era.ids)
    names = dict(zip(own, sorted(era.members, key=lambda m: m.client_id), strict=True))
    absent = {given: [new for new, m in names.items() if m.client_id == given] for given in set(era.ids)}
    members = tuple(Member(new, m.place, m.evidence) for new, m in names.items())
    renamed = [replace(t, absent=tuple(new for given in t.absent for new in absent.get(given, ()))) for t in known]
    assumed = replace(era, members=members)
    found = panel(facts, group, say("unique"), assumed, renamed)
    return replace(found, shares=tuple(replace(s, said={}, speaking={}, pace=None) for s in found.shares))


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
        by_place = told[one.client_id]
        own = by_place.get(folder(one.source))
        if own is not None:
            if own[0] == one.at:
                own[1].add(one.queue)
        elif era.since + slots.SETTLING <= one.at <= era.seen:
            if one.at > by_place.get(_TOOL, (0.0, set()))[0]:
                by_place[_TOOL] = (one.at, set())
            by_place[_TOOL][1].add(one.queue)
    return {client: tuple(_counting(by_place, era.ids.count(client))) for client, by_place in told.items()}


def _counting(by_place: Mapping[str, tuple[float, set[str]]], processes: int) -> Iterator[Collection[str]]:
    if processes == 1 and by_place:
        yield max(by_place.values(), key=lambda told: told[0])[1]
    else:
        yield from [held for where, (_, held) in by_place.items() if where != _TOOL or len(by_place) == 1]


def _last_words(facts: Facts, group: str, topic: str, era: Era) -> Mapping[str, tuple[float, str]]:
    """Folder of a log to the moment and the id of its last allocation in the era or before, if the id was there."""
    last: dict[str, tuple[float, str]] = {}
    for episode in facts.of_kind("queues-allocated"):
        if episode.group == group and episode.topic == topic and (episode.last_at or 0.0) <= era.seen:
            moment = (episode.last_at or 0.0, episode.client_id or "")
            last[folder(episode.source)] = max(last.get(folder(episode.source), moment), moment)
    return {where: moment for where, moment in last.items() if moment[1] in era.ids}
