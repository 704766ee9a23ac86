"""Members of a Kafka group whose processes were started anew, one after another: a release, not a fault.

A restart is a member whose process stopped and came again as a new process of the same client; a rollout that gives
each new process another name replaces one name by another. Static members leave no trace of a stop but their expiry.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka import log_lines, poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.log_lines import CLOSED
from mqlab.kafka.rows import End, Life
from mqlab.memo import per_facts
from mqlab.shared.benign_lines import WANTED

MEETS = 60.0
"""Seconds around the end of a member in which another name takes its place."""


def _renamed(lives: Sequence[Life]) -> list[tuple[Life, Life]]:
    """Names that ended for good, each with a name that began then and stayed: pods of a rollout have new names.

    A group that is stopped as a whole ends both.
    """
    by_time = sorted(lives, key=lambda o: o.since or 0.0)
    firsts, lasts = {o.client_id: o for o in reversed(by_time)}, {o.client_id: o for o in by_time}
    begin = min((life.since for life in lives if life.since is not None), default=0.0)
    begun = [o for o in firsts.values() if (o.since or 0.0) > begin + MEETS]
    found = []
    for at, old in sorted(
        ((o.until, o) for o in lasts.values() if o.until is not None), key=lambda p: (p[0], p[1].client_id)
    ):
        near = [
            o
            for o in begun
            if o.client_id != old.client_id and abs((o.since or 0.0) - at) <= MEETS
            if o.until is None or o.until > at + MEETS
        ]
        new = min(near, key=lambda o: (abs((o.since or 0.0) - at), o.client_id), default=None)
        if new is not None:
            begun.remove(new)
            found.append((old, new))
    return found


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

    def places(self) -> Iterator[Evidence]:
        """Where it ended and where it came again."""
        for place, why in zip(self.evidence, ("a member ends", "and comes again"), strict=False):
            yield place.because(why)


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
    by_client: dict[str, list[Life]] = defaultdict(list)
    for life in sorted(known, key=lambda o: (o.since or 0.0, o.until or 0.0)):
        by_client[life.client_id].append(life)
    pairs = _renamed(known)
    for own in by_client.values():
        began = [o.process_started for o in own]
        pairs += [
            (old, new)
            for (old, new), first, second in zip(pairwise(own), began, began[1:], strict=False)
            if (second is None or second != first) and _afresh(old, new)
        ]
    return tuple(sorted((_restart(*pair) for pair in pairs), key=lambda one: (one.started, one.client_id)))


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


@per_facts
def rounds_of_restarts(facts: Facts, group: str) -> tuple[Round, ...]:
    """Runs of restarts of at least two members, by time."""
    runs: list[list[Restart]] = []
    known = distinct(lives(facts, group))
    for one in restarts(known):
        if runs and one.started - runs[-1][-1].started <= BETWEEN:
            runs[-1].append(one)
        else:
            runs.append([one])
    return tuple(_round(group, run, known) for run in runs if len({one.client_id for one in run}) >= LEAST)


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


OFTEN = 2
"""Times that a release restarts each member, at most, unless all stop in good order."""


@per_facts
def releases(facts: Facts, group: str) -> tuple[Round, ...]:
    """Rounds that are nothing but a release, by time."""
    return tuple(one for one in rounds_of_restarts(facts, group) if _why_not(facts, one) is None)


def other(facts: Facts, group: str) -> str | None:
    """Why restarts of a group's members are no release; None where there are none or they are one."""
    reasons = [reason for one in rounds_of_restarts(facts, group) if (reason := _why_not(facts, one))]
    return f"{group}: {reasons[0]}" if reasons else None


def _why_not(facts: Facts, one: Round) -> str | None:
    out = [o.until or 0.0 for o in lives(facts, one.group) if o.end in _BROKEN or fenced(o)]
    if any(one.since - MEETS <= at <= one.until for at in out) or _failing(facts, one):
        return "its members were restarted after they had fallen out"
    if not one.whole:
        return "not all of its members came again, or not equally often"
    if not one.sequence:
        return "its members were stopped together"
    if one.times > OFTEN and not all(restart.orderly for restart in one.restarts):
        return "its members died again and again"
    return None


def _failing(facts: Facts, one: Round) -> bool:
    """Commits failed before the first stop, or a process died with an error, or after one, without a word."""
    failed = poll_limits.own_lines(facts, one.group, "commit-failed", "poll-timeout")
    before = any(one.since - MEETS <= (e.first_at or 0.0) < one.since for e, _ in failed)
    exits = [e for e, _ in poll_limits.own_lines(facts, one.group, "process-exit")]
    meanwhile = [e for e in exits if one.since - MEETS <= (e.first_at or 0.0) <= one.until]
    if before or any(e.value_max is not None and e.value_max not in WANTED for e in meanwhile):
        return True
    homes = log_lines.homes(facts, one.group)
    errors = [
        (homes.get(s.source), at)
        for s in facts.shapes
        if s.level in ("ERROR", "FATAL")
        for at in (s.first_at, s.last_at)
        if at is not None
    ]
    return any(
        client == restart.client_id and restart.stopped - MEETS <= at <= restart.started
        for restart in one.restarts
        if not restart.orderly
        for client, at in errors
    )
