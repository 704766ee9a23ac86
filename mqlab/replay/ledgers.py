"""How long a record took where no application tells of its polls: from ledgers, while records waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import sqrt
from statistics import quantiles

from mqlab.facts import Facts
from mqlab.models.group_terms import Pace
from mqlab.replay.pace import Paces, steady
from mqlab.replay.window import Waiting
from mqlab.rows.groups import Tally

_SECONDS = 10.0
"""Time that one row of a ledger stands for (``Tally``)."""
_ROLES = ("processed", "consumed")
_QUARTILE = 0.6745
"""Standard deviations from the middle of a normal distribution to its upper quartile."""
_ROWS = 3
"""Ten seconds of full work that there must be."""


def from_ledgers(facts: Facts, topics: Collection[str], waiting: Waiting, since: float, until: float) -> Paces | None:
    """Ten seconds over what one ledger noted in them; None without enough of them.

    Somebody works all the time where records wait for the group before and after, and the ledger goes on before and
    after as well, but for waits in rebalances: so it is the upper quartile of what was noted. Counts of records that
    follow each other deviate by the deviation of one record, of its mean, times the root of the count.
    """
    noted = _noted([t for t in facts.tallies if t.role in _ROLES and t.topic in topics])
    full = [
        count
        for (source, at), count in noted.items()
        if since <= at and at + _SECONDS <= until
        if (source, at - _SECONDS) in noted and (source, at + _SECONDS) in noted and _waits(waiting, at, count)
    ]
    if len(full) < _ROWS:
        return None
    _, middle, upper = quantiles(full, n=4, method="inclusive")
    deviation = (upper - middle) / _QUARTILE
    each = _SECONDS / upper
    return replace(steady(each), common=Pace(((since, each),), each * deviation / sqrt(upper)))


def _noted(tallies: Sequence[Tally]) -> Counter[tuple[str, float]]:
    found: Counter[tuple[str, float]] = Counter()
    for tally in tallies:
        found[tally.source, tally.at] += tally.messages
    return found


def _waits(waiting: Waiting, at: float, count: int) -> bool:
    """More records waited in the listings next to it than were handled in it."""
    before = [lag for moment, lag in waiting if moment <= at]
    after = [lag for moment, lag in waiting if moment >= at + _SECONDS]
    return bool(before and after) and min(before[-1], after[0]) > count
