"""What the material reaches: moments that each source may tell of, clients that any source knows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from mqlab.facts import Episode, Facts, Position, Setting
from mqlab.memo import per_facts
from mqlab.rows import GRID, Assignment, Batch, Client, Flow, Receipt, Tally, TopicFlow
from mqlab.shared.actors import base_name, folder
from mqlab.sources import Role

SECOND = 1.0
"""Seconds within which ``Coverage`` knows the first and the last line of a log."""
LONG = 100
"""Lines from which a file that nobody understands is more than somebody's notes or a configuration, and from which
material is more than an excerpt."""
Reach = tuple[float, float]
_NEW = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""What a coordinator adds to a client id, anew for each time that it joins."""


def is_excerpt(facts: Facts) -> bool:
    """So few lines that no log is there whole."""
    return sum(c.lines for c in facts.coverage) < LONG


@per_facts
def reaches(facts: Facts) -> Mapping[str, Reach]:
    """The earliest and the latest moment that each source may tell of; none of a source that dates nothing."""
    found: dict[str, Reach] = {}
    for source, first, last in _spans(facts):
        if first is not None and last is not None:
            known = found.get(source, (first, last))
            found[source] = min(known[0], first), max(known[1], last)
    return found


def reach(facts: Facts, sources: Collection[str]) -> Reach | None:
    """How far these *sources* reach together; None where none of them dates anything.

    A snapshot or a scrape is one of many: it reaches as far as all of its format do.
    """
    formats = {one.format for one in facts.coverage if one.source in sources and not one.role.is_log}
    alike = {one.source for one in facts.coverage if one.format in formats}
    known = [found for one in {*sources, *alike} if (found := reaches(facts).get(one)) is not None]
    return (min(first for first, _ in known), max(last for _, last in known)) if known else None


def works_on(facts: Facts, sources: Collection[str]) -> float | None:
    """The last ten seconds in which ledgers note something that lie beside client logs among *sources*, by their names.

    ``clients/feed-acked.csv`` is the ledger of the program that writes ``clients/feed.log``: what it logs only when it
    fails it would have logged until then. None where there is none.
    """
    logs = {
        c.source for c in facts.coverage if c.source in sources and c.role in (Role.CLIENT_LOG, Role.APPLICATION_LOG)
    }
    begins = tuple(f"{folder(log)}/{base_name(log)}-".lstrip("/") for log in logs)
    return max((t.at for t in facts.tallies if begins and t.source.startswith(begins)), default=None)


@per_facts
def members(facts: Facts, group: str) -> frozenset[tuple[str, str]]:
    """Client ids that any source knows in *group*, with their hosts where listings tell them."""
    listed = chain[Position | Client | Assignment](facts.positions, facts.clients, facts.assignments)
    found = {(row.client_id, _host(row.peer)) for row in listed if row.group == group and row.client_id}
    named = {client for client, _ in found}
    own = [one for one in facts.episodes if one.group == group]
    told = {one.client_id or _NEW.sub("", one.member_id or "") for one in own} - named
    return frozenset(found | {(client, "") for client in told if client})


@per_facts
def clients(facts: Facts) -> frozenset[str]:
    """Client ids and parties that any source names."""
    rows = chain[Episode | Position | Client | Assignment](
        facts.episodes, facts.positions, facts.clients, facts.assignments
    )
    parties = (name for flow in facts.flows for name in (flow.party, flow.sender, *dict(flow.received)) if name)
    return frozenset((*(row.client_id for row in rows if row.client_id), *parties))


def _host(peer: str | None) -> str:
    """The address without its port."""
    return (peer or "").lstrip("/").partition(":")[0]


_Span = tuple[str, float | None, float | None]


def _spans(facts: Facts) -> Iterator[_Span]:
    for log in facts.coverage:
        yield log.source, log.first_at, None if log.last_at is None else log.last_at + SECOND
    for episode in facts.episodes:
        yield episode.source, episode.first_at, episode.last_at
    for one in facts.series:
        if one.points:
            yield from ((source, one.points[0][0], one.points[-1][0]) for source in one.sources or (one.source,))
    for row in chain[Setting | Position | Client | Assignment | Batch](
        facts.settings, facts.positions, facts.clients, facts.assignments, facts.batches
    ):
        yield row.source, row.at, row.at
    yield from _of_messages(facts)


def _of_messages(facts: Facts) -> Iterator[_Span]:
    """What ledgers and dumps tell."""
    for count in chain[Tally | Receipt](facts.tallies, facts.receipts):
        yield count.source, count.at, count.at + GRID
    for some in facts.deliveries:
        yield from ((source, some.at, some.at + GRID) for source in some.sources)
    for part in facts.parts:
        yield part.source, part.first_at, part.last_at
    for fate in facts.fates:
        yield from ((one, fate.first_at, fate.last_at) for one in (fate.first.source, *fate.stored, *fate.handled))
    for flow in chain[Flow | TopicFlow](facts.flows, facts.topic_flows):
        yield from ((who, flow.first_at, flow.last_at) for who in (flow.sender, *dict(flow.received)) if who)
