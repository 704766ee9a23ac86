"""How long a member was silent before the coordinator gave it up."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.polling.limits import session_limit
from mqlab.rebalances.index import Lines, homes, lines
from mqlab.rebalances.marks import Span

_SHARE = 0.5
"""Of a session timeout: heartbeats come at least three times in one, so half of one is not between two of them."""
_UNUSUAL = 4.0
"""Times the usual distance of its lines: a log that seldom writes is no sign of anything."""
_LOOKED = 50
"""Lines before the silence by which the usual distance is known."""


def silent_since(facts: Facts, known: Lines, span: Span) -> float | None:
    """The last line or sample of the member before its end, where what followed is a silence, else None."""
    if span.until is None:
        return None
    moments = _moments(facts, known.group).get(span.client_id, ())
    place = bisect_left(moments, span.until)
    own = [m for m in moments[max(0, place - _LOOKED) : place] if m >= (span.since or 0.0)]
    if len(own) < 3:
        return None
    gap = span.until - own[-1]
    usual = median(later - one for one, later in pairwise(own))
    limit = _session(facts, span.client_id)
    return own[-1] if limit is not None and gap >= limit * _SHARE and gap >= usual * _UNUSUAL else None


@per_facts
def _session(facts: Facts, client_id: str) -> float | None:
    found = session_limit(facts, client_id, None)
    return found.seconds if found else None


@per_facts
def _moments(facts: Facts, group: str) -> Mapping[str, Sequence[float]]:
    """When each client of *group* wrote a line that is known, or its counters moved."""
    known = lines(facts, group)
    alone = homes(facts, group)
    told: list[tuple[str | None, float]] = []
    for episode in facts.episodes:
        if episode.first_at is not None:
            told += [(alone.get(episode.source), at) for at in (episode.first_at, episode.last_at or episode.first_at)]
    told += [(batch.client_id or alone.get(batch.source), batch.at) for batch in facts.batches]
    for series in facts.named("consumer.records_consumed"):
        owner = series.labels.get("client_id") or series.labels.get("client-id")
        told += [(owner, at) for (_, old), (at, new) in pairwise(series.points) if new != old]
    found: dict[str, set[float]] = defaultdict(set)
    for client, at in told:
        if client is not None and client in known.clients:
            found[client].add(at)
    return {client: sorted(moments) for client, moments in found.items()}
