"""Consumer groups of Kafka: what they read, who was in them when, by whose clock, and what their coordinator says.

Listings of members (``--members``) and the owners of partitions (``--describe``) are true for their moment; lives, put
together from the coordinator's and the clients' logs, last. A member is told by the host or by its member id. Lines of
two logs tell of one thing only where their clocks agree, which generations tell that both name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from mqlab import words
from mqlab.errors import UnknownGroupError
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka import poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.rows import ONCE, End, Life, Rebalance, Trigger
from mqlab.memo import per_facts
from mqlab.rocketmq import members
from mqlab.shared.queues import TOGETHER, Member, Points, Snapshot, Stream, of_groups
from mqlab.sources import Role
from mqlab.words import Text

say = words.room("groups")

_KINDS = frozenset(
    {
        "rebalance-started", "rebalance-stabilized", "rebalance-assigned", "group-emptied", "group-epoch-bumped",
        "member-joined", "member-left", "member-expired", "member-dropped", "join-completed", "partitions-assigned",
        "partitions-revoked", "partitions-lost", "poll-timeout", "leave-sent", "commit-failed",
    }
)  # fmt: skip
"""Events in the life of a group; the word "group" in other lines may be about anything."""


@per_facts
def groups(facts: Facts) -> tuple[str, ...]:
    """Names of the groups, sorted; of rows that name a queue only those of partitions, which are plain numbers."""
    named = {e.group for e in facts.episodes if e.system == "kafka" and e.kind in _KINDS}
    named |= {c.group for c in facts.clients if c.system == "kafka"}
    named |= {a.group for a in facts.assignments if a.queue.isdigit()}
    named |= {p.group for p in facts.positions if p.queue.isdigit()}
    return tuple(sorted({name for name in named if name} - set(members.groups(facts))))


def chosen(facts: Facts, wanted: str | None) -> tuple[str, ...]:
    """The group that is *wanted*, or all where none is named.

    Raises:
        UnknownGroupError: the material does not tell of it.
    """
    known = groups(facts)
    if wanted is not None and wanted not in known:
        raise UnknownGroupError(wanted, known)
    return known if wanted is None else (wanted,)


@per_facts
def topics(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, Points]]:
    """Positions of every (group, topic) by partition; snapshots with a committed offset and an end only."""
    known = set(groups(facts))
    return {key: queues for key, queues in of_groups(facts).items() if key[0] in known}


NOBODY = "has no active members"
"""What kafka-consumer-groups says of a group that has offsets, but no members."""
REBALANCING = "is rebalancing"
_EMPTY = ("Empty", "Dead")
_STEADY = ("Stable", *_EMPTY, "Unknown")


@per_facts
def streams(facts: Facts, group: str) -> tuple[Stream, ...]:
    """Every source's view of *group*, the most direct one first."""
    return tuple(s for s in (_listed(facts, group), _owning(facts, group), _living(facts, group)) if s.snapshots)


@per_facts
def empty(facts: Facts, group: str) -> tuple[Episode, ...]:
    """Everything that says that the group has no members at that moment, by time."""
    told = [e for e in facts.of_kind("group-state", "group-emptied", "tool-error") if e.group == group]
    return tuple(e for e in told if e.first_at is not None and _says_empty(e))


@per_facts
def unsettled(facts: Facts, group: str) -> tuple[float, ...]:
    """Moments at which a command found the group in the middle of a rebalance, sorted."""
    told = [e for e in facts.of_kind("group-state", "tool-error") if e.group == group and e.first_at is not None]
    return tuple(sorted({e.first_at or 0.0 for e in told if _says_unsettled(e)}))


def _says_empty(episode: Episode) -> bool:
    if episode.kind == "group-state":
        return episode.reason in _EMPTY
    return episode.kind == "group-emptied" or NOBODY in (episode.reason or "")


def _says_unsettled(episode: Episode) -> bool:
    if episode.kind == "group-state":
        return episode.reason not in _STEADY
    return REBALANCING in (episode.reason or "")


def _listed(facts: Facts, group: str) -> Stream:
    rows = [c for c in facts.clients if c.group == group and c.system == "kafka" and c.at is not None and c.client_id]
    rows.sort(key=lambda c: (c.at or 0.0, c.source, c.line or 0))
    found = [
        Snapshot(at, tuple(Member(c.client_id or "", c.peer or "", c.evidence) for c in told), source)
        for (at, source), told in groupby(rows, key=lambda c: (c.at or 0.0, c.source))
    ]
    return _moments("listing", [*found, *_nobody(facts, group, [s.at for s in found])] if found else [])


def _owning(facts: Facts, group: str) -> Stream:
    """Members that own a partition; a snapshot in the middle of a rebalance names none."""
    rows = [p for p in facts.positions if p.group == group and p.at is not None and p.client_id]
    rows.sort(key=lambda p: (p.at or 0.0, p.source, p.client_id or "", p.member_id or "", p.line or 0))
    found = []
    for (at, source), told in groupby(rows, key=lambda p: (p.at or 0.0, p.source)):
        first = {(p.client_id or "", p.member_id or p.peer or ""): p for p in reversed([*told])}
        found.append(Snapshot(at, tuple(Member(*who, first[who].evidence) for who in sorted(first)), source))
    return _moments("owners", [*found, *_nobody(facts, group, [s.at for s in found])] if found else [])


def _nobody(facts: Facts, group: str, listed: list[float]) -> Iterator[Snapshot]:
    """Moments at which a command found no member, unless another of the same moment lists some."""
    for episode in empty(facts, group):
        at = episode.first_at or 0.0
        if episode.kind != "group-emptied" and all(abs(at - other) > TOGETHER for other in listed):
            yield Snapshot(at, (), episode.source)


def _moments(how: str, found: list[Snapshot]) -> Stream:
    ordered = tuple(sorted(found, key=lambda s: (s.at, s.source)))
    return Stream(how, ordered, ordered[-1].at if ordered else 0.0, lasting=False)


def _living(facts: Facts, group: str) -> Stream:
    """A snapshot whenever a life begins or ends; who was there before the logs begin is there from their start."""
    known = lives(facts, group)
    first, last = _logged(facts, known)
    ends = {life.until for life in known if life.until is not None}
    moments = sorted({life.since if life.since is not None else first for life in known} | ends)
    found = []
    for at in moments:
        there = [o for o in known if (o.since is None or o.since <= at) and (o.until is None or at < o.until)]
        nowhere = (Evidence("", None, ""),)
        found.append(Snapshot(at, tuple(Member(o.client_id, o.member_id, (o.evidence or nowhere)[0]) for o in there)))
    return Stream("logs", tuple(found), max([last, *moments]) if found else 0.0, lasting=True)


def _logged(facts: Facts, known: tuple[Life, ...]) -> tuple[float, float]:
    """When the logs that tell of these lives begin and end."""
    sources = {place.source for life in known for place in life.evidence}
    told = [c for c in facts.coverage if c.source in sources]
    moments = [t for c in told for t in (c.first_at, c.last_at) if t is not None]
    moments += [t for life in known for t in (life.since, life.until) if t is not None]
    return min(moments, default=0.0), max(moments, default=0.0)


APART = 15.0
"""Seconds from which a client's generations are not those of its coordinator: the answer to a join comes within
milliseconds, and a busy host writes seconds later. Judgement, no default behind it."""


@per_facts
def astray(facts: Facts, group: str) -> frozenset[str]:
    """Clients of *group* whose clock is off: the coordinator made none of the generations when they joined them."""
    made: dict[float, list[float]] = defaultdict(list)
    for line in facts.of_kind("rebalance-stabilized", "rebalance-assigned"):
        if line.group == group and line.value_max is not None and line.first_at is not None:
            made[line.value_max].append(line.first_at)
    away: dict[str, list[float]] = defaultdict(list)
    for line, client in poll_limits.own_lines(facts, group, "join-completed"):
        times = made.get(-1.0 if line.value_max is None else line.value_max, ())
        away[client] += [min(abs(at - (line.first_at or 0.0)) for at in times)] if times else []
    return frozenset(client for client, seconds in away.items() if seconds and min(seconds) > APART)


def missing(clients: frozenset[str]) -> Text:
    """What is missing where their clocks are off."""
    return say("clock", clients=sorted(clients))


_END_KINDS = ("member-expired", "member-dropped", "rebalance-started", "member-left")
"""Lines about the end of a member, the most telling first."""


@per_facts
def logs(facts: Facts) -> frozenset[str]:
    """Logs of brokers."""
    return facts.logs_of("kafka", Role.BROKER_LOG)


RELEASED = 2
"""Member ids of one client that a release leaves behind: the old one and the new one."""


@per_facts
def returning(facts: Facts, group: str) -> tuple[Evidence, ...]:
    """Where clients of *group* came under yet another member id, more often than a release makes them; by client.

    Only the client's own log tells whether it polls late, dies or is deployed, so clients that have one are left out;
    so are those that the coordinator took out, and ids of which several members were there at once.
    """
    names: dict[str, dict[str, Evidence]] = defaultdict(dict)
    at_once: dict[tuple[str, str], set[str]] = defaultdict(set)
    every = lives(facts, group)
    for life in every:
        for line in life.evidence[:1]:
            names[life.client_id].setdefault(life.member_id, line.because(say("member-id")))
    for p in facts.positions:
        if p.group == group and p.client_id and p.member_id:
            where = Evidence(p.source, p.line, p.text, say("member-id"))
            names[p.client_id].setdefault(p.member_id, where)
            at_once[p.source, p.client_id].add(p.member_id)
    spans = [(o.client_id, o.since or 0.0, o.until or o.since or 0.0, o) for o in every]
    several = {client for (_, client), ids in at_once.items() if len(ids) > 1}
    several |= {c for c, a, b, o in spans for d, at, _, other in spans if c == d and o is not other and a < at < b}
    taken_out = {o.client_id for o in lives(facts, group) if o.end in (End.EXPIRED, End.FENCED)}
    own = {e.client_id for e in facts.episodes if e.source not in logs(facts)} | taken_out
    return tuple(
        where
        for client, ids in sorted(names.items())
        if len(ids) > RELEASED and client not in several | own
        for where in ids.values()
    )


def said(facts: Facts, group: str, client_id: str, at: float) -> tuple[Evidence, ...]:
    """The line about the member of *client_id* that ended at about *at*; none where no coordinator's log tells."""
    ended = [o for o in lives(facts, group) if o.client_id == client_id and abs((o.until or 0.0) - at) <= ONCE]
    life = min(ended, key=lambda o: abs((o.until or 0.0) - at), default=None)
    return of_life(facts, life) if life is not None else ()


def of_life(facts: Facts, life: Life) -> tuple[Evidence, ...]:
    """The line with which the coordinator ended *life*."""
    brokers, at = logs(facts), life.until or 0.0
    found = [e for e in facts.near(at, ONCE, *_END_KINDS) if e.source in brokers and life.member_id in e.first.text]
    if not found:
        return ()
    place = min(found, key=lambda e: (_END_KINDS.index(e.kind), abs((e.first_at or 0.0) - at))).first
    return (place.because(say("taken-out")),)


def once(places: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """*places* in their order, each line once."""
    found: dict[tuple[str, int | None, str | None], Evidence] = {}
    for place in places:
        found.setdefault((place.source, place.line, place.pointer), place)
    return tuple(found.values())


_ENDS = frozenset({Trigger.LEAVE, Trigger.POLL_TIMEOUT, Trigger.HEARTBEAT_EXPIRY})


def triggers(rows: Sequence[Rebalance], own: Sequence[Rebalance], name: str) -> Text | None:
    """``16 rebalances: 5 poll timeouts, 9 joins after them, 2 others``; *name* is what an end among *own* is called.

    None without rebalances. A cooperative group makes a second rebalance of each: those are follow-ups.
    """
    ends = sum(row.trigger in _ENDS for row in own)
    joins = sum(row.trigger is Trigger.JOIN for row in own)
    follow = sum(row.trigger is Trigger.FOLLOW_UP for row in rows)
    counts = {name: ends, "joins": joins, "follow-ups": follow, "others": len(rows) - ends - joins - follow}
    parts = [say(kind, times=times, ends=ends) for kind, times in counts.items() if times > 0]
    return say("triggers", rebalances=len(rows), parts=parts) if rows else None
