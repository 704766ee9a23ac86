"""Leaders and replicas of a topic's partitions as stretches of time, for the eye."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from mqlab.delivery.path import by_number
from mqlab.delivery.view import CUT, FOLLOWER, LEADER, InSync, Level, Reign
from mqlab.delivery_log import replica_history
from mqlab.delivery_log.elections import election
from mqlab.delivery_log.handovers import handovers
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.frames import where

_Row = TypeVar("_Row")


def reigns(facts: Facts, topic: str) -> Iterator[Reign]:
    """From each election to the next one, by partition."""
    changes = [one for own, rows in handovers(facts).items() if own[0] == topic for one in rows]
    unclean = {one.after for one in changes if election(facts, one).unclean}
    end = _end_of(facts, topic)
    for (owner, queue), rows in replica_history.leaderships(facts).items():
        dated = [(row.at, row) for row in rows if row.at is not None and owner == topic]
        edges = [*(at for at, _ in dated[1:]), end]
        for (since, row), until in zip(dated, edges, strict=False):
            yield Reign(
                queue, row.leader, row.epoch, since, max(since, until), tuple(sorted(row.isr or (), key=by_number)),
                row.high_watermark, row in unclean, where(row.evidence),
            )  # fmt: skip


def in_sync(facts: Facts, topic: str) -> Iterator[InSync]:
    """From the line that has a broker in the in-sync set to the one that has it no more."""
    end = _end_of(facts, topic)
    for (owner, queue), rows in sorted(replica_history.in_sync(facts).items()):
        dated = [(row.at, row.isr) for row in rows if row.at is not None and owner == topic]
        for broker in sorted({one for _, isr in dated for one in isr}, key=by_number):
            steps = [(at, broker in isr) for at, isr in dated]
            edges = pairwise([*steps, (max(end, steps[-1][0]), False)])
            spans = [(since, until) for (since, inside), (until, _) in edges if inside]
            yield from (InSync(queue, broker, since, until) for since, until in _joined(spans))


def _joined(spans: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Spans that touch each other as one."""
    since, until = spans[0] if spans else (0.0, 0.0)
    for begin, end in spans[1:]:
        if begin > until:
            yield since, until
            since = begin
        until = end
    if spans:
        yield since, until


def levels(facts: Facts, topic: str) -> Iterator[Level]:
    """Ends of logs as their brokers began to lead or follow, and where logs were cut."""
    led = _of(replica_history.leaderships(facts), topic)
    followed = _of(replica_history.follower_starts(facts), topic)
    names = _names([(r.leader, r.evidence) for r in led] + [(r.replica, r.evidence) for r in followed])
    found = [(r.at, r.queue, r.leader, r.from_offset, LEADER, r.evidence) for r in led]
    found += [(r.at, r.queue, r.replica, r.log_end, FOLLOWER, r.evidence) for r in followed]
    for cut in _of(replica_history.truncations(facts), topic):
        broker = names.get(_folder(cut.evidence), cut.replica)
        found.append((cut.at, cut.queue, broker, cut.to_offset, CUT, cut.evidence))
    for at, queue, broker, offset, what, place in found:
        if at is not None:
            yield Level(queue, broker, at, offset, what, where(place))


def _of(rows: Mapping[replica_history.Place, Sequence[_Row]], topic: str) -> list[_Row]:
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
