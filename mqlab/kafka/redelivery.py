"""Records that members of a Kafka group handled again, by their ledgers, and the change of members behind each time.

A member handles again what it was handed after somebody had handled it: its own last assignment tells which change that
was, not the last change of the group. A member that is out of the group and does not know it works off what it polled
before: then it is the change that handed those records to another one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor
from statistics import median

from mqlab import words
from mqlab.facts import Facts, Position
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.log_lines import Lines, lines
from mqlab.kafka.member_ledgers import kept, noted_records
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import ONCE, Behind, Trigger
from mqlab.memo import per_facts
from mqlab.rows import GRID, Delivery
from mqlab.shared.actors import base_name
from mqlab.shared.queues import TOGETHER
from mqlab.words import Text

say = words.room("rebalances")

_SECOND = 1.0
"""Seconds by which the times of a ledger to the second may be early."""
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
class Handling:
    """Records that were handled again within one second."""

    before: float
    """When they were handled the time before."""
    again: float
    """Where ledgers tell no times: when the change had handed them out."""
    change: Change | None
    """What handed them out again; None where nothing tells."""
    records: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """Records of one topic that a group handled more than once."""

    group: str
    topic: str
    handled: int
    """Records, each counted once."""
    again: int
    """Records that were handled more than once."""
    most: int
    """Times that one record was handled, at most."""
    across: int
    """Times that a record was handled again that several members note."""
    sources: tuple[str, ...]
    handlings: tuple[Handling, ...]
    """By time."""
    fitting: int
    """Of those that follow a change, the ones whose handling before was after the last commit before it."""
    at_most: bool
    """The log gave places to other records: some of the repeats may be copies that a producer stored."""
    fallen: Mapping[tuple[Position, Position], int]
    """Listings of partitions whose committed offset went back between the first handling and the second; and of how
    many repeats that was."""

    @property
    def forgotten(self) -> int:
        """Of the repeats, those that the group had committed before its offset went back, at most."""
        return sum(min(n, (one.committed or 0) - (two.committed or 0)) for (one, two), n in self.fallen.items())

    @property
    def extra(self) -> int:
        """Times that a record was handled again."""
        return sum(one.records for one in self.handlings)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time that a record was handled again."""
        moments = [one.again for one in self.handlings]
        return min(moments, default=0.0), max(moments, default=0.0)

    @property
    def by_change(self) -> Mapping[Change, int]:
        """How many followed each change, by its time."""
        found: Counter[Change] = Counter()
        for one in self.handlings:
            if one.change is not None:
                found[one.change] += one.records
        return dict(sorted(found.items(), key=lambda item: item[0].until))


@per_facts
def repeats(facts: Facts) -> tuple[Repeats, ...]:
    """A row for each group and topic whose ledgers are known, by name."""
    own = {group: kept(facts, group) for group in groups(facts)}
    noted = sorted({d.topic for d in facts.deliveries})
    return tuple(_of(facts, group, topic, members) for group, members in own.items() if members for topic in noted
                 if any(d.topic == topic and members.keys() & set(d.sources) for d in facts.deliveries))  # fmt: skip


def changes(facts: Facts, group: str) -> tuple[Change, ...]:
    """Rebalances of *group* after which members had its partitions, and static members that were replaced."""
    found = [
        Change(
            r.started, r.stabilised or r.started, r.what,
            r.behind in _FAULTS or r.trigger is Trigger.STATIC_FENCED, r.behind is Behind.CRASH, r.evidence[:1],
        )
        for r in history(facts, group) if not r.empty
    ]  # fmt: skip
    for episode in facts.of_kind("static-member-replaced", "static-member-fenced"):
        if episode.group in (group, None) and episode.first_at is not None:
            found.append(
                Change(episode.first_at, episode.first_at, say("static-replaced"), True, False, (episode.first,))
            )
    return tuple(sorted(found, key=lambda change: (change.until, change.what)))


def extra(facts: Facts, group: str, since: float, until: float, without: Sequence[float] = ()) -> int:
    """Times that a record was handled again that was handled from the second of *since* to *until*, before or then.

    What followed the changes at the moments *without* had another reason.
    """
    every = [one for found in repeats(facts) if found.group == group for one in found.handlings]
    ours = [one for one in every if one.change is not None and one.change.at not in without]
    return sum(one.records for one in ours if any(floor(since) <= m <= until for m in (one.before, one.again)))


def commit_gap(facts: Facts, group: str, topic: str) -> float | None:
    """Median seconds between two commits of one partition, by a dump; None where fewer than three were seen."""
    gaps = [
        (after.at or 0.0) - (before.at or 0.0)
        for rows in _commits(facts, group, topic).values()
        for before, after in pairwise([p for p in rows if p.end is None])
        if after.committed != before.committed
    ]
    return median(gaps) if len(gaps) > 2 else None


def _of(facts: Facts, group: str, topic: str, members: Mapping[str, str]) -> Repeats:
    own = noted_records(facts, topic, frozenset(members))
    doubled = [(d, noted) for d, noted in own if len(noted) > 1]
    finer = any(at % 1 for d, _ in doubled for at in d.times)
    known = changes(facts, group)
    trace = _Trace(members, known, _assignments(known, lines(facts, group)), 0.0 if finer else _SECOND)
    commits, fitting, found = _commits(facts, group, topic), 0, Counter[tuple[float, float, Change | None]]()
    fell = {queue: tuple(_fallen(rows)) for queue, rows in commits.items()}
    fallen = Counter[tuple[Position, Position]]()
    for delivery, noted in doubled:
        for before, again, change in trace.handlings(delivery, noted):
            found[before, again, change] += delivery.messages
            for (since, one), (until, two) in fell.get(delivery.queue, ()):
                if before <= until and since <= again:
                    fallen[one, two] += delivery.messages
            if change is not None:
                last = _last_commit(commits.get(delivery.queue, ()), change.at)
                fitting += delivery.messages if last is None or before + GRID >= last else 0
    return Repeats(
        group,
        topic,
        handled=sum(d.messages for d, _ in own),
        again=sum(d.messages for d, _ in doubled),
        most=max((len(noted) for _, noted in own), default=0),
        across=sum(d.messages * (len(noted) - 1) for d, noted in doubled if len(set(noted)) > 1),
        sources=tuple(sorted({s for _, noted in own for s in noted})),
        handlings=tuple(sorted((Handling(*key, records) for key, records in found.items()), key=_in_order)),
        fitting=fitting,
        at_most=any(f.overwritten for f in facts.fates if f.topic == topic),
        fallen=dict(sorted(fallen.items(), key=lambda item: (item[0][0].queue, item[0][0].source))),
    )


def _in_order(one: Handling) -> tuple[float, float, float]:
    return one.again, one.before, one.change.until if one.change is not None else 0.0


Assigned = tuple[float, Change | None]
"""When a member says that it was assigned a partition, and the change by which it was."""


def _assignments(known: Sequence[Change], told: Lines) -> Mapping[tuple[str, str], Sequence[Assigned]]:
    """Assignments by client and partition, by time: the members' own logs."""
    found: dict[tuple[str, str], list[Assigned]] = defaultdict(list)
    for client, these in told.clients.items():
        for line in these:
            if line.kind == "partitions-assigned" and line.first_at is not None:
                change = _nearest(known, line.first_at)
                for partition in (line.reason or "").split(", "):
                    found[client, partition].append((line.first_at, change))
    return found


def _nearest(known: Sequence[Change], at: float) -> Change | None:
    """The change by which a member has its partitions that says so at a moment."""
    begun = [change for change in known if change.at <= at <= change.until + ONCE]
    return min(begun, key=lambda change: abs(change.until - at), default=None)


@dataclass(frozen=True, slots=True)
class _Trace:
    """What tells which change is behind a handling."""

    members: Mapping[str, str]
    """Client by ledger."""
    changes: Sequence[Change]
    assignments: Mapping[tuple[str, str], Sequence[Assigned]]
    late: float
    """Seconds by which a ledger's time may be early."""

    def handlings(self, delivery: Delivery, noted: Sequence[str]) -> Iterator[tuple[float, float, Change | None]]:
        """Each time that a record was handled again: when it was before, when it was then, and what led to it."""
        times = zip(delivery.times, delivery.sources, strict=False)
        rows = sorted((at, self.members[source]) for at, source in times if source in self.members)
        partition = f"{delivery.topic}-{delivery.queue}"
        for one, two in pairwise(rows):
            yield one[0], two[0], self._between(partition, one, two)
        if not rows:
            place = bisect_left(self.changes, delivery.at, key=lambda change: change.until)
            change = self.changes[place] if place < len(self.changes) else None
            for _ in noted[1:]:
                yield delivery.at, change.until if change is not None else delivery.at, change

    def _between(self, partition: str, one: tuple[float, str], two: tuple[float, str]) -> Change | None:
        """By which change the member of *two* had the record that the one of *one* had handled."""
        (before, other), (again, member) = one, two
        own = self._last(member, partition, again)
        if own is None:
            place = bisect_right(self.changes, again + self.late, key=lambda change: change.until) - 1
            change = self.changes[place] if place >= 0 else None
            if change is None or change.until + self.late > before:
                return change
            # Who was put out of the group comes second: it works off an old poll, and the record was handed on before.
            return change if change.fault and other != member else None
        if own[0] + self.late > before:
            return own[1]
        # It works off an old poll: the record came to the other one meanwhile.
        others = self._last(other, partition, before) if other != member else None
        return max(own, others, key=lambda told: told[0])[1] if others is not None else None

    def _last(self, client: str, partition: str, until: float) -> Assigned | None:
        every = self.assignments.get((client, partition), ())
        place = bisect_right(every, until + self.late, key=lambda one: one[0])
        return every[place - 1] if place else None


def _commits(facts: Facts, group: str, topic: str) -> Mapping[str, Sequence[Position]]:
    """Committed offsets of each partition by time, those of dumps and those that snapshots show."""
    found: dict[str, list[Position]] = defaultdict(list)
    for one in facts.positions:
        if (one.group, one.topic) == (group, topic) and one.committed is not None and one.at is not None:
            found[one.queue].append(one)
    return {queue: sorted(rows, key=lambda p: (p.at or 0.0, p.committed or 0)) for queue, rows in found.items()}


Listed = tuple[float, Position]
"""When a listing of positions was made, and its row of a partition."""


def _fallen(rows: Sequence[Position]) -> Iterator[tuple[Listed, Listed]]:
    """The last listing before a committed offset went back, and the first one after that.

    Commands of one snapshot tell of one moment; the same command again tells of a later one.
    """
    listed = [(p.at, p) for p in rows if p.end is not None and p.at is not None]
    for (since, one), (until, two) in pairwise(listed):
        apart = until - since > TOGETHER or (
            one.source != two.source and base_name(one.source) == base_name(two.source)
        )
        if (two.committed or 0) < (one.committed or 0) and apart:
            yield (since, one), (until, two)


def _last_commit(rows: Sequence[Position], until: float) -> float | None:
    """When the last commit before a moment was made; of one that only snapshots show, the earliest it can have been."""
    before = [p for p in rows if (p.at or 0.0) <= until]
    moved = [(a, b) for a, b in pairwise(before) if b.committed != a.committed]
    if not moved:
        return None
    earlier, later = moved[-1]
    return later.at if later.end is None else earlier.at
