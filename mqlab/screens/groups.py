"""A consumer group as a screen: its rebalances, a replay with other settings, the plan of a drain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from math import isinf

from mqlab.kafka.rebalance_costs import standstills
from mqlab.kafka.rows import Rebalance
from mqlab.models.draining import Forecast, Plan, Store, lasting
from mqlab.scenarios.drain import DrainAnswer
from mqlab.scenarios.replay import Fit, ReplayAnswer, Simulated
from mqlab.screens.rows import LABEL, clipped, line, row, safe
from mqlab.shared.queues import OWN, spread
from mqlab.units import counted, digits, duration, number, percent, size

_HEAD = ("at", "gen", "trigger", "behind it", "client", "members", "moved", "still", "delayed", "repeated")
_WIDE = 28
"""Characters of a client's name."""
_LEFT = frozenset({"at", "trigger", "behind it", "client"})


def rebalances_screen(histories: Sequence[tuple[str, Sequence[Rebalance]]], tz: tzinfo = UTC) -> str:
    """Every group with its rebalances; an asterisk marks what is concluded and not told by the line itself."""
    lines = [line for group, rows in histories for line in _group(group, rows, tz)]
    return "\n".join(line.rstrip() for line in lines or ["No Kafka group is told of in the material."]) + "\n"


def _group(group: str, rows: Sequence[Rebalance], tz: tzinfo) -> Iterator[str]:
    still = sum(end - since for since, end in standstills(rows))
    counts = ", ".join(f"{count} {what}" for what, count in sorted(Counter(r.behind for r in rows).items()))
    told = counted(len(rows), "rebalance") + (f", {duration(still)} of standstill" if still else "")
    yield f"{'GROUP':<{LABEL}}{safe(group)}: {told}{f'; behind them: {counts}' if counts else ''}"
    cells = [_HEAD, *(_cells(row, tz) for row in rows)]
    widths = [max(len(shown[place]) for shown in cells) for place in range(len(_HEAD))]
    for shown in cells if rows else ():
        parts = [
            f"{cell:<{width}}" if name in _LEFT else f"{cell:>{width}}"
            for name, cell, width in zip(_HEAD, shown, widths, strict=True)
        ]
        yield " " * LABEL + "  ".join(parts)


def _cells(row: Rebalance, tz: tzinfo) -> tuple[str, ...]:
    return (
        f"{datetime.fromtimestamp(row.started, tz):%H:%M:%S}",
        _count(row.generation),
        f"{row.trigger}{'*' if row.inferred else ''}",
        str(row.behind),
        clipped(safe(row.client_id), _WIDE) or "-",
        f"{_count(row.members_before)} -> {_count(row.members_after)}",
        _count(row.moved),
        "-" if row.standstill is None else duration(row.standstill),
        _count(row.delayed),
        _count(row.repeated),
    )


def _count(value: int | None) -> str:
    return "-" if value is None else number(value)


_NAME, _RECORDED, _COLUMN = 24, 14, 34
_SMALL = 0.001
"""Share below which a table would print zero."""


def whatif_screen(answer: ReplayAnswer, tz: tzinfo = UTC) -> str:
    """Everything that whoever changes a setting wants to read."""
    lines = [_headline(answer, tz), *_table(answer), *_feasible(answer), *_calibration(answer)]
    for place, sentence in enumerate(answer.assumed):
        lines += row("" if place else "ASSUMED", sentence, 3)
    return "\n".join(one.rstrip() for one in lines) + "\n"


def _headline(answer: ReplayAnswer, tz: tzinfo) -> str:
    what = f"with {safe(answer.changes)}" if answer.changes else "as it was"
    begin, end = (f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (answer.since, answer.until))
    why = "the incident" if answer.incident else "the time"
    return f"WHAT IF  group {safe(answer.group)} {what}, {why} from {begin} to {end}"


def _table(answer: ReplayAnswer) -> Iterator[str]:
    real, replayed = answer.recorded, [told for told in (answer.before, answer.after) if told is not None]
    rows: tuple[tuple[str, float | None, Callable[[float], str], Callable[[Simulated], str]], ...] = (
        ("rebalances", real.rebalances, number, lambda told: told.rebalances.words(_whole)),
        ("longest poll", real.longest_poll_seconds, duration, lambda told: told.longest_poll_seconds.words(duration)),
        ("polls over the interval", real.late_share, _share, lambda told: _share(told.late_share.likely)),
        ("lag at the end", real.final_lag, _whole, lambda told: told.final_lag.words(_whole)),
        ("records handed out again", real.repeated, number, lambda told: told.repeated.words(_whole)),
    )
    heads = ("replayed as it was", "with the change")[: len(replayed)]
    cells = [("", "recorded", *heads)]
    for name, value, cell, column in rows:
        cells.append((name, "not known" if value is None else cell(value), *map(column, replayed)))
    for name, recorded, *others in cells:
        columns = "".join(f"{cell:>{_COLUMN}}" for cell in others)
        yield line("", f"{name:<{_NAME}}{recorded:>{_RECORDED}}{columns}")


def _share(value: float) -> str:
    return f"under {percent(_SMALL)}" if 0 < value < _SMALL else percent(value)


def _whole(value: float) -> str:
    return number(round(value))


def _feasible(answer: ReplayAnswer) -> Iterator[str]:
    if answer.changes:
        yield from row("BEFORE", _fits(answer.fit_before, answer.before), 3)
        yield from row("AFTER", _fits(answer.fit_after, answer.after), 3)
    else:
        yield from row("FITS", _fits(answer.fit_before, answer.before), 3)


def _fits(fit: Fit, told: Simulated | None) -> str:
    poll = f"{counted(fit.records, 'record')} x {digits(fit.record_seconds * 1000)} ms"
    poll += f" / {fit.threads} threads" if fit.threads > 1 else ""
    interval = f"of {duration(fit.interval_seconds)} between polls"
    speed = f"{digits(fit.capacity_per_second)}/s can be handled, {digits(fit.arriving_per_second)}/s come in"
    behind = "" if fit.capacity_per_second >= fit.arriving_per_second else ": lag grows whatever the polls do"
    return f"{poll} = {duration(fit.poll_seconds)} {interval}: {_verdict(fit, told)}, {_advice(fit)}; {speed}{behind}"


def _verdict(fit: Fit, told: Simulated | None) -> str:
    """An average poll that fits is not enough: one that takes a little longer is late, and the loop goes on."""
    if not fit.feasible:
        return "does not fit"
    if fit.advised_records is not None and fit.records <= fit.advised_records:
        return "fits"
    if told is None or told.late_share.high == 0:
        return "fits with little room"
    return f"fits on average only, polls take up to {duration(told.longest_poll_seconds.high)}"


def _advice(fit: Fit) -> str:
    if fit.largest_safe_records is None:
        return "not even one record fits"
    verb = "is" if fit.largest_safe_records == 1 else "are"
    most = f"{counted(fit.largest_safe_records, 'record')} {verb} just enough"
    return most if fit.advised_records is None else f"{most}, {number(fit.advised_records)} leave room for slow polls"


def _calibration(answer: ReplayAnswer) -> Iterator[str]:
    real, before = answer.recorded, answer.before
    found = []
    if real.rebalances is not None:
        verb = "was" if real.rebalances == 1 else "were"
        found.append(
            f"{counted(round(before.rebalances.likely), 'rebalance')} where {number(real.rebalances)} {verb} recorded"
        )
    if real.final_lag is not None:
        found.append(f"lag {_whole(before.final_lag.likely)} where {_whole(real.final_lag)}")
    told = f"replay of what was: {', '.join(found) or 'neither rebalances nor lag at the end are recorded'}"
    if answer.agrees:
        told += ": agrees"
    elif answer.after is not None or not answer.changes:
        told += f": off by {percent(answer.error_share)}, so what it says of other settings is not worth much"
    else:
        told += f": off by {percent(answer.error_share)}, so it says nothing of other settings"
    yield from row("CHECKED", told, 3)


def drain_screen(answer: DrainAnswer, tz: tzinfo = UTC) -> str:
    """Everything that whoever drains wants to read."""
    lines = [_drain_headline(answer, tz), *_measured(answer, tz)]
    if answer.forecast is not None:
        lines += _forecast(answer, answer.forecast)
    if answer.plan is not None and answer.store is not None:
        lines += _planned(answer, answer.plan, answer.store)
    for place, sentence in enumerate(answer.assumed):
        lines.append(line("" if place else "ASSUMED", sentence))
    return "\n".join(one.rstrip() for one in lines) + "\n"


def _drain_headline(answer: DrainAnswer, tz: tzinfo) -> str:
    who = f"group {safe(answer.group)}: " if answer.group else ""
    over = answer.measured_seconds is not None
    when = f", {_clock(answer.at, tz)}{' when the drain began' if over else ''}" if answer.at is not None else ""
    waits = f"{number(round(answer.backlog))} messages wait in {len(answer.queues)} queues"
    return f"DRAIN  {who}{waits}, {digits(answer.inflow_per_second)}/s come in{when}"


def _measured(answer: DrainAnswer, tz: tzinfo) -> Iterator[str]:
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


def _forecast(answer: DrainAnswer, forecast: Forecast) -> Iterator[str]:
    took = answer.measured_seconds
    since = "now on" if answer.fall and answer.fall.reached_at is None else "the complete rebalance"
    told = f"never: {forecast.never}" if forecast.never else f"{forecast.seconds.words(lasting)} from {since}"
    if forecast.start_seconds.likely and not forecast.never:
        told += f", {duration(forecast.start_seconds.likely + forecast.seconds.likely)} from the restart"
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


def _planned(answer: DrainAnswer, plan: Plan, store: Store) -> Iterator[str]:
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


def _refused(answer: DrainAnswer, plan: Plan) -> Iterator[str]:
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


def _levers(answer: DrainAnswer, plan: Plan) -> Iterator[str]:
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
    yield line("FINISH", f"{plan.seconds.words(lasting)}, {digits(plan.drained_per_second)}/s off the backlog")
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
