"""How often the members of a Kafka group handled the same record, by their own ledgers, and which change is behind it.

A record is (topic, partition, offset), so that a copy which a producer stored at another offset is another record. Only
ledgers of one group count together: two applications that read one topic handle everything twice between them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from mqlab.delivery_groups.missing import too_often
from mqlab.facts import Facts, Position
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.ledgers import ledgers
from mqlab.memo import per_facts
from mqlab.rebalances.history import history
from mqlab.rebalances.rows import Behind, Trigger
from mqlab.rows.groups import Delivery
from mqlab.rows.messages import Fate

BUCKET = 10.0
"""Seconds that one row of deliveries spans."""
_FAULTS = frozenset({Behind.POLL_TIMEOUT, Behind.EXPIRY})


@dataclass(frozen=True, slots=True)
class Change:
    """A moment at which partitions of a group changed hands."""

    at: float
    what: str
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
    """In which those records were handled for the first time, to ten seconds."""
    by_change: tuple[tuple[Change, int], ...]
    """Extra ones by the change that followed their first handling."""
    fitting: int
    """Of those, the ones that were first handled after the last commit before the change."""


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
            r.started, f"{r.trigger} ({r.behind})" if r.behind is not Behind.UNKNOWN else str(r.trigger),
            r.behind in _FAULTS or r.trigger is Trigger.STATIC_FENCED, r.behind is Behind.CRASH, r.evidence[:1],
        )
        for r in history(facts, group)
    ]  # fmt: skip
    for episode in facts.of_kind("static-member-replaced", "static-member-fenced"):
        if episode.group in (group, None) and episode.first_at is not None:
            found.append(Change(episode.first_at, "static member replaced", True, False, (episode.first,)))
    return tuple(sorted(found, key=lambda change: (change.at, change.what)))


def extra(facts: Facts, group: str, since: float, until: float) -> int:
    """Times that a record was handled again because partitions changed hands from *since* to *until*."""
    changed = [pair for one in repeats(facts) if one.group == group for pair in one.by_change]
    return sum(times for change, times in changed if since <= change.at <= until)


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
    own = _rows(facts, topic, sources)
    doubled = [(d, noted) for d, noted in own if len(noted) > 1]
    known = changes(facts, group)
    behind: dict[int, int] = defaultdict(int)
    fitting, commits = 0, _commits(facts, group, topic)
    for delivery, noted in doubled:
        number = bisect_left(known, delivery.at, key=lambda change: change.at)
        if number < len(known):
            times = _extra(delivery, noted)
            behind[number] += times
            last = _last_commit(commits.get(delivery.queue, ()), known[number].at)
            fitting += times if last is None or delivery.at + BUCKET >= last else 0
    return Repeats(
        group,
        topic,
        handled=sum(d.messages for d, _ in own),
        again=sum(d.messages for d, _ in doubled),
        extra=sum(_extra(d, noted) for d, noted in doubled),
        most=max((len(noted) for _, noted in own), default=0),
        across=sum(_extra(d, noted) for d, noted in doubled if len(set(noted)) > 1),
        sources=tuple(sorted({s for _, noted in own for s in noted})),
        span=(min((d.at for d, _ in doubled), default=0.0), max((d.at + BUCKET for d, _ in doubled), default=0.0)),
        by_change=tuple((known[number], behind[number]) for number in sorted(behind)),
        fitting=fitting,
    )


def _rows(facts: Facts, topic: str, sources: frozenset[str]) -> list[tuple[Delivery, list[str]]]:
    """Records with the ledgers among *sources* that note them, one as often as a place was handled too often.

    Where the log gave a place to a second record, the records themselves are told apart, and dated by their
    acknowledgement.
    """
    fates = [f for f in facts.fates if f.topic == topic and f.first_at is not None]
    if any(f.overwritten for f in fates):
        told = [
            Delivery(f.first_at // BUCKET * BUCKET, f.topic, f.queue, _once_a_place(f, sources), f.messages)
            for f in fates if f.first_at is not None
        ]  # fmt: skip
    else:
        told = [d for d in facts.deliveries if d.topic == topic]
    rows = [(d, [s for s in d.sources if s in sources]) for d in told]
    return [(delivery, noted) for delivery, noted in rows if noted]


def _once_a_place(fate: Fate, sources: frozenset[str]) -> tuple[str, ...]:
    noted = [source for source in fate.handled if source in sources]
    return tuple(noted[: 1 + too_often(fate, sources)])


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
