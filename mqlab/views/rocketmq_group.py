"""One RocketMQ group for the eye: who was there, who held what before, during and after, and what waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.models.client_ids import parse
from mqlab.rocketmq.eras import Era, Panel, Stay, Terms, around, eras, had_been_unique, lasting, panel, stays, terms
from mqlab.rocketmq.members import groups, streams
from mqlab.rocketmq.shared_client_ids import Case, cases
from mqlab.rocketmq.subscriptions import Mismatch, mismatches
from mqlab.shared.queues import lag, of_groups


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
    finding = _finding(facts, diagnosis, group)
    chosen = group or (_group(finding) if finding else None) or _busiest(facts)
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


def _finding(facts: Facts, diagnosis: Diagnosis, group: str | None) -> Finding | None:
    """About *group*, or about any group of RocketMQ."""
    known = (group,) if group else groups(facts)
    return next((f for f in diagnosis.findings if _group(f) in known), None)


def _group(finding: Finding) -> str:
    return finding.subject.partition("/")[0]


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
        during = "while the id is shared" if case and case.certainty else "while the id is there twice"
        named = zip(("before", during, "after"), three, strict=True)
        return tuple(panel(facts, group, title, era, told) for title, era in named if era is not None)
    return tuple(panel(facts, group, "", era, told) for era in lasting(known))
