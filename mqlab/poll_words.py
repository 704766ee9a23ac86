"""What is said about members that poll too late: the sum that does not fit, who it is, what it cost, what helps."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab import poll_case, units
from mqlab.configured import consumer_value
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.models import polling
from mqlab.poll_case import Case
from mqlab.poll_cause import Cause
from mqlab.polling_facts import SESSION

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Fit:
    """What fits between two polls, by the times that were measured."""

    records: int
    """Records of a poll: the most that were handed out, no more than were allowed."""
    mean: float
    """Seconds per record."""
    interval: float
    most: int | None
    """Largest max.poll.records that is just enough for 99 of 100 records."""
    advised: int | None
    """The same with half of the interval to spare."""
    interval_needed: float
    """Smallest interval that leaves as much to spare."""


def fit(case: Case) -> Fit | None:
    """The sum; None where the limit or the time per record is not known."""
    if case.limit is None or case.pace is None or not case.pace.mean:
        return None
    records = min(case.records or case.pace.largest, case.pace.largest)
    interval, slow = case.limit.seconds, case.pace.each.p99
    return Fit(
        records,
        case.pace.mean,
        interval,
        polling.largest_safe_records(interval, slow),
        polling.largest_safe_records(interval, slow, margin=polling.ADVISED_MARGIN),
        polling.smallest_safe_interval(records, slow, margin=polling.ADVISED_MARGIN),
    )


def statement(case: Case, cause: Cause | None) -> str:
    """Two sentences: what does not fit, and what came of it."""
    limit = f"within {_name(case)}" + (f" ({units.duration(case.limit.seconds)})" if case.limit else "")
    members = ", ".join(case.guilty)
    first = f"{members} left {case.group} {len(case.departures)} time(s): no poll came {limit}{_sum(case)}."
    came = [f"{units.number(case.rebalances)} rebalance(s)"] if case.rebalances else []
    came += [f"{units.number(len(case.commits))} failed commit(s)"] if case.commits else []
    cost = f" It made {' and '.join(came)}, and what was not committed is handled again" if came else ""
    behind = f"{';' if cost else ''} {cause.told}" if cause else ""
    return f"{first}{cost}{behind}{'.' if cost or behind else ''}{_fair(case)}"


def _name(case: Case) -> str:
    if case.limit is not None and case.limit.key == SESSION:
        return "session.timeout.ms, which limits polls in this version"
    return "max.poll.interval.ms"


def _sum(case: Case) -> str:
    sums = fit(case)
    if sums is None:
        return ""
    product = units.duration(sums.records * sums.mean)
    fits = f"at most {units.number(sums.most)} records fit" if sums.most else "not even one record fits"
    return f"; {units.number(sums.records)} records × {_milliseconds(sums.mean)} = {product} per poll, {fits}"


def _fair(case: Case) -> str:
    if not case.innocent:
        return ""
    others = f" {units.number(len(case.innocent))} other member(s) polled in time"
    if case.fair is None or case.pace is None:
        return f"{others}."
    return f"{others}: {_milliseconds(case.fair.mean)} per record, not {_milliseconds(case.pace.mean)}."


def _milliseconds(seconds: float) -> str:
    return f"{units.digits(round(seconds * 1000, 6))} ms"


def measures(facts: Facts, case: Case) -> dict[str, float]:
    """The numbers of the finding."""
    found = {
        "members": float(len(case.guilty)),
        "poll_timeouts": float(len(case.departures)),
        "rebalances": float(case.rebalances),
        "commit_failures": float(len(case.commits)),
    }
    if case.limit is not None:
        found["poll_interval_seconds"] = case.limit.seconds
    if case.records is not None:
        found["records_per_poll"] = float(case.records)
    if case.pace is not None:
        found["polls_over_interval"] = float(case.over)
        found["longest_batch_seconds"] = case.pace.longest.longest_seconds
        found["p50_record_seconds"] = case.pace.each.p50
        found["p99_record_seconds"] = case.pace.each.p99
    sums = fit(case)
    if sums is not None and sums.most is not None:
        found["safe_records_per_poll"] = float(sums.most)
    if case.repeated:
        found["duplicated_records"] = float(case.repeated)
    return found | poll_case.lag(facts, case.group, case.since, case.until)


def remedy(case: Case) -> str:
    """What would have been enough, in numbers where they are known."""
    sums = fit(case)
    if sums is None:
        return "Fewer records per poll (max.poll.records) than can be worked off in half of max.poll.interval.ms."
    longer = f"{_name(case).split(',')[0]} ≥ {round(sums.interval_needed * 1000)}"
    if sums.advised is None:
        return f"{longer}, or fewer seconds per record: not even one is worked off in half of the interval."
    enough = f"{sums.most} are just enough, {sums.advised} leave half of the interval"
    return f"max.poll.records ≤ {sums.advised} ({enough}), or {longer}; neither makes the consumer faster."


def evidence(facts: Facts, case: Case, cause: Cause | None) -> tuple[Evidence, ...]:
    """Who left, the longest poll, the limit, a commit that failed, and what is behind it."""
    left = [place for one in case.departures[:_SHOWN] for place in one.evidence[:2]]
    found = [Evidence(e.source, e.line, e.text, e.why or "a member leaves", e.pointer) for e in left]
    if case.pace is not None and case.over:
        place = case.pace.longest.evidence
        found.append(Evidence(place.source, place.line, place.text, "the longest poll"))
    found += _settings(facts, case)
    found += [Evidence(e.first.source, e.first.line, e.first.text, "its commit fails") for e in case.commits[:2]]
    found += cause.evidence if cause else ()
    return tuple(dict.fromkeys(found))


def _settings(facts: Facts, case: Case) -> list[Evidence]:
    found = [case.limit.evidence] if case.limit and case.limit.evidence else []
    value = consumer_value(facts, case.departures[0].client_id, "max.poll.records", case.departures[0].at)
    found += [value.setting.evidence] if value and value.setting else []
    return [Evidence(e.source, e.line, e.text, "what was set then") for e in found]
