"""Static members of Kafka groups that fence each other: who has the instance id, and whether it went back and forth.

A rolling deploy hands each id over once, from the old process to the new one. Of two live processes with one id each
fences the other when it joins, so that a process that was fenced has the id again (GroupCoordinator, KIP-345).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts, Setting
from mqlab.kafka.rows import HEARD
from mqlab.shared.actors import base_name
from mqlab.shared.restarts import BACKOFF
from mqlab.sources import Role

SUPERVISED = 2 * BACKOFF
"""Seconds within which two processes fence each other in turn: each is started again after a supervisor's longest wait.
What is further apart are deploys."""
_UUID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$")


@dataclass(frozen=True, slots=True)
class Fencing:
    """One group.instance.id of one group and the processes that have it."""

    instance: str
    group: str | None
    at: tuple[float, ...]
    """Moments at which a process was fenced."""
    swaps: tuple[Episode, ...]
    """Lines with which the coordinator replaced one process by another."""
    told: tuple[Episode, ...]
    """Lines that say that a process was fenced."""
    processes: tuple[str, ...]
    """Logs of clients that ran with the id around one fencing, or else addresses that held it."""
    returned: bool
    """A process that had lost the id took it back: another one was alive meanwhile."""


def fencings(facts: Facts) -> tuple[Fencing, ...]:
    """Every instance id of a group of which a process was fenced."""
    ids = sorted({e.reason for e in facts.of_kind("static-member-fenced") if e.reason and e.first_at is not None})
    return tuple(one for instance in ids for one in _of_instance(facts, instance))


def _of_instance(facts: Facts, instance: str) -> Iterator[Fencing]:
    lines = [
        e
        for e in facts.of_kind("static-member-fenced", "static-member-replaced")
        if e.reason == instance and e.first_at is not None
    ]
    printed: dict[str, set[str]] = defaultdict(set)
    for setting in facts.settings:
        if setting.key == "group.id":
            printed[setting.source].add(setting.value)
    named = [(e, g) for e in lines for g in ({e.group} if e.group else printed[e.source]) if g]
    named = [(e, g) for e, g in named if e.group or len(printed[e.source]) == 1]
    by_group: dict[str | None, list[Episode]] = defaultdict(list)
    for line in lines:
        near = min(named, key=lambda pair: (pair[0] is not line, abs(_at(pair[0]) - _at(line))), default=None)
        by_group[near[1] if near else None].append(line)
    for group, own in sorted(by_group.items(), key=lambda item: item[0] or ""):
        if any(e.kind == "static-member-fenced" for e in own):
            yield _fencing(facts, instance, group, own)


def _fencing(facts: Facts, instance: str, group: str | None, lines: Sequence[Episode]) -> Fencing:
    told = tuple(e for e in lines if e.kind == "static-member-fenced")
    swaps = tuple(e for e in lines if e.kind == "static-member-replaced")
    moments: list[float] = []
    for at in sorted(map(_at, told)):
        if not moments or at - moments[-1] > HEARD:
            moments.append(at)
    printed = tuple(s for s in printed_ids(facts, group) if s.value == instance)
    held = _held(facts, group, instance)
    hosts = {place for _, place in held}
    logs = max((_running(facts, printed, at, swaps) for at in moments), key=len)
    processes = logs if len(logs) >= len(hosts) else hosts
    back = _seen_back(held) or _back(facts, told, swaps, printed)
    return Fencing(instance, group, tuple(moments), swaps, told, tuple(sorted(processes)), back)


def printed_ids(facts: Facts, group: str | None) -> tuple[Setting, ...]:
    """Instance ids that processes of *group* printed, after its ``group.id`` or in a log that tells of the group."""
    printed = [s for s in facts.settings if s.origin == "printed"]
    named = [s for s in printed if s.key == "group.id"]
    tells = {log_of(e.source) for e in facts.episodes if e.group == group}
    found = []
    for s in (s for s in printed if s.key == "group.instance.id"):
        above = [(g.line or 0, g.value) for g in named if (g.source, g.owner) == (s.source, s.owner)]
        own = max((pair for pair in above if pair[0] <= (s.line or 0)), default=None)
        if own[1] == group if own else group is None or log_of(s.source) in tells:
            found.append(s)
    return tuple(found)


def _running(facts: Facts, printed: Sequence[Setting], at: float, swaps: Sequence[Episode]) -> set[str]:
    """Logs that printed the id before a fencing and go on until the coordinator told of it, or later."""
    begin = max((s for s in map(_at, swaps) if at - 2 * HEARD <= s <= at), default=at) - HEARD
    ends: dict[str, float] = defaultdict(float)
    last_seen = [
        *((c.source, c.last_at) for c in facts.coverage),
        *((e.source, e.last_at) for e in facts.episodes),
        *((s.source, s.at) for s in printed),
    ]
    for source, last in last_seen:
        ends[log_of(source)] = max(ends[log_of(source)], last or 0.0)
    return {log_of(s.source) for s in printed if (s.at or 0.0) <= at + HEARD and ends[log_of(s.source)] >= begin}


def _held(facts: Facts, group: str | None, instance: str) -> list[tuple[float, str]]:
    """At which addresses snapshots saw the id, by time."""
    rows = [(p.at or 0.0, p.peer, p.member_id) for p in facts.positions if p.group in (group, None)]
    rows += [(a.at or 0.0, a.peer, a.member_id) for a in facts.assignments if a.group in (group, None)]
    return sorted({(at, peer) for at, peer, member in rows if peer and member and _UUID.sub("", member) == instance})


def _seen_back(held: Sequence[tuple[float, str]]) -> bool:
    """An address had the id, then another one, and soon the first again."""
    turns = [here for before, here in pairwise([(0.0, ""), *held]) if before[1] != here[1]]
    return any(
        place == again and at - turns[n + 1][0] <= SUPERVISED
        for n, (_, place) in enumerate(turns)
        for at, again in turns[n + 2 :]
    )


def _back(facts: Facts, told: Sequence[Episode], swaps: Sequence[Episode], printed: Sequence[Setting]) -> bool:
    """By the clients' logs: a process that was fenced took the id again, and another one lost it meanwhile."""
    brokers = facts.logs_of("kafka", Role.BROKER_LOG) | {e.source for e in swaps}
    lost = sorted((_at(e), log_of(e.source)) for e in told if e.source not in brokers)
    took = sorted((s.at, log_of(s.source)) for s in printed if s.at is not None)
    for number, (at, who) in enumerate(lost):
        later = [(when, other) for when, other in lost[number + 1 :] if when - at <= SUPERVISED]
        again = next((when for when, other in took if other == who and when > at), None)
        if again is not None and any(other != who and when >= again for when, other in later):
            return True
        for when in (when for when, other in later if other == who):
            between = any(other != who and moment < when for moment, other in later)
            if between or sum(e.count for e in swaps if at < _at(e) <= when) > 1:
                return True
    return False


def _at(episode: Episode) -> float:
    return episode.first_at or 0.0


def log_of(source: str) -> str:
    """The log that a file is a part of: its path without what rotation adds to the name."""
    return f"{source.rpartition('/')[0]}/{base_name(source)}".lstrip("/")


def namesakes(facts: Facts) -> Mapping[str, int]:
    """Client ids of Kafka consumers that several logs print, and how many do."""
    found: dict[str, set[str]] = defaultdict(set)
    for setting in facts.settings:
        if setting.key == "client.id" and setting.scope == "consumer" and setting.origin == "printed" and setting.value:
            found[setting.value].add(log_of(setting.source))
    return {client: len(logs) for client, logs in sorted(found.items()) if len(logs) > 1}
