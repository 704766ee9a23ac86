"""What a finding about a shared client id says.

What a finding about a shared client id says: the two sentences, the lines that prove it, and the repair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.models.client_ids import Risk, parse, risks
from mqlab.rocketmq.shared_client_ids import EXPIRY, Case, orderly, reserved_seconds, retries
from mqlab.rocketmq.slots import Judgement
from mqlab.shared.queues import spread
from mqlab.shared.wording import clock, instant

_SHOWN = 4
"""Lines of one kind that are enough as evidence."""


def statement(case: Case, measures: Mapping[str, float]) -> str:
    """Who shares what, and what that does to the queues."""
    ids = case.sharing.ids
    processes = sum(ids.count(client) for client in case.sharing.shared)
    places = ", ".join(sorted({m.rpartition(":")[0] or m for m in case.sharing.places}))
    names = " and ".join(case.sharing.shared)
    first = f"{processes} of {len(ids)} processes of {case.group} have the client id {names} ({places})"
    return f"{first}: {_rule(case)}. {_effect(measures, ongoing=case.ongoing)}"


def _rule(case: Case) -> str:
    told = [_slots(j) for j in case.judgements if not j.unread and (j.orphans or j.doubled or j.frozen)]
    return "; ".join(told) or "which queues that leaves without an owner cannot be seen here"


def _slots(judgement: Judgement) -> str:
    if judgement.paces and not judgement.agrees:
        stood = f"{spread(judgement.frozen)} of {judgement.topic} stood still" if judgement.frozen else "no queue did"
        return f"{stood}, which is not what {judgement.strategy} would leave without an owner"
    parts = [f"{judgement.strategy} gives all of them the same share of {judgement.topic}"]
    by_times: dict[int, list[str]] = {}
    for queue, times in judgement.doubled.items():
        by_times.setdefault(times, []).append(queue)
    parts += [f"{spread(queues)} is read {times} times" for times, queues in sorted(by_times.items())]
    if judgement.orphans:
        parts.append(f"{spread(judgement.orphans)} by nobody")
    if judgement.stuck:
        parts.append(f"{spread(judgement.stuck)} has an owner and stands still all the same")
    return f"{parts[0]}, so {' and '.join(parts[1:])}" if parts[1:] else parts[0]


def _effect(measures: Mapping[str, float], *, ongoing: bool) -> str:
    if "pending_records" not in measures:
        return "No offsets of that time show what it did to the queues."
    parts = [f"{units.number(measures['pending_records'])} messages {'wait' if ongoing else 'waited when it ended'}"]
    if measures.get("orphans_produced_per_second"):
        grown, produced = measures["lag_growth_per_second"], measures["orphans_produced_per_second"]
        verb = "are" if ongoing else "were"
        rates = f"{units.digits(grown)}/s more, {units.digits(produced)}/s {verb} produced to the queues without owner"
        parts = [f"{parts[0]} ({rates})"]
    if measures.get("duplicated_records"):
        parts.append(f"{units.number(measures['duplicated_records'])} deliveries were repeats")
    elif measures.get("duplicated_records_estimated"):
        parts.append(f"about {units.digits(measures['duplicated_records_estimated'], 2)} deliveries were repeats")
    return f"{'; '.join(parts)}."


def too_short(case: Case) -> str:
    """Why a case is none."""
    names = " and ".join(case.sharing.shared)
    if case.sharing.persistent:
        return f"{case.group}: {names} stands there more than once, but every queue of the topic moved"
    seconds = units.duration(case.sharing.seconds)
    listed = f"no longer than the {EXPIRY:.0f} s for which a connection that nobody closed stays listed"
    told = f"{case.group}: {names} was there more than once for {seconds}, {listed}"
    stood = [q for j in case.confirmed for q in j.frozen]
    return f"{told}; {spread(stood)} waited for its owner as long" if stood else told


def evidence(facts: Facts, case: Case) -> tuple[Evidence, ...]:
    """The connections, the allocations and the queues."""
    return tuple(dict.fromkeys((*_connections(case), *_frozen(case), *_doubled(case), *_joined(facts, case))))


def _connections(case: Case) -> Iterator[Evidence]:
    for place in case.sharing.evidence[: 2 * _SHOWN]:
        yield Evidence(place.source, place.line, place.text, "one client id, several processes")


def _frozen(case: Case) -> Iterator[Evidence]:
    for judgement in case.judgements:
        stuck = [p for q, p in judgement.paces.items() if p.frozen and q in judgement.orphans]
        for pace in stuck[:2]:
            for position in (pace.first, pace.last):
                why = f"{pace.queue} has no owner: its offset stands still while {pace.produced} messages come in"
                yield Evidence(position.source, position.line, position.text, why)


def _doubled(case: Case) -> Iterator[Evidence]:
    for found in case.doubles.values():
        for place in found.evidence[:_SHOWN]:
            yield Evidence(place.source, place.line, place.text, "the same queues in another process")


def _joined(facts: Facts, case: Case) -> Iterator[Evidence]:
    joined = [
        e.first
        for e in facts.of_kind("consumer-connected")
        if e.group == case.group and e.client_id in case.sharing.shared
    ]
    for place in joined[:_SHOWN]:
        yield Evidence(place.source, place.line, place.text, "the id connects")


def _risks(facts: Facts, case: Case) -> tuple[Risk, ...]:
    versions = {c.version for c in facts.clients if c.client_id in case.sharing.shared and c.version}
    version = next(iter(versions)) if len(versions) == 1 else None
    read = [parse(client) for client in case.sharing.shared]
    return tuple(dict.fromkeys(risk for client in read if client for risk in risks(client, version)))


def mitigation(case: Case) -> str:
    """What to do at once."""
    return (
        f"Restart the processes of {case.group} one by one with -Drocketmq.client.name=<name of the pod or host>; side "
        "effect: each restart rebalances the group, and the whole backlog then flows to the few owners of its queues: "
        "plan the drain first (mqlab drain)."
    )


def remedy(facts: Facts, case: Case) -> str:
    """What prevents it, by how the id came about."""
    risk = next(iter(_risks(facts, case)), None)
    if risk is None:
        return "Give every process its own client id."
    return f"{risk.because[0].upper()}{risk.because[1:]}: {risk.repair}."


def remarks(facts: Facts, case: Case) -> Mapping[str, str]:
    """Short words beside the numbers: strategy, cause of the id, order, retries, retention."""
    strategies = {f"{j.strategy}{'' if j.said else ' (assumed)'}" for j in case.judgements}
    found = {"strategy": ", ".join(sorted(strategies)), "seen by": case.sharing.how}
    causes = [risk.name for risk in _risks(facts, case)]
    if causes:
        found["cause of the id"] = ", ".join(causes)
    if orderly(facts, case):
        found["order"] = "broken without a trace: the lock of a queue is given to a client id, both processes hold it"
    if again := retries(facts, case.group):
        found["retries"] = f"{units.number(again)} messages sent back, each read by every process of the retry queue"
    if any(j.orphans for j in case.judgements):
        seconds, said = reserved_seconds(facts)
        kept = f"{units.duration(seconds)}{'' if said else ' (default of the broker)'}"
        gone = f"{instant(case.since + seconds):%Y-%m-%d %H:%M} UTC"
        found["retention"] = f"{kept}: what waits since {clock(case.since)} UTC begins to be deleted at {gone}"
    return found
