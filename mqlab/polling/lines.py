"""Which client of a Kafka group a line of its log, or a poll that it worked off, belongs to.

Lines of an application name no client: they belong to the only client that the log tells of.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.questions import actors
from mqlab.rebalances.index import homes
from mqlab.rows.groups import Batch

_WATCHED = ("process-exit", "process-started")
_NEXT = 8
"""Polls that end after a moment and may have begun before it: those of as many processes with one client id."""


def client_of(facts: Facts, group: str, row: Episode | Batch) -> str | None:
    """The client of *group* that a row is about: as it says, else the only one of its log; None for others' rows.

    A supervisor's line names the process, often after its client.
    """
    if row.group not in (None, group):
        return None
    watched = row.reason if isinstance(row, Episode) and row.kind in _WATCHED else None
    return (
        row.client_id or (watched if watched in members(facts, group) else None) or homes(facts, group).get(row.source)
    )


@per_facts
def members(facts: Facts, group: str) -> frozenset[str]:
    """Client ids that lines about *group* name."""
    named = {e.client_id for e in facts.episodes if e.group == group and e.client_id}
    return frozenset(named | set(homes(facts, group).values()))


@per_facts
def polls(facts: Facts, group: str) -> tuple[Batch, ...]:
    """Polls that clients of *group* worked off, by time; each names the client that did."""
    named = {client for client, own in actors.groups(facts).items() if own == group}
    found = []
    for batch in facts.batches:
        client = client_of(facts, group, batch)
        if client and (batch.group == group or batch.source in homes(facts, group) or client in named):
            found.append(replace(batch, client_id=client, group=group))
    return tuple(found)


@per_facts
def own_lines(facts: Facts, group: str, *kinds: str) -> tuple[tuple[Episode, str], ...]:
    """Lines of these kinds with the client of *group* that each is about, by time."""
    named = [(e, client_of(facts, group, e)) for e in facts.of_kind(*kinds) if e.first_at is not None]
    own = members(facts, group)
    return tuple((e, client) for e, client in named if client and (e.group == group or client in own))


@per_facts
def polls_of(facts: Facts, group: str, client_id: str) -> tuple[Batch, ...]:
    """Polls of one client, by time."""
    return tuple(sorted((b for b in polls(facts, group) if b.client_id == client_id), key=_done))


def covering(facts: Facts, group: str, client_id: str, at: float) -> Batch | None:
    """The poll that *client_id* was working off at *at*, where a line tells how long it took."""
    own = polls_of(facts, group, client_id)
    place = bisect_left(own, at, key=_done)
    fitting = [b for b in own[place : place + _NEXT] if b.at - b.longest_seconds <= at]
    return max(fitting, key=lambda b: (b.longest_seconds, b.at), default=None)


def last_poll(facts: Facts, group: str, client_id: str, at: float) -> Batch | None:
    """The last poll that *client_id* had worked off at *at*."""
    own = polls_of(facts, group, client_id)
    place = bisect_right(own, at, key=_done)
    return own[place - 1] if place else None


@per_facts
def signs(facts: Facts, group: str, client_id: str, *kinds: str) -> Sequence[float]:
    """When *client_id* wrote lines of these kinds or had worked off a poll, sorted."""
    told = [e.first_at or 0.0 for e, who in own_lines(facts, group, *kinds) if who == client_id]
    return sorted([*told, *(b.at for b in polls_of(facts, group, client_id))])


def _done(batch: Batch) -> float:
    return batch.at
