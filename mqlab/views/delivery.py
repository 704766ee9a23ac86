"""The delivery audit of one topic for the eye: its rows, leaders and replicas by time, and offsets by time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TypeVar

from mqlab.delivery import leaders, positions
from mqlab.delivery.audit import audits
from mqlab.delivery.elections import election, handovers
from mqlab.delivery.path import by_number
from mqlab.delivery.rows import Audit, Loss
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.rows import Fate
from mqlab.words import room

say = room("delivery-tables")

LEADER, FOLLOWER, CUT = say("leader"), say("follower"), say("cut")


@dataclass(frozen=True, slots=True)
class Reign:
    """One broker leads one partition, from one election to the next."""

    queue: str
    broker: str
    epoch: int | None
    since: float
    until: float
    """The next election, or the end of what is known."""
    isr: tuple[str, ...]
    """In-sync replicas as the election tells them, sorted."""
    high_watermark: int | None
    unclean: bool
    place: str
    """``source:line``."""


@dataclass(frozen=True, slots=True)
class InSync:
    """One broker is among the in-sync replicas of one partition."""

    queue: str
    broker: str
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Level:
    """Where the log of one replica ended at one moment."""

    queue: str
    broker: str
    at: float
    offset: int
    what: str
    """``LEADER``, ``FOLLOWER`` or ``CUT``."""
    place: str


@dataclass(frozen=True, slots=True)
class Acked:
    """Messages that were acknowledged one after the other."""

    since: float
    until: float
    first_offset: int
    last_offset: int
    messages: int
    lost: bool
    place: str


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets of one partition by time; pairs are (at, offset)."""

    queue: str
    acked: tuple[Acked, ...] = ()
    ends: tuple[tuple[float, int], ...] = ()
    """Log end as groups' positions and dumps saw it."""
    starts: tuple[tuple[float, int], ...] = ()
    """Log start; what lies below it is deleted."""
    committed: Mapping[str, tuple[tuple[float, int], ...]] = field(default_factory=dict)
    """By group."""


@dataclass(frozen=True, slots=True)
class AuditView:
    """Everything that is drawn about one topic."""

    audit: Audit | None
    """None where the material names no topic of Kafka."""
    reigns: tuple[Reign, ...] = ()
    in_sync: tuple[InSync, ...] = ()
    levels: tuple[Level, ...] = ()
    offsets: tuple[Offsets, ...] = ()

    @property
    def topic(self) -> str:
        """Its name, or words for it."""
        return self.audit.topic if self.audit else say("any-topic")


_MOST = 2000
"""Stretches that are kept, those that were lost first."""


def acked(facts: Facts, audit: Audit, queue: str) -> tuple[Acked, ...]:
    """Stretches of one partition by time, those that were lost apart."""
    own = [
        one for one in audit.losses
        if one.queue == queue and one.first_offset is not None and one.last_offset is not None
        and one.last_offset - one.first_offset + 1 == one.records
    ]  # fmt: skip
    fates = [f for f in facts.fates if (f.topic, f.queue) == (audit.topic, queue) and f.acked]
    parts = [part for fate in fates for part in _parts(fate, own)]
    kept = sorted(parts, key=lambda part: (not part.lost, part.since))[:_MOST]
    return tuple(sorted(kept, key=lambda part: (part.since, part.first_offset, part.until)))


def _parts(fate: Fate, losses: Sequence[Loss]) -> Iterator[Acked]:
    """The fate, cut where a loss begins or ends; moments in between are those of an even pace."""
    if None in (fate.first_offset, fate.last_offset, fate.first_at, fate.last_at):
        return
    low, high = fate.first_offset or 0, fate.last_offset or 0
    since, until = fate.first_at or 0.0, fate.last_at or 0.0
    own = [
        one for one in losses
        if fate.overwritten or one.since is None or one.until is None or (one.since <= until and since <= one.until)
    ]  # fmt: skip
    edges = sorted({low, high + 1, *(e for one in own for e in _edges(one) if low < e <= high)})
    for first, after in pairwise(edges):
        last = after - 1
        lost = fate.overwritten or any(_edges(one)[0] <= first < _edges(one)[1] for one in own)
        times = [since + (until - since) * (offset - low) / max(1, high - low) for offset in (first, last)]
        messages = fate.messages if len(edges) == 2 else last - first + 1
        yield Acked(times[0], times[1], first, last, messages, lost, fate.first.place)


def _edges(loss: Loss) -> tuple[int, int]:
    return loss.first_offset or 0, (loss.last_offset or 0) + 1


_Row = TypeVar("_Row")


def reigns(facts: Facts, topic: str) -> Iterator[Reign]:
    """From each election to the next one, by partition."""
    changes = [one for own, rows in handovers(facts).items() if own[0] == topic for one in rows]
    unclean = {one.after for one in changes if election(facts, one).unclean}
    end = _end_of(facts, topic)
    for (owner, queue), rows in leaders.leaderships(facts).items():
        dated = [(row.at, row) for row in rows if row.at is not None and owner == topic]
        edges = [*(at for at, _ in dated[1:]), end]
        for (since, row), until in zip(dated, edges, strict=False):
            yield Reign(
                queue, row.leader, row.epoch, since, max(since, until), tuple(sorted(row.isr or (), key=by_number)),
                row.high_watermark, row in unclean, row.evidence.place,
            )  # fmt: skip


def in_sync(facts: Facts, topic: str) -> Iterator[InSync]:
    """From the line that has a broker in the in-sync set to the one that has it no more."""
    end = _end_of(facts, topic)
    for (owner, queue), rows in sorted(leaders.in_sync(facts).items()):
        dated = [(row.at, row.isr) for row in rows if row.at is not None and owner == topic]
        for broker in sorted({one for _, isr in dated for one in isr}, key=by_number):
            runs = groupby(((at, broker in isr) for at, isr in dated), key=itemgetter(1))
            begins = [(next(run)[0], inside) for inside, run in runs]
            for (since, inside), (until, _) in pairwise([*begins, (max(end, dated[-1][0]), False)]):
                if inside:
                    yield InSync(queue, broker, since, until)


def levels(facts: Facts, topic: str) -> Iterator[Level]:
    """Ends of logs as their brokers began to lead or follow, and where logs were cut."""
    led = _of(leaders.leaderships(facts), topic)
    followed = _of(leaders.follower_starts(facts), topic)
    names = _names([(r.leader, r.evidence) for r in led] + [(r.replica, r.evidence) for r in followed])
    found = [(r.at, r.queue, r.leader, r.from_offset, LEADER, r.evidence) for r in led]
    found += [(r.at, r.queue, r.replica, r.offset, FOLLOWER, r.evidence) for r in followed]
    for cut in _of(leaders.truncations(facts), topic):
        broker = names.get(_folder(cut.evidence), cut.replica)
        found.append((cut.at, cut.queue, broker, cut.offset, CUT, cut.evidence))
    for at, queue, broker, offset, what, place in found:
        if at is not None:
            yield Level(queue, broker, at, offset, what, place.place)


def _of(rows: Mapping[leaders.Place, Sequence[_Row]], topic: str) -> list[_Row]:
    return [row for (own, _), found in sorted(rows.items()) if own == topic for row in found]


def _names(told: Sequence[tuple[str, Evidence]]) -> Mapping[str, str]:
    """The broker whose logs are in a folder, where all lines in it are of one: lines about cuts do not name it."""
    brokers: dict[str, set[str]] = defaultdict(set)
    for broker, place in told:
        brokers[_folder(place)].add(broker)
    return {folder: min(own) for folder, own in brokers.items() if len(own) == 1}


def _folder(place: Evidence) -> str:
    return place.source.rpartition("/")[0]


def _end_of(facts: Facts, topic: str) -> float:
    """The end of what is known of the topic's replicas and messages."""
    times = [e.last_at for e in facts.episodes if e.topic == topic] + [f.last_at for f in facts.fates]
    return span(times)[1] or 0.0


def audit_view(facts: Facts, topic: str | None = None) -> AuditView:
    """The view of *topic*; by default of the one that lost most, else doubled most, else of which most is told."""
    audit = chosen(audits(facts), topic)
    if audit is None:
        return AuditView(None)
    log_ends = levels(facts, audit.topic)
    return AuditView(
        audit,
        tuple(reigns(facts, audit.topic)),
        tuple(in_sync(facts, audit.topic)),
        tuple(sorted(log_ends, key=lambda one: (one.at, by_number(one.queue), one.broker, one.what))),
        tuple(_offsets(facts, audit, queue) for queue in _queues(facts, audit)),
    )


def chosen(known: Sequence[Audit], topic: str | None = None) -> Audit | None:
    """The audit of *topic*, else the one with most to tell; None where there is none."""
    if topic is not None:
        return next((audit for audit in known if audit.topic == topic), None)
    return max(sorted(known, key=lambda audit: audit.topic, reverse=True), key=_weight, default=None)


def _weight(audit: Audit) -> tuple[int, int, int]:
    lost, extra = sum(one.records for one in audit.losses), sum(one.extra for one in audit.doubled)
    return lost, extra, sum(row.acked or row.stored or 0 for row in audit.log)


def _queues(facts: Facts, audit: Audit) -> list[str]:
    told = {row.queue for row in audit.log} | {row.queue for row in audit.groups}
    told |= {queue for topic, queue in leaders.leaderships(facts) if topic == audit.topic}
    return sorted((queue for queue in told if queue), key=by_number)


def _offsets(facts: Facts, audit: Audit, queue: str) -> Offsets:
    names = sorted({row.group for row in audit.groups})
    seen = {group: positions.offsets(facts, group, audit.topic, queue) for group in names or ("",)}
    any_group = next(iter(seen.values()))
    return Offsets(
        queue,
        acked(facts, audit, queue),
        _points(any_group.ends),
        _points(any_group.starts),
        {group: _points(one.committed) for group, one in seen.items() if one.committed},
    )


def _points(marks: Sequence[positions.Mark]) -> tuple[tuple[float, int], ...]:
    """One point a moment, the last one that was told."""
    return tuple((at, list(own)[-1].offset) for at, own in groupby(marks, key=lambda mark: mark.at))
