"""RocketMQ groups whose members do not subscribe to the same: who lacks which topic, and what that leaves unread.

The broker keeps one subscription per group and takes the last heartbeat's (ConsumerGroupInfo.updateSubscription).
With other topics it adds and removes the topic with every heartbeat, and the allocation of that topic still counts all
members, so the share of those who do not read it has no owner. With other tags the newest wins and nothing flips.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.rocketmq.absence import judgements, topics_of
from mqlab.rocketmq.members import ROCKETMQ
from mqlab.rocketmq.slots import Judgement
from mqlab.rows.groups import Client

HEARTBEATS = 60.0
"""Two heartbeats of a client: what lasts no longer is a release."""
WATCHED = 180.0
"""Seconds before a single sighting in which queues can show it; members that differ may have come lately."""
TWICE = 2
"""Times that the broker takes a topic away and gets it back, from which it is no change of the subscription."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One group whose members subscribe to different things."""

    group: str
    since: float
    until: float
    topics: tuple[str, ...]
    """Topics that not all members read, or read with the same expression."""
    flips: int
    """Times that the broker took one of them away."""
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
    asked = {topic: topic not in parts for topic in topics}
    seen = [judgements(facts, group, asked, (since, until), span) for span in _spans(facts, since, until)]
    absent, found = next((pair for pair in seen if any(j.agrees and j.expected for j in pair[1])), seen[0])
    tags = bool(parts) and not flips and all(t in topics_of(c.subscription) for t, rows in parts.items() for c in rows)
    return Mismatch(
        group, since, until, topics, sum(_removals(f) for f in flips.values()),
        {topic: these for topic, these in sorted(absent.items()) if these},
        any(at > until and len(rows) > 1 and not _differing(rows) for at, rows in _told_by_all(facts, group).items()),
        tags, tuple(_told(flips, said, parts)), found,
    )  # fmt: skip


def _spans(facts: Facts, since: float, until: float) -> Sequence[tuple[float, float]]:
    """Times in which the queues can show it: the whole of it; around a single sighting what came after, and before."""
    if until - since > HEARTBEATS:
        return ((since, until),)
    moments = [p.at for p in facts.positions if p.at is not None]
    first, last = min(moments, default=since), max(moments, default=until)
    return (since, max(until, last)), (max(first, since - WATCHED), until)


def _flips(facts: Facts, group: str) -> Mapping[str, Sequence[Episode]]:
    """Topics that the broker took away and got back more than once, with the lines."""
    found: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("subscription-changed"):
        if episode.group == group and episode.topic and episode.reason in ("add", "remove"):
            found[episode.topic].append(episode)
    kept = {}
    for topic, lines in found.items():
        first = next((n for n, e in enumerate(lines) if e.reason == "remove"), len(lines))
        if _removals(lines) >= TWICE and any(e.reason == "add" for e in lines[first:]):
            kept[topic] = lines[first:]
    return kept


def _removals(lines: Sequence[Episode]) -> int:
    """Of the broker whose log tells of most: each one takes the topic away on its own."""
    told: Counter[str] = Counter()
    for episode in lines:
        told[episode.source] += episode.count if episode.reason == "remove" else 0
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
    found = [
        Evidence(e.first.source, e.first.line, e.first.text, f"the broker's subscription flips: {e.reason}")
        for lines in flips.values()
        for e in lines[:4]
    ]
    found += [Evidence(e.first.source, e.first.line, e.first.text, "mqadmin compared the members") for e in said[:2]]
    found += [
        Evidence(c.source, c.line, c.text, f"{c.client_id} reads {c.subscription}")
        for clients in parts.values()
        for c in clients[:4]
    ]
    return list(dict.fromkeys(found))
