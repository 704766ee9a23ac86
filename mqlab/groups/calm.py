"""Times within a rise of lag in which a group's members are known to have stayed the same.

RocketMQ: a source saw the same ids all along. Kafka: besides, nobody rebalanced; a member that joins again under
another id is another member, and whatever any source says of a change counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from mqlab.facts import Facts
from mqlab.groups.consumer_groups import is_kafka, streams
from mqlab.groups.queues import Points
from mqlab.groups.stalls import Stretch, stretch_between
from mqlab.kafka import members
from mqlab.kafka.groups import groups
from mqlab.rebalances.history import history
from mqlab.rebalances.index import homes
from mqlab.rebalances.rows import Behind, Rebalance
from mqlab.rocketmq.members import Snapshot, Stream
from mqlab.rocketmq.slots import SETTLING

Part = tuple[float, float]
"""Begin and end."""

_TROUBLE = {
    Behind.POLL_TIMEOUT: "polls that took too long",
    Behind.EXPIRY: "members that were silent for too long",
    Behind.CRASH: "processes that died",
}
"""Rebalances that no one asked for, and that stop the work of the whole group."""
_LOOP = 2
"""Such rebalances that are a loop: one may be an accident beside a rise."""


def steady(facts: Facts, group: str, queues: Mapping[str, Points], rise: Stretch) -> Stretch | None:
    """The longest part of the rise in which the members are known to have stayed the same; None where it is none."""
    calm = _undisturbed(facts, group, rise) if is_kafka(facts, group) else _seen(facts, group, rise)
    if not calm:
        return None
    since, until = max(calm, key=lambda part: part[1] - part[0])
    return stretch_between(queues, since, until) if until > since else None


def disturbed(facts: Facts, group: str, rise: Stretch) -> str | None:
    """Why a Kafka group could not work while its lag rose, as history tells; None where nothing kept it from it."""
    if not is_kafka(facts, group):
        return None
    trouble = interrupted(facts, group, rise.since - SETTLING, rise.until)
    if len(trouble) >= _LOOP:
        causes = sorted({_TROUBLE[r.behind] for r in trouble})
        return f"it rebalanced {len(trouble)} times for {' and '.join(causes)}"
    failed = [e for e in facts.of_kind("commit-failed") if e.first_at and rise.since <= e.first_at <= rise.until]
    others = {source for name in groups(facts) if name != group for source in homes(facts, name)}
    own = [e for e in failed if e.group == group or (e.group is None and e.source not in others)]
    return f"{sum(e.count for e in own)} of its commits failed" if len(own) >= _LOOP else None


def interrupted(facts: Facts, group: str, since: float, until: float) -> list[Rebalance]:
    """Rebalances of a Kafka group that began in this time and that nobody asked for."""
    return [r for r in history(facts, group) if since <= r.started <= until and r.behind in _TROUBLE]


def _seen(facts: Facts, group: str, rise: Stretch) -> Sequence[Part]:
    return [part for view in streams(facts, group) for part in _same(view, rise)]


def _same(view: Stream, rise: Stretch) -> Iterator[Part]:
    """Times within the rise in which *view* saw the same members; a list of connections only from one to the next."""
    snapshots = view.snapshots
    start = 0
    for n in range(1, len(snapshots) + 1):
        if n < len(snapshots) and snapshots[n].ids == snapshots[start].ids:
            continue
        end = (snapshots[n].at if n < len(snapshots) else view.until) if view.lasting else snapshots[n - 1].at
        settled = snapshots[start].at + (SETTLING if start else 0.0)
        if snapshots[start].members:
            yield max(settled, rise.since), min(end, rise.until)
        start = n


def _undisturbed(facts: Facts, group: str, rise: Stretch) -> Sequence[Part]:
    """What is left of the rise without the times of changes, as far as some source lists members."""
    views = streams(facts, group)
    breaks = [part for view in views for part in _changes(view)]
    breaks += [(r.started, (r.stabilised or r.started) + SETTLING) for r in history(facts, group)]
    breaks += [(at, at + SETTLING) for at in members.unsettled(facts, group)]
    known = [(s.at, view.until if view.lasting else s.at) for view in views for s in view.snapshots if s.members]
    left = []
    begin = max(rise.since, min((at for at, _ in known), default=inf))
    limit = min(rise.until, max((until for _, until in known), default=-inf))
    for since, until in [*sorted(breaks), (limit, limit)]:
        if min(since, limit) > begin:
            left.append((begin, min(since, limit)))
        begin = max(begin, until)
    return left


def _changes(view: Stream) -> Iterator[Part]:
    """From the last sight of the members before each change until those after it have settled."""
    for before, after in zip(view.snapshots, view.snapshots[1:], strict=False):
        if _who(before) != _who(after):
            yield after.at if view.lasting else before.at, after.at + SETTLING


def _who(snapshot: Snapshot) -> set[tuple[str, str]]:
    return {(m.client_id, m.place) for m in snapshot.members}
