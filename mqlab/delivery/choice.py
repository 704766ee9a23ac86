"""Which topic of the delivery audit to look at, and everything that is drawn about it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mqlab.delivery import replicas
from mqlab.delivery.acked import acked
from mqlab.delivery.audit import audits
from mqlab.delivery.path import by_number
from mqlab.delivery.rows import Audit
from mqlab.delivery.view import AuditView, Offsets
from mqlab.delivery_groups import offsets
from mqlab.delivery_log import replica_history
from mqlab.facts import Facts

ABOUT_DELIVERY = (
    "unclean-election-loss", "acks1-failover-loss", "retention-loss", "offset-reset-loss",
    "commit-before-process-loss", "producer-duplicates", "reprocess-duplicates", "under-min-isr",
    "oversize-record-rejected",
)  # fmt: skip
"""Classes that the audit of a topic explains, the gravest first."""


def audit_view(facts: Facts, topic: str | None = None) -> AuditView:
    """The view of *topic*; by default of the one that lost most, else doubled most, else of which most is told."""
    audit = chosen(audits(facts), topic)
    if audit is None:
        return AuditView(None)
    levels = replicas.levels(facts, audit.topic)
    return AuditView(
        audit,
        tuple(replicas.reigns(facts, audit.topic)),
        tuple(replicas.in_sync(facts, audit.topic)),
        tuple(sorted(levels, key=lambda one: (one.at, by_number(one.queue), one.broker, one.what))),
        tuple(_offsets(facts, audit, queue) for queue in _queues(facts, audit)),
    )


def chosen(known: Sequence[Audit], topic: str | None = None) -> Audit | None:
    """The audit of *topic*, else the one with most to tell; None where there is none."""
    if topic is not None:
        return next((audit for audit in known if audit.topic == topic), None)
    return max(sorted(known, key=lambda audit: audit.topic, reverse=True), key=_weight, default=None)


def _weight(audit: Audit) -> tuple[int, int, int]:
    lost, extra = sum(one.records for one in audit.losses), sum(one.extra for one in audit.doubled)
    return lost, extra, sum(row.acked or row.stored or 0 for row in audit.log)


def _queues(facts: Facts, audit: Audit) -> list[str]:
    told = {row.queue for row in audit.log} | {row.queue for row in audit.groups}
    told |= {queue for topic, queue in replica_history.leaderships(facts) if topic == audit.topic}
    return sorted((queue for queue in told if queue), key=by_number)


def _offsets(facts: Facts, audit: Audit, queue: str) -> Offsets:
    names = sorted({row.group for row in audit.groups})
    seen = {group: offsets.offsets(facts, group, audit.topic, queue) for group in names or ("",)}
    any_group = next(iter(seen.values()))
    return Offsets(
        queue,
        acked(facts, audit, queue),
        _points(any_group.ends),
        _points(any_group.starts),
        {group: _points(one.committed) for group, one in seen.items() if one.committed},
    )


def _points(marks: Sequence[offsets.Mark]) -> tuple[tuple[float, int], ...]:
    """One point a moment, the last one that was told."""
    return tuple((at, list(own)[-1].offset) for at, own in groupby(marks, key=lambda mark: mark.at))
