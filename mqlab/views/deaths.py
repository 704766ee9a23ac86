"""Deaths that no line tells outright.

Brokers start again without having stopped, or lose their partitions and are never heard of again; members of groups
fall silent until they are expelled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from mqlab.delivery.leaders import Leadership, leaderships
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.lives import lives
from mqlab.kafka.rows import End
from mqlab.memo import per_facts
from mqlab.shared.actors import base_name, folder
from mqlab.units import clock

BROKER, MEMBER = "broker", "member"
_STARTS = ("broker-started", "broker-starting", "rocketmq-broker-started")
_STOPS = ("broker-stopped", "broker-stopping", "rocketmq-broker-stopping")
_BEGINNING = ("settings-printed", "log-recovery")
"""What a broker of Kafka prints while it starts."""
_ONE_START = 10.0
"""Seconds within which a broker tells of one start in several lines."""
_LATER = 30.0
"""Seconds that other logs must go on for a silence to tell something: several times the 6 to 18 s after which brokers
are taken for dead (broker.session.timeout.ms, zookeeper.session.timeout.ms)."""


@dataclass(frozen=True, slots=True)
class Death:
    """One that is inferred: when it was last heard of, and when it was gone at the latest."""

    who: str
    kind: str
    """``broker`` or ``member``."""
    since: float
    until: float
    how: str
    """How it is known, one sentence."""
    evidence: tuple[Evidence, ...]


@per_facts
def deaths(facts: Facts) -> tuple[Death, ...]:
    """All of them, by time."""
    found = [*_brokers(facts), *_members(facts)]
    return tuple(sorted(found, key=lambda one: (one.since, one.who)))


def _brokers(facts: Facts) -> Iterator[Death]:
    by_log: dict[_Log, list[Episode]] = defaultdict(list)
    for one in facts.of_kind(*_STARTS, *_STOPS):
        if one.first_at is not None:
            by_log[folder(one.source), base_name(one.source), one.node].append(one)
    away = _moved_away(facts)
    for log, told in sorted(by_log.items(), key=lambda entry: (entry[0][:2], entry[0][2] or "")):
        lines = sorted(told, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
        own, name = _heard(facts, log, lines, by_log), _name(log, by_log)
        for before, after in pairwise(lines):
            if {before.kind, after.kind} <= set(_STARTS) and _apart(before, after):
                yield _back(name, own, before, after, away.get(log[2] or "", ()))
        if lines[-1].kind in _STARTS:
            yield from _never_back(facts, name, own[-1], away.get(log[2] or "", ()))


class _Heard(NamedTuple):
    """One line of a broker."""

    at: float
    kind: str
    place: Evidence


_Log = tuple[str, str, str | None]
"""Folder and name of a broker's log, and the broker where it says who it is: rotated files are one log."""


def _name(log: _Log, logs: Collection[_Log]) -> str:
    where, file, node = log
    if node is not None:
        return f"broker {node}"
    alone = sum(other[0] == where for other in logs) == 1 and len(logs) > 1
    return where.rpartition("/")[2] if alone else file


def _apart(before: Episode, after: Episode) -> bool:
    return (after.first_at or 0.0) - (before.last_at or 0.0) > _ONE_START


def _heard(facts: Facts, log: _Log, lines: Sequence[Episode], logs: Collection[_Log]) -> list[_Heard]:
    """What the broker's logs tell, by time: all of its folder, unless another broker's log lies there."""
    sources, alone = {e.source for e in lines}, sum(other[0] == log[0] for other in logs) == 1
    own = [e for e in facts.episodes if e.source in sources or (alone and folder(e.source) == log[0])]
    ends = ((e, at, place) for e in own for at, place in ((e.first_at, e.first), (e.last_at, e.last)))
    return sorted((_Heard(at, e.kind, place) for e, at, place in ends if at is not None), key=lambda heard: heard.at)


def _moved_away(facts: Facts) -> Mapping[str, Sequence[Leadership]]:
    """By broker: leaderships that others took from it while it was not in sync, by time."""
    found: dict[str, list[Leadership]] = defaultdict(list)
    for rows in leaderships(facts).values():
        for before, after in pairwise(rows):
            out = after.isr is not None and before.leader not in after.isr
            if after.at is not None and before.leader != after.leader and out:
                found[before.leader].append(after)
    return {name: sorted(rows, key=lambda row: row.at or 0.0) for name, rows in found.items()}


def _back(name: str, own: Sequence[_Heard], before: Episode, after: Episode, away: Sequence[Leadership]) -> Death:
    """It died after its last line before it began to start again, which its settings and recovered logs tell."""
    start, again = before.first_at or 0.0, after.first_at or 0.0
    between = [heard for heard in own if start <= heard.at <= again]
    back, first = next(
        ((one.at, one.place) for one in between if one.kind in _BEGINNING and one.at > start), (again, after.first)
    )
    since, last = max(((one.at, one.place) for one in between if one.at < back), key=lambda one: one[0])
    taken = next((row for row in away if since < (row.at or 0.0) < back), None)
    others = f", others led its partitions from {clock(taken.at)}" if taken else ""
    how = f"last heard of at {clock(since)}{others}, back at {clock(back)} without an orderly stop"
    places = (last, *((taken.evidence,) if taken else ()), first)
    return Death(name, BROKER, since, (taken.at if taken else None) or back, how, places)


def _never_back(facts: Facts, name: str, last: _Heard, away: Sequence[Leadership]) -> Iterator[Death]:
    since, place = last.at, last.place
    taken = next((row for row in away if (row.at or 0.0) > since), None)
    if taken is not None and taken.at is not None and (facts.covered_until() or 0.0) - since > _LATER:
        how = f"last heard of at {clock(since)}, others led its partitions from {clock(taken.at)}"
        yield Death(name, BROKER, since, taken.at, how, (place, taken.evidence))


def _members(facts: Facts) -> Iterator[Death]:
    for group in groups(facts):
        for life in lives(facts, group):
            if life.end is End.EXPIRED and life.silent_since is not None and life.until is not None:
                how = f"silent from {clock(life.silent_since)}, expelled from {group} at {clock(life.until)}"
                yield Death(life.client_id, MEMBER, life.silent_since, life.until, how, life.evidence)
