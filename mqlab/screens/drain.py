"""The drain plan as one screen: what waits, how long it takes, how to hold the rate, what it must not break."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from math import isinf

from mqlab.draining.answer import Answer
from mqlab.groups.queues import OWN, spread
from mqlab.models.courses import Interval
from mqlab.models.drain_terms import Plan, Store
from mqlab.models.draining import Forecast
from mqlab.screens.rows import line, row, safe
from mqlab.units import digits, duration, number, percent, size


def drain_screen(answer: Answer, tz: tzinfo = UTC) -> str:
    """Everything that whoever drains wants to read."""
    lines = [_headline(answer, tz), *_measured(answer, tz)]
    if answer.forecast is not None:
        lines += _forecast(answer, answer.forecast)
    if answer.plan is not None and answer.store is not None:
        lines += _planned(answer, answer.plan, answer.store)
    for place, sentence in enumerate(answer.assumed):
        lines.append(line("" if place else "ASSUMED", sentence))
    return "\n".join(one.rstrip() for one in lines) + "\n"


def between(seconds: Interval) -> str:
    """``36.0 min (31.2 min to 45.1 min)``."""
    low, likely, high = ("never" if isinf(s) else duration(s) for s in (seconds.low, seconds.likely, seconds.high))
    return f"{likely} ({low} to {high})"


def _headline(answer: Answer, tz: tzinfo) -> str:
    who = f"group {safe(answer.group)}: " if answer.group else ""
    over = answer.measured_seconds is not None
    when = f", {_clock(answer.at, tz)}{' when the drain began' if over else ''}" if answer.at is not None else ""
    waits = f"{number(round(answer.backlog))} messages wait in {len(answer.queues)} queues"
    return f"DRAIN  {who}{waits}, {digits(answer.inflow_per_second)}/s come in{when}"


def _measured(answer: Answer, tz: tzinfo) -> Iterator[str]:
    fall = answer.fall
    if fall is None:
        if answer.points:
            yield line("MEASURED", "the backlog does not fall for good within the material")
        return
    rate = fall.messages_per_second
    rates = f"{digits(rate.likely)}/s ({digits(rate.low)} to {digits(rate.high)})"
    told = f"falls since {_clock(fall.began_at, tz)} by {rates}"
    if fall.reached_at is not None:
        told += f", drained {_clock(fall.reached_at, tz)}"
    elif fall.expected_at is not None and not isinf(fall.expected_at.likely):
        told += f", at this rate drained {_clock(fall.expected_at.likely, tz)}"
    yield line("MEASURED", told)


def _forecast(answer: Answer, forecast: Forecast) -> Iterator[str]:
    took = answer.measured_seconds
    since = "now on" if answer.fall and answer.fall.reached_at is None else "the complete rebalance"
    told = f"never: {forecast.never}" if forecast.never else f"{between(forecast.seconds)} from {since}"
    if forecast.start_seconds.likely and not forecast.never:
        told += f", {duration(forecast.seconds_with_start.likely)} from the restart"
    if took and not forecast.never:
        off = forecast.seconds.likely / took - 1
        measured = f"{duration(took)} with snapshots up to {duration(answer.between_snapshots_seconds)} apart"
        told += f"; measured {measured}: the forecast is {percent(abs(off))} too {'long' if off > 0 else 'short'}"
    yield from row("FORECAST", told, 2)
    for owner in sorted(forecast.owners, key=lambda owner: -owner.seconds.likely)[:6]:
        if owner.seconds.likely >= 1:
            names = spread(name.rpartition(" ")[2] for name in owner.queues if not name.startswith(OWN))
            took_it = "never" if isinf(owner.seconds.likely) else duration(owner.seconds.likely)
            rates = f"{digits(owner.inflow_per_second)}/s in, takes {digits(owner.capacity_per_second)}/s"
            told = f"{owner.name or 'nobody'} ({names}): {number(round(owner.backlog))} messages, {rates} -> {took_it}"
            yield line("", told)


def _planned(answer: Answer, plan: Plan, store: Store) -> Iterator[str]:
    terms = (
        f"(1 - {store.reserve_share:g}) x {number(store.capacity_writes_per_second)}"
        f" - {number(store.load_writes_per_second)}"
        f" - {digits(answer.inflow_per_second)} x {store.writes_per_message:g}"
    )
    yield line("BUDGET", f"{terms} = {digits(plan.budget_writes_per_second)} writes/s for the backlog")
    if plan.refusal is not None:
        yield from _refused(answer, plan)
    else:
        yield from _levers(answer, plan)
    yield from _guards(plan)


def _refused(answer: Answer, plan: Plan) -> Iterator[str]:
    refusal = plan.refusal
    assert refusal is not None
    yield from row("REFUSED", f"cannot be drained online: {refusal.reason}", 2)
    yield line(
        "INSTEAD", f"more than {number(round(refusal.needed_capacity_writes_per_second))} writes/s of capacity; or"
    )
    group = safe(answer.group or "GROUP")
    skipped = number(round(refusal.skipped_messages))
    yield line("", f"skip {skipped} messages: mqadmin resetOffsetByTime -n NAMESRV -g {group} -t TOPIC -s now; or")
    yield line("", "read them into a file with a second group from the old position, then skip them here")


def _levers(answer: Answer, plan: Plan) -> Iterator[str]:
    levers = plan.levers
    assert levers is not None
    bound = {"store": "", "pulls": ", bounded by the pulls", "order": ", bounded by one thread per queue"}
    yield line(
        "HOLD", f"{number(round(levers.messages_per_second))} messages/s in all{bound[plan.bounded_by]}; by one of:"
    )
    if levers.threads_total:
        parts = f"{levers.threads_total} at most, {levers.threads_for_backlog} of them for the backlog"
        yield line("", f"threads       {levers.threads_per_instance} in each of {levers.instances} instances ({parts})")
    else:
        yield line("", "threads       too coarse here: one more or less is more than the budget")
    pulled = f"{answer.batch_messages} a batch from each of {len(answer.queues)} queues"
    yield line("", f"pullInterval  {number(levers.pull_interval_ms)} ms with {pulled}")
    each = digits(levers.messages_per_second / levers.instances)
    yield line("", f"token bucket  {digits(levers.messages_per_second)}/s in all, {each}/s in each instance")
    yield line("FINISH", f"{between(plan.seconds)}, {digits(plan.drained_per_second)}/s off the backlog")
    for place, step in enumerate(plan.steps):
        lasts = "until drained" if not step.left else f"for {duration(step.seconds)}"
        threads = (
            f"{step.threads_per_instance:>3} threads each" if step.threads_per_instance else "too little for threads"
        )
        rate = f"{digits(step.messages_per_second):>7}/s in all, {threads}"
        yield line(
            "" if place else "RAMP", f"{percent(step.share):>7}  {rate}, {lasts}, {number(round(step.left))} left"
        )
    yield line("", "watch the store's p99 in each step; on a breach halve the rate and climb again")


def _guards(plan: Plan) -> Iterator[str]:
    guard = plan.retention
    if guard is None:
        yield line("GUARD", "retention: NOT CHECKED (give --oldest, the age of the oldest message that waits)")
    elif guard.loss_begins_seconds is not None:
        begins = f"begins in {duration(guard.loss_begins_seconds)}" if guard.loss_begins_seconds else "has begun"
        yield line("GUARD", f"retention: LOSS {begins}, {number(round(guard.lost_messages))} messages in all")
    elif guard.margin_seconds > 0:
        yield line("GUARD", f"retention: kept, {duration(guard.margin_seconds)} to spare")
    else:
        reached = duration(guard.deletion_reaches_backlog_seconds)
        yield line("GUARD", f"retention: tight, deletion follows from {reached} on but does not overtake")
    yield line("", f"heap: caches of a process hold up to {size(plan.heap_bytes_per_instance)}")
    yield line("", f"pulls: one queue gives at most {digits(plan.queue_messages_per_second)}/s from the broker's disk")


def _clock(at: float, tz: tzinfo) -> str:
    return f"{datetime.fromtimestamp(at, tz):%H:%M:%S}"
