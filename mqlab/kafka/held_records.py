"""Records that held their partition: each failed again and again while the committed offset stood still at it.

``stuck_records`` takes what is tried for a minute for stuck. A shorter time is one as well where snapshots
show the partition standing still and another one moving; the group may have gone past the record since.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from mqlab.facts import Episode, Facts
from mqlab.kafka.groups import groups, topics
from mqlab.kafka.poll_limits import own_lines
from mqlab.kafka.stuck_records import POLL, Place, Stuck, stuck_records
from mqlab.memo import per_facts
from mqlab.shared.lag import LEAST
from mqlab.shared.queues import Points, lag, paces

RETRIES = 10
"""Attempts with which Spring's DefaultErrorHandler gives a record up by default; more of them are no usual retry."""
COMMITS = 4 * 5.0
"""Seconds for which the offset must be seen to stand still: four times auto.commit.interval.ms (5000)."""

_Line = tuple[Episode, str]


@per_facts
def held_records(facts: Facts) -> tuple[Stuck, ...]:
    """Records that ``stuck_records`` does not tell of, by time."""
    known = {(one.topic, one.queue, one.offset) for one in stuck_records(facts)}
    found = [one for group in groups(facts) for one in _of_group(facts, group) if _place(one) not in known]
    return tuple(sorted(found, key=lambda one: (one.since, *_place(one))))


def gone_past(facts: Facts, one: Stuck) -> float | None:
    """When a snapshot first showed the group behind the record after it had failed for the last time."""
    points = topics(facts).get((one.group or "", one.topic), {}).get(one.queue, ())
    return next((p.at for p in points if (p.at or 0.0) > one.until and (p.committed or 0) > one.offset), None)


def _place(one: Stuck) -> Place:
    return one.topic, one.queue, one.offset


def _of_group(facts: Facts, group: str) -> Iterator[Stuck]:
    tried: dict[Place, list[_Line]] = defaultdict(list)
    for line, client in own_lines(facts, group, "record-failed"):
        if line.topic and line.queue and line.value_max is not None:
            tried[line.topic, line.queue, int(line.value_max)].append((line, client))
    for place, lines in sorted(tried.items()):
        one = _held(facts, group, place, lines)
        if one is not None:
            yield one


def _held(facts: Facts, group: str, place: Place, lines: Sequence[_Line]) -> Stuck | None:
    """The record at *place*, where it failed more often than usual retries do, and held its partition meanwhile."""
    topic, queue, offset = place
    failures = tuple(line for line, _ in lines)
    since = min(line.first_at or 0.0 for line in failures)
    until = max(line.last_at or line.first_at or 0.0 for line in failures)
    clients: Counter[str] = Counter()
    for line, client in lines:
        clients[client] += line.count
    queues = topics(facts).get((group, topic), {})
    frozen = _standing(queues.get(queue, ()), since, until, offset)
    others = {name: pace for name, pace in paces(queues, since, until).items() if name != queue and pace.produced > 0}
    if clients.total() <= RETRIES or not frozen or not any(pace.consumed > 0 for pace in others.values()):
        return None
    return Stuck(group, topic, queue, offset, since, until, clients.total(), failures, (), clients, frozen, others)


def _standing(points: Points, since: float, until: float, offset: int) -> Points:
    """Snapshots while the record was tried, where all of them stand at it, for long, and its lag grew."""
    inside = tuple(p for p in points if since <= (p.at or 0.0) <= until)
    at_it = {p.committed for p in inside}
    if len(at_it) != 1 or not all(offset - POLL <= (committed or 0) <= offset for committed in at_it):
        return ()
    seconds = (inside[-1].at or 0.0) - (inside[0].at or 0.0)
    return inside if seconds >= COMMITS and lag(inside[-1]) - lag(inside[0]) >= LEAST else ()
