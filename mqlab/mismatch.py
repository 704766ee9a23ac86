"""RocketMQ groups whose members do not subscribe to the same: who lacks which topic, and what that leaves unread.

The broker keeps one subscription per group and takes the last heartbeat's (ConsumerGroupInfo.updateSubscription).
With other topics it adds and removes the topic with every heartbeat, and the allocation of that topic still counts all
members, so the share of those who do not read it has no owner. With other tags the newest wins and nothing flips.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.group_rows import Client
from mqlab.members import ROCKETMQ, Snapshot, streams
from mqlab.slots import Judgement, judged

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
    absent = {topic: _absent(facts, group, topic, since, until) for topic in {*flips, *parts}}
    ids = _ids(facts, group, until)
    topics = tuple(sorted({*flips, *parts}))
    found = judged(facts, group, ids, since, until, absent) if ids else ()
    return Mismatch(
        group, since, until, topics, sum(_removals(f) for f in flips.values()),
        {topic: these for topic, these in sorted(absent.items()) if these},
        tuple(_told(flips, said, parts)), tuple(j for j in found if j.topic in topics),
    )  # fmt: skip


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
    return sum(e.count for e in lines if e.reason == "remove")


def _different(facts: Facts, group: str) -> Mapping[str, Sequence[Client]]:
    """Topics that members list differently in one snapshot of their own state, with the rows."""
    by_moment: dict[float, list[Client]] = defaultdict(list)
    for client in facts.clients:
        if client.group == group and client.system == ROCKETMQ and client.at is not None and client.subscription:
            by_moment[client.at].append(client)
    found: dict[str, list[Client]] = defaultdict(list)
    for rows in by_moment.values():
        own = {c.client_id: c for c in rows if c.peer is None}
        told = {name: _read(c.subscription) for name, c in own.items()}
        for topic in {topic for subscription in told.values() for topic in subscription}:
            if len({subscription.get(topic) for subscription in told.values()}) > 1:
                found[topic] += own.values()
    return found


def _read(subscription: str | None) -> Mapping[str, str]:
    return {
        topic: rest for topic, _, rest in (part.partition(":") for part in (subscription or "").split(";")) if topic
    }


def _absent(facts: Facts, group: str, topic: str, since: float, until: float) -> tuple[str, ...]:
    """Members that say they do not read *topic*, or whose log allocates other topics of the group, but never this."""
    told = [c for c in facts.clients if c.group == group and c.at is not None and c.peer is None and c.subscription]
    listed = {c.client_id for c in told if since <= (c.at or 0.0) <= until and topic not in _read(c.subscription)}
    by_id: dict[str, set[str]] = defaultdict(set)
    for episode in facts.of_kind("queues-allocated"):
        if episode.group == group and episode.client_id and episode.topic:
            by_id[episode.client_id].add(episode.topic)
    silent = {client for client, topics in by_id.items() if topic not in topics}
    own = {c for c in _ids(facts, group, until) if c in silent}
    return tuple(sorted({c for c in listed if c} | own))


def _ids(facts: Facts, group: str, until: float) -> tuple[str, ...]:
    """Ids of the group at the end of this time."""
    for stream in streams(facts, group):
        inside: list[Snapshot] = [s for s in stream.snapshots if s.at <= until]
        if inside and inside[-1].members:
            return inside[-1].ids
    return ()


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
