"""RocketMQ: several processes of one group share a client id, so queues are doubled and others have no owner.

Fires: one id in two live processes, and the queues that the allocation rule then gives to nobody stand still, or those
that it gives to several are read by several. One of the two is likely, both are proven.
Quiet: an old connection that is not expired yet, a client that shows another port on each broker or after a reconnect,
more consumers than queues, broadcast groups, POP.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Evidence, Finding, Result, Severity, finding
from mqlab.models.client_ids import Risk, parse, risks
from mqlab.rocketmq.eras import around, eras
from mqlab.rocketmq.members import EXPIRY, broadcast, deleting_hours, groups, streams
from mqlab.rocketmq.shared_client_ids import (
    Case,
    cases,
    harmless,
    measures,
    orderly,
    reserved_seconds,
    retries,
)
from mqlab.rocketmq.slots import Judgement
from mqlab.rows import Client
from mqlab.scenarios import drain
from mqlab.shared.queues import spread
from mqlab.units import clock, moment
from mqlab.words import Text, listed
from mqlab.words.filling import Value

INCIDENT = "duplicate-client-id"
SYSTEMS: tuple[str, ...] = ("rocketmq",)
say = words.room(INCIDENT)
say_of_id = words.room("client-ids")

_SHOWN = 4
"""Lines of one kind that are enough as evidence."""


def detect(facts: Facts) -> Result:
    """One finding for each group and time; else why equal ids did no harm."""
    seen = [group for group in groups(facts) if streams(facts, group)]
    if not seen:
        return next(_listed_once(facts), Result(missing=(say("no-members"),)))
    judged = [(case, harmless(facts, case)) for group in seen for case in cases(facts, group)]
    harmful = [case for case, why in judged if why is None and case.certainty is not None]
    if harmful:
        several = len(harmful) > len({case.group for case in harmful})
        return Result(tuple(_finding(facts, case, several=several) for case in harmful))
    if any(case.unclear for case, why in judged if why is None):
        return Result(missing=(say("too-early"),))
    if judged:
        return Result(rejected=listed(dict.fromkeys(why or _too_short(case) for case, why in judged)))
    return CLEAR


def _listed_once(facts: Facts) -> Iterator[Result]:
    """What a listing without a moment shows of ids at two addresses, one of which may be a connection that is dead."""
    rows: dict[tuple[str, str], list[Client]] = defaultdict(list)
    for row in facts.clients:
        if row.at is None and row.system == "rocketmq" and row.group and row.client_id and row.peer:
            rows[row.group, row.client_id].append(row)
    for (group, client), own in sorted(rows.items()):
        places = sorted({row.peer.rpartition(":")[0] for row in own if row.peer})
        if len(places) > 1 and not broadcast(facts, group):
            told = say("listed", group=group, client=client, places=places)
            yield Result(missing=(say("too-early"),), seen=told, evidence=tuple(row.evidence for row in own))


def _finding(facts: Facts, case: Case, *, several: bool) -> Finding:
    foreseen = drain.foreseen(facts, case.group)
    counted = {**measures(facts, case), **drain.measures(foreseen)}
    harm = counted.get("orphan_queues") or counted.get("doubled_queues")
    growth = counted.get("lag_growth_per_second", 0.0)
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
        slots={
            "sharing": sum(map(case.sharing.ids.count, case.sharing.shared)),
            "ids": case.sharing.shared,
            "places": sorted({m.host for m in case.sharing.members}),
            "shares": [_share(j) for j in case.judgements if not j.unread and (j.orphans or j.doubled or j.frozen)],
            "ongoing": case.ongoing,
            "growing": growth if growth > 0 else None,
            "risk": found_risks[0] if found_risks else None,
            **_told_apart(facts, case),
        },
        measures=counted,
        evidence=_evidence(facts, case),
        explains=("backlog-drain", "slow-consumer", "reprocess-duplicates", "retention-loss"),
        facts=remarks,
    )


def _told_apart(facts: Facts, case: Case) -> dict[str, Value]:
    """Since when the processes have ids of their own, and which of these are new; none where they differ by chance."""
    _, during, after = around(eras(facts, case.group, case), case)
    new = sorted(set(after.ids) - set(during.ids)) if during and after and not case.ongoing else []
    by_chance = any(one is not None and one.pid is not None and one.nano is None for one in map(parse, new))
    return {"apart": new, "distinct": moment(after.since)} if after and new and not by_chance else {}


def _share(judgement: Judgement) -> Text:
    """Which queues the rule gives those who share an id; else that others stand still than it would leave to nobody."""
    told = {"topic": judgement.topic, "strategy": judgement.strategy}
    if judgement.paces and not judgement.agrees:
        return say("other-queues" if judgement.frozen else "no-queue", queues=spread(judgement.frozen), **told)
    by_times: dict[int, list[str]] = defaultdict(list)
    for queue, times in judgement.doubled.items():
        by_times[times].append(queue)
    parts = [say("doubled", queues=spread(queues), times=times) for times, queues in sorted(by_times.items())]
    parts += [say("orphans", queues=spread(judgement.orphans))] if judgement.orphans else []
    stuck = spread(judgement.stuck) or None
    return say("same-share" if judgement.paces else "by-rule", parts=parts, stuck=stuck, **told)


def _too_short(case: Case) -> Text:
    """Why a case is none."""
    told = {"group": case.group, "ids": case.sharing.shared}
    if case.sharing.persistent:
        return say("all-moved", **told)
    stood = spread(q for j in case.confirmed for q in j.frozen) or None
    return say("expiring", seconds=case.sharing.seconds, expiry=EXPIRY, stood=stood, **told)


def _evidence(facts: Facts, case: Case) -> Iterator[Evidence]:
    """The connections, the queues that nobody or several read, and the moments in which the id connects."""
    for member in case.sharing.members[: 2 * _SHOWN]:
        yield member.evidence.because(say("several"))
    for judgement in case.judgements:
        stuck = [p for q, p in judgement.paces.items() if p.frozen and q in judgement.orphans]
        for pace in stuck[:2]:
            why = say("orphan", queue=pace.queue, produced=pace.produced)
            yield from (position.evidence.because(why) for position in (pace.first, pace.last))
    for doubles in case.doubles.values():
        yield from (place.because(say("doubles")) for place in doubles.evidence[:_SHOWN])
    connected = [e for e in facts.of_kind("consumer-connected") if e.group == case.group]
    joined = [e.first for e in connected if e.client_id in case.sharing.shared]
    yield from (place.because(say("connects")) for place in joined[:_SHOWN])


def _risks(facts: Facts, case: Case) -> Sequence[Risk]:
    """How the ids came about, the likeliest first."""
    versions = {c.version for c in facts.clients if c.client_id in case.sharing.shared and c.version}
    version = next(iter(versions)) if len(versions) == 1 else None
    read = [parse(client) for client in case.sharing.shared]
    return list(dict.fromkeys(risk for client in read if client for risk in risks(client, version)))


def _remarks(facts: Facts, case: Case, found: Sequence[Risk]) -> dict[str, str]:
    """Short words beside the numbers: strategy, cause of the id, order, retries, retention."""
    strategies = {say("strategy" if j.said else "assumed", strategy=j.strategy) for j in case.judgements}
    remarks = {"strategy": listed(sorted(strategies), ", "), "seen by": say("seen-by", how=case.sharing.how)}
    if found:
        remarks["cause of the id"] = listed((say_of_id("name", risk=risk) for risk in found), ", ")
    if orderly(facts, case):
        remarks["order"] = say("order")
    if again := retries(facts, case.group):
        remarks["retries"] = say("retries", messages=again)
    if case.ongoing and any(j.orphans for j in case.judgements):
        seconds, said = reserved_seconds(facts)
        since, deleted = moment(case.since), moment(case.since + seconds)
        times = {"since": since, "deleted": deleted, "hours": deleting_hours(facts)}
        remarks["retention"] = say("retention", kept=seconds, default=not said, **times)
    return remarks
