"""Who led each partition of Kafka and from which offset on, who followed, and what was cut off: by partition and time.

A leader's first offset is the end of its own log when it began. It lies below what its predecessor had where records
were not copied in time; an ordinary restart or a preferred election leaves no such step. A topic that was deleted and
made again begins a new life, in which its epochs and offsets start at 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.delivery_log import replica_lines
from mqlab.delivery_log.replica_lines import Replicas
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts

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
        told = replica_lines.started(episode.reason)
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
        epoch = replica_lines.started(episode.reason).epoch
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
            told = replica_lines.elected(episode.reason)
            if told.isr is not None:
                row = InSync(episode.first_at, told.epoch, told.isr, True, episode.first, _leader(episode))
                found[episode.topic, episode.queue].append(row)
    for episode in facts.of_kind("isr-shrunk", "isr-updated", "partition-described", "partition-state"):
        isr = replica_lines.in_sync(episode.kind, episode.reason)
        if episode.topic and episode.queue and isr:
            row = InSync(episode.first_at, None, isr, False, episode.first)
            found[episode.topic, episode.queue].append(row)
    for place, rows in leaderships(facts).items():
        found[place] += [InSync(r.at, r.epoch, r.isr, False, r.evidence) for r in rows if r.isr]
    return {place: tuple(sorted(rows, key=lambda r: (r.at or 0.0, r.epoch or -1))) for place, rows in found.items()}


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
