"""Static members of Kafka groups that fence each other: who has the instance id, and how often they took turns."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mqlab.actors import base_name
from mqlab.facts import Episode, Facts

ONCE = 5.0
"""Seconds in which client and broker tell of one fencing, and a client in several lines."""
_UUID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$")


@dataclass(frozen=True, slots=True)
class Fencing:
    """One group.instance.id and the processes that have it."""

    instance: str
    group: str | None
    at: tuple[float, ...]
    """Moments at which a process was fenced."""
    swaps: tuple[Episode, ...]
    """Lines with which the coordinator replaced one process by another."""
    told: tuple[Episode, ...]
    """Lines that say that a process was fenced."""
    processes: tuple[str, ...]
    """Logs of clients that ran with the id, or else addresses that held it."""


def fencings(facts: Facts) -> tuple[Fencing, ...]:
    """Every instance id of which a process was fenced."""
    told: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("static-member-fenced"):
        if episode.reason and episode.first_at is not None:
            told[episode.reason].append(episode)
    return tuple(_fencing(facts, instance, lines) for instance, lines in sorted(told.items()))


def _fencing(facts: Facts, instance: str, told: Sequence[Episode]) -> Fencing:
    swaps = [e for e in facts.of_kind("static-member-replaced") if e.reason == instance]
    groups = sorted({e.group for e in (*swaps, *told) if e.group})
    moments: list[float] = []
    for at in sorted(e.first_at for e in told if e.first_at is not None):
        if not moments or at - moments[-1] > ONCE:
            moments.append(at)
    return Fencing(
        instance, groups[0] if groups else None, tuple(moments), tuple(swaps), tuple(told), _processes(facts, instance)
    )


def _processes(facts: Facts, instance: str) -> tuple[str, ...]:
    """By their logs; where none shows, by the addresses at which snapshots saw the id."""
    logs = {
        log_of(s.source)
        for s in facts.settings
        if s.key == "group.instance.id" and s.value == instance and s.origin == "printed"
    }
    held = [(p.peer, p.member_id) for p in facts.positions] + [(a.peer, a.member_id) for a in facts.assignments]
    seen = {peer for peer, member in held if peer and member and _UUID.sub("", member) == instance}
    return tuple(sorted(logs if len(logs) >= len(seen) else seen))


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
