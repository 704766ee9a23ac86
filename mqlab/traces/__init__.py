"""Traces of trouble in what is listed and counted, where no line tells of it: marks for hypotheses.

Snapshots of a group show queues that stand still beside others that move, and members that give way to others of the
same client. A client's metrics show polls that come late, heartbeats that stop, and partitions that change hands while
no consumer starts or stops. None of them names a mechanism by itself; together with what moves on they leave few.
"""

from __future__ import annotations

from mqlab.facts import Facts
from mqlab.marks import Mark
from mqlab.memo import per_facts
from mqlab.traces import connections, members, processes, reading

_EACH = (
    reading.queues,
    members.replaced,
    members.waited_for,
    members.heartbeats,
    members.late_polls,
    processes.restarts,
    reading.lags,
    reading.exported,
    processes.pauses,
    reading.unhandled,
    reading.passed_over,
    reading.handled_again,
    connections.renewed,
    processes.fenced,
    reading.slower,
    connections.retained_again,
)


@per_facts
def traces(facts: Facts) -> tuple[Mark, ...]:
    """Everything of the kind."""
    return tuple(mark for rule in _EACH for mark in rule(facts))
