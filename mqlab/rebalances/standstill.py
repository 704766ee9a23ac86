"""How long a group stood still: all of it in an eager rebalance, what was given up in a cooperative one."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from mqlab.facts import Episode, Facts
from mqlab.rebalances.index import between, lines
from mqlab.rebalances.kinds import STOPS
from mqlab.rebalances.marks import CLOCKS
from mqlab.rebalances.rows import Rebalance
from mqlab.rebalances.starts import Begun

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
    """Seconds in which partitions that changed their owner in each cooperative rebalance had none.

    From the first that was given up in it until the last of them was taken; what an expelled member had is given up
    when the rebalance starts. What is taken later, or lost late by who had been expelled, belongs to no other one.
    """
    starts = [one.started for one in begun]
    spans: dict[int, list[tuple[float, float]]] = defaultdict(list)
    taking: set[int] = set()
    owners: dict[str, str] = {}
    freed: dict[str, tuple[float, int]] = {}
    for at, client, line in _changes(facts, group):
        here = bisect_right(starts, at) - 1
        places = (line.reason or "").split(", ") if line.reason else []
        if line.kind in _GIVEN_UP:
            for place in [p for p in places if owners.get(p) == client]:
                del owners[place]
                freed[place] = (at, _leaving(facts, group, client, at, starts) or max(0, here))
            continue
        taking.add(here)
        for place in places:
            since = freed.pop(place, None)
            if since is None and owners.get(place, client) != client and here >= 0:
                since = (starts[here], here)
            if since is not None:
                spans[since[1]].append((since[0], at))
            owners[place] = client
    return [_seconds(spans[n]) if n in spans else 0.0 if n in taking else None for n in range(len(begun))]


def _leaving(facts: Facts, group: str, client: str, at: float, starts: Sequence[float]) -> int | None:
    """Place of the rebalance that follows at once, where the member gives up its partitions because it closes."""
    near = between(lines(facts, group).clients[client], at - CLOCKS, at + CLOCKS)
    following = bisect_right(starts, at)
    soon = following < len(starts) and starts[following] - at <= CLOCKS
    return following if soon and any(line.kind in STOPS for line in near) else None


def _changes(facts: Facts, group: str) -> list[tuple[float, str, Episode]]:
    """What members got and gave up, by time."""
    every = [
        (e.first_at or 0.0, client, e)
        for client, these in lines(facts, group).clients.items()
        for e in these
        if e.kind == "partitions-assigned" or e.kind in _GIVEN_UP
    ]
    return sorted(every, key=lambda one: (one[0], one[1], one[2].first.line or 0))


def _seconds(spans: Sequence[tuple[float, float]]) -> float:
    return max(until for _, until in spans) - min(since for since, _ in spans)
