"""Records of a Kafka topic that a group tries again and again, by the lines of its applications and clients.

A record that fails is told by the application (``orders-3@499 failed``) or by the client, which is sent back to one
offset. Committed is the offset of the next record to handle, so it stands at the record, or before it in the same poll.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts
from mqlab.kafka.groups import groups, topics
from mqlab.kafka.log_lines import homes
from mqlab.memo import per_facts
from mqlab.shared import actors
from mqlab.shared.lag import LEAST
from mqlab.shared.queues import Pace, Points, lag, paces

FEWEST = 3
"""Tries of one record that are "again and again": once may be a hiccup, twice a retry."""
SHORTEST = 60.0
"""Seconds for which it must be tried: bounded retries end sooner (Spring's DefaultErrorHandler: ten, without pause)."""
RETRIES = 10
"""Attempts after which that gives a record up by default: more of them are no usual retry, however long they take."""
COMMITS = 4 * 5.0
"""Seconds for which snapshots must show its partition at it then: four times auto.commit.interval.ms (5000)."""
POLL = 500
"""max.poll.records by default: what may lie between the committed offset and the record in one poll."""

Place = tuple[str, str, int]
"""Topic, partition and offset."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """One record that kept failing, and what happened to its partition meanwhile."""

    group: str | None
    topic: str
    queue: str
    offset: int
    since: float
    until: float
    tries: int
    failures: tuple[Episode, ...]
    """Lines of the application about the record; empty where only the client tells of it."""
    sought: tuple[Episode, ...]
    """Lines of the client that goes back to it."""
    clients: Mapping[str, int]
    """Who tried it, in their order, and how often."""
    frozen: Points
    """Snapshots of the partition meanwhile, all with the same committed offset; empty where none tells."""
    others: Mapping[str, Pace]
    """Pace of the other partitions that took messages in meanwhile."""

    @property
    def moving(self) -> list[str]:
        """Other partitions whose committed offset moved."""
        return [queue for queue, pace in self.others.items() if pace.consumed > 0]

    @property
    def grown(self) -> int:
        """Messages by which the partition's lag grew."""
        return lag(self.frozen[-1]) - lag(self.frozen[0]) if self.frozen else 0

    @property
    def tried(self) -> float:
        """Seconds from the first try to the last."""
        moments = [e.first_at for e in (*self.failures, *self.sought) if e.first_at is not None]
        return max(moments) - min(moments)

    @property
    def seconds(self) -> float:
        """From the first try, or the first snapshot, to the last of both."""
        return self.until - self.since


@per_facts
def stuck_records(facts: Facts) -> tuple[Stuck, ...]:
    """Every record that was tried for long, by time; without those whose partition moved on meanwhile."""
    tried: dict[Place, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("record-failed", "offset-sought"):
        if episode.topic and episode.queue and episode.value_max is not None and episode.first_at is not None:
            tried[episode.topic, episode.queue, int(episode.value_max)].append(episode)
    found = [_stuck(facts, place, told) for place, told in sorted(tried.items()) if _tries(told) >= FEWEST]
    held = (one for one in found if one is not None and (one.tried >= SHORTEST or _held(one)))
    return tuple(sorted(held, key=lambda one: (one.since, one.topic, one.queue)))


def _held(one: Stuck) -> bool:
    """It failed more often than records are usually tried, and snapshots show that it alone held its partition."""
    stood = (one.frozen[-1].at or 0.0) - (one.frozen[0].at or 0.0) if one.frozen else 0.0
    return one.tries > RETRIES and stood >= COMMITS and one.grown >= LEAST and bool(one.moving)


def gone_past(facts: Facts, one: Stuck) -> float | None:
    """When a snapshot first showed the group behind the record after it had failed for the last time."""
    points = topics(facts).get((one.group or "", one.topic), {}).get(one.queue, ())
    return next((p.at for p in points if (p.at or 0.0) > one.until and (p.committed or 0) > one.offset), None)


def many_fail(facts: Facts, one: Stuck) -> bool:
    """Other records of the partition, or of most partitions, fail as well: it is not this record, it is the work."""
    failed = [e for e in facts.of_kind("record-failed") if e.topic == one.topic and e.first_at is not None]
    inside = [e for e in failed if one.since <= (e.first_at or 0.0) <= one.until]
    here = {e.value_max for e in inside if e.queue == one.queue}
    elsewhere = {e.queue for e in inside if e.queue != one.queue}
    return len(here) > FEWEST or len(elsewhere) > len(one.others) / 2


def _tries(told: Iterable[Episode]) -> int:
    """One try makes a line of the application and one of the client."""
    counted: Counter[str] = Counter()
    for episode in told:
        counted[episode.kind] += episode.count
    return max(counted.values(), default=0)


def _stuck(facts: Facts, place: Place, told: Sequence[Episode]) -> Stuck | None:
    topic, queue, offset = place
    ordered = sorted(told, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
    since, until = ordered[0].first_at or 0.0, ordered[-1].last_at or 0.0
    group = _group(facts, topic, ordered)
    queues = topics(facts).get((group or "", topic), {})
    frozen = _frozen(queues.get(queue, ()), since, until, offset)
    if frozen is None:
        return None
    end = max([until, *(p.at or 0.0 for p in frozen)])
    others = {name: pace for name, pace in paces(queues, since, end).items() if name != queue}
    kinds = {kind: tuple(e for e in ordered if e.kind == kind) for kind in ("record-failed", "offset-sought")}
    return Stuck(
        group, topic, queue, offset, since, end, _tries(ordered), kinds["record-failed"], kinds["offset-sought"],
        _clients_stuck(facts, ordered), frozen, {name: pace for name, pace in others.items() if pace.produced > 0},
    )  # fmt: skip


def _clients_stuck(facts: Facts, told: Sequence[Episode]) -> Mapping[str, int]:
    """Tries by client: as a line of its log names it, else by the name of the log."""
    by_source: dict[str, list[Episode]] = defaultdict(list)
    for episode in told:
        by_source[episode.source].append(episode)
    found: dict[str, int] = {}
    for source, lines in by_source.items():
        named = {e.client_id for e in lines if e.client_id} or {client for _, client in facts.named_clients(source)}
        name = next(iter(named)) if len(named) == 1 else actors.base_name(source)
        found[name] = found.get(name, 0) + _tries(lines)
    return found


def _group(facts: Facts, topic: str, told: Sequence[Episode]) -> str | None:
    """The group of those who tried: as their logs name it, else whose logs these are, or the only one that reads it."""
    sources = {e.source for e in told}
    named = {e.group for e in told if e.group} or {e.group for e in facts.episodes if e.source in sources and e.group}
    named = named or {group for group in groups(facts) if sources & homes(facts, group).keys()}
    reading = named or {group for group, name in topics(facts) if name == topic}
    return next(iter(reading)) if len(reading) == 1 else None


def _frozen(points: Points, since: float, until: float, offset: int) -> Points | None:
    """Snapshots from the first try on that stand at the record; None where the partition moved on meanwhile."""
    later = [p for p in points if (p.at or 0.0) >= since]
    during = [p for p in later if (p.at or 0.0) <= until]
    if any((p.committed or 0) > offset for p in during):
        return None
    at_it = [p for p in later if offset - POLL <= (p.committed or 0) <= offset]
    same = [p for p in at_it if p.committed == at_it[-1].committed]
    moved = any((after.committed or 0) != (before.committed or 0) for before, after in pairwise(at_it[1:]))
    return tuple(same) if not moved else ()
