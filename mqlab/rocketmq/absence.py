"""Which members of a RocketMQ group do not read a topic: by what they say, what their logs lack, or what stands still.

Allocation gives a member that does not subscribe its share all the same (RebalanceImpl.rebalanceByTopic), so where
nobody says who lacks the topic, the queues that stand still do: they are the share of one member, or of two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import combinations

from mqlab.facts import Facts
from mqlab.rocketmq.members import streams
from mqlab.rocketmq.slots import Judgement, judged, owners

_BY_PLACE = ("AVG", "AVG_BY_CIRCLE")
_MANY = 2
"""Members, at most, that are tried together."""


def topics_of(subscription: str | None) -> Mapping[str, str]:
    """Topic → expression of a subscription ``TOPIC:expression;TOPIC:expression``."""
    return {
        topic: rest for topic, _, rest in (part.partition(":") for part in (subscription or "").split(";")) if topic
    }


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
    plain = {j.topic: j for j in judged(facts, group, ids, *within, dict.fromkeys(topics, ()))}
    for topic in sorted(topics):
        one = plain.get(topic)
        known = _known(facts, group, topic, span, ids, one)
        if one is not None and known:
            one = next(
                iter(_agreeing(one, ids, [known], alone=False).values()), replace(one, owners=_shares(one, ids, known))
            )
        elif one is not None and topics[topic] and len(set(ids)) == len(ids):
            known, one = _guessed(one, ids)
        absent[topic] = known
        found += [one] if one is not None and known else []
    return absent, tuple(found)


def _shares(one: Judgement, ids: tuple[str, ...], absent: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    return owners(one.strategy, ids, one.topic, one.queues, absent)


def _agreeing(
    one: Judgement, ids: tuple[str, ...], tried: Collection[tuple[str, ...]], *, alone: bool
) -> Mapping[tuple[str, ...], Judgement]:
    """Of the sets of absent ids those whose share stands still (*alone*: and nothing else), by the first strategy."""
    for strategy in (one.strategy,) if one.said else _BY_PLACE:
        named = replace(one, strategy=strategy)
        each = {these: replace(named, owners=_shares(named, ids, these)) for these in tried}
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
