"""Members of a Kafka group whose processes were started anew, one after another: a release, not a fault.

A restart is a member whose process stopped and came again as a new process of the same client; a rollout that gives
each new process another name replaces one name by another. Static members leave no trace of a stop but their expiry.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from mqlab.findings import Evidence
from mqlab.kafka.rollout import MEETS, renamed
from mqlab.rebalances.lines import CLOSED
from mqlab.rebalances.rows import End, Life

BETWEEN = 300.0
"""Seconds between two restarts that belong to one release, at most."""
APART = 2.0
"""Seconds between two stops from which they are one after another; one command stops all within less."""
LEAST = 2
"""Members of which a release restarts."""
CLOCKS = 2.0
"""Seconds by which the clocks of a client and of its coordinator may differ."""
_BROKEN = (End.POLL_TIMEOUT, End.DROPPED)


@dataclass(frozen=True, slots=True)
class Restart:
    """One member that came again as a new process."""

    client_id: str
    stopped: float
    started: float
    orderly: bool
    """The process said that it stops, or its member left."""
    lived: float | None
    """Seconds that the life lasted which ended; None where its begin is not known."""
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """Restarts of a group that follow each other."""

    group: str
    since: float
    until: float
    restarts: tuple[Restart, ...]
    whole: bool
    """Every member of that time came again, all equally often."""
    sequence: bool
    """One after another."""

    @property
    def members(self) -> tuple[str, ...]:
        """Clients that came again, sorted."""
        return tuple(sorted({one.client_id for one in self.restarts}))

    @property
    def times(self) -> int:
        """How often each came again."""
        return len(self.restarts) // max(1, len(self.members))


def restarts(lives: Sequence[Life]) -> tuple[Restart, ...]:
    """Members that came again as new processes, by time."""
    known = distinct(lives)
    found = []
    by_client: dict[str, list[Life]] = defaultdict(list)
    for life in sorted(known, key=lambda o: (o.since or 0.0, o.until or 0.0)):
        by_client[life.client_id].append(life)
    for own in by_client.values():
        began = [o.process_started for o in own]
        pairs = [(a, b) for n, (a, b) in enumerate(pairwise(own), 1) if began[n] is None or began[n] != began[n - 1]]
        found += [_restart(old, new) for old, new in pairs if _afresh(old, new)]
    return tuple(
        sorted(
            [*found, *(_restart(old, new) for old, new in renamed(known))], key=lambda one: (one.started, one.client_id)
        )
    )


def distinct(lives: Sequence[Life]) -> tuple[Life, ...]:
    """*lives* with names of their own for hosts that have one client id at a time, as unnamed consumers do."""
    hosts: dict[str, dict[str, float]] = defaultdict(dict)
    shared = set()
    for life in sorted((o for o in lives if o.host), key=lambda o: o.since or -inf):
        known = hosts[life.client_id]
        if any(host != life.host and until > (life.since or -inf) for host, until in known.items()):
            shared.add(life.client_id)
        known[life.host or ""] = max(known.get(life.host or "", -inf), life.until or inf)
    return tuple(replace(o, client_id=f"{o.client_id} on {o.host}") if o.client_id in shared else o for o in lives)


def _afresh(old: Life, new: Life) -> bool:
    """A new process, as its log or the reason of the former one says."""
    if new.process_started is not None:
        return new.process_started > (old.since or -inf)
    return old.end is End.LEFT and any(word in old.reason for word in CLOSED)


def _restart(old: Life, new: Life) -> Restart:
    started = new.process_started if new.process_started is not None else new.since or 0.0
    stopped = min(t for t in (old.process_stopped, old.silent_since, old.until, started) if t is not None)
    orderly = old.end is End.LEFT or old.process_stopped is not None
    lived = None if old.since is None else stopped - old.since
    return Restart(new.client_id, stopped, started, orderly, lived, (*old.evidence[-1:], *new.evidence[:1]))


def rounds(group: str, lives: Sequence[Life]) -> tuple[Round, ...]:
    """Runs of restarts of at least two members, by time."""
    runs: list[list[Restart]] = []
    lives = distinct(lives)
    for one in restarts(lives):
        if runs and one.started - runs[-1][-1].started <= BETWEEN:
            runs[-1].append(one)
        else:
            runs.append([one])
    return tuple(_round(group, run, lives) for run in runs if len({one.client_id for one in run}) >= LEAST)


def _round(group: str, run: Sequence[Restart], lives: Sequence[Life]) -> Round:
    since, until = min(one.stopped for one in run), max(one.started for one in run)
    often = Counter(one.client_id for one in run)
    ends = {o.client_id for o in lives if o.until is not None and since <= o.until <= until + BETWEEN}
    there = {o.client_id for o in lives if (o.since or 0.0) < since and (o.until is None or o.until >= since)}
    replaced = set(often) | (ends & there)
    stops = sorted(one.stopped for one in run)
    whole = len(set(often.values())) == 1 and there <= replaced
    return Round(group, since, until, tuple(run), whole, all(b - a >= APART for a, b in pairwise(stops)))


def fenced(life: Life) -> bool:
    """Its static membership went to another process while its own still ran.

    The next process of a static member that was stopped takes it over, too: that is how it comes again.
    """
    handed_over = life.process_stopped is not None and life.process_stopped < (life.until or 0.0) - CLOCKS
    return life.end is End.FENCED and not handed_over


def broken(lives: Sequence[Life], since: float, until: float) -> bool:
    """Members fell out in this time, or shortly before, in a way that no release explains."""
    out = [o for o in lives if o.end in _BROKEN or fenced(o)]
    return any(since - MEETS <= (o.until or 0.0) <= until for o in out)
