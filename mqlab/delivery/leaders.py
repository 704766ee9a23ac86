"""Who led each partition of Kafka from which offset on, and how far its log reached.

What the lines about replicas say, taken from the part of them that episodes keep as their ``reason``.

Sample reasons::

    5 from offset 100 with high watermark 98 ISR [1,2] addingReplicas [] … Previous leader epoch was 4.
    5 from offset 100 with partition epoch 6, high watermark 98, ISR [1,2], adding replicas [] …
    LeaderAndIsr(leader=3, leaderEpoch=2, isr=List(3, 1), zkVersion=2)
    (Leader:-1,ISR:3,LeaderEpoch:3,ZkVersion:3,ControllerEpoch:2)
    isr: [3] -> [1], leader: 3 -> 1, leaderEpoch: 2 -> 3, partitionEpoch: 5 -> 6
    1,2,3 to 1
    replicas=1,2,3 isr=1,2

Who led each partition of Kafka and from which offset on, who followed, and what was cut off: by partition and time.

A leader's first offset is the end of its own log when it began. It lies below what its predecessor had where records
were not copied in time; an ordinary restart or a preferred election leaves no such step. A topic that was deleted and
made again begins a new life, in which its epochs and offsets start at 0.

How far the log of a partition was seen to reach while one broker led it: by brokers' log ends, by what was visible.

What consumers can see or commit lies below the high watermark; a broker's own log end may lie above it.

Where the log of a partition begins and ends, as the last source that saw it tells.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.facts import Episode, Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.shared.wording import sample

_EPOCH = re.compile(r"^\s*(?:leader\s+)?(?:epoch\s+)?(\d+)\b", re.IGNORECASE)
_WATERMARK = re.compile(r"high watermark (\d+)")
_STARTED_ISR = re.compile(r"\bISR \[([\d,\s]*)\]")
_ELECTED_EPOCH = re.compile(r"leaderEpoch[=:]\s*(?:\d+ -> )?(\d+)", re.IGNORECASE)
_ISR_LIST = re.compile(r"isr=\w*\(?\[?([\d,\s]*)", re.IGNORECASE)
_ISR_PLAIN = re.compile(r"\bISR:([\d,]*)")
_ISR_CHANGE = re.compile(r"\bisr: \[([\d,\s]*)\] -> \[([\d,\s]*)\]")
_ELIGIBLE = re.compile(r"\belr: \[([\d,\s]*)\]", re.IGNORECASE)
_TOLD_ISR = re.compile(r"\bisr[= ]\[?([\d,]*)", re.IGNORECASE)

Replicas = tuple[str, ...]
"""Ids of brokers."""


@dataclass(frozen=True, slots=True)
class Started:
    """What a broker says when it becomes leader or follower of a partition; None where its version does not."""

    epoch: int | None
    high_watermark: int | None
    isr: Replicas | None


@dataclass(frozen=True, slots=True)
class Elected:
    """What a controller says about a partition's leader; None where the line does not."""

    epoch: int | None
    before: Replicas | None
    """In sync before the election."""
    isr: Replicas | None
    """In sync after it."""
    eligible: Replicas = ()
    """Out of sync before, and known to have everything that was committed (KIP-966)."""


def started(reason: str | None) -> Started:
    """The rest of a ``starts at leader epoch`` line."""
    text = reason or ""
    epoch, watermark, isr = _EPOCH.search(text), _WATERMARK.search(text), _STARTED_ISR.search(text)
    return Started(
        int(epoch[1]) if epoch else None, int(watermark[1]) if watermark else None, replicas(isr[1]) if isr else None
    )


def elected(reason: str | None) -> Elected:
    """The state that a controller of either kind writes."""
    text = reason or ""
    epoch, changed = _ELECTED_EPOCH.search(text), _ISR_CHANGE.search(text)
    number = int(epoch[1]) if epoch else None
    if changed:
        eligible = _ELIGIBLE.search(text)
        return Elected(number, replicas(changed[1]), replicas(changed[2]), replicas(eligible[1]) if eligible else ())
    told = _ISR_LIST.search(text) or _ISR_PLAIN.search(text)
    return Elected(number, None, replicas(told[1].rstrip(",")) if told else None)


def in_sync_set(kind: str, reason: str | None) -> Replicas | None:
    """The in-sync set after a line about it, or that a description shows."""
    text = reason or ""
    if kind == "isr-shrunk":
        return replicas(text.rpartition(" to ")[2]) if " to " in text else None
    if kind == "isr-updated":
        return replicas(text) or None
    told = _TOLD_ISR.search(text)
    return replicas(told[1]) if told else None


def replicas(text: str) -> Replicas:
    """Ids in ``3, 2,1``, as they stand."""
    return tuple(re.findall(r"\d+", text))


Place = tuple[str, str]
"""Topic and partition."""


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
class Following:
    """One broker begins to follow, with the end of its own log."""

    topic: str
    queue: str
    epoch: int | None
    replica: str
    log_end: int
    at: float | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Cut:
    """One broker cut its log of one partition."""

    topic: str
    queue: str
    replica: str
    to_offset: int
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


@per_facts
def leaderships(facts: Facts) -> Mapping[Place, tuple[Leadership, ...]]:
    """Leaderships of each partition, in the order in which they followed each other."""
    found: dict[Place, list[Leadership]] = defaultdict(list)
    for episode in _placed(facts.of_kind("leader-started")):
        told = started(episode.reason)
        found[_place(episode)].append(
            Leadership(
                *_place(episode), told.epoch, _who(episode), _offset(episode), told.high_watermark, told.isr,
                episode.first_at, episode.first,
            )
        )  # fmt: skip
    return {place: _in_order(rows) for place, rows in sorted(found.items())}


@per_facts
def follower_starts(facts: Facts) -> Mapping[Place, tuple[Following, ...]]:
    """Followers of each partition that began, by time."""
    found: dict[Place, list[Following]] = defaultdict(list)
    for episode in _placed(facts.of_kind("follower-started")):
        epoch = started(episode.reason).epoch
        found[_place(episode)].append(
            Following(
                *_place(episode), epoch, _who(episode), _offset(episode), episode.first_at, episode.first
            )
        )  # fmt: skip
    return {place: tuple(rows) for place, rows in found.items()}


@per_facts
def truncations(facts: Facts) -> Mapping[Place, tuple[Cut, ...]]:
    """Logs that were really cut, by time; those in which nothing stood behind the place are not among them."""
    found: dict[Place, list[Cut]] = defaultdict(list)
    for episode in _placed(facts.of_kind("log-truncated")):
        found[_place(episode)].append(
            Cut(*_place(episode), _who(episode), _offset(episode), episode.first_at, episode.first)
        )
    return {place: tuple(rows) for place, rows in found.items()}


@per_facts
def in_sync(facts: Facts) -> Mapping[Place, tuple[InSync, ...]]:
    """What was told of each partition's in-sync set, by time."""
    found: dict[Place, list[InSync]] = defaultdict(list)
    for episode in facts.of_kind("leader-elected", "unclean-election"):
        if episode.topic and episode.queue:
            told = elected(episode.reason)
            if told.isr is not None:
                row = InSync(episode.first_at, told.epoch, told.isr, True, episode.first, _leader(episode))
                found[episode.topic, episode.queue].append(row)
    for episode in facts.of_kind("isr-shrunk", "isr-updated", "partition-described", "partition-state"):
        isr = in_sync_set(episode.kind, episode.reason)
        if episode.topic and episode.queue and isr:
            row = InSync(episode.first_at, None, isr, False, episode.first)
            found[episode.topic, episode.queue].append(row)
    for place, rows in leaderships(facts).items():
        found[place] += [InSync(r.at, r.epoch, r.isr, False, r.evidence) for r in rows if r.isr]
    return {place: tuple(sorted(rows, key=lambda r: (r.at or 0.0, r.epoch or -1))) for place, rows in found.items()}


@per_facts
def single_copies(facts: Facts) -> bool:
    """Surely no partition has a second replica: only one was ever in sync, and the metrics miss none."""
    lacking = [v for s in facts.named("broker.under_replicated_partitions") for _, v in s.points]
    told = [row for rows in in_sync(facts).values() for row in rows]
    return bool(told and lacking) and not any(lacking) and all(len(row.isr) == 1 for row in told)


def _leader(episode: Episode) -> str | None:
    return None if episode.value_min is None else f"{episode.value_min:.0f}"


def _in_order(rows: Sequence[Leadership]) -> tuple[Leadership, ...]:
    """By life and epoch; clocks of brokers differ, so that times decide only where epochs do not."""
    by_time = sorted(rows, key=lambda r: (r.at or 0.0, r.epoch or 0, r.evidence.source, r.evidence.line or 0))
    placed: list[Leadership] = []
    life = 0
    for row in by_time:
        if placed and row.epoch == 0 and row.from_offset == 0:
            life += 1
        placed.append(replace(row, life=life))
    return tuple(sorted(placed, key=lambda r: (r.life, r.epoch if r.epoch is not None else -1, r.at or 0.0)))


def _placed(episodes: Iterable[Episode]) -> list[Episode]:
    return [e for e in episodes if e.topic and e.queue and e.value_min is not None]


def _place(episode: Episode) -> Place:
    return episode.topic or "", episode.queue or ""


def _offset(episode: Episode) -> int:
    return round(episode.value_min or 0)


def _who(episode: Episode) -> str:
    return episode.node or episode.source


SLACK = 5.0
"""Seconds by which the clocks of two machines may differ, and a leader may begin after its election."""


@dataclass(frozen=True, slots=True)
class End:
    """How far a partition's log is known to have reached."""

    offset: int
    evidence: Evidence


Seen = tuple[float, int, Series | Position]
"""Moment, offset, and what shows it."""


def furthest(facts: Facts, known: tuple[Seen, ...], before: Leadership, after: Leadership, stale: int) -> End | None:
    """The largest of *known* while *before* led; what a replica shows that was not cut yet is not above *stale*.

    The last seconds do not count: by another clock they may belong to the new leader.
    """
    since, until = before.at or 0.0, after.at or 0.0
    own = [seen for seen in known if since <= seen[0] < until - SLACK and seen[1] > stale]
    best = max(own, key=lambda seen: (seen[1], -seen[0]), default=None)
    return End(best[1], _shown(facts, best)) if best is not None else None


def diverged(facts: Facts, after: Leadership) -> End | None:
    """The furthest position at which a consumer learned that the log goes on from the first offset of *after*."""
    own = [
        e for e in facts.of_kind("truncation-detected")
        if (e.topic, e.queue, e.reason) == (after.topic, after.queue, str(after.from_offset))
        and e.value_max is not None and (after.at is None or (e.first_at or 0.0) >= after.at - SLACK)
    ]  # fmt: skip
    last = max(own, key=lambda e: e.value_max or 0, default=None)
    return End(round(last.value_max or 0), last.last) if last is not None else None


def _shown(facts: Facts, seen: Seen) -> Evidence:
    at, _, row = seen
    if isinstance(row, Series):
        return sample(facts, row, at, "log end, as it was counted")
    return Evidence(row.source, row.line, row.text, "offset that consumers could see")


@per_facts
def log_ends(facts: Facts) -> Mapping[Place, tuple[Seen, ...]]:
    """Log ends that brokers count, of leaders and followers alike."""
    return _of_series(facts, "broker.log_end_offset")


@per_facts
def watermarks(facts: Facts) -> Mapping[Place, tuple[Seen, ...]]:
    """Ends that snapshots and exporters show, and offsets that were committed up to there."""
    found: dict[Place, list[Seen]] = defaultdict(list)
    for place, rows in _of_series(facts, "topic.end_offset").items():
        found[place] += rows
    for one in facts.positions:
        reached = one.committed if one.end is None else one.end
        if one.at is not None and reached is not None:
            found[one.topic, one.queue].append((one.at, reached, one))
    return {place: tuple(rows) for place, rows in found.items()}


def _of_series(facts: Facts, name: str) -> Mapping[Place, tuple[Seen, ...]]:
    found: dict[Place, list[Seen]] = defaultdict(list)
    for series in facts.named(name):
        topic, queue = series.labels.get("topic"), series.labels.get("partition")
        if topic and queue:
            found[topic, queue] += [(at, round(value), series) for at, value in series.points]
    return {place: tuple(rows) for place, rows in found.items()}


_Seen = tuple[float, int]
"""Moment and offset."""


def last_end(facts: Facts, place: Place, since: float | None = None) -> int | None:
    """The log end that was seen last, after *since* only; None where none was."""
    return _last(_ends(facts).get(place, ()), since)


def last_start(facts: Facts, place: Place) -> int | None:
    """The log start that was seen last."""
    return _last(_starts(facts).get(place, ()), None)


@per_facts
def _ends(facts: Facts) -> Mapping[Place, Sequence[_Seen]]:
    """Ends that only a leader tells: snapshots and exporters ask for the high watermark."""
    found = _ends_by_series(facts, "topic.end_offset")
    for one in facts.positions:
        if one.end is not None and one.at is not None:
            found[one.topic, one.queue].append((one.at, one.end))
    return found


@per_facts
def _starts(facts: Facts) -> Mapping[Place, Sequence[_Seen]]:
    found = _ends_by_series(facts, "topic.start_offset", "broker.log_start_offset")
    for one in facts.positions:
        if one.start is not None:
            found[one.topic, one.queue].append((one.at or 0.0, one.start))
    for episode in facts.of_kind("log-start-moved"):
        if episode.topic and episode.queue and episode.value_max is not None:
            found[episode.topic, episode.queue].append((episode.last_at or 0.0, round(episode.value_max)))
    return found


def _ends_by_series(facts: Facts, *names: str) -> dict[Place, list[_Seen]]:
    found: dict[Place, list[_Seen]] = defaultdict(list)
    for series in facts.named(*names):
        topic, queue = series.labels.get("topic"), series.labels.get("partition")
        if topic and queue and series.points:
            at, value = series.points[-1]
            found[topic, queue].append((at, round(value)))
    return found


def _last(found: Sequence[_Seen], since: float | None) -> int | None:
    later = [seen for seen in found if since is None or seen[0] > since]
    newest = max((at for at, _ in later), default=None)
    return max((offset for at, offset in later if at == newest), default=None)
