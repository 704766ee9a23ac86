"""Records that members of a Kafka group handle again or try again and again, by their ledgers and logs.

A record that fails is told by the application (``orders-3@499 failed``) or by the client, which is sent back to one
offset. Committed is the offset of the next record to handle, so it stands at the record, or before it in the same poll.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab import words
from mqlab.facts import Episode, Facts, Position
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups, topics
from mqlab.kafka.member_ledgers import ledgers, noted_records
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, Trigger
from mqlab.memo import per_facts
from mqlab.rows import GRID, Delivery
from mqlab.shared import actors
from mqlab.shared.queues import TOGETHER, Pace, Points, lag, paces
from mqlab.words import Text

say = words.room("rebalances")

TO_THE_SECOND = 1.0
"""Seconds by which ``Delivery.times`` may be early."""
_FAULTS = frozenset({Behind.POLL_TIMEOUT, Behind.EXPIRY})


@dataclass(frozen=True, slots=True)
class Change:
    """A moment at which partitions of a group changed hands."""

    at: float
    until: float
    """When their next owners had them."""
    what: Text
    """In a few words."""
    fault: bool
    """It has a class of its own, whose consequence the repeats are."""
    crash: bool
    """A process is known to have died."""
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Records of one topic that a group handled more than once."""

    group: str
    topic: str
    handled: int
    """Records, each counted once."""
    again: int
    """Records that were handled more than once."""
    extra: int
    """Times that a record was handled again."""
    most: int
    """Times that one record was handled, at most."""
    across: int
    """Of the extra ones, those of records that several members note."""
    sources: tuple[str, ...]
    span: tuple[float, float]
    """In which those records were handled again, to the second; where that is not known for the first time, to ten."""
    by_change: tuple[tuple[Change, int], ...]
    """Extra ones by the last change before they were handled again; where that is not known, by the change that
    followed their first handling."""
    handlings: tuple[tuple[float, float, int], ...]
    """When records were handled before a change, that change, and how many were handled again after it."""
    fitting: int
    """Of those, the ones whose handling before was after the last commit before the change."""
    at_most: bool
    """The log gave places to other records: some of the extra ones may be copies that a producer stored."""


@per_facts
def repeats(facts: Facts) -> tuple[Repeats, ...]:
    """A row for each group and topic whose ledgers are known, by name."""
    own = {group: ledgers(facts, group) for group in groups(facts)}
    noted = sorted({d.topic for d in facts.deliveries})
    return tuple(_of(facts, group, topic, sources) for group, sources in own.items() if sources for topic in noted
                 if any(d.topic == topic and sources.intersection(d.sources) for d in facts.deliveries))  # fmt: skip


@per_facts
def changes(facts: Facts, group: str) -> tuple[Change, ...]:
    """Rebalances of *group* from which on partitions had other owners, and static members that were replaced."""
    found = [
        Change(
            r.started, r.stabilised or r.started, r.what,
            r.behind in _FAULTS or r.trigger is Trigger.STATIC_FENCED, r.behind is Behind.CRASH, r.evidence[:1],
        )
        for r in history(facts, group)
    ]  # fmt: skip
    for episode in facts.of_kind("static-member-replaced", "static-member-fenced"):
        if episode.group in (group, None) and episode.first_at is not None:
            found.append(
                Change(episode.first_at, episode.first_at, say("static-replaced"), True, False, (episode.first,))
            )
    return tuple(sorted(found, key=lambda change: (change.at, change.what)))


def extra(facts: Facts, group: str, since: float, until: float, without: Sequence[float] = ()) -> int:
    """Times that a record was handled again that was handled from *since* to *until*, or changed hands then.

    What followed the changes at the moments *without* had another reason.
    """
    handled = [row for one in repeats(facts) if one.group == group for row in one.handlings]
    ours = (
        times for before, at, times in handled if at not in without and any(since <= m <= until for m in (before, at))
    )
    return sum(ours)


def commit_gap(facts: Facts, group: str, topic: str) -> float | None:
    """Median seconds between two commits of one partition, by a dump; None where fewer than three were seen."""
    gaps = [
        (after.at or 0.0) - (before.at or 0.0)
        for rows in _commits(facts, group, topic).values()
        for before, after in pairwise([p for p in rows if p.end is None])
        if after.committed != before.committed
    ]
    return median(gaps) if len(gaps) > 2 else None


def _of(facts: Facts, group: str, topic: str, sources: frozenset[str]) -> Repeats:
    own = noted_records(facts, topic, sources)
    doubled = [(d, noted) for d, noted in own if len(noted) > 1]
    known = changes(facts, group)
    behind: dict[int, int] = defaultdict(int)
    fitting, commits, span, handlings = 0, _commits(facts, group, topic), list[float](), Counter[tuple[float, float]]()
    for delivery, noted in doubled:
        for before, again, number in _handlings(delivery, sources, noted, known):
            span.append(again)
            if number is not None:
                behind[number] += delivery.messages
                handlings[before, known[number].at] += delivery.messages
                last = _last_commit(commits.get(delivery.queue, ()), known[number].at)
                fitting += delivery.messages if last is None or before + GRID >= last else 0
    return Repeats(
        group,
        topic,
        handled=sum(d.messages for d, _ in own),
        again=sum(d.messages for d, _ in doubled),
        extra=sum(_extra(d, noted) for d, noted in doubled),
        most=max((len(noted) for _, noted in own), default=0),
        across=sum(_extra(d, noted) for d, noted in doubled if len(set(noted)) > 1),
        sources=tuple(sorted({s for _, noted in own for s in noted})),
        span=(min(span, default=0.0), max(span, default=0.0)),
        by_change=tuple((known[number], behind[number]) for number in sorted(behind)),
        handlings=tuple((*moments, times) for moments, times in sorted(handlings.items())),
        fitting=fitting,
        at_most=any(f.overwritten for f in facts.fates if f.topic == topic),
    )


def _handlings(
    delivery: Delivery, sources: frozenset[str], noted: Sequence[str], known: Sequence[Change]
) -> Iterator[tuple[float, float, int | None]]:
    """Each time that a record was handled again: when it was before, when it was then, and which change led to it.

    That is the last one in between; of records whose times are not known the first one after they were handled.
    """
    times = sorted(at for source, at in zip(delivery.sources, delivery.times, strict=False) if source in sources)
    for before, again in pairwise(times):
        number = bisect_left(known, again + TO_THE_SECOND, key=lambda change: change.at) - 1
        yield before, again, number if number >= 0 and known[number].until + TO_THE_SECOND > before else None
    if not times:
        number = bisect_left(known, delivery.at, key=lambda change: change.at)
        told = number < len(known)
        for _ in noted[1:]:
            yield delivery.at, known[number].at if told else delivery.at, number if told else None


def _extra(delivery: Delivery, noted: Sequence[str]) -> int:
    return delivery.messages * (len(noted) - 1)


def _commits(facts: Facts, group: str, topic: str) -> Mapping[str, Sequence[Position]]:
    """Committed offsets of each partition by time, those of dumps and those that snapshots show."""
    found: dict[str, list[Position]] = defaultdict(list)
    for one in facts.positions:
        if (one.group, one.topic) == (group, topic) and one.committed is not None and one.at is not None:
            found[one.queue].append(one)
    return {queue: sorted(rows, key=lambda p: (p.at or 0.0, p.committed or 0)) for queue, rows in found.items()}


def _last_commit(rows: Sequence[Position], until: float) -> float | None:
    """When the last commit before a moment was made; of one that only snapshots show, the earliest it can have been."""
    before = [p for p in rows if (p.at or 0.0) <= until]
    moved = [(a, b) for a, b in pairwise(before) if b.committed != a.committed]
    if not moved:
        return None
    earlier, later = moved[-1]
    return later.at if later.end is None else earlier.at


FEWEST = 3
"""Tries of one record that are "again and again": once may be a hiccup, twice a retry."""
SHORTEST = 60.0
"""Seconds for which it must be tried: bounded retries end sooner (Spring's DefaultErrorHandler: ten, without pause)."""
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
    found = [
        _stuck(facts, place, told)
        for place, told in sorted(tried.items())
        if _tries(told) >= FEWEST
        and max(e.first_at or 0.0 for e in told) - min(e.first_at or 0.0 for e in told) >= SHORTEST
    ]
    return tuple(sorted((one for one in found if one is not None), key=lambda one: (one.since, one.topic, one.queue)))


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
    others = {name: pace for name, pace in paces(queues, since, until + TOGETHER).items() if name != queue}
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
    """The group of those who tried: as their logs name it, else the only one that reads the topic."""
    sources = {e.source for e in told}
    named = {e.group for e in told if e.group} or {e.group for e in facts.episodes if e.source in sources and e.group}
    reading = named or {group for group, name in topics(facts) if name == topic}
    return next(iter(reading)) if len(reading) == 1 else None


def _frozen(points: Points, since: float, until: float, offset: int) -> Points | None:
    """Snapshots from the first try on that stand at the record; None where the partition moved on meanwhile."""
    later = [p for p in points if (p.at or 0.0) >= since]
    during = [p for p in later if (p.at or 0.0) <= until + TOGETHER]
    if any((p.committed or 0) > offset for p in during):
        return None
    at_it = [p for p in later if offset - POLL <= (p.committed or 0) <= offset]
    same = [p for p in at_it if p.committed == at_it[-1].committed]
    moved = any((after.committed or 0) != (before.committed or 0) for before, after in pairwise(at_it[1:]))
    return tuple(same) if not moved else ()
