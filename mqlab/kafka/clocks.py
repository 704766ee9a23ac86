"""Whether a client's log shows the same time as its coordinator's, told by the generations that both name.

Lines of two logs tell of one thing only where their clocks agree: a clock that is off makes silences and restarts of
members that were there.
"""

from __future__ import annotations

from collections import defaultdict

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.polling import lines

APART = 15.0
"""Seconds: the answer to a join comes within milliseconds of the generation; a busy host writes seconds later."""


@per_facts
def astray(facts: Facts, group: str) -> frozenset[str]:
    """Clients of *group* whose clock is off: the coordinator made none of the generations when they joined them."""
    made: dict[float, list[float]] = defaultdict(list)
    for line in facts.of_kind("rebalance-stabilized", "rebalance-assigned"):
        if line.group == group and line.value_max is not None and line.first_at is not None:
            made[line.value_max].append(line.first_at)
    away: dict[str, list[float]] = defaultdict(list)
    for line, client in lines.own_lines(facts, group, "join-completed"):
        times = made.get(-1.0 if line.value_max is None else line.value_max, ())
        away[client] += [min(abs(at - (line.first_at or 0.0)) for at in times)] if times else []
    return frozenset(client for client, seconds in away.items() if seconds and min(seconds) > APART)


def missing(clients: frozenset[str]) -> str:
    """What is missing where their clocks are off."""
    return (
        f"the clock of {', '.join(sorted(clients))}: generations that the coordinator made are joined there at another "
        "time; give its zone with --log-tz"
    )
