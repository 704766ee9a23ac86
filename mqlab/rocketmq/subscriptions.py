"""RocketMQ groups whose members do not subscribe to the same: who lacks which topic, and what that leaves unread.

The broker keeps one subscription per group and takes the last heartbeat's (ConsumerGroupInfo.updateSubscription).
With other topics it adds and removes the topic with every heartbeat. Allocation gives a member that does not subscribe
its share all the same (RebalanceImpl.rebalanceByTopic), so where nobody says who lacks the topic, the queues that stand
still do: they are the share of one member, or of two. With other tags the newest wins: a member is that which allocated
anew last, and the broker replaces the expression each time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.rocketmq.members import HEARTBEATS, ROCKETMQ, streams
from mqlab.rocketmq.slots import BY_PLACE, Judgement, judged, owners, topics_of
from mqlab.rows import Client

say = words.room("subscription-mismatch")

_MANY = 2
"""Members, at most, that are tried together: of three, some set has the queues that stand still by chance."""


def judgements(
    facts: Facts, group: str, topics: Mapping[str, bool], span: tuple[float, float], within: tuple[float, float]
) -> tuple[Mapping[str, tuple[str, ...]], tuple[Judgement, ...]]:
    """Topic → ids that do not read it, and what that explains *within* a time.

    *topics*: each, and whether some member lacks it though nobody says who; *span* is when members told of it.
    """
    ids = _ids(facts, group, span[1])
    if not ids:
        return {topic: _listed(facts, group, topic, span) for topic in topics}, ()
    found, absent = [], {}
    plain = {j.topic: j for j in judged(facts, group, ids, within, topics)}
    for topic in sorted(topics):
        one = plain.get(topic)
        known = _known(facts, group, topic, span, ids, one)
        if one is not None and known:
            one = _agreeing(one, ids, [known], alone=False).get(known) or _without(one, ids, known)
        elif one is not None and topics[topic] and len(set(ids)) == len(ids):
            known, one = _guessed(one, ids)
        absent[topic] = known
        found += [one] if one is not None and known else []
    return absent, tuple(found)


def _without(one: Judgement, ids: tuple[str, ...], absent: tuple[str, ...]) -> Judgement:
    """The judgement where these ids do not read the topic."""
    return replace(one, owners=owners(one.strategy, ids, one.topic, one.queues, absent))


def _agreeing(
    one: Judgement, ids: tuple[str, ...], tried: Collection[tuple[str, ...]], *, alone: bool
) -> Mapping[tuple[str, ...], Judgement]:
    """Of the sets of absent ids those whose share stands still (*alone*: and nothing else), by the first strategy."""
    for strategy in (one.strategy,) if one.said else BY_PLACE:
        each = {these: _without(replace(one, strategy=strategy), ids, these) for these in tried}
        fits = {these: j for these, j in each.items() if j.agrees and j.expected and not (alone and j.stuck)}
        if fits:
            return fits
    return {}


def _guessed(one: Judgement, ids: tuple[str, ...]) -> tuple[tuple[str, ...], Judgement]:
    """The only member, else the only two, whose share stands still."""
    for many in range(1, _MANY + 1 if one.frozen else 1):
        fits = _agreeing(one, ids, list(combinations(ids, many)), alone=True)
        if fits:
            return next(iter(fits.items())) if len(fits) == 1 else ((), one)
    return (), one


def _known(
    facts: Facts, group: str, topic: str, span: tuple[float, float], ids: tuple[str, ...], one: Judgement | None
) -> tuple[str, ...]:
    """Members that say so, or whose log allocates other topics of the group, but never this one.

    The log has no line of a member whose share is empty, so that one's silence says nothing.
    """
    told: dict[str, set[str]] = defaultdict(set)
    for episode in facts.of_kind("queues-allocated"):
        if episode.group == group and episode.client_id and episode.topic:
            told[episode.client_id].add(episode.topic)
    shares = {owner for these in (one.owners.values() if one else ()) for owner in these} or set(ids)
    silent = {c for c in ids if c in shares and c in told and topic not in told[c]}
    return tuple(sorted({*_listed(facts, group, topic, span), *silent}))


def _listed(facts: Facts, group: str, topic: str, span: tuple[float, float]) -> tuple[str, ...]:
    own = [c for c in facts.clients if c.group == group and c.at is not None and c.peer is None and c.subscription]
    inside = [c for c in own if span[0] <= (c.at or 0.0) <= span[1] and topic not in topics_of(c.subscription)]
    return tuple(sorted({c.client_id for c in inside if c.client_id}))


def _ids(facts: Facts, group: str, until: float) -> tuple[str, ...]:
    """Ids of the group at the end of this time."""
    for stream in streams(facts, group):
        inside = [s for s in stream.snapshots if s.at <= until]
        if inside and inside[-1].members:
            return inside[-1].ids
    return ()


_EXPRESSION = re.compile(r"subString=(.*?), tagsSet")
"""In ``SubscriptionData``, of which a line of the broker shows the old one and the new one."""
TWICE = 2
"""Times that the broker takes a topic away and gets it back, from which it is no change of the subscription. Once is
what a release that is taken back makes."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One group whose members subscribe to different things."""

    group: str
    since: float
    until: float
    topics: tuple[str, ...]
    """Topics that not all members read, or read with the same expression."""
    flips: int
    """Times that the broker took one of them away, or replaced its expression."""
    absent: Mapping[str, tuple[str, ...]]
    """Topic → ids of the members that do not read it."""
    settled: bool
    """Later on all members told the same."""
    tags: bool
    """All members read the same topics, with other expressions."""
    told: tuple[Evidence, ...]
    judgements: tuple[Judgement, ...]

    @property
    def confirmed(self) -> tuple[Judgement, ...]:
        """Topics of which just those queues stand still that are the absent members' share."""
        return tuple(j for j in self.judgements if j.agrees and j.expected)


def mismatches(facts: Facts, group: str) -> Mismatch | None:
    """What *group*'s members disagree on; None where nothing says that they do."""
    flips = _flips(facts, group)
    said = [e for e in facts.of_kind("subscription-different") if e.group == group and e.first_at is not None]
    parts = _different(facts, group)
    moments = [e.first_at for found in flips.values() for e in found if e.first_at is not None]
    moments += [e.first_at for e in said if e.first_at is not None]
    moments += [c.at for clients in parts.values() for c in clients if c.at is not None]
    if not moments:
        return None
    since, until = min(moments), max(moments)
    topics = tuple(sorted({*flips, *parts}))
    asked = {topic: topic not in parts and not _only_replaced(flips.get(topic, ())) for topic in topics}
    seen = [judgements(facts, group, asked, (since, until), span) for span in _spans(facts, since, until)]
    absent, found = next((pair for pair in seen if any(j.agrees and j.expected for j in pair[1])), seen[0])
    everywhere = all(t in topics_of(c.subscription) for t, rows in parts.items() for c in rows)
    tags = bool(parts or flips) and all(map(_only_replaced, flips.values())) and everywhere
    return Mismatch(
        group, since, until, topics, sum(_removals(f) for f in flips.values()),
        {topic: these for topic, these in sorted(absent.items()) if these},
        any(at > until and len(rows) > 1 and not _differing(rows) for at, rows in _told_by_all(facts, group).items())
        or any(map(_taken_back, flips.values())),
        tags, tuple(_told(flips, said, parts)), found,
    )  # fmt: skip


_WATCHED = 180.0
"""Seconds before a single sighting in which queues can show it; members that differ may have come lately. A queue that
is read commits 36 times meanwhile (persistConsumerOffsetInterval 5000). Judgement, no default behind it."""


def _spans(facts: Facts, since: float, until: float) -> Sequence[tuple[float, float]]:
    """Times in which the queues can show it: the whole of it; around a single sighting what came after, and before."""
    if until - since > HEARTBEATS:
        return ((since, until),)
    moments = [p.at for p in facts.positions if p.at is not None]
    first, last = min(moments, default=since), max(moments, default=until)
    return (since, max(until, last)), (max(first, since - _WATCHED), until)


def _flips(facts: Facts, group: str) -> Mapping[str, Sequence[Episode]]:
    """Topics that the broker took away and got back more than once, or whose expression it replaced; with the lines.

    A rollout that changes the expression replaces it there and back, too, but is over sooner, and ends with the new.
    """
    found: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("subscription-changed"):
        if episode.group == group and episode.topic and episode.reason in ("add", "remove", "update"):
            found[episode.topic].append(episode)
    kept = {}
    for topic, every in found.items():
        replaced = [e for e in every if e.reason == "update" and e.first_at is not None]
        lines = [e for e in every if e.reason != "update"]
        first = next((n for n, e in enumerate(lines) if e.reason == "remove"), len(lines))
        if _removals(lines) >= TWICE and any(e.reason == "add" for e in lines[first:]):
            kept[topic] = lines[first:]
        elif _removals(replaced) > TWICE and (_last_long(replaced) or _taken_back(replaced)):
            kept[topic] = replaced
    return kept


def _last_long(lines: Sequence[Episode]) -> bool:
    return (lines[-1].first_at or 0) - (lines[0].first_at or 0) >= HEARTBEATS


def _taken_back(lines: Sequence[Episode]) -> bool:
    """The last expression is the one that was replaced first."""
    told = [_EXPRESSION.findall(one.text) for one in (lines[0].first, lines[-1].last)]
    return all(len(each) == TWICE for each in told) and told[0][0] == told[1][1]


def _only_replaced(lines: Sequence[Episode]) -> bool:
    """Something was replaced, and nothing taken away."""
    return bool(lines) and all(e.reason == "update" for e in lines)


def _removals(lines: Sequence[Episode]) -> int:
    """Of the broker whose log tells of most: each one takes the topic away, or replaces it, on its own."""
    told: Counter[str] = Counter()
    for episode in lines:
        told[episode.source] += episode.count if episode.reason != "add" else 0
    return max(told.values(), default=0)


def _different(facts: Facts, group: str) -> Mapping[str, Sequence[Client]]:
    """Topics that members list differently in one snapshot of their own state, with the rows."""
    found: dict[str, list[Client]] = defaultdict(list)
    for own in _told_by_all(facts, group).values():
        for topic in _differing(own):
            found[topic] += own.values()
    return found


def _told_by_all(facts: Facts, group: str) -> Mapping[float, Mapping[str | None, Client]]:
    """By moment: what each member said of itself."""
    found: dict[float, dict[str | None, Client]] = defaultdict(dict)
    for one in facts.clients:
        if one.group == group and one.system == ROCKETMQ and one.at is not None and one.subscription and not one.peer:
            found[one.at][one.client_id] = one
    return found


def _differing(own: Mapping[str | None, Client]) -> Sequence[str]:
    told = [topics_of(one.subscription) for one in own.values()]
    return [topic for topic in sorted({t for each in told for t in each}) if len({e.get(topic) for e in told}) > 1]


def _told(
    flips: Mapping[str, Sequence[Episode]], said: Sequence[Episode], parts: Mapping[str, Sequence[Client]]
) -> list[Evidence]:
    found = [e.first.because(say("flips", how=e.reason)) for lines in flips.values() for e in lines[:4]]
    found += [e.first.because(say("compared")) for e in said[:2]]
    listed = [c for clients in parts.values() for c in clients[:4]]
    found += [c.evidence.because(say("reads", client=c.client_id, subscription=c.subscription)) for c in listed]
    return list(dict.fromkeys(found))
