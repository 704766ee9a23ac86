"""Kafka: one partition stands still on one record that fails again and again.

Fires: the same record is tried for a minute and longer, or more often than retries usually are while snapshots show its
partition standing still at it and another one moving. Proven where the committed offset of its partition stands at
it while messages come in, the other partitions move and the group does not rebalance; likely where only one is known.
Quiet: a record that was skipped after its retries, work that fails for many records or partitions, or whose log says
at each try that a database or service does not answer (what it calls is down), a partition that stands still without
an error or without an owner, a group that is slow everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.membership import interrupted
from mqlab.kafka import poll_timeout
from mqlab.kafka.stuck_records import Stuck, gone_past, many_fail, stuck_records
from mqlab.rows import GRID
from mqlab.shared.lag import LEAST, growth
from mqlab.shared.outages import outage
from mqlab.shared.queues import lag
from mqlab.sources import Role
from mqlab.units import Interval, moment
from mqlab.words import listed
from mqlab.words.filling import Value

INCIDENT = "poison-pill-stall"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

NEAR = 5.0
"""Seconds around a try in which its cause is logged: exponential waits between tries begin with one second."""
_SHOWN = 3
_LATE = ("poll-interval-exceeded", "consumer-offline")
"""What comes of a record that is tried in the polling thread without end."""


def detect(facts: Facts) -> Result:
    """One finding for each record."""
    tried = stuck_records(facts)
    alone = [stuck for stuck in tried if not many_fail(facts, stuck)]
    poison = [stuck for stuck in alone if not _lacks(facts, stuck)]
    if poison:
        return Result(tuple(_finding(facts, stuck) for stuck in poison))
    if alone:
        return Result(rejected=say("lacks"))
    if tried:
        return Result(rejected=say("many"))
    told = facts.of_kind("record-failed")
    if told:
        return Result(rejected=say("not-again", times=sum(e.count for e in told)))
    if facts.logs_of("kafka", Role.CLIENT_LOG) or facts.logs_of("", Role.APPLICATION_LOG):
        return CLEAR
    return Result(missing=(say("no-logs"),))


def _lacks(facts: Facts, stuck: Stuck) -> bool:
    """No other partition moves, and the log says at most tries that something it needs does not answer."""
    at = [e.first_at for e in (*stuck.failures, *stuck.sought) if e.first_at is not None]
    sources = {e.source for e in (*stuck.failures, *stuck.sought)}
    return not stuck.moving and outage(facts, sources, at, NEAR) is not None


def _finding(facts: Facts, stuck: Stuck) -> Finding:
    held = bool(stuck.frozen) and len(stuck.frozen) > 1 and stuck.grown >= LEAST
    alone = bool(stuck.moving) or not stuck.others
    trouble = interrupted(facts, stuck.group or "", stuck.since, stuck.until)
    late = bool(trouble) and poll_timeout.explains(facts, stuck, trouble)
    proven = held and alone and (late or not trouble)
    subject = say("subject", group=stuck.group, topic=stuck.topic, queue=stuck.queue)
    passed = gone_past(facts, stuck)
    ongoing = passed is None and (held or _to_the_end(facts, stuck))
    return finding(
        INCIDENT,
        subject,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (stuck.since, None if ongoing else stuck.until),
        severity=Severity.CRITICAL,
        ongoing=ongoing,
        name=f"{subject}@{stuck.offset}",
        slots={**_slots(stuck), "ongoing": ongoing, "passed": None if passed is None else moment(passed)},
        measures=_measures(stuck, passed),
        evidence=_evidence(stuck),
        explains=("slow-consumer", "backlog-drain", *(_LATE if late else ())),
        facts={"tries": listed((say("tries", client=who, times=n) for who, n in stuck.clients.items()), ", ")},
    )


def _slots(stuck: Stuck) -> dict[str, Value]:
    """The record, who tried it, and what it does to its partition as far as snapshots show."""
    ends = [e.last_at for e in (*stuck.failures, *stuck.sought) if e.last_at is not None]
    known: dict[str, Value] = {
        "group": stuck.group,
        "topic": stuck.topic,
        "queue": stuck.queue,
        "offset": str(stuck.offset),
        "next": str(stuck.offset + 1),
        "clients": list(stuck.clients),
        "failed": sum(e.count for e in stuck.failures) >= stuck.tries,
        "lasted": max(ends, default=stuck.until) - stuck.since,
    }
    if not stuck.frozen:
        return known
    return known | {
        "stayed" if len(stuck.frozen) > 1 else "once": str(stuck.frozen[-1].committed),
        "moving": len(stuck.moving),
        "others": len(stuck.others) or None,
        "earlier": lag(stuck.frozen[0]) if stuck.grown > 0 else None,
    }


def _measures(stuck: Stuck, passed: float | None) -> dict[str, float | None]:
    measures: dict[str, float | None] = {
        "offset": stuck.offset, "retries": stuck.tries, "stalled_seconds": stuck.seconds
    }  # fmt: skip
    if not stuck.frozen:
        return measures
    return measures | {
        "stuck_lag": lag(stuck.frozen[-1]),
        "peak_lag": max(map(lag, stuck.frozen)),
        "pending_records": lag(stuck.frozen[-1]) if passed is None else None,
        **(pace.measures("lag_growth_per_second") if (pace := _pace(stuck)) is not None else {}),
    }


def _pace(stuck: Stuck) -> Interval | None:
    """By how many messages a second the partition's lag grew."""
    return growth([(p.at or 0.0, float(lag(p))) for p in stuck.frozen])


def _to_the_end(facts: Facts, stuck: Stuck) -> bool:
    """It was still tried when its logs ended."""
    sources = {e.source for e in (*stuck.failures, *stuck.sought)}
    end = facts.covered_until(sources)
    return end is not None and end - stuck.until <= stuck.seconds / stuck.tries + GRID


def _evidence(stuck: Stuck) -> Iterator[Evidence]:
    first = {e.source: e for e in reversed(stuck.failures)}
    failed = [e.first for e in sorted(first.values(), key=lambda e: (e.first_at or 0.0, e.source))]
    failed += [stuck.failures[-1].last] if len(stuck.failures) > 1 else []
    yield from (place.because(say("fails")) for place in failed[: _SHOWN + 1])
    yield from (e.first.because(say("back")) for e in stuck.sought[:1])
    for position in dict.fromkeys((*stuck.frozen[:1], *stuck.frozen[-1:])):
        yield position.evidence.because(say("stands"))
    yield from (stuck.others[queue].last.evidence.because(say("moves")) for queue in stuck.moving[:1])
