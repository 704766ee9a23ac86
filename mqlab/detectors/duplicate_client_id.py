"""RocketMQ: several processes of one group share a client id, so queues are doubled and others have no owner.

Fires: one id in two live processes, and the queues that the allocation rule then gives to nobody stand still, or those
that it gives to several are read by several. One of the two is likely, both are proven.
Quiet: an old connection that is not expired yet, a client that shows another port on each broker or after a reconnect,
more consumers than queues, broadcast groups, POP.
"""

from __future__ import annotations

from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Finding, Severity
from mqlab.rocketmq import shared_client_id_words
from mqlab.rocketmq.members import groups, streams
from mqlab.rocketmq.shared_client_ids import Case, cases, harmless, measures
from mqlab.scenarios import drain as scenarios_drain
from mqlab.shared.wording import clock, moment

INCIDENT = "duplicate-client-id"
SYSTEMS: tuple[str, ...] = ("rocketmq",)


def detect(facts: Facts) -> Result:
    """One finding for each group and time; else why equal ids did no harm."""
    told = [group for group in groups(facts) if streams(facts, group)]
    if not told:
        return Result(missing=("who was connected: consumerConnection, the broker's log or the clients' logs",))
    every = [case for group in told for case in cases(facts, group)]
    innocent = {id(case): why for case in every if (why := harmless(facts, case))}
    found = [case for case in every if id(case) not in innocent and case.certainty is not None]
    if found:
        several = len(found) > len({case.group for case in found})
        return Result(tuple(_finding(facts, case, several=several) for case in found))
    if any(case.unclear for case in every if id(case) not in innocent):
        return Result(missing=("consumerConnection once more, over 130 s later, and the offsets of the group",))
    if every:
        return Result(
            rejected="; ".join(dict.fromkeys(innocent.get(id(c)) or shared_client_id_words.too_short(c) for c in every))
        )
    return CLEAR


def _finding(facts: Facts, case: Case, *, several: bool) -> Finding:
    drain = scenarios_drain.foreseen(facts, case.group)
    counted = {**measures(facts, case), **scenarios_drain.measures(drain)}
    harm = counted.get("orphan_queues") or counted.get("doubled_queues")
    assert case.certainty is not None
    return Finding(
        id=f"{INCIDENT}:{case.group}" + (f"@{clock(case.since)}" if several else ""),
        incident=INCIDENT,
        severity=Severity.CRITICAL if case.confirmed and harm else Severity.WARNING,
        certainty=case.certainty,
        subject=case.group,
        started_at=moment(case.since),
        ended_at=None if case.ongoing else moment(case.until),
        ongoing=case.ongoing,
        statement=shared_client_id_words.statement(case, counted),
        measures=counted,
        evidence=shared_client_id_words.evidence(facts, case),
        explains=("backlog-drain", "slow-consumer", "reprocess-duplicates", "retention-loss"),
        mitigate=shared_client_id_words.mitigation(case),
        remedy=shared_client_id_words.remedy(facts, case),
        verify=f"mqadmin consumerConnection -g {case.group} lists every #ClientId once, and each queue's offset moves.",
        facts={
            **shared_client_id_words.remarks(facts, case),
            **({"drain": told} if (told := scenarios_drain.remark(drain)) else {}),
        },
    )
