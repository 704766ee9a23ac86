"""What the material tells of single partitions of Kafka, by topic and partition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from mqlab.facts import Episode, Facts, Position
from mqlab.memo import per_facts

Place = tuple[str, str]
"""Topic and partition."""
R = TypeVar("R", Position, Episode)
BEGINS = ("offset-set", "offset-missing", "offset-reset", "offset-reset-to", "offset-sought")
"""Lines with which a consumer tells where it goes on to read."""


@per_facts
def begins(facts: Facts) -> Mapping[Place, Sequence[Episode]]:
    """Lines of consumers about where they go on to read, by time."""
    dated = (e for e in facts.of_kind(*BEGINS) if e.topic and e.first_at is not None)
    return _by_place(sorted(dated, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)))


@per_facts
def positions(facts: Facts) -> Mapping[Place, Sequence[Position]]:
    """Rows of positions, by time."""
    return _by_place(facts.positions)


@per_facts
def moved(facts: Facts) -> Mapping[Place, Sequence[Episode]]:
    """Moves of log starts, those that several brokers tell of too."""
    return _by_place(facts.of_kind("log-start-moved"))


def _by_place(rows: Iterable[R]) -> Mapping[Place, Sequence[R]]:
    found: dict[Place, list[R]] = defaultdict(list)
    for row in rows:
        found[row.topic or "", row.queue or ""].append(row)
    return dict(found)
