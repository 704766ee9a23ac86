"""Who came to a Kafka group, who left it in good order, and who was restarted: what somebody did to its members.

Several members to whom the same was done one after another are one row: a release is no list. What a fault did to
members, and members that never said whose process they are, are none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka.lives import lives
from mqlab.kafka.log_lines import CLOSED
from mqlab.kafka.restarts import BEGIN, NEAR, stopped_at
from mqlab.kafka.rows import End, Life
from mqlab.shared.benign_lines import RESTART


class What(StrEnum):
    """What became of a member."""

    ADDED = "added"
    LEFT = "left"
    RESTARTED = "restarted"


@dataclass(frozen=True, slots=True)
class Coming:
    """Members to whom the same was done."""

    what: What
    members: tuple[str, ...]
    since: float
    until: float
    """When the last of them was back, where they were restarted."""
    evidence: tuple[Evidence, ...]


def comings(facts: Facts, group: str) -> tuple[Coming, ...]:
    """All of them, by time."""
    every = sorted(_each(facts, group), key=lambda one: (one.what, one.since, one.members))
    found: list[Coming] = []
    for one in every:
        last = found[-1] if found else None
        if last is not None and last.what is one.what and one.since - last.until <= NEAR:
            found[-1] = _joined(last, one)
        else:
            found.append(one)
    return tuple(sorted(found, key=lambda one: (one.since, one.what)))


def _joined(one: Coming, other: Coming) -> Coming:
    members = tuple(dict.fromkeys((*one.members, *other.members)))
    evidence = (one.evidence[0], other.evidence[-1])
    return Coming(one.what, members, one.since, max(one.until, other.until), evidence)


def _each(facts: Facts, group: str) -> Iterator[Coming]:
    every = [life for life in lives(facts, group) if life.client_id != life.member_id]
    end = facts.covered_until() or 0.0
    later = _last(every)
    begin = min((life.since for life in every if life.since is not None), default=0.0)
    for life in every:
        old, since = life.before, life.since or begin
        if old is None and life.process_started is not None and since > begin + BEGIN:
            yield _one(What.ADDED, life, since, life.evidence[:1])
        elif old is not None and _orderly(old) and (life.process_started or old.process_stopped) is not None:
            places = (*old.evidence[-1:], *life.evidence[:1])
            yield Coming(What.RESTARTED, (life.client_id,), stopped_at(old), since, places)
        if _orderly(life) and later[life.client_id] is life and (life.until or end) < end - RESTART:
            yield _one(What.LEFT, life, life.until or 0.0, life.evidence[-1:])


def _one(what: What, life: Life, at: float, evidence: tuple[Evidence, ...]) -> Coming:
    return Coming(what, (life.client_id,), at, at, evidence)


def _orderly(life: Life) -> bool:
    """It left the group since somebody stopped its process, which had not failed."""
    stopped = life.process_stopped is not None or any(word in life.reason for word in CLOSED)
    return life.end is End.LEFT and stopped and not (life.failed or life.wordless)


def _last(every: Iterable[Life]) -> dict[str, Life]:
    """The last life of each client."""
    return {life.client_id: life for life in sorted(every, key=lambda life: life.since or 0.0)}
