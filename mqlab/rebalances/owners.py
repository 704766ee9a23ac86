"""How many partitions got another owner in each rebalance."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from mqlab.facts import Episode, Facts
from mqlab.rebalances.index import lines
from mqlab.rebalances.lines import client_of
from mqlab.rebalances.starts import Begun

_PARTITION = re.compile(r"([^\s,\[\]]+)-(\d+)")
_CHANGES = frozenset({"partitions-assigned", "partitions-revoked", "partitions-lost"})

Place = tuple[str, str]
"""Topic and partition."""


def moved(facts: Facts, group: str, begun: Sequence[Begun]) -> list[int | None]:
    """Partitions whose owner is another one than before; None where owners before or after are not told.

    The leader of an eager or cooperative group prints the whole assignment; else it is what each member prints of its
    own partitions, where all of them do.
    """
    whole = _whole(facts, group)
    moments = [at for at, _ in whole]
    printed = _Printed(facts, group)
    last: dict[Place, str] = {}
    found: list[int | None] = []
    ends = [later.started for _, later in pairwise(begun)] + [float("inf")]
    for one, end in zip(begun, ends, strict=False):
        place = bisect_left(moments, end) - 1
        known = whole[place][1] if place >= 0 and moments[place] >= one.started else None
        after = known if known is not None else printed.after(one, end)
        found.append(None if after is None or not last else sum(last.get(p, o) != o for p, o in after.items()))
        last.update(after or {})
    return found


def _whole(facts: Facts, group: str) -> Sequence[tuple[float, Mapping[Place, str]]]:
    """Assignments that one line or one snapshot tells as a whole, by time."""
    rows: dict[tuple[float, str], list[tuple[Place, str, str]]] = defaultdict(list)
    for row in facts.assignments:
        if row.group == group and row.at is not None:
            member = row.member_id or row.client_id or ""
            client = client_of(row.member_id) or row.client_id or member
            rows[row.at, row.source].append(((row.topic, row.queue), member, client))
    found = []
    for (at, _), these in sorted(rows.items()):
        shared = len({member for _, member, _ in these}) > len({client for _, _, client in these})
        found.append((at, {place: member if shared else client for place, member, client in these}))
    return found


class _Printed:
    """What members print of their own partitions, followed from rebalance to rebalance."""

    def __init__(self, facts: Facts, group: str) -> None:
        """Of all lines of clients of *group*."""
        every = [
            (e, client) for client, these in lines(facts, group).clients.items() for e in these if e.kind in _CHANGES
        ]
        every.sort(key=lambda pair: (pair[0].first_at or 0.0, pair[1], pair[0].first.line or 0))
        self._lines = [line for line, _ in every]
        self._clients = [client for _, client in every]
        self._held: dict[str, set[Place]] = defaultdict(set)
        self._next = 0

    def after(self, one: Begun, end: float) -> Mapping[Place, str] | None:
        """Owners after *one*, whose time ends at *end*; None where not every member printed what it got."""
        told = set()
        while self._next < len(self._lines) and (self._lines[self._next].first_at or 0.0) < end:
            line, client = self._lines[self._next], self._clients[self._next]
            self._take(client, line)
            if line.kind == "partitions-assigned" and (line.first_at or 0.0) >= one.started:
                told.add(client)
            self._next += 1
        if not told or (one.members is not None and len(told) < one.members):
            return None
        return {place: client for client in sorted(told) for place in self._held[client]}

    def _take(self, client: str, line: Episode) -> None:
        places = {(found[1], found[2]) for found in _PARTITION.finditer(line.reason or "")}
        if line.kind == "partitions-assigned":
            self._held[client] |= places
        else:
            self._held[client] -= places
