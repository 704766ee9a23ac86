"""Logs of MQTT that were gathered twice, or as parts that overlap: each line of them counts once.

Whoever copies a log that is rotated meanwhile has its last lines twice, and they would be twice as many takeovers. Two
brokers may write the same line in the same second, but not all of their lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from mqlab.facts import Episode, Facts

LEAST = 5
"""Lines about clients that two logs must share."""
NEARLY_ALL = 0.9
"""Share of what both tell of the time that they have in common: an episode at its edge may be cut."""
_Key = tuple[object, ...]


def once(facts: Facts) -> Facts:
    """*facts* without the episodes of a log that another one of the same format tells as well."""
    by_log = _by_log(facts)
    gone: set[int] = set()
    for one, other in _pairs(facts, by_log):
        left = [e for e in by_log[one] if id(e) not in gone]
        shared = _shared(left, by_log[other])
        for episode in by_log[other]:
            key = _key(episode)
            if shared[key] > 0 and id(episode) not in gone:
                shared[key] -= 1
                gone.add(id(episode))
    return replace(facts, episodes=tuple(e for e in facts.episodes if id(e) not in gone)) if gone else facts


def _by_log(facts: Facts) -> Mapping[str, list[Episode]]:
    found: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.episodes:
        if episode.system == "mqtt" and episode.first_at is not None:
            found[episode.source].append(episode)
    return found


def _pairs(facts: Facts, by_log: Mapping[str, Sequence[Episode]]) -> Iterator[tuple[str, str]]:
    """Logs of one format, sorted, of which nearly all that the one tells of a time the other one tells, too."""
    formats = {c.source: c.format for c in facts.coverage if c.role.is_log}
    logs = sorted(source for source in by_log if source in formats)
    for one, other in combinations(logs, 2):
        if formats[one] == formats[other] and _is_part(by_log[one], by_log[other]):
            yield one, other


def _is_part(one: Sequence[Episode], other: Sequence[Episode]) -> bool:
    since = max(one[0].first_at or 0.0, other[0].first_at or 0.0)
    until = min(one[-1].first_at or 0.0, other[-1].first_at or 0.0)
    both = [[e for e in log if since <= (e.first_at or 0.0) <= until] for log in (one, other)]
    shared = sum((_shared(*both)).values())
    about = {key for key in set(map(_key, both[0])) & set(map(_key, both[1])) if key[-1]}
    return len(about) >= LEAST and shared >= NEARLY_ALL * min(len(both[0]), len(both[1]))


def _shared(one: Sequence[Episode], other: Sequence[Episode]) -> Counter[_Key]:
    return Counter(map(_key, one)) & Counter(map(_key, other))


def _key(episode: Episode) -> _Key:
    told = (episode.kind, episode.first_at, episode.last_at, episode.count, episode.first.text, episode.last.text)
    return (*told, episode.topic, episode.client_id)
