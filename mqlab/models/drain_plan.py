"""How fast a backlog may be drained into a store that has other work, and how to hold that rate.

Budget of writes D = (1 − reserve)·capacity − load − inflow·writes per message: what the store can take beside its
normal load and the new messages. D ÷ writes per message is the rate at which the backlog falls; the consumers together
take that and the inflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import ceil, floor, inf

from mqlab.models.courses import Curve, Interval
from mqlab.models.drain_guards import Retention, heap_bytes_per_instance, pull_messages, retention
from mqlab.models.drain_terms import Backlog, Group, Levers, Plan, Refusal, Step, Store
from mqlab.models.draining import USUAL, Uncertainty
from mqlab.units import digits

RAMP = (0.25, 0.5, 0.75, 1.0)
"""Shares of the drain rate, one step after the other; a breach halves the rate."""
_ROUNDING = 1e-9


def plan(backlog: Backlog, store: Store, group: Group, uncertainty: Uncertainty = USUAL) -> Plan:
    """The plan; one with a refusal where nothing is left for the backlog."""
    inflow, room = backlog.inflow_per_second, budget_writes_per_second(backlog, store)
    a_queue, limit = _queue_limit(backlog, store, group)
    wanted = inflow + room / store.writes_per_message
    total = min(wanted, a_queue * backlog.queues)
    heap = heap_bytes_per_instance(backlog.queues, group.instances, backlog.message_bytes)
    if total <= inflow:
        guard = _guard(backlog, group, ((0.0, backlog.messages),), inf)
        return Plan(room, guard, heap, a_queue, _refusal(backlog, store, room, a_queue))
    levers = _levers(backlog, store, group, total)
    held = levers.threads_per_instance * levers.instances / store.response_seconds or total
    steps = _ramp(backlog, store, group, levers, held - inflow)
    pace, more = 1 + uncertainty.capacity_share, 1 + uncertainty.inflow_share
    rates = (held * pace - inflow / more, held - inflow, held / pace - inflow * more)
    seconds = Interval(*(_lasting(_ramp(backlog, store, group, levers, rate)) if rate > 0 else inf for rate in rates))
    curve = ((0.0, backlog.messages), *_ends(steps))
    guard = _guard(backlog, group, curve, seconds.likely)
    bounded_by = "store" if wanted <= a_queue * backlog.queues else limit
    return Plan(room, guard, heap, a_queue, None, bounded_by, held - inflow, levers, steps, seconds, curve)


def budget_writes_per_second(backlog: Backlog, store: Store) -> float:
    """What the store can take for the backlog; not above zero means none."""
    free = (1 - store.reserve_share) * store.capacity_writes_per_second - store.load_writes_per_second
    return free - backlog.inflow_per_second * store.writes_per_message


def _queue_limit(backlog: Backlog, store: Store, group: Group) -> tuple[float, str]:
    """Most messages per second that one queue gives, and why."""
    pulls = pull_messages(group.batch_messages, backlog.message_bytes, backlog.on_disk) / group.pull_seconds
    in_turn = 1 / store.response_seconds if group.orderly else inf
    return (in_turn, "order") if in_turn < pulls else (pulls, "pulls")


def _levers(backlog: Backlog, store: Store, group: Group, total: float) -> Levers:
    threads = floor(total * store.response_seconds + _ROUNDING)
    instances = max(1, min(group.instances, backlog.queues, threads))
    each = threads // instances
    if each * instances / store.response_seconds <= backlog.inflow_per_second:
        threads = each = 0
    return Levers(
        total,
        floor((total - backlog.inflow_per_second) * store.response_seconds + _ROUNDING),
        threads,
        instances,
        each,
        ceil(1000 * group.batch_messages * backlog.queues / total - _ROUNDING),
    )


def _ramp(backlog: Backlog, store: Store, group: Group, levers: Levers, drained: float) -> tuple[Step, ...]:
    """Steps up to the drain rate; the last one lasts until the backlog is gone."""
    steps, left = [], backlog.messages
    for share in RAMP:
        rate = share * drained
        seconds = left / rate if share == RAMP[-1] else min(group.step_seconds, left / rate)
        left = max(0.0, left - rate * seconds)
        total = backlog.inflow_per_second + rate
        threads = floor(total * store.response_seconds / levers.instances + _ROUNDING)
        steps.append(Step(share, rate, total, threads, seconds, left))
        if left <= 0:
            break
    return tuple(steps)


def _lasting(steps: Sequence[Step]) -> float:
    return sum(step.seconds for step in steps)


def _ends(steps: Sequence[Step]) -> Curve:
    return tuple(zip(accumulate(step.seconds for step in steps), (step.left for step in steps), strict=True))


def _guard(backlog: Backlog, group: Group, left: Curve, seconds: float) -> Retention | None:
    if backlog.oldest_seconds is None:
        return None
    return retention(backlog.messages, backlog.oldest_seconds, group.reserved_seconds, left, seconds)


def _refusal(backlog: Backlog, store: Store, room: float, a_queue: float) -> Refusal:
    taken = store.load_writes_per_second + backlog.inflow_per_second * store.writes_per_message
    if room <= 0:
        free = digits((1 - store.reserve_share) * store.capacity_writes_per_second)
        reason = f"of {free} writes/s the normal load and the new messages take {digits(taken)}"
    else:
        most = digits(a_queue * backlog.queues)
        reason = f"the queues give at most {most} messages/s, {digits(backlog.inflow_per_second)} come in"
    return Refusal(reason, taken / (1 - store.reserve_share), backlog.messages)
