"""Who led each partition of Kafka, who followed and was in sync, and where its log began and ended.

What lines about replicas say stands in their ``reason``, in the words of each version.
A leader's first offset is the end of its own log when it began. It lies below what its predecessor had where records
were not copied in time; an ordinary restart or a preferred election leaves no such step. A topic that was deleted and
made again begins a new life, in which its epochs and offsets start at 0.
What consumers can see or commit lies below the high watermark; a broker's own log end may lie above it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Episode, Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.shared.configured import replication_factors
from mqlab.shared.wording import sample
from mqlab.words import room

ways = room("delivery-ways")

_EPOCH = re.compile(r"^\s*(?:leader\s+)?(?:epoch\s+)?(\d+)\b", re.IGNORECASE)
_WATERMARK = re.compile(r"high watermark (\d+)")
_STARTED_ISR = re.compile(r"\bISR \[([\d,\s]*)\]")
_ELECTED_EPOCH = re.compile(r"leaderEpoch[=:]\s*(?:\d+ -> )?(\d+)", re.IGNORECASE)
_ISR_LIST = re.compile(r"isr=\w*\(?\[?([\d,\s]*)", re.IGNORECASE)
_ISR_PLAIN = re.compile(r"\bISR:([\d,]*)")
_ISR_CHANGE = re.compile(r"\bisr: \[[\d,\s]*\] -> \[([\d,\s]*)\]")
_ELIGIBLE = re.compile(r"\belr: \[([\d,\s]*)\]", re.IGNORECASE)
_DESCRIBED_ISR = re.compile(r"\bisr[= ]\[?([\d,]*)", re.IGNORECASE)

SLACK = 5.0
"""Seconds between two brokers' lines about one election: a broker fetches what the controller decided within
controller.quorum.fetch.timeout.ms (2 s) and hears that it may stop with its heartbeat (broker.heartbeat.interval.ms,
2 s); a second more for clocks that NTP keeps and logs in whole seconds."""

Replicas = tuple[str, ...]
"""Ids of brokers."""
Place = tuple[str, str]
"""Topic and partition."""
Seen = tuple[float, int, Series | Position]
"""Moment, offset, and what shows it."""


@dataclass(frozen=True, slots=True)
class Leadership:
    """One broker begins to lead one partition."""

    topic: str
    queue: str
    epoch: int | None
    leader: str
    """The broker's id, or the log that says so where it names none."""
    from_offset: int
    """End of its own log at that moment."""
    high_watermark: int | None
    isr: Replicas | None
    at: float | None
    evidence: Evidence
    life: int = 0
    """How often the topic had been made again before."""


@dataclass(frozen=True, slots=True)
class ReplicaEnd:
    """Where one replica's log ended, as it began to follow, or was cut."""

    queue: str
    epoch: int | None
    replica: str
    offset: int
    at: float | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class InSync:
    """Which replicas were in sync, by one line."""

    at: float | None
    epoch: int | None
    isr: Replicas
    controller: bool
    """A controller says so, whose word decides who may be elected."""
    evidence: Evidence
    leader: str | None = None
    """Whom the controller made leader; -1 is nobody."""


@dataclass(frozen=True, slots=True)
class End:
    """How far a partition's log is known to have reached."""

    offset: int
    evidence: Evidence


def started(reason: str | None) -> tuple[int | None, int | None, Replicas | None]:
    """Epoch, high watermark and in-sync set by a ``starts at leader epoch`` line, as far as its version tells them."""
    text = reason or ""
    epoch, watermark, isr = _EPOCH.search(text), _WATERMARK.search(text), _STARTED_ISR.search(text)
    return int(epoch[1]) if epoch else None, int(watermark[1]) if watermark else None, _ids(isr[1]) if isr else None


def elected(reason: str | None) -> tuple[int | None, Replicas | None, Replicas]:
    """Epoch, in-sync set and formerly eligible replicas (KIP-966) by the state that a controller of either kind writes.

    Eligible replicas were out of sync before, and are known to have everything that was committed.
    """
    text = reason or ""
    epoch = _ELECTED_EPOCH.search(text)
    changed, eligible = _ISR_CHANGE.search(text), _ELIGIBLE.search(text)
    isr = changed or _ISR_LIST.search(text) or _ISR_PLAIN.search(text)
    formerly_eligible = _ids(eligible[1]) if changed and eligible else ()
    return int(epoch[1]) if epoch else None, _ids(isr[1]) if isr else None, formerly_eligible


def in_sync_set(kind: str, reason: str | None) -> Replicas | None:
    """The in-sync set after a line about it, or that a description shows."""
    text = reason or ""
    if kind == "isr-shrunk":
        return _ids(text.rpartition(" to ")[2]) if " to " in text else None
    if kind == "isr-updated":
        return _ids(text) or None
    described = _DESCRIBED_ISR.search(text)
    return _ids(described[1]) if described else None


def _ids(text: str) -> Replicas:
    return tuple(re.findall(r"\d+", text))


@per_facts
def leaderships(facts: Facts) -> Mapping[Place, tuple[Leadership, ...]]:
    """Leaderships of each partition, in the order in which they followed each other."""
    starts: dict[Place, list[Leadership]] = defaultdict(list)
    for place, line, offset in _placed(facts, "leader-started"):
        epoch, watermark, isr = started(line.reason)
        broker = line.node or line.source
        starts[place].append(Leadership(*place, epoch, broker, offset, watermark, isr, line.first_at, line.first))
    return {place: _in_order(rows) for place, rows in sorted(starts.items())}


def _in_order(rows: Sequence[Leadership]) -> tuple[Leadership, ...]:
    """By life and epoch; clocks of brokers differ, so that times decide only where epochs do not."""
    placed: list[Leadership] = []
    life = 0
    for row in sorted(rows, key=lambda r: (r.at or 0.0, r.epoch or 0, r.evidence.source, r.evidence.line or 0)):
        if placed and row.epoch == 0 and row.from_offset == 0:
            life += 1
        placed.append(replace(row, life=life))
    return tuple(sorted(placed, key=lambda r: (r.life, r.epoch if r.epoch is not None else -1, r.at or 0.0)))


@per_facts
def follower_starts(facts: Facts) -> Mapping[Place, tuple[ReplicaEnd, ...]]:
    """Followers of each partition that began, by time."""
    return _replica_ends(facts, "follower-started")


@per_facts
def truncations(facts: Facts) -> Mapping[Place, tuple[ReplicaEnd, ...]]:
    """Logs that were really cut, by time; those in which nothing stood behind the place are not among them."""
    return _replica_ends(facts, "log-truncated")


def _replica_ends(facts: Facts, kind: str) -> Mapping[Place, tuple[ReplicaEnd, ...]]:
    found: dict[Place, list[ReplicaEnd]] = defaultdict(list)
    for place, line, offset in _placed(facts, kind):
        epoch, broker = started(line.reason)[0], line.node or line.source
        found[place].append(ReplicaEnd(place[1], epoch, broker, offset, line.first_at, line.first))
    return {place: tuple(rows) for place, rows in found.items()}


def _placed(facts: Facts, kind: str) -> Iterator[tuple[Place, Episode, int]]:
    for line in facts.of_kind(kind):
        if line.topic and line.queue and line.value_min is not None:
            yield (line.topic, line.queue), line, round(line.value_min)


@per_facts
def in_sync(facts: Facts) -> Mapping[Place, tuple[InSync, ...]]:
    """What was told of each partition's in-sync set, by time."""
    sets: dict[Place, list[InSync]] = defaultdict(list)
    kinds = ("leader-elected", "unclean-election", "isr-shrunk", "isr-updated", "partition-described",
             "partition-state")  # fmt: skip
    for line in facts.of_kind(*kinds[:2]):
        epoch, isr, _ = elected(line.reason)
        if line.topic and line.queue and isr is not None:
            row = InSync(line.first_at, epoch, isr, True, line.first, offered(line) or None)
            sets[line.topic, line.queue].append(row)
    for line in facts.of_kind(*kinds[2:]):
        isr = in_sync_set(line.kind, line.reason)
        if line.topic and line.queue and isr:
            sets[line.topic, line.queue].append(InSync(line.first_at, None, isr, False, line.first))
    for place, rows in leaderships(facts).items():
        sets[place] += [InSync(r.at, r.epoch, r.isr, False, r.evidence) for r in rows if r.isr]
    return {place: tuple(sorted(rows, key=lambda r: (r.at or 0.0, r.epoch or -1))) for place, rows in sets.items()}


@per_facts
def single_copies(facts: Facts) -> bool:
    """Surely no partition has a second replica: only one was ever in sync, and the metrics miss none."""
    lacking = [v for s in facts.named("broker.under_replicated_partitions") for _, v in s.points]
    sets = [row for rows in in_sync(facts).values() for row in rows]
    return bool(sets and lacking) and not any(lacking) and all(len(row.isr) == 1 for row in sets)


def one_broker(facts: Facts) -> bool:
    """Nobody but one broker is known, and it holds the only copy of every partition: none can take over from it."""
    sets = {row.isr for rows in in_sync(facts).values() for row in rows}
    copies = {setting.value for setting in replication_factors(facts)}
    nodes = {e.node for e in facts.episodes if e.node and e.system == "kafka"}
    return len(sets) == 1 and len(next(iter(sets))) == 1 and copies <= {"1"} and len(nodes) <= 1


def offered(line: Episode) -> str:
    """The broker that a controller's line makes leader; empty where it names none."""
    return "" if line.value_min is None else f"{line.value_min:.0f}"


def furthest(facts: Facts, ends: Sequence[Seen], before: Leadership, after: Leadership, stale: int) -> End | None:
    """The largest of *ends* while *before* led; what a replica shows that was not cut yet is not above *stale*.

    The last seconds do not count: by another clock they may belong to the new leader.
    """
    since, until = before.at or 0.0, after.at or 0.0
    own = [seen for seen in ends if since <= seen[0] < until - SLACK and seen[1] > stale]
    if not own:
        return None
    at, offset, row = max(own, key=lambda seen: (seen[1], -seen[0]))
    if isinstance(row, Series):
        return End(offset, sample(facts, row, at, ways("end-counted")))
    return End(offset, Evidence(row.source, row.line, row.text, ways("visible")))


def diverged(facts: Facts, after: Leadership) -> End | None:
    """The furthest position at which a consumer learned that the log goes on from the first offset of *after*."""
    own = [
        e for e in facts.of_kind("truncation-detected")
        if (e.topic, e.queue, e.reason) == (after.topic, after.queue, str(after.from_offset))
        and e.value_max is not None and (after.at is None or (e.first_at or 0.0) >= after.at - SLACK)
    ]  # fmt: skip
    last = max(own, key=lambda e: e.value_max or 0, default=None)
    return End(round(last.value_max or 0), last.last) if last is not None else None


@per_facts
def log_ends(facts: Facts) -> Mapping[Place, Sequence[Seen]]:
    """Log ends that brokers count, of leaders and followers alike."""
    return _counted(facts, "broker.log_end_offset")


@per_facts
def watermarks(facts: Facts) -> Mapping[Place, Sequence[Seen]]:
    """Ends that snapshots and exporters show, and offsets that were committed up to there."""
    found = _counted(facts, "topic.end_offset")
    for row in facts.positions:
        reached = row.committed if row.end is None else row.end
        if row.at is not None and reached is not None:
            found[row.topic, row.queue].append((row.at, reached, row))
    return found


def _counted(facts: Facts, *names: str) -> dict[Place, list[Seen]]:
    found: dict[Place, list[Seen]] = defaultdict(list)
    for series in facts.named(*names):
        topic, queue = series.labels.get("topic"), series.labels.get("partition")
        if topic and queue:
            found[topic, queue] += [(at, round(value), series) for at, value in series.points]
    return found


def last_end(facts: Facts, place: Place, since: float | None = None) -> int | None:
    """The log end that was seen last, after *since* only; None where none was."""
    at, offset = _last_ends(facts).get(place, (None, None))
    return offset if since is None or (at is not None and at > since) else None


def last_start(facts: Facts, place: Place) -> int | None:
    """The log start that was seen last."""
    return _last_starts(facts).get(place, (None, None))[1]


def looked(facts: Facts, place: Place) -> tuple[float, ...]:
    """When the log start and end of these were seen."""
    return tuple(known[place][0] for known in (_last_starts(facts), _last_ends(facts)) if place in known)


@per_facts
def _last_ends(facts: Facts) -> Mapping[Place, tuple[float, int]]:
    """Ends that only a leader tells: snapshots and exporters ask for the high watermark."""
    found = [(place, seen[-1][:2]) for place, seen in _by_time(_counted(facts, "topic.end_offset"))]
    found += [((p.topic, p.queue), (p.at, p.end)) for p in facts.positions if p.end is not None and p.at is not None]
    return dict(sorted(found))


@per_facts
def _last_starts(facts: Facts) -> Mapping[Place, tuple[float, int]]:
    """What a query shows may be as old as the point before; the broker's own lines are exact."""
    counted = _counted(facts, "topic.start_offset", "broker.log_start_offset")
    found = [(place, (seen[-2:][0][0], seen[-1][1])) for place, seen in _by_time(counted)]
    found += [((p.topic, p.queue), (p.at or 0.0, p.start)) for p in facts.positions if p.start is not None]
    found += [
        ((e.topic, e.queue), (e.last_at or 0.0, round(e.value_max))) for e in facts.of_kind("log-start-moved")
        if e.topic and e.queue and e.value_max is not None
    ]  # fmt: skip
    return dict(sorted(found))


def _by_time(counted: Mapping[Place, Sequence[Seen]]) -> Iterator[tuple[Place, list[Seen]]]:
    for place, seen in counted.items():
        yield place, sorted(seen, key=lambda row: row[:2])
