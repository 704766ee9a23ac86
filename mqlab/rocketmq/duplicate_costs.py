"""What a shared client id costs: messages that wait, messages handled several times, and when retention takes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mqlab.draining import owners
from mqlab.facts import Facts
from mqlab.groups.queues import TOGETHER, lag, of_groups, totals
from mqlab.rocketmq.duplicate_case import Case
from mqlab.rocketmq.slots import Judgement

RESERVED_HOURS = 72
"""fileReservedTime of BrokerConfig; the broker.conf that is shipped says 48."""


def measures(facts: Facts, case: Case) -> Mapping[str, float]:
    """Counts and rates over the topics that the group reads; rates while the group did not change.

    What the rule gives is counted where the queues agree with it, or nothing shows what they did.
    """
    found: dict[str, float] = {
        "processes": float(len(case.sharing.ids)),
        "distinct_ids": float(len(set(case.sharing.ids))),
    }
    read = [j for j in case.judgements if not j.unread]
    known = [j for j in read if j.owners and (j.agrees or not j.paces)]
    if known:
        found["orphan_queues"] = float(sum(len(j.orphans) for j in known))
        found["doubled_queues"] = float(sum(len(j.doubled) for j in known))
    elif any(j.frozen for j in read):
        found["frozen_queues"] = float(sum(len(j.frozen) for j in read))
    watched = [j for j in known if j.paces]
    if watched:
        found["orphans_produced_per_second"] = sum(_produced(j, j.orphans) for j in watched)
        found["lag_growth_per_second"] = sum(_growth(j) for j in watched)
    if any(j.paces for j in read):
        found["pending_records"], found["peak_lag"] = _waiting(facts, case, {j.topic for j in read})
    if case.copies:
        found["duplicated_records"] = float(sum(c.extra for c in case.copies.values()))
    elif watched and case.confirmed:
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


def _waiting(facts: Facts, case: Case, topics: Collection[str]) -> tuple[float, float]:
    """Messages that wait when the sharing ends, or at last, and most that ever waited since it began."""
    last = peak = 0
    for (group, topic), queues in of_groups(facts).items():
        if group != case.group or topic not in topics:
            continue
        since = [(at, waiting) for at, waiting, _ in totals(queues) if at >= case.since]
        within = [waiting for at, waiting in since if case.ongoing or at <= case.until + TOGETHER]
        last += within[-1] if within else 0
        peak += max((waiting for _, waiting in since), default=0)
    return float(last), float(peak)


def reserved_seconds(facts: Facts) -> tuple[float, bool]:
    """How long the brokers keep messages, and whether the material says so."""
    told = owners.reserved_seconds(facts)
    return (RESERVED_HOURS * 3600.0, False) if told is None else (told, True)


def retries(facts: Facts, group: str) -> int:
    """Messages that the group sent back to be handled again, in the time of the material."""
    queues = of_groups(facts).get((group, f"%RETRY%{group}"), {})
    return sum((points[-1].end or 0) - (points[0].end or 0) for points in queues.values())


def orderly(facts: Facts, case: Case) -> bool:
    """A member says that it consumes in order."""
    names = {"PROP_CONSUMEORDERLY", "PROP_CONSUME_ORDERLY", "CONSUME_ORDERLY", "consumeOrderly"}
    return any(s.owner in case.sharing.ids and s.key in names and s.value.lower() == "true" for s in facts.settings)
