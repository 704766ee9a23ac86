"""Queues that several processes were seen to read, by ledgers, clients' logs and the broker's remarks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.groups.copies import copies
from mqlab.rocketmq.members import Member, folder, log_ends
from mqlab.rocketmq.sharing import Sharing
from mqlab.rocketmq.slots import SETTLING, Judgement

NEAR = 60.0
"""Seconds between sightings of one sharing by different sources."""
MOSTLY = 1.5
"""Times that a message of a doubled queue is handled, at least: more than half of them again."""


@dataclass(frozen=True, slots=True)
class Doubles:
    """Queues that several processes were seen to read."""

    queues: tuple[str, ...]
    evidence: tuple[Evidence, ...]


def doubles(facts: Facts, sharing: Sharing, judgement: Judgement) -> Doubles:
    """Queues of the topic that ledgers, clients' logs or the broker's remarks show in several hands."""
    counted = copies(facts, sharing.group, judgement.topic, sharing.since + SETTLING, sharing.until)
    often = {queue for queue, times in (counted.by_queue if counted else {}).items() if times >= MOSTLY}
    held = _held(facts, sharing, judgement.topic)
    back = _went_back(facts, sharing, judgement.topic)
    queues = often | {q for q, found in held.items() if len(found) > 1}
    if len({q.rpartition("/")[0] for q in judgement.queues}) == 1:
        queues |= {q for q in judgement.queues if len({_host(e) for e in back.get(q.rpartition("/")[2], ())}) > 1}
    places = [place for q in sorted(queues) for place in held.get(q, {}).values()]
    return Doubles(tuple(q for q in judgement.queues if q in queues), tuple(dict.fromkeys(places)))


def _held(facts: Facts, sharing: Sharing, topic: str) -> Mapping[str, Mapping[str, Evidence]]:
    """By queue: the logs whose last allocation before the end holds it, with the line."""
    last: dict[str, float] = {}
    ends = log_ends(facts)
    rows = [
        a for a in facts.assignments
        if a.group == sharing.group and a.topic == topic and a.client_id in sharing.shared and a.at is not None
        and a.at <= sharing.until <= ends[folder(a.source)] + NEAR and "rebalanced" in a.text
    ]  # fmt: skip
    for row in rows:
        last[folder(row.source)] = max(last.get(folder(row.source), 0.0), row.at or 0.0)
    held: dict[str, dict[str, Evidence]] = defaultdict(dict)
    for row in rows:
        if row.at == last[folder(row.source)]:
            held[row.queue][folder(row.source)] = row.evidence
    return held


def _went_back(facts: Facts, sharing: Sharing, topic: str) -> Mapping[str, Sequence[Episode]]:
    """By queue id: commits below the stored one while the group did not change."""
    found: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("offset-went-back"):
        inside = episode.first_at is not None and sharing.since <= episode.first_at <= sharing.until
        if inside and episode.group == sharing.group and episode.topic == topic and episode.queue:
            found[episode.queue].append(episode)
    return found


def _host(episode: Episode) -> str:
    return Member("", episode.peer or "", episode.first).host
