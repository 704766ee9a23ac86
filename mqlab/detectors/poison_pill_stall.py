"""Kafka: one partition stands still on one record that fails again and again.

Fires: the same record is tried for a minute and longer. Proven where the committed offset of its partition stands at
it while messages come in, the other partitions move and the group does not rebalance; likely where only one is known.
Quiet: a record that was skipped after its retries, work that fails for many records or partitions (what it calls is
down), a partition that stands still without an error or without an owner, a group that is slow everywhere.
"""

from __future__ import annotations

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.membership import interrupted, topics
from mqlab.kafka import poll_timeout
from mqlab.kafka.redelivery import LEAST, Stuck, many_fail, stuck_records
from mqlab.shared.queues import lag, totals
from mqlab.sources import Role

INCIDENT = "poison-pill-stall"
SYSTEMS: tuple[str, ...] = ("kafka",)

_SHOWN = 3
_LATE = ("poll-interval-exceeded", "consumer-offline")
"""What comes of a record that is tried in the polling thread without end."""


def detect(facts: Facts) -> Result:
    """One finding for each record."""
    tried = stuck_records(facts)
    poison = [one for one in tried if not many_fail(facts, one)]
    if poison:
        return Result(tuple(_finding(facts, one) for one in poison))
    if tried:
        return Result(rejected="many records fail, not one: what their handler calls may be down")
    told = facts.of_kind("record-failed")
    if told:
        times = sum(e.count for e in told)
        return Result(rejected=f"records failed {units.counted(times, 'time')}, but none again and again for a minute")
    if facts.logs_of("kafka", Role.CLIENT_LOG) or facts.logs_of("", Role.APPLICATION_LOG):
        return CLEAR
    return Result(missing=("the logs of the consumers, which name the record that fails",))


def _finding(facts: Facts, one: Stuck) -> Finding:
    held = bool(one.frozen) and len(one.frozen) > 1 and one.grown >= LEAST
    alone = bool(one.moving) or not one.others
    trouble = interrupted(facts, one.group or "", one.since, one.until)
    late = bool(trouble) and poll_timeout.explains(facts, one, trouble)
    proven = held and alone and (late or not trouble)
    place = f"{one.topic}-{one.queue}@{one.offset}"
    ongoing = held or _to_the_end(facts, one)
    return finding(
        INCIDENT,
        f"{one.group or 'unknown group'}/{one.topic}-{one.queue}",
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (one.since, None if ongoing else one.until),
        severity=Severity.CRITICAL,
        ongoing=ongoing,
        name=f"{one.group or 'unknown group'}/{one.topic}-{one.queue}@{one.offset}",
        statement=(
            f"{place} fails again and again: {units.number(one.tries)} attempts in "
            f"{units.duration(one.seconds)} by {', '.join(one.clients)}. {_effect(one)}"
        ),
        measures=_measures(facts, one),
        evidence=_evidence(one),
        explains=("slow-consumer", "backlog-drain", *(_LATE if late else ())),
        mitigate=(
            "Save the record, stop the group and skip it: kafka-consumer-groups --reset-offsets --to-offset "
            f"{one.offset + 1} --group {one.group or 'GROUP'} --topic {one.topic}:{one.queue} --execute; "
            "side effect: the record is not handled."
        ),
        remedy="Bounded retries and a dead-letter topic; an error-handling deserialiser.",
        verify=f"The committed offset of {one.topic}-{one.queue} is above {one.offset} and its LAG falls.",
        facts={"tries": ", ".join(f"{client} {units.number(times)}" for client, times in one.clients.items())},
    )


def _effect(one: Stuck) -> str:
    """What it does to the partition."""
    if not one.frozen:
        return "No snapshot shows what its partition did meanwhile."
    stands = f"Its partition is stuck at {one.frozen[-1].committed}"
    if one.others:
        stands += f" while {len(one.moving)} of {units.counted(len(one.others), 'other')} move on"
    return f"{stands}; its lag grew by {units.number(one.grown)} to {units.number(lag(one.frozen[-1]))} messages."


def _measures(facts: Facts, one: Stuck) -> dict[str, float]:
    told = {"offset": float(one.offset), "retries": float(one.tries), "stalled_seconds": one.seconds}
    if not one.frozen:
        return told
    first, last = one.frozen[0], one.frozen[-1]
    seconds = (last.at or 0.0) - (first.at or 0.0)
    waiting = [w for at, w, _ in totals(topics(facts)[one.group or "", one.topic]) if at >= one.since]
    told |= {"stuck_lag": float(lag(last)), "peak_lag": float(max(waiting, default=lag(last)))}
    return told | ({"lag_growth_per_second": one.grown / seconds} if seconds > 0 else {})


def _to_the_end(facts: Facts, one: Stuck) -> bool:
    """It was still tried when its logs ended."""
    sources = {e.source for e in (*one.failures, *one.sought)}
    ends = [c.last_at for c in facts.coverage if c.source in sources and c.last_at is not None]
    return bool(ends) and max(ends) - one.until <= one.seconds / one.tries + 10.0


def _evidence(one: Stuck) -> tuple[Evidence, ...]:
    first = {e.source: e for e in reversed(one.failures)}
    failed = [e.first for e in sorted(first.values(), key=lambda e: (e.first_at or 0.0, e.source))]
    failed += [one.failures[-1].last] if len(one.failures) > 1 else []
    told = [p.because("the record fails") for p in failed[: _SHOWN + 1]]
    told += [e.first.because("back to it") for e in one.sought[:1]]
    stands = [one.frozen[0], one.frozen[-1]] if len(one.frozen) > 1 else list(one.frozen)
    told += [p.evidence.because("its committed offset stands still") for p in stands]
    moving = [one.others[queue] for queue in one.moving[:1]]
    return (*told, *(p.last.evidence.because("another moves") for p in moving))
