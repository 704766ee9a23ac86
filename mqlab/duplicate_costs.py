"""What a shared client id costs: messages that wait, messages handled several times, and when retention takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqlab.duplicate_case import Case
from mqlab.facts import Facts
from mqlab.queues import lag, of_groups, totals
from mqlab.slots import Judgement

RESERVED_HOURS = 72
"""fileReservedTime of BrokerConfig; the broker.conf that is shipped says 48."""


def measures(facts: Facts, case: Case) -> Mapping[str, float]:
    """Counts and rates over the topics of the group; rates while the group did not change."""
    found: dict[str, float] = {
        "processes": float(len(case.sharing.ids)),
        "distinct_ids": float(len(set(case.sharing.ids))),
    }
    if any(j.owners for j in case.judgements):
        found["orphan_queues"] = float(sum(len(j.orphans) for j in case.judgements))
        found["doubled_queues"] = float(sum(len(j.doubled) for j in case.judgements))
    watched = [j for j in case.judgements if j.paces]
    if watched:
        found["orphans_produced_per_second"] = sum(_produced(j, j.orphans) for j in watched)
        found["lag_growth_per_second"] = sum(_growth(j) for j in watched)
        found["pending_records"], found["peak_lag"] = _waiting(facts, case)
    if case.copies:
        found["duplicated_records"] = float(sum(c.extra for c in case.copies.values()))
    elif watched:
        found["duplicated_records_estimated"] = sum(_doubled(j) for j in watched) * (case.until - case.since)
    return found


def _produced(judgement: Judgement, queues: Sequence[str]) -> float:
    """Messages a second that came into these queues."""
    seen = [judgement.paces[q] for q in queues if q in judgement.paces]
    return sum(p.produced / p.seconds for p in seen)


def _growth(judgement: Judgement) -> float:
    """Messages a second by which the lag of all queues grew."""
    return sum((lag(p.last) - lag(p.first)) / p.seconds for p in judgement.paces.values())


def _doubled(judgement: Judgement) -> float:
    """Messages a second that are handled once more than needed, if every copy is handled."""
    return sum(_produced(judgement, (queue,)) * (times - 1) for queue, times in judgement.doubled.items())


def _waiting(facts: Facts, case: Case) -> tuple[float, float]:
    """Messages that wait at the end of the sharing, and most that ever waited since it began."""
    last = peak = 0
    for (group, topic), queues in of_groups(facts).items():
        if group != case.group or topic.startswith("%"):
            continue
        since = [(at, waiting) for at, waiting, _ in totals(queues) if at >= case.since]
        within = [waiting for at, waiting in since if at <= case.until + 10]
        last += within[-1] if within else 0
        peak += max((waiting for _, waiting in since), default=0)
    return float(last), float(peak)


def reserved_seconds(facts: Facts) -> tuple[float, bool]:
    """How long the brokers keep messages, and whether the material says so."""
    told = [s.value for s in facts.settings if s.key == "fileReservedTime" and s.value.isdigit()]
    return (min(map(int, told)) if told else RESERVED_HOURS) * 3600.0, bool(told)


def retries(facts: Facts, group: str) -> int:
    """Messages that the group sent back to be handled again, in the time of the material."""
    queues = of_groups(facts).get((group, f"%RETRY%{group}"), {})
    return sum((points[-1].end or 0) - (points[0].end or 0) for points in queues.values())


def orderly(facts: Facts, case: Case) -> bool:
    """A member says that it consumes in order."""
    names = {"PROP_CONSUMEORDERLY", "PROP_CONSUME_ORDERLY", "CONSUME_ORDERLY", "consumeOrderly"}
    return any(s.owner in case.sharing.ids and s.key in names and s.value.lower() == "true" for s in facts.settings)
