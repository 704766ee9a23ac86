"""Whether a member left just when the time between two of its polls was up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.polling.limits import interval
from mqlab.polling.lines import polls_of
from mqlab.rebalances.index import Lines, between, lines
from mqlab.rebalances.kinds import STARTS

EARLY = 0.3
LATE = 1.0
"""Seconds around the interval: applications round times, the heartbeat thread looks every 100 ms or when it may."""
_GIVEN = frozenset({"partitions-assigned", "sync-completed"})


def overdue(facts: Facts, group: str, client_id: str, until: float) -> float | None:
    """Seconds from the last poll to *until*, where they are max.poll.interval.ms; None for all else.

    The last poll is the begin of the batch in work at *until*, else the end of the one before it, or the moment when
    the member got its partitions.
    """
    known = lines(facts, group)
    run = max((start for start in _runs(facts, group).get(client_id, ()) if start <= until), default=None)
    allowed = _allowed(facts, client_id, run)
    if allowed is None:
        return None
    waits = [until - poll for poll in _polls(facts, known, client_id, until)]
    fitting = [wait for wait in waits if -EARLY <= wait - allowed <= LATE]
    return min(fitting, key=lambda wait: abs(wait - allowed), default=None)


def _polls(facts: Facts, known: Lines, client_id: str, until: float) -> Iterable[float]:
    """Moments that may be that of the last poll: the begin of the batch in work, or the latest of the others."""
    own = polls_of(facts, known.group, client_id)
    place = bisect_right(own, until, key=lambda b: b.at)
    after = own[place] if place < len(own) else None
    if after is not None and after.at - after.longest_seconds <= until:
        yield after.at - after.longest_seconds
        return
    ended = own[place - 1].at if place else None
    near = between(known.clients.get(client_id, ()), until - _LONGEST, until)
    given = max((e.first_at or 0.0 for e in near if e.kind in _GIVEN), default=None)
    if given is None:
        told = between(known.coordinator, until - _LONGEST, until)
        given = max((e.first_at or 0.0 for e in told if e.kind == "rebalance-assigned"), default=None)
    latest = max((moment for moment in (ended, given) if moment is not None), default=None)
    if latest is not None:
        yield latest


_LONGEST = 900.0
"""Seconds before its end in which a member's last poll is looked for: three times the default interval."""


@per_facts
def _runs(facts: Facts, group: str) -> Mapping[str, Sequence[float]]:
    """When the processes of each client began; settings stay the same as long as one runs."""
    return {
        client: [e.first_at or 0.0 for e in these if e.kind in STARTS]
        for client, these in lines(facts, group).clients.items()
    }


@per_facts
def _allowed(facts: Facts, client_id: str, run: float | None) -> float | None:
    return interval(facts, client_id, run)
