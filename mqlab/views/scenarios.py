"""What would have been and what will be, as tables for the notebook: a group replayed, a backlog drained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import pandas as pd

from mqlab.facts import Facts
from mqlab.frames import NOTHING
from mqlab.kafka.rows import Behind
from mqlab.models.draining import Interval, lasting
from mqlab.models.polling import ADVISED_MARGIN, largest_safe_records, smallest_safe_interval
from mqlab.quantities import BadQuantityError
from mqlab.scenarios import drain
from mqlab.scenarios.drain import DrainAnswer, Request
from mqlab.scenarios.drain_state import NoBacklogError
from mqlab.scenarios.replay import replay
from mqlab.scenarios.replay_inputs import NoReplayError
from mqlab.scenarios.replay_request import BadChangeError, ReplayAnswer, Told, changes
from mqlab.shared.table import table
from mqlab.units import clock, digits, duration, number, percent
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


def _told(name: str, told: Told) -> Sequence[str]:
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
    return table(_drain(found) if found else [], "drain|value")


def _drain(found: DrainAnswer) -> Iterator[tuple[str, str]]:
    yield "waiting", f"{number(round(found.backlog))} messages, {digits(found.inflow_per_second)}/s come in"
    if found.outlook is not None:
        yield "if nothing changes", found.outlook
    if found.measured_seconds is not None:
        apart = duration(found.between_snapshots_seconds)
        yield "so long it took", f"{duration(found.measured_seconds)}, snapshots up to {apart} apart"
    if found.plan is not None:
        yield from _plan(found)
    for sentence in found.assumed:
        yield "assumed", sentence


def _plan(found: DrainAnswer) -> Iterator[tuple[str, str]]:
    plan = found.plan
    assert plan is not None
    yield "the store can take", f"{digits(plan.budget_writes_per_second)} writes/s for the backlog"
    if plan.refusal is not None:
        yield "cannot be drained online", plan.refusal.reason
        return
    if plan.levers is not None:
        yield "hold", f"{number(round(plan.levers.messages_per_second))} messages/s in all"
        yield "by threads", f"{plan.levers.threads_per_instance} in each of {plan.levers.instances} processes"
        yield "or by pullInterval", f"{number(plan.levers.pull_interval_ms)} ms"
    yield "so it takes", plan.seconds.words(lasting)
    for step in plan.steps:
        lasts = "until drained" if not step.left else f"for {duration(step.seconds)}"
        yield f"ramp, {percent(step.share)}", f"{digits(step.messages_per_second)}/s in all, {lasts}"
    guard = plan.retention
    if guard is not None:
        lost = guard.loss_begins_seconds
        kept = f"{duration(guard.margin_seconds)} to spare" if guard.margin_seconds > 0 else "tight"
        yield "retention", kept if lost is None else f"LOSS begins in {duration(lost)}"
