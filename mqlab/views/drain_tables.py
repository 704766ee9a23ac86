"""Forecast and plan of a drain as a table for the notebook."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from mqlab.facts import Facts
from mqlab.models.draining import lasting
from mqlab.quantities import BadQuantityError
from mqlab.scenarios.drain import DrainAnswer, Request, answer
from mqlab.scenarios.drain_state import NoBacklogError
from mqlab.shared.table import table
from mqlab.units import digits, duration, number, percent


def drain_answer(facts: Facts, request: Request) -> DrainAnswer | None:
    """The forecast and plan for a group; None without one, or where material and request do not suffice."""
    try:
        return answer(request, facts) if request.group else None
    except (NoBacklogError, BadQuantityError):
        return None


def drain_plan(found: DrainAnswer | None) -> pd.DataFrame:
    """The forecast and plan in a few lines; empty without one."""
    rows = [] if found is None else [{"drain": name, "value": value} for name, value in _drain(found)]
    return table(rows, ("drain", "value"))


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
