"""Kafka: working off one poll takes longer than max.poll.interval.ms, so members leave the group by themselves.

Fires: members leave though their processes run on and heartbeat, by the clients' words, by the reason that the broker
prints, or by failed commits and a new member id of the same process. Proven where polls are also known to have taken
longer than the interval. Up to 0.10.0, where poll sent the heartbeats, the interval is the session timeout.
Quiet: members that the coordinator expelled (a frozen process shows a long time between polls, too), orderly stops,
a long poll after which nobody left, commits that a cooperative rebalance put off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import backlog
from mqlab.kafka import groups as kafka_groups
from mqlab.kafka import poll_limits
from mqlab.kafka.lives import lives
from mqlab.kafka.poll_limits import SESSION
from mqlab.kafka.poll_timeout import Case, Cause, Departure, case_of, cause
from mqlab.kafka.rows import Behind, End
from mqlab.models import polling
from mqlab.shared.configured import consumer_value
from mqlab.sources import Role
from mqlab.words import Text, listed
from mqlab.words.filling import Value

INCIDENT = "poll-interval-exceeded"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)

AGAIN = 2
"""Departures from which it is a loop. Judgement, no default behind it: one may be a pause."""
_MORE_SHOWN = 3
_NAMED = 4
"""Members that are named in a statement; of more the number."""
_ROOM = 2
"""Kinds of cost, and others who polled in time, beside which a statement has room for the cause."""


def detect(facts: Facts) -> Result:
    """One finding for each group."""
    groups = kafka_groups.groups(facts)
    cases = [case for group in groups if (case := case_of(facts, group)) is not None]
    if sure := [case for case in cases if _sure(case)]:
        return Result(tuple(_finding(facts, case) for case in sure))
    left = {case.group: tuple(_evidence(facts, case, None)) for case in cases}
    if left:
        seen = say("left-again", groups=list(left))
        places = tuple(place for each in left.values() for place in each)
        return Result(missing=(say("no-client-logs"),), seen=seen, evidence=places)
    if any(kafka_groups.returning(facts, group) for group in groups):
        return Result(missing=(say("no-client-logs"),))
    if not facts.logs_of("kafka", Role.CLIENT_LOG, Role.BROKER_LOG):
        return Result(missing=(say("no-logs"),))
    reasons = [reason for group in groups if (reason := _other(facts, group))]
    return Result(rejected=listed(reasons) or None)


def _sure(case: Case) -> bool:
    """A line tells it, a poll was too long, or a commit failed; who only leaves and comes again may be deployed."""
    return any(departure.told for departure in case.departures) or case.measured or bool(case.commits)


def _other(facts: Facts, group: str) -> Text | None:
    """Why something that looks like it is none."""
    expelled = sum(life.end is End.EXPIRED for life in lives(facts, group))
    left = [life for life in lives(facts, group) if life.end is End.LEFT]
    stopped = sum(life.process_stopped is not None for life in left)
    if expelled:
        return say("expelled", group=group, expulsions=expelled)
    polls = [(b, poll_limits.interval(facts, b.client_id or "", b.at)) for b in poll_limits.polls(facts, group)]
    late = sum(limit is not None and batch.longest_seconds > limit for batch, limit in polls)
    if late:
        return say("nobody-left", group=group, polls=late)
    others = len(left) if len(left) > stopped else None
    return say("closed", group=group, times=stopped, left=others) if stopped else None


def _finding(facts: Facts, case: Case) -> Finding:
    behind = cause(facts, case)
    emptied = any(row.empty for row in case.rebalances)
    seen = any(departure.told for departure in case.departures) or bool(case.rebalances)
    return finding(
        INCIDENT,
        case.group,
        Certainty.PROVEN if case.measured and seen else Certainty.LIKELY,
        (case.since, None if case.ongoing else case.until),
        severity=Severity.CRITICAL if len(case.departures) >= AGAIN else Severity.WARNING,
        ongoing=case.ongoing,
        slots=_slots(case, behind),
        measures=_measures(facts, case),
        evidence=kafka_groups.once(_evidence(facts, case, behind)),
        explains=("reprocess-duplicates", "backlog-drain", *(("consumer-offline",) if emptied else ())),
        facts=_remarks(case, behind),
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    """What fits between two polls, by the times that were measured."""

    most: int | None
    """Largest max.poll.records that is just enough for 99 of 100 records."""
    advised: int | None
    """The same with half of the interval to spare."""
    slow: float
    """Seconds per record of the slowest polls, from which the other numbers come."""
    interval: float
    """Smallest interval that leaves as much to spare."""


def _fit(case: Case) -> _Fit | None:
    """None where the limit or the time per record is not known, or one poll stood still."""
    if case.limit is None or case.pace is None or not case.pace.mean or case.stalled:
        return None
    records, slow = min(case.records or case.pace.largest, case.pace.largest), case.pace.each.p99
    return _Fit(
        polling.largest_safe_records(case.limit.seconds, slow),
        polling.largest_safe_records(case.limit.seconds, slow, margin=polling.ADVISED_MARGIN),
        slow,
        polling.smallest_safe_interval(records, slow, margin=polling.ADVISED_MARGIN),
    )


def _evidence(facts: Facts, case: Case, behind: Cause | None) -> Iterator[Evidence]:
    """One departure as client and coordinator tell of it, the longest poll, settings, the cost; then more of them."""
    first = case.departures[0]
    yield from _client(facts, first)
    yield from kafka_groups.said(facts, case.group, first.client_id, first.at)
    if case.pace is not None and case.over:
        yield case.pace.longest.evidence.because(say("longest"))
    records = consumer_value(facts, first.client_id, "max.poll.records", first.at)
    if case.limit is not None and case.limit.evidence is not None:
        yield case.limit.evidence.because(say("set"))
    if records is not None and records.setting is not None:
        yield records.setting.evidence.because(say("set"))
    yield from (e.first.because(say("commit-fails")) for e in case.commits[:1])
    yield from behind.evidence if behind else ()
    for departure in case.departures[1 : 1 + _MORE_SHOWN]:
        yield from _client(facts, departure)


def _client(facts: Facts, departure: Departure) -> list[Evidence]:
    """The first line of the client's log that tells of a departure; where there is none, the coordinator's."""
    brokers = kafka_groups.logs(facts)
    place = min(departure.evidence, key=lambda e: e.source in brokers, default=None)
    if place is None:
        return []
    return [place.because(say("taken-out") if place.source in brokers else say("late", client=departure.client_id))]


def _slots(case: Case, behind: Cause | None) -> dict[str, Value]:
    """Who left, what did not fit between two polls, what happened meanwhile and what is behind it."""
    fit, cost = _fit(case), _cost(case)
    return {
        "named": case.guilty if len(case.guilty) <= _NAMED else None,
        "single": len(case.guilty) == 1,
        "inferred": not (case.measured or any(departure.told for departure in case.departures)),
        "session": case.limit is not None and case.limit.key == SESSION,
        "cost": cost or None,
        "innocent": len(case.innocent) or None,
        "fair": case.fair.mean if case.fair else None,
        "cause": behind.told if behind and len(cost) + bool(case.innocent) <= _ROOM else None,
        "record": behind is not None and behind.record,
        "service": behind is not None,
        "stalled": case.stalled,
        "advised": fit.advised if fit else None,
        "slow": fit.slow if fit and case.pace and (fit.most or 0) < case.pace.longest.longest_records else None,
        "needed": str(round(fit.interval * 1000)) if fit else None,
        **_longest(case, fit),
    }


def _cost(case: Case) -> list[Text]:
    came = {"rebalances": len(case.rebalances), "commits": len(case.commits), "repeats": case.repeated}
    return [say(what, times=times) for what, times in came.items() if times]


def _longest(case: Case, fit: _Fit | None) -> dict[str, Value]:
    """The longest poll, where it was late, beside what is usual where that made none too late."""
    if case.pace is None or (fit is None and not (case.stalled and case.usual)):
        return {}
    longest = case.pace.longest
    if fit is not None and case.limit is not None and longest.longest_seconds <= case.limit.seconds:
        return {}
    return {"longest": longest.longest_records, "usual": case.usual.mean if case.stalled and case.usual else None}


def _measures(facts: Facts, case: Case) -> dict[str, float | None]:
    fit, pace = _fit(case), case.pace
    return {
        "members": len(case.guilty),
        "poll_timeouts": len(case.departures),
        "rebalances": len(case.rebalances),
        "commit_failures": len(case.commits),
        "poll_interval_seconds": case.limit.seconds if case.limit else None,
        "records_per_poll": case.records,
        "polls_over_interval": case.over if pace else None,
        "longest_batch_seconds": pace.longest.longest_seconds if pace else None,
        "p50_record_seconds": pace.each.p50 if pace and not case.stalled else None,
        "p99_record_seconds": pace.each.p99 if pace and not case.stalled else None,
        "safe_records_per_poll": fit.most if fit else None,
        "duplicated_records": case.repeated or None,
        **backlog(facts, case.group, case.since, case.until),
    }


def _remarks(case: Case, behind: Cause | None) -> dict[str, str | None]:
    """The interval, who it is, the triggers, what is behind it, the setting to replay."""
    late = [row for row in case.rebalances if row.behind is Behind.POLL_TIMEOUT]
    fit = _fit(case) if behind is None or not behind.record else None
    return {
        "interval": say("interval", seconds=case.limit.seconds if case.limit else None),
        "members": ", ".join(case.guilty),
        "triggers": kafka_groups.triggers(case.rebalances, late, "poll-timeouts"),
        "cause": behind.told if behind else None,
        "what_if": f"max.poll.records={fit.advised}" if fit and fit.advised else None,
    }
