"""Kafka: working off one poll takes longer than max.poll.interval.ms, so members leave the group by themselves.

Fires: members leave though their processes run on and heartbeat, by the clients' words, by the reason that the broker
prints, or by failed commits and a new member id of the same process. Proven where polls are also known to have taken
longer than the interval. Up to 0.10.0, where poll sent the heartbeats, the interval is the session timeout.
Quiet: members that the coordinator expelled (a frozen process shows a long time between polls, too), orderly stops,
a long poll after which nobody left, commits that a cooperative rebalance put off.
"""

from __future__ import annotations

from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.kafka import groups as kafka_groups
from mqlab.kafka import poll_limits, poll_timeout, poll_timeout_words
from mqlab.kafka.lives import lives
from mqlab.kafka.poll_timeout import Case, Cause
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import End
from mqlab.shared.wording import moment
from mqlab.sources import Role
from mqlab.units import counted

INCIDENT = "poll-interval-exceeded"
SYSTEMS: tuple[str, ...] = ("kafka",)

AGAIN = 2
"""Departures from which it is a loop."""
_EMPTY = ("consumer-offline",)
"""What comes of it where nobody is left."""
CLIENT_LOGS = "the consumers' logs: members left and came again, and why is not told"


def detect(facts: Facts) -> Result:
    """One finding for each group."""
    logs = facts.logs_of("kafka", Role.CLIENT_LOG, Role.BROKER_LOG)
    if not logs:
        return Result(missing=("the consumers' logs or server.log of the brokers",))
    groups = kafka_groups.groups(facts)
    cases = [c for g in groups if (c := poll_timeout.case(facts, g, history(facts, g), lives(facts, g))) is not None]
    sure = [one for one in cases if _sure(one)]
    if sure:
        return Result(tuple(_finding(facts, one) for one in sure))
    if cases:
        return Result(missing=(CLIENT_LOGS,))
    reasons = [reason for group in groups if (reason := _other(facts, group))]
    return Result(rejected="; ".join(reasons)) if reasons else CLEAR


def _sure(case: Case) -> bool:
    """A line tells it, a poll was too long, or a commit failed; who only leaves and comes again may be deployed."""
    return any(one.told for one in case.departures) or case.measured or bool(case.commits)


def _other(facts: Facts, group: str) -> str | None:
    """Why something that looks like it is none."""
    expelled = [life for life in lives(facts, group) if life.end is End.EXPIRED]
    stopped = [life for life in lives(facts, group) if life.end is End.LEFT and life.process_stopped is not None]
    late = [
        batch
        for batch in poll_limits.polls(facts, group)
        if (limit := poll_limits.interval(facts, batch.client_id or "", batch.at)) and batch.longest_seconds > limit
    ]
    if late and not expelled:
        return f"{group}: {counted(len(late), 'poll')} took longer than the interval, and no member left for it"
    if expelled:
        told = counted(len(expelled), "expulsion")
        return f"{group}: {told} by the coordinator, and no member left by itself while it worked"
    if stopped:
        return f"{group}: every member that left closed its consumer first, {counted(len(stopped), 'time')}"
    return None


def _finding(facts: Facts, case: Case) -> Finding:
    per_record = case.pace.mean if case.pace else None
    behind = poll_timeout.cause(facts, case.group, case.since, case.until, per_record)
    seen = any(one.told for one in case.departures) or bool(case.rebalances)
    proven = case.measured and seen
    often = len(case.departures) >= AGAIN
    return Finding(
        id=f"{INCIDENT}:{case.group}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if often else Severity.WARNING,
        certainty=Certainty.PROVEN if proven else Certainty.LIKELY,
        subject=case.group,
        started_at=moment(case.since),
        ended_at=None if case.ongoing else moment(case.until),
        ongoing=case.ongoing,
        statement=poll_timeout_words.statement(case, behind),
        measures=poll_timeout_words.measures(facts, case),
        evidence=poll_timeout_words.evidence(facts, case, behind),
        explains=("reprocess-duplicates", "backlog-drain", *(_EMPTY if any(r.empty for r in case.rebalances) else ())),
        mitigate=_mitigate(behind),
        remedy=(
            f"{(behind.remedy if behind else '') or poll_timeout_words.remedy(case)} Then time limits and a breaker "
            "for the called service, pause() and resume() instead of waiting in the loop, a dead-letter topic."
        ),
        verify=(
            f"kafka-consumer-groups.sh --bootstrap-server HOST:9092 --describe --group {case.group} --state stays "
            "Stable for three intervals, and time-between-poll-max stays below half of the interval."
        ),
        facts=poll_timeout_words.remarks(case, behind),
    )


def _mitigate(behind: Cause | None) -> str:
    if behind is not None and behind.remedy:
        return "Skip the record: members that are restarted come back to it; side effect: it is not handled."
    return (
        "Restart the members with smaller polls or a longer interval; side effect of a longer interval: a member that "
        "hangs keeps its partitions longer."
    )
