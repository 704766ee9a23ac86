"""The plan that a request asks for: what it leaves open comes from the material, or is assumed and noted."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.draining.owners import message_bytes, reserved_seconds
from mqlab.draining.request import (
    BATCH_MESSAGES,
    MESSAGE_BYTES,
    PULL_SECONDS,
    RESERVE_SHARE,
    RETENTION_SECONDS,
    STEP_SECONDS,
    Assumptions,
    Request,
)
from mqlab.facts import Facts
from mqlab.models.drain_plan import plan
from mqlab.models.drain_terms import Backlog, Group, Plan, Store
from mqlab.models.draining import Queue
from mqlab.units import duration


def planned(
    request: Request, queues: Sequence[Queue], facts: Facts | None, assumed: Assumptions
) -> tuple[Store | None, Plan | None]:
    """Store and plan; both None where no capacity was given."""
    if request.capacity is None or request.response_time is None:
        return None, None
    store = Store(
        request.capacity,
        assumed.of(request.load, 0.0, "the store has no other load"),
        assumed.of(request.reserve, RESERVE_SHARE, f"reserve {RESERVE_SHARE:g} of the capacity"),
        assumed.of(request.writes_per_message, 1.0, "one write per message"),
        request.response_time,
    )
    return store, plan(_backlog(request, queues, facts, assumed), store, _group(request, queues, facts, assumed))


def _backlog(request: Request, queues: Sequence[Queue], facts: Facts | None, assumed: Assumptions) -> Backlog:
    ages = [q.backlog / q.inflow_per_second for q in queues if q.inflow_per_second > 0]
    oldest = request.oldest
    if oldest is None and ages:
        oldest = assumed.of(None, max(ages), f"the oldest message is {duration(max(ages))} old (lag over inflow)")
    size = request.message_size if request.message_size is not None else message_bytes(facts)
    return Backlog(
        sum(q.backlog for q in queues),
        sum(q.inflow_per_second for q in queues),
        len(queues),
        assumed.of(size, MESSAGE_BYTES, "a message has 1 kB"),
        oldest,
    )


def _group(request: Request, queues: Sequence[Queue], facts: Facts | None, assumed: Assumptions) -> Group:
    held = len({q.owner for q in queues if q.owner})
    retention = request.retention if request.retention is not None else reserved_seconds(facts)
    return Group(
        request.instances or held,
        request.batch or BATCH_MESSAGES,
        assumed.of(request.pull_time, PULL_SECONDS, "a pull takes 5 ms"),
        request.orderly,
        assumed.of(retention, RETENTION_SECONDS, "messages are kept for 48 h"),
        request.step or STEP_SECONDS,
    )
