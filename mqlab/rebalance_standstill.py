"""How long a group stood still: all of it in an eager rebalance, what was given up in a cooperative one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from mqlab.facts import Episode, Facts
from mqlab.rebalance_index import between, lines
from mqlab.rebalance_kinds import CLIENT
from mqlab.rebalance_rows import Rebalance
from mqlab.rebalance_starts import Begun

_GIVEN_UP = frozenset({"partitions-revoked", "partitions-lost"})


def standstills(rows: Iterable[Rebalance]) -> tuple[tuple[float, float], ...]:
    """Times (from, to) in which the group stood still, none twice: rebalances that follow at once share theirs."""
    found: list[tuple[float, float]] = []
    for row in sorted(rows, key=lambda r: r.started):
        if row.standstill:
            end = row.started + row.standstill
            if found and row.started <= found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((row.started, end))
    return tuple(found)


def eager(rows: Sequence[Rebalance]) -> list[float | None]:
    """Seconds from the start of each eager rebalance until the members had their partitions again.

    A group that nobody was left in, or that began anew before that, has them with a later one.
    """
    found: list[float | None] = []
    later: float | None = None
    for row in reversed(rows):
        later = row.stabilised if row.stabilised is not None else later
        found.append(None if later is None else max(0.0, later - row.started))
    return found[::-1]


def idle(facts: Facts, group: str, begun: Sequence[Begun]) -> list[float | None]:
    """Seconds in which partitions that were given up in each cooperative rebalance had no owner."""
    every = [e for these in lines(facts, group).clients.values() for e in these if e.kind in CLIENT]
    given = sorted((e for e in every if e.kind in _GIVEN_UP and e.value_max), key=lambda e: e.first_at or 0.0)
    taken = sorted((e for e in every if e.kind == "partitions-assigned"), key=lambda e: e.first_at or 0.0)
    ends = [later.started for _, later in pairwise(begun)] + [float("inf")]
    after = [*ends[1:], float("inf")]
    return [
        _idle(between(given, one.started, end), taken, (one.started, end, next_end))
        for one, end, next_end in zip(begun, ends, after, strict=False)
    ]


def _idle(given: Sequence[Episode], taken: Sequence[Episode], span: tuple[float, float, float]) -> float | None:
    """From the first partition given up within *span* until the last was taken, in this rebalance or the next."""
    start, end, next_end = span
    if not given:
        return 0.0 if between(taken, start, end) else None
    first = given[0].first_at or 0.0
    then = [e.first_at or 0.0 for e in between(taken, first, next_end) if e.value_max]
    return then[-1] - first if then else None
