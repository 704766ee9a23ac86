"""What would have been and what will be, as rows for notebook and screen: a group replayed, a backlog drained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from math import ceil, isinf

import pandas as pd

from mqlab.facts import Facts
from mqlab.frames import NOTHING
from mqlab.kafka.rows import Behind
from mqlab.models.draining import Forecast, Plan, Store, lasting
from mqlab.models.polling import ADVISED_MARGIN, largest_safe_records, smallest_safe_interval
from mqlab.quantities import BadQuantityError
from mqlab.scenarios import drain
from mqlab.scenarios.drain import DrainAnswer, Request
from mqlab.scenarios.drain_state import NoBacklogError
from mqlab.scenarios.replay import ReplayAnswer, Simulated, replay
from mqlab.scenarios.replay_changes import BadChangeError, changes
from mqlab.scenarios.replay_inputs import NoReplayError
from mqlab.shared.queues import OWN, spread
from mqlab.shared.table import table
from mqlab.units import Interval, clock, counted, digits, duration, number, percent, size
from mqlab.views.kafka_group import Phase, RebalanceView

_COLUMNS = "with|rebalances|longest poll|polls too late|lag at the end|handed out twice"
_THREADS = 4
"""An example of threads that share a poll."""
_SESSION_MS = 45_000
"""Default of session.timeout.ms since 3.0 (KIP-735)."""


def answered(facts: Facts, view: RebalanceView, pairs: Sequence[str] = ()) -> ReplayAnswer | None:
    """The replay with these ``KEY=VALUE``; None where nobody fell out, or the material does not suffice for one."""
    if view.group is None or not troubled(view):
        return None
    try:
        return replay(facts, view.group, changes(pairs))
    except (NoReplayError, BadChangeError):
        return None


def troubled(view: RebalanceView) -> bool:
    """Members fell out of the group: something is to be repaired by settings."""
    fell_out = any(one.behind in (Behind.POLL_TIMEOUT, Behind.EXPIRY) for one in view.history)
    return fell_out or any(poll.late for poll in view.polls)


def trials(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """What was recorded, its replay, and replays with one setting changed at a time; empty without a replay."""
    first = answered(facts, view)
    if first is None:
        return trial(None)
    others = (answered(facts, view, (pair,)) for pair in variants(view))
    changed = (_told(found.changes, found.after) for found in others if found and found.after)
    return table([*_known(first), *changed], _COLUMNS)


def trial(found: ReplayAnswer | None) -> pd.DataFrame:
    """One replay beside what was recorded; empty without one."""
    changed = [_told(found.changes, found.after)] if found and found.after else []
    return table([*(_known(found) if found else ()), *changed], _COLUMNS)


def assumptions(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """What a replay takes for granted, and how far it is from the record; empty without one."""
    found = answered(facts, view)
    return table(_assumed(found) if found else [], "replay|told")


def variants(view: RebalanceView) -> tuple[str, ...]:
    """Settings that are worth a try: those that would have been enough, more threads, a longer session."""
    return tuple(dict.fromkeys(_variants(view)))


def _variants(view: RebalanceView) -> Iterator[str]:
    late = next((phase for phase in view.phases if any(poll.late for poll in phase.polls)), None)
    if late is not None and late.interval is not None:
        yield from _enough(late, late.interval)
        yield f"threads={_THREADS}"
    if any(one.behind is Behind.EXPIRY for one in view.history):
        yield f"session.timeout.ms={_SESSION_MS}"


def _enough(late: Phase, interval: float) -> Iterator[str]:
    each = late.work.record_seconds.p99
    for margin in (ADVISED_MARGIN, 0.0):
        most = largest_safe_records(interval, each, margin=margin)
        if most is not None:
            yield f"max.poll.records={most}"
    yield f"max.poll.interval.ms={ceil(1000 * smallest_safe_interval(late.records, each, margin=ADVISED_MARGIN))}"


def _known(found: ReplayAnswer) -> Iterator[Sequence[str]]:
    known = found.recorded
    yield (
        "as it was recorded",
        NOTHING if known.rebalances is None else number(known.rebalances),
        NOTHING if known.longest_poll_seconds is None else f"{digits(known.longest_poll_seconds)} s",
        NOTHING if known.late_share is None else percent(known.late_share),
        NOTHING if known.final_lag is None else number(round(known.final_lag)),
        NOTHING if known.repeated is None else number(known.repeated),
    )
    yield _told("the replay of it", found.before)


def _told(name: str, told: Simulated) -> Sequence[str]:
    longest, late = f"{digits(told.longest_poll_seconds.likely)} s", percent(told.late_share.likely)
    return name, _between(told.rebalances), longest, late, _between(told.final_lag), _between(told.repeated)


def _between(found: Interval) -> str:
    """``1,353 (1,103 to 1,603)``; bounds that agree are left out."""
    low, likely, high = (number(round(value)) for value in (found.low, found.likely, found.high))
    return likely if low == likely == high else f"{likely} ({low} to {high})"


def _assumed(found: ReplayAnswer) -> Iterator[tuple[str, str]]:
    yield "time", f"{clock(found.since)} to {clock(found.until)}" + (", until a change" if found.incident else "")
    how = "agrees with the record" if found.agrees else "does not agree with the record: take it with care"
    yield "as it was", f"{how}, off by {percent(found.error_share)}"
    for sentence in found.assumed:
        yield "assumed", sentence


def drain_answer(facts: Facts, request: Request) -> DrainAnswer | None:
    """The forecast and plan for a group; None without one, or where material and request do not suffice."""
    try:
        return drain.answer(request, facts) if request.group else None
    except (NoBacklogError, BadQuantityError):
        return None


def drain_plan(found: DrainAnswer | None) -> pd.DataFrame:
    """The forecast and plan in a few lines; empty without one."""
    return table(drain_rows(found) if found else [], "drain|what is known")


def drain_rows(answer: DrainAnswer, tz: tzinfo = UTC) -> Iterator[tuple[str, str]]:
    """What is known of a drain as (label, sentence); a row without a label goes on with the one above."""
    who = f"group {answer.group}: " if answer.group else ""
    over = answer.measured_seconds is not None
    when = f", {_clock(answer.at, tz)}{' when the drain began' if over else ''}" if answer.at is not None else ""
    waits = f"{number(round(answer.backlog))} messages wait in {counted(len(answer.queues), 'queue')}"
    yield "DRAIN", f"{who}{waits}, {digits(answer.inflow_per_second)}/s come in{when}"
    yield from _measured(answer, tz)
    if answer.forecast is not None:
        yield from _forecast(answer, answer.forecast)
    if answer.plan is not None and answer.store is not None:
        yield from _planned(answer, answer.plan, answer.store)
    for place, sentence in enumerate(answer.assumed):
        yield "" if place else "ASSUMED", sentence


def _measured(answer: DrainAnswer, tz: tzinfo) -> Iterator[tuple[str, str]]:
    fall = answer.fall
    if fall is None:
        if answer.points:
            yield ("MEASURED", "the backlog does not fall for good in this material")
        return
    rate = fall.messages_per_second
    rates = f"{digits(rate.likely)}/s ({digits(rate.low)} to {digits(rate.high)})"
    told = f"falls since {_clock(fall.began_at, tz)} by {rates}"
    if fall.reached_at is not None:
        told += f", drained {_clock(fall.reached_at, tz)}"
    elif fall.expected_at is not None and not isinf(fall.expected_at.likely):
        told += f", at this rate drained {_clock(fall.expected_at.likely, tz)}"
    yield ("MEASURED", told)


def _forecast(answer: DrainAnswer, forecast: Forecast) -> Iterator[tuple[str, str]]:
    took = answer.measured_seconds
    since = "now on" if answer.fall and answer.fall.reached_at is None else "the complete rebalance"
    told = f"never: {forecast.never}" if forecast.never else f"{forecast.seconds.words(lasting)} from {since}"
    if forecast.start_seconds.likely and not forecast.never:
        told += f", {duration(forecast.start_seconds.likely + forecast.seconds.likely)} from the restart"
    if took and took.likely and not forecast.never:
        off = forecast.seconds.likely / took.likely - 1
        measured = took.words(duration)
        told += f"; measured {measured}: the forecast is {percent(abs(off))} too {'long' if off > 0 else 'short'}"
    yield ("FORECAST", told)
    for owner in sorted(forecast.owners, key=lambda owner: -owner.seconds.likely)[:6]:
        if owner.seconds.likely >= 1:
            names = spread(name.rpartition(" ")[2] for name in owner.queues if not name.startswith(OWN))
            took_it = "never" if isinf(owner.seconds.likely) else duration(owner.seconds.likely)
            rates = f"{digits(owner.inflow_per_second)}/s in, takes {digits(owner.capacity_per_second)}/s"
            told = f"{owner.name or 'nobody'} ({names}): {number(round(owner.backlog))} messages, {rates} -> {took_it}"
            yield ("", told)


def _planned(answer: DrainAnswer, plan: Plan, store: Store) -> Iterator[tuple[str, str]]:
    terms = (
        f"(1 - {store.reserve_share:g}) x {number(store.capacity_writes_per_second)}"
        f" - {number(store.load_writes_per_second)}"
        f" - {digits(answer.inflow_per_second)} x {store.writes_per_message:g}"
    )
    yield ("BUDGET", f"{terms} = {digits(plan.budget_writes_per_second)} writes/s for the backlog")
    if plan.refusal is not None:
        yield from _refused(answer, plan)
    else:
        yield from _levers(answer, plan)
    yield from _guards(plan)


def _refused(answer: DrainAnswer, plan: Plan) -> Iterator[tuple[str, str]]:
    refusal = plan.refusal
    assert refusal is not None
    yield ("REFUSED", f"cannot be drained online: {refusal.reason}")
    yield ("INSTEAD", f"more than {number(round(refusal.needed_capacity_writes_per_second))} writes/s of capacity; or")
    group = answer.group or "GROUP"
    skipped = number(round(refusal.skipped_messages))
    yield ("", f"skip {skipped} messages: mqadmin resetOffsetByTime -n NAMESRV -g {group} -t TOPIC -s now; or")
    yield ("", "read them into a file with a second group from the old position, then skip them here")


def _levers(answer: DrainAnswer, plan: Plan) -> Iterator[tuple[str, str]]:
    levers = plan.levers
    assert levers is not None
    bound = {"store": "", "pulls": ", bounded by the pulls", "order": ", bounded by one thread per queue"}
    yield ("HOLD", f"{number(round(levers.messages_per_second))} messages/s in all{bound[plan.bounded_by]}; by one of:")
    if levers.threads_total:
        parts = f"{levers.threads_total} at most, {levers.threads_for_backlog} of them for the backlog"
        yield ("", f"threads       {levers.threads_per_instance} in each of {levers.instances} instances ({parts})")
    else:
        yield ("", "threads       too coarse here: one more or less is more than the budget")
    pulled = f"{answer.batch_messages} a batch from each of {len(answer.queues)} queues"
    yield ("", f"pullInterval  {number(levers.pull_interval_ms)} ms with {pulled}")
    each = digits(levers.messages_per_second / levers.instances)
    yield ("", f"token bucket  {digits(levers.messages_per_second)}/s in all, {each}/s in each instance")
    yield ("FINISH", f"{plan.seconds.words(lasting)}, {digits(plan.drained_per_second)}/s off the backlog")
    for place, step in enumerate(plan.steps):
        lasts = "until drained" if not step.left else f"for {duration(step.seconds)}"
        threads = (
            f"{step.threads_per_instance:>3} threads each" if step.threads_per_instance else "too little for threads"
        )
        rate = f"{digits(step.messages_per_second):>7}/s in all, {threads}"
        yield ("" if place else "RAMP", f"{percent(step.share):>7}  {rate}, {lasts}, {number(round(step.left))} left")
    yield ("", "watch the store's p99 in each step; on a breach halve the rate and climb again")


def _guards(plan: Plan) -> Iterator[tuple[str, str]]:
    guard = plan.retention
    if guard is None:
        yield ("GUARD", "retention: NOT CHECKED (give --oldest, the age of the oldest message that waits)")
    elif guard.loss_begins_seconds is not None:
        begins = f"begins in {duration(guard.loss_begins_seconds)}" if guard.loss_begins_seconds else "has begun"
        yield ("GUARD", f"retention: LOSS {begins}, {number(round(guard.lost_messages))} messages in all")
    elif guard.margin_seconds > 0:
        yield ("GUARD", f"retention: kept, {duration(guard.margin_seconds)} to spare")
    else:
        reached = duration(guard.deletion_reaches_backlog_seconds)
        yield ("GUARD", f"retention: tight, deletion follows from {reached} on but does not overtake")
    yield ("", f"heap: caches of a process hold up to {size(plan.heap_bytes_per_instance)}")
    yield ("", f"pulls: one queue gives at most {digits(plan.queue_messages_per_second)}/s from the broker's disk")


def _clock(at: float, tz: tzinfo) -> str:
    return f"{datetime.fromtimestamp(at, tz):%H:%M:%S}"
