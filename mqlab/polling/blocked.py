"""Records that are tried again and again in the polling thread: no poll comes, and the record is behind it.

A consumer that goes back to a record polls between two tries and stays in its group; one that waits in its loop leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.facts import Episode, Facts
from mqlab.kafka.stuck_records import FEWEST, Stuck, many_fail, stuck_records
from mqlab.memo import per_facts
from mqlab.polling import lines
from mqlab.polling.departures import departures
from mqlab.polling.leave import Departure
from mqlab.rebalances.rows import Behind, Rebalance

_MOST = 0.5
"""Share of the limit that the tries must span."""


@per_facts
def behind(facts: Facts, group: str) -> tuple[Stuck, ...]:
    """Records each of which kept every member from polling that left while it was tried."""
    left = departures(facts, group)
    found = []
    for one in stuck_records(facts):
        meanwhile = [d for d in left if one.since <= d.at <= one.until]
        mine = one.group == group and not many_fail(facts, one)
        if mine and meanwhile and all(_blocked(facts, group, one, d) for d in meanwhile):
            found.append(one)
    return tuple(found)


def explains(facts: Facts, one: Stuck, trouble: Sequence[Rebalance]) -> bool:
    """All of *trouble* are poll timeouts that the record made."""
    late = all(row.behind is Behind.POLL_TIMEOUT for row in trouble)
    return late and one.group is not None and one in behind(facts, one.group)


def _blocked(facts: Facts, group: str, one: Stuck, left: Departure) -> bool:
    """The client of *left* tried the record for most of the time in which it should have polled."""
    if left.limit is None:
        return False
    tries = [
        e.first_at or 0.0
        for e, client in lines.own_lines(facts, group, "record-failed")
        if client == left.client_id and _same(one, e) and left.at - left.limit.seconds <= (e.first_at or 0.0) <= left.at
    ]
    return len(tries) >= FEWEST and max(tries) - min(tries) >= _MOST * left.limit.seconds


def _same(one: Stuck, line: Episode) -> bool:
    return (line.topic, line.queue, line.value_max) == (one.topic, one.queue, float(one.offset))
