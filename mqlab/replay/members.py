"""The processes of a recorded group as members of a simulation: when they came and went, and how they were set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf

from mqlab.facts import Facts
from mqlab.kafka.lives import lives
from mqlab.models.group_terms import Member, Settings
from mqlab.rebalances.lines import client_of
from mqlab.rebalances.rows import End, Life
from mqlab.replay.settings import settings_of


def members(facts: Facts, group: str, since: float, until: float) -> tuple[Member, ...]:
    """Processes of *group* that were there at any time from *since* to *until*, by name."""
    chains = _chains(lives(facts, group))
    found = [_member(facts, chain, _next(chain, chains), since) for chain in chains]
    inside = [m for m in found if (m.started or -inf) < until and (m.stopped is None or m.stopped > since)]
    return tuple(sorted(inside, key=lambda m: (m.name, m.started or 0.0)))


def first_late(facts: Facts, group: str) -> float | None:
    """When the first member left because it did not poll in time."""
    late = [life.until for life in lives(facts, group) if life.end is End.POLL_TIMEOUT and life.until is not None]
    return min(late, default=None)


def first_change(facts: Facts, group: str, after: float) -> float | None:
    """When the first process of *group* stopped, fell silent for good or was started after *after*."""
    found = [stop.first_at for stop in facts.of_kind("app-stopping") if stop.client_id in _clients(facts, group)]
    for life in lives(facts, group):
        found += [life.process_started, life.process_stopped]
        found.append(life.silent_since if life.end is End.EXPIRED else None)
    return min((at for at in found if at is not None and at > after), default=None)


def _clients(facts: Facts, group: str) -> frozenset[str]:
    return frozenset(life.client_id for life in lives(facts, group))


def _chains(found: Sequence[Life]) -> list[list[Life]]:
    """Lives of one process each: a client that comes again after its last life, its process not started anew."""
    chains: list[list[Life]] = []
    for life in sorted(found, key=lambda one: (one.client_id, one.since or -inf, one.until or inf)):
        fitting = [
            chain
            for chain in chains
            if chain[-1].client_id == life.client_id
            and (chain[-1].until or inf) <= (life.since or -inf) + 1
            and life.process_started is None
            and chain[-1].end in (End.POLL_TIMEOUT, End.DROPPED, End.EXPIRED)
        ]
        if fitting:
            max(fitting, key=lambda chain: chain[-1].until or 0.0).append(life)
        else:
            chains.append([life])
    return chains


def _next(chain: Sequence[Life], chains: Sequence[Sequence[Life]]) -> Life | None:
    """The first life of the process that took the place of this one."""
    ended = chain[-1].until
    later = [
        other[0] for other in chains
        if other[0].client_id == chain[0].client_id and ended is not None and (other[0].since or -inf) >= ended
    ]  # fmt: skip
    return min(later, key=lambda life: life.since or -inf, default=None)


def _stopped(last: Life, successor: Life | None, since: float) -> float | None:
    """When the process ended: as it is told, else when it left for good, at the latest when the next one began."""
    if last.process_stopped is not None:
        return last.process_stopped
    gone = successor is not None and last.until is not None and last.until <= since
    if last.end in (End.LEFT, End.FENCED) or gone:
        return last.until
    if successor is None or last.end is End.EXPIRED:
        return None
    return successor.process_started or successor.since


def _member(facts: Facts, chain: Sequence[Life], successor: Life | None, since: float) -> Member:
    first, last = chain[0], chain[-1]
    settings = settings_of(facts, first.client_id, max(first.since or since, since))
    stopped = _stopped(last, successor, since)
    crashed = stopped is None and last.end is End.EXPIRED
    if crashed and last.until is not None:
        stopped = last.until - settings.session
    return Member(
        name=first.client_id,
        settings=settings,
        started=None if first.since is None or first.since <= since else first.since,
        stopped=stopped,
        crashed=crashed,
        static=first.static,
        instance=client_of(first.member_id) if first.static else None,
        silences=_silences(facts, chain, settings),
    )


def _silences(facts: Facts, chain: Sequence[Life], settings: Settings) -> tuple[tuple[float, float], ...]:
    """Times from the last heartbeat, which was the session timeout before it was expelled, to when it came again.

    A static member, and one before 0.10.1, is silent while its poll is late, too: that comes from the poll.
    """
    return tuple(
        (life.until - settings.session, later.since)
        for life, later in pairwise(chain)
        if life.end is End.EXPIRED
        and life.until is not None
        and later.since is not None
        and not _in_late_poll(facts, life, settings)
    )


def _in_late_poll(facts: Facts, life: Life, settings: Settings) -> bool:
    if settings.heartbeat == 0:
        return True
    expelled = life.until or 0.0
    late = [b for b in facts.batches if b.client_id == life.client_id and b.seconds >= settings.interval]
    return any(b.polls == 1 and b.at - b.seconds < expelled <= b.at for b in late)
