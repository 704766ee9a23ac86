"""One RocketMQ group for the eye: who was there, who held what before, during and after, and what waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.models.client_ids import parse
from mqlab.rocketmq.eras import Era, Panel, Stay, Terms, around, eras, had_been_unique, lasting, panel, stays, terms
from mqlab.rocketmq.members import groups, streams
from mqlab.rocketmq.shared_client_ids import Case, cases
from mqlab.rocketmq.subscriptions import Mismatch, mismatches
from mqlab.shared.queues import Points, lag, of_groups
from mqlab.views.groups import finding_about
from mqlab.words import room

say = room("rocketmq-tables")


@dataclass(frozen=True, slots=True)
class GroupView:
    """Everything that is drawn about one group."""

    group: str | None
    """None where the material knows no group of RocketMQ."""
    finding: Finding | None = None
    case: Case | None = None
    """Ids that were shared, whether or not that did harm."""
    mismatch: Mismatch | None = None
    stays: tuple[Stay, ...] = ()
    terms: tuple[Terms, ...] = ()
    panels: tuple[Panel, ...] = ()
    """Before, during and after the sharing; else the times in which the group was steady."""
    during: Panel | None = None
    """While ids were shared, else at the time of the finding, else the last panel."""
    unique: Panel | None = None
    """The same processes, had each an id of its own; None where each has."""
    broadcast: bool = False
    """Each member reads every queue: there is nothing to allocate."""


def group_view(facts: Facts, diagnosis: Diagnosis, group: str | None = None, topic: str | None = None) -> GroupView:
    """The view of *group*; by default of the one that a finding is about, else of the one with the highest lag."""
    finding, named = finding_about(diagnosis, (group,) if group else groups(facts))
    chosen = group or named or _busiest(facts)
    if chosen is None:
        return GroupView(None)
    case = _case(facts, chosen)
    differs = mismatches(facts, chosen)
    known = eras(facts, chosen, case)
    strategy = {j.topic: j.strategy for j in case.judgements} if case else {}
    told = terms(facts, chosen, strategy, differs.absent if differs else {}, topic)
    broadcast = _broadcast(facts, chosen, known)
    panels = () if broadcast else _panels(facts, chosen, case, known, told)
    shared = next((p for p in panels if p.era.shared), None)
    alone = had_been_unique(facts, chosen, shared.era, told) if shared else None
    during = shared or max(panels, key=lambda p: (_overlap(p, finding), p.era.since), default=None)
    return GroupView(chosen, finding, case, differs, stays(known), told, panels, during, alone, broadcast)


def _overlap(one: Panel, finding: Finding | None) -> float:
    """Seconds of the finding within the panel."""
    if finding is None or finding.started_at is None:
        return 0.0
    end = finding.ended_at.timestamp() if finding.ended_at else one.era.seen
    return max(0.0, min(end, one.era.seen) - max(finding.started_at.timestamp(), one.era.since))


def _busiest(facts: Facts) -> str | None:
    """The group with the highest lag that RocketMQ's material names; without offsets one that anybody is in."""
    own = {c.source for c in facts.coverage if c.software == "rocketmq"}
    peaks: dict[str, int] = {}
    for (group, topic), queues in of_groups(facts).items():
        rows = [p for points in queues.values() for p in points]
        if not topic.startswith("%") and any(p.source in own for p in rows):
            peaks[group] = max(peaks.get(group, 0), sum(max(map(lag, points)) for points in queues.values()))
    if peaks:
        return max(sorted(peaks), key=lambda group: peaks[group])
    return next((g for g in groups(facts) if any(s.members for v in streams(facts, g) for s in v.snapshots)), None)


def _case(facts: Facts, group: str) -> Case | None:
    """The sharing that did harm, else the longest."""
    return max(cases(facts, group), key=lambda c: (c.certainty or 0, c.until - c.since), default=None)


def _broadcast(facts: Facts, group: str, known: Sequence[Era]) -> bool:
    models = {s.value for s in facts.settings if s.key == "messageModel" and s.owner == group and s.scope == "consumer"}
    read = [parse(client) for era in known for client in era.ids]
    alone = bool(read) and all(one is not None and one.instance == "DEFAULT" for one in read)
    return "BROADCASTING" in models or (not models and alone)


def _panels(
    facts: Facts, group: str, case: Case | None, known: Sequence[Era], told: Sequence[Terms]
) -> tuple[Panel, ...]:
    if not told:
        return ()
    three = around(known, case) if case else (None, None, None)
    if three[1] is not None:
        during = say("while-shared" if case and case.certainty else "while-twice")
        named = zip((say("before"), during, say("after")), three, strict=True)
        return tuple(panel(facts, group, title, era, told) for title, era in named if era is not None)
    return tuple(panel(facts, group, "", era, told) for era in lasting(known))


ORPHAN, DOUBLED, ALONE, UNKNOWN = say("orphan"), say("doubled"), say("alone"), say("each")


@dataclass(frozen=True, slots=True)
class QueueLag:
    """One queue over time."""

    topic: str
    queue: str
    kind: str
    """What the allocation made of it while ids were shared or subscriptions differed."""
    points: tuple[tuple[float, int], ...]
    """(at, messages that wait)."""

    @property
    def peak(self) -> int:
        """Most that ever waited."""
        return max(waiting for _, waiting in self.points)


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages a second between two snapshots, over all queues that both tell."""

    since: float
    at: float
    produced: float
    consumed: float


def queue_lags(facts: Facts, view: GroupView) -> tuple[QueueLag, ...]:
    """Every queue of the group's topics whose lag is known, orphans first, then by their highest lag."""
    kinds = _kinds(view)
    found = [
        QueueLag(topic, queue, kinds.get((topic, queue), UNKNOWN), tuple((p.at or 0.0, lag(p)) for p in points))
        for topic, queues in _positions(facts, view).items()
        for queue, points in queues.items()
    ]
    order = (ORPHAN, DOUBLED, ALONE, UNKNOWN)
    return tuple(sorted(found, key=lambda f: (order.index(f.kind), -f.peak, f.topic, f.queue)))


def flows(facts: Facts, view: GroupView) -> tuple[Flow, ...]:
    """What came in and by how much offsets moved, from snapshot to snapshot, as long as every queue is told."""
    told = [points for queues in _positions(facts, view).values() for points in queues.values() if len(points) > 1]
    steps: dict[float, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for points in told:
        for one, other in pairwise(points):
            since, at = one.at or 0.0, other.at or 0.0
            came, read = (other.end or 0) - (one.end or 0), (other.committed or 0) - (one.committed or 0)
            for moment, sign in ((since, 1), (at, -1)):
                rates = (sign * came / (at - since), sign * read / (at - since), float(sign))
                steps[moment] = [a + b for a, b in zip(steps[moment], rates, strict=True)]
    moments = sorted(steps)
    levels = accumulate((steps[at] for at in moments), lambda a, b: [x + y for x, y in zip(a, b, strict=True)])
    spans = zip(pairwise(moments), levels, strict=False)
    return tuple(Flow(a, b, came, read) for (a, b), (came, read, queues) in spans if round(queues) == len(told))


def growth(view: GroupView) -> tuple[tuple[float, float], ...]:
    """A mean queue that nobody reads, had it grown by what was produced: (at, messages) twice; empty without one."""
    paces = [s.pace for s in view.during.orphans if s.pace is not None] if view.during else []
    if not paces:
        return ()
    first, last = paces[0].first.at or 0.0, paces[0].last.at or 0.0
    begin = sum(lag(p.first) for p in paces) / len(paces)
    return (first, begin), (last, begin + sum(p.produced for p in paces) / len(paces))


def _kinds(view: GroupView) -> Mapping[tuple[str, str], str]:
    """Kind of each queue where some have no owner or several; else nothing tells queues apart."""
    if view.during is None or not (view.during.orphans or view.during.doubled):
        return {}
    return {
        (s.topic, s.queue): ORPHAN if not s.owners else DOUBLED if len(s.owners) > 1 else ALONE
        for s in view.during.shares
    }


def _positions(facts: Facts, view: GroupView) -> Mapping[str, Mapping[str, Points]]:
    wanted: Sequence[str] = [t.topic for t in view.terms]
    return {topic: queues for (group, topic), queues in of_groups(facts).items()
            if group == view.group and topic in wanted}  # fmt: skip
