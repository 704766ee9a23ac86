"""What is said about members that poll too late, and what proves it.

What proves that members of a Kafka group poll too late: both sides of a departure, the poll, settings, the cost.

What is said about members that poll too late: the sum that does not fit, who it is, what it cost, what helps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka import groups, poll_timeout
from mqlab.kafka.groups import triggers
from mqlab.kafka.poll_departures import Departure
from mqlab.kafka.poll_limits import SESSION
from mqlab.kafka.poll_timeout import Case, Cause
from mqlab.kafka.rows import Behind
from mqlab.models import polling
from mqlab.shared.configured import consumer_value
from mqlab.units import counted

_MORE = 3
"""Further departures that are shown."""


def evidence(facts: Facts, case: Case, cause: Cause | None) -> tuple[Evidence, ...]:
    """One departure as client and coordinator tell of it, the longest poll, the settings, the cost; then more of them.

    No place stands there twice.
    """
    first = case.departures[0]
    found = [*_client(facts, first), *groups.said(facts, case.group, first.client_id, first.at)]
    if case.pace is not None and case.over:
        found.append(_with(case.pace.longest.evidence, "the longest poll"))
    found += _settings(facts, case, first)
    found += [_with(e.first, "its commit fails") for e in case.commits[:1]]
    found += cause.evidence if cause else ()
    found += [place for one in case.departures[1 : 1 + _MORE] for place in _client(facts, one)]
    return groups.once(found)


def _client(facts: Facts, one: Departure) -> Iterator[Evidence]:
    """The first line of the client's log that tells of a departure; where there is none, the coordinator's."""
    brokers = groups.logs(facts)
    places = sorted(one.evidence, key=lambda place: place.source in brokers)
    if places:
        whose = "the coordinator takes it out" if places[0].source in brokers else f"{one.client_id} polled too late"
        yield _with(places[0], whose)


def _settings(facts: Facts, case: Case, one: Departure) -> Iterator[Evidence]:
    if case.limit is not None and case.limit.evidence is not None:
        yield _with(case.limit.evidence, "what was set then")
    value = consumer_value(facts, one.client_id, "max.poll.records", one.at)
    if value is not None and value.setting is not None:
        yield _with(value.setting.evidence, "what was set then")


def _with(place: Evidence, why: str) -> Evidence:
    return Evidence(place.source, place.line, place.text, why, place.pointer)


_SHOWN = 4
_LONGEST = 300
"""Characters of a statement that is read at a glance."""


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
    """The sum; None where the limit or the time per record is not known, or one poll stood still."""
    if case.limit is None or case.pace is None or not case.pace.mean or case.stalled:
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
    """Two sentences: what does not fit, and what came of it; the cause where there is room for it."""
    limit = f"within {_name(case)}" + (f" ({units.duration(case.limit.seconds)})" if case.limit else "")
    who = ", ".join(case.guilty) if len(case.guilty) <= _SHOWN else f"{len(case.guilty)} members"
    first = f"{who} left {case.group} {counted(len(case.departures), 'time')}: no poll came {limit}{_sum(case)}."
    told = f"{first} {_cost(case)}"
    longer = f"{told}; {cause.told}." if cause else ""
    return longer if longer and len(longer) <= _LONGEST else f"{told}."


def _cost(case: Case) -> str:
    came = [counted(len(case.rebalances), "rebalance")] if case.rebalances else []
    came += [counted(len(case.commits), "failed commit")] if case.commits else []
    came += [f"{counted(case.repeated, 'record')} handled again"] if case.repeated else []
    cost = f"It cost {', '.join(came[:-1])}{' and ' if came[1:] else ''}{came[-1]}" if came else ""
    return f"{cost}{'; ' if cost else ''}{_fair(case)}" if case.innocent else cost or "What it cost is not told"


def _fair(case: Case) -> str:
    others = f"{counted(len(case.innocent), 'other member')} polled in time"
    return others if case.fair is None else f"{others} ({units.brief(case.fair.mean)} per record)"


def _name(case: Case) -> str:
    if case.limit is not None and case.limit.key == SESSION:
        return "session.timeout.ms, which limits polls in this version"
    return "max.poll.interval.ms"


def _sum(case: Case) -> str:
    sums = fit(case)
    if sums is None:
        return _stall(case)
    product = units.duration(sums.records * sums.mean)
    fits = f"at most {units.number(sums.most)} fit" if sums.most else "not even one fits"
    return f"; {counted(sums.records, 'record')} × {units.brief(sums.mean)} = {product}, {fits}"


def _stall(case: Case) -> str:
    if not case.stalled or case.pace is None or case.usual is None:
        return ""
    one = case.pace.longest
    took = f"one poll of {counted(one.longest_records, 'record')} took {units.duration(one.longest_seconds)}"
    return f"; {took} (usually {units.brief(case.usual.mean)} per record)"


def measures(facts: Facts, case: Case) -> dict[str, float]:
    """The numbers of the finding."""
    found = {
        "members": float(len(case.guilty)),
        "poll_timeouts": float(len(case.departures)),
        "rebalances": float(len(case.rebalances)),
        "commit_failures": float(len(case.commits)),
    }
    if case.limit is not None:
        found["poll_interval_seconds"] = case.limit.seconds
    if case.records is not None:
        found["records_per_poll"] = float(case.records)
    if case.pace is not None:
        found["polls_over_interval"] = float(case.over)
        found["longest_batch_seconds"] = case.pace.longest.longest_seconds
    if case.pace is not None and not case.stalled:
        found["p50_record_seconds"] = case.pace.each.p50
        found["p99_record_seconds"] = case.pace.each.p99
    sums = fit(case)
    if sums is not None and sums.most is not None:
        found["safe_records_per_poll"] = float(sums.most)
    if case.repeated:
        found["duplicated_records"] = float(case.repeated)
    return found | poll_timeout.lag(facts, case.group, case.since, case.until)


def remedy(case: Case) -> str:
    """What would have been enough, in numbers where they are known."""
    sums = fit(case)
    if case.stalled:
        return "Find what held this one poll: a call without a time limit, a lock, a pause of the machine."
    if sums is None:
        return "Fewer records per poll (max.poll.records) than can be worked off in half of max.poll.interval.ms."
    longer = f"{_name(case).split(',')[0]} ≥ {round(sums.interval_needed * 1000)}"
    if sums.advised is None:
        return f"{longer}, or fewer seconds per record: not even one is worked off in half of the interval."
    enough = f"{sums.most} are just enough, {sums.advised} leave half of the interval"
    return f"max.poll.records ≤ {sums.advised} ({enough}), or {longer}; neither makes the consumer faster."


def remarks(case: Case, cause: Cause | None) -> dict[str, str]:
    """Short words for the screen: the interval, who it is, the triggers, what is behind it, the setting to replay."""
    late = [row for row in case.rebalances if row.behind is Behind.POLL_TIMEOUT]
    sums = fit(case) if cause is None or not cause.remedy else None
    told = {
        "interval": units.duration(case.limit.seconds) if case.limit else "not known",
        "members": ", ".join(case.guilty),
        "triggers": triggers(case.rebalances, late, "poll timeout"),
        "cause": cause.told if cause else "",
        "what_if": f"max.poll.records={sums.advised}" if sums and sums.advised else "",
    }
    return {name: words for name, words in told.items() if words}
