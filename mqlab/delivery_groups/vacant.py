"""Times in which a Kafka group had no members."""

from __future__ import annotations

from bisect import bisect_right

from mqlab.facts import Facts
from mqlab.groups.presence import present
from mqlab.kafka.members import empty
from mqlab.memo import per_facts


@per_facts
def vacant(facts: Facts, group: str) -> tuple[tuple[float, float], ...]:
    """Times between two words that the group had no members, without a sign of one in between; infinite at the end."""
    nobody = sorted({e.first_at or 0.0 for e in empty(facts, group)})
    here = [*present(facts, group), float("inf")]
    found: list[tuple[float, float]] = []
    for at in nobody:
        back = here[bisect_right(here, at)]
        if not found or found[-1][1] < at:
            found.append((at, back))
    return tuple(found)
