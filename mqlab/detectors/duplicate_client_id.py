"""RocketMQ: several processes of one group share a client id, so queues are doubled and others have no owner.

Fires: one id in two live processes, and the queues that the allocation rule then gives to nobody stand still, or those
that it gives to several are read by several. One of the two is likely, both are proven.
Quiet: an old connection that is not expired yet, a client that shows another port on each broker or after a reconnect,
more consumers than queues, broadcast groups, POP.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Evidence, Finding, Result, Severity, finding
from mqlab.models.client_ids import Risk, parse, risks
from mqlab.rocketmq.members import EXPIRY, groups, streams
from mqlab.rocketmq.shared_client_ids import Case, cases, harmless, measures, orderly, reserved_seconds, retries
from mqlab.rocketmq.slots import Judgement
from mqlab.scenarios import drain
from mqlab.shared.queues import spread
from mqlab.shared.wording import clock, instant

INCIDENT = "duplicate-client-id"
SYSTEMS: tuple[str, ...] = ("rocketmq",)

_SHOWN = 4
"""Lines of one kind that are enough as evidence."""


def detect(facts: Facts) -> Result:
    """One finding for each group and time; else why equal ids did no harm."""
    seen = [group for group in groups(facts) if streams(facts, group)]
    if not seen:
        return Result(missing=("who was connected: consumerConnection, the broker's log or the clients' logs",))
    judged = [(case, harmless(facts, case)) for group in seen for case in cases(facts, group)]
    harmful = [case for case, why in judged if why is None and case.certainty is not None]
    if harmful:
        several = len(harmful) > len({case.group for case in harmful})
        return Result(tuple(_finding(facts, case, several=several) for case in harmful))
    if any(case.unclear for case, why in judged if why is None):
        return Result(missing=("consumerConnection once more, over 130 s later, and the offsets of the group",))
    if judged:
        return Result(rejected="; ".join(dict.fromkeys(why or _too_short(case) for case, why in judged)))
    return CLEAR


def _finding(facts: Facts, case: Case, *, several: bool) -> Finding:
    foreseen = drain.foreseen(facts, case.group)
    counted = {**measures(facts, case), **drain.measures(foreseen)}
    harm = counted.get("orphan_queues") or counted.get("doubled_queues")
    found_risks = _risks(facts, case)
    remarks = _remarks(facts, case, found_risks)
    if foretold := drain.remark(foreseen):
        remarks["drain"] = foretold
    assert case.certainty is not None
    return finding(
        INCIDENT,
        case.group,
        case.certainty,
        (case.since, None if case.ongoing else case.until),
        severity=Severity.CRITICAL if case.confirmed and harm else Severity.WARNING,
        ongoing=case.ongoing,
        name=f"{case.group}@{clock(case.since)}" if several else None,
        statement=_statement(case, counted),
        measures=counted,
        evidence=_evidence(facts, case),
        explains=("backlog-drain", "slow-consumer", "reprocess-duplicates", "retention-loss"),
        mitigate=(
            f"Restart the processes of {case.group} one by one with -Drocketmq.client.name=<name of the pod or "
            "host>; side effect: each restart rebalances the group, and the whole backlog then flows to the few owners "
            "of its queues: plan the drain first (mqlab drain)."
        ),
        remedy=_remedy(found_risks[0]) if found_risks else "Give every process its own client id.",
        verify=f"mqadmin consumerConnection -g {case.group} lists every #ClientId once, and each queue's offset moves.",
        facts=remarks,
    )


def _statement(case: Case, counted: Mapping[str, float]) -> str:
    """Who shares what, and what that does to the queues."""
    ids, shared = case.sharing.ids, case.sharing.shared
    places = ", ".join(sorted({m.host for m in case.sharing.members}))
    rule = "; ".join(_slots(j) for j in case.judgements if not j.unread and (j.orphans or j.doubled or j.frozen))
    who = f"{sum(map(ids.count, shared))} of {len(ids)} processes of {case.group}"
    what = rule or "which queues that leaves without an owner cannot be seen here"
    return f"{who} have the client id {' and '.join(shared)} ({places}): {what}. {_effect(counted, case.ongoing)}"


def _slots(judgement: Judgement) -> str:
    if judgement.paces and not judgement.agrees:
        stood = f"{spread(judgement.frozen)} of {judgement.topic} stood still" if judgement.frozen else "no queue did"
        return f"{stood}, which is not what {judgement.strategy} would leave without an owner"
    by_times: dict[int, list[str]] = defaultdict(list)
    for queue, times in judgement.doubled.items():
        by_times[times].append(queue)
    parts = [f"{spread(queues)} is read {times} times" for times, queues in sorted(by_times.items())]
    if judgement.orphans:
        parts.append(f"{spread(judgement.orphans)} by nobody")
    if judgement.stuck:
        parts.append(f"{spread(judgement.stuck)} has an owner and stands still all the same")
    same = f"{judgement.strategy} gives all of them the same share of {judgement.topic}"
    return f"{same}, so {' and '.join(parts)}" if parts else same


def _effect(counted: Mapping[str, float], ongoing: bool) -> str:
    if "pending_records" not in counted:
        return "No offsets of that time show what it did to the queues."
    told = f"{units.number(counted['pending_records'])} messages {'wait' if ongoing else 'waited when it ended'}"
    if counted.get("orphans_produced_per_second"):
        grown, produced = counted["lag_growth_per_second"], counted["orphans_produced_per_second"]
        more = f"{units.digits(produced)}/s {'are' if ongoing else 'were'} produced to the queues without owner"
        told += f" ({units.digits(grown)}/s more, {more})"
    if counted.get("duplicated_records"):
        told += f"; {units.number(counted['duplicated_records'])} deliveries were repeats"
    elif counted.get("duplicated_records_estimated"):
        told += f"; about {units.digits(counted['duplicated_records_estimated'], 2)} deliveries were repeats"
    return f"{told}."


def _too_short(case: Case) -> str:
    """Why a case is none."""
    names = " and ".join(case.sharing.shared)
    if case.sharing.persistent:
        return f"{case.group}: {names} stands there more than once, but every queue of the topic moved"
    told = (
        f"{case.group}: {names} was there more than once for {units.duration(case.sharing.seconds)}, "
        f"no longer than the {EXPIRY:.0f} s for which a connection that nobody closed stays listed"
    )
    stood = [q for j in case.confirmed for q in j.frozen]
    return f"{told}; {spread(stood)} waited for its owner as long" if stood else told


def _evidence(facts: Facts, case: Case) -> Iterator[Evidence]:
    """The connections, the queues that nobody or several read, and the moments in which the id connects."""
    for member in case.sharing.members[: 2 * _SHOWN]:
        yield member.evidence.because("one client id, several processes")
    for judgement in case.judgements:
        stuck = [p for q, p in judgement.paces.items() if p.frozen and q in judgement.orphans]
        for pace in stuck[:2]:
            why = f"{pace.queue} has no owner: its offset stands still while {pace.produced} messages come in"
            yield from (position.evidence.because(why) for position in (pace.first, pace.last))
    for doubles in case.doubles.values():
        yield from (place.because("the same queues in another process") for place in doubles.evidence[:_SHOWN])
    connected = [e for e in facts.of_kind("consumer-connected") if e.group == case.group]
    joined = [e.first for e in connected if e.client_id in case.sharing.shared]
    yield from (place.because("the id connects") for place in joined[:_SHOWN])


def _risks(facts: Facts, case: Case) -> Sequence[Risk]:
    """How the ids came about, the likeliest first."""
    versions = {c.version for c in facts.clients if c.client_id in case.sharing.shared and c.version}
    version = next(iter(versions)) if len(versions) == 1 else None
    read = [parse(client) for client in case.sharing.shared]
    return list(dict.fromkeys(risk for client in read if client for risk in risks(client, version)))


def _remedy(risk: Risk) -> str:
    return f"{risk.because[0].upper()}{risk.because[1:]}: {risk.repair}."


def _remarks(facts: Facts, case: Case, found: Sequence[Risk]) -> dict[str, str]:
    """Short words beside the numbers: strategy, cause of the id, order, retries, retention."""
    strategies = {f"{j.strategy}{'' if j.said else ' (assumed)'}" for j in case.judgements}
    remarks = {"strategy": ", ".join(sorted(strategies)), "seen by": case.sharing.how}
    if found:
        remarks["cause of the id"] = ", ".join(risk.name for risk in found)
    if orderly(facts, case):
        remarks["order"] = (
            "may break without a trace: the lock of a queue is given to a client id, so both processes get it"
        )
    if again := retries(facts, case.group):
        remarks["retries"] = f"{units.number(again)} messages sent back to the retry queue"
    if any(j.orphans for j in case.judgements):
        seconds, said = reserved_seconds(facts)
        kept = f"{units.duration(seconds)}{'' if said else ' (default of the broker)'}"
        gone = f"{instant(case.since + seconds):%Y-%m-%d %H:%M} UTC"
        remarks["retention"] = f"{kept}: what waits since {clock(case.since)} UTC may be deleted from {gone} on"
    return remarks
