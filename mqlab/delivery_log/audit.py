"""The audit from the producer to the log: what each partition was sent, acknowledged, stores, lost and has twice."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.delivery.rows import Doubled, LogRow, Loss
from mqlab.delivery_log.cases import cases
from mqlab.delivery_log.doubles import doubles
from mqlab.delivery_log.failed_sends import failed, kept, producer_losses
from mqlab.delivery_log.places import last_end, last_start
from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.rows.messages import Fate


@per_facts
def log_rows(facts: Facts, topic: str) -> tuple[LogRow, ...]:
    """One row a partition of *topic*, by number; one more for messages of which nothing tells the partition."""
    own = [f for f in facts.fates if f.topic == topic]
    queues = {f.queue for f in own} | {loss.queue for loss in log_losses(facts, topic)}
    queues |= {p.queue for p in facts.parts if p.topic == topic and p.queue and p.role != "committed"}
    return tuple(
        _row(facts, topic, queue, [f for f in own if f.queue == queue]) for queue in sorted(queues, key=_place)
    )


@per_facts
def log_losses(facts: Facts, topic: str) -> tuple[Loss, ...]:
    """What the log of *topic* lost, and what never entered it (side PRODUCER: told as failed, no loss of the log)."""
    return (*(case.loss for case in cases(facts, topic)), *producer_losses(facts, topic))


@per_facts
def log_doubled(facts: Facts, topic: str) -> tuple[Doubled, ...]:
    """Messages that the log of *topic* has more than once."""
    return tuple(one.doubled for one in doubles(facts, topic))


def _row(facts: Facts, topic: str, queue: str, fates: Sequence[Fate]) -> LogRow:
    roles = {p.role for p in facts.parts if p.topic == topic}
    given_up = failed(fates)
    told_failed = "failed" in roles or bool(given_up)
    losses = [case.loss for case in cases(facts, topic) if case.loss.queue == queue]
    doubled = [one for one in log_doubled(facts, topic) if one.queue == queue]
    place = (topic, queue)
    return LogRow(
        topic,
        queue,
        sent=_count(fates, "sent") if "sent" in roles else None,
        acked=_count(fates, "acked") if "acked" in roles else None,
        failed=sum(f.messages for f in given_up) if told_failed else None,
        failed_stored=kept(given_up) if told_failed else None,
        unanswered=_unanswered(fates) if {"sent", "acked"} <= roles else None,
        stored=sum(f.messages for f in fates if f.acked or f.stored or f.handled) if queue and fates else None,
        lost=sum(loss.records for loss in losses),
        doubled=sum(one.extra for one in doubled),
        start=last_start(facts, place) if queue else None,
        end=last_end(facts, place) if queue else None,
    )


def _count(fates: Sequence[Fate], role: str) -> int:
    return sum(f.messages for f in fates if (f.sent if role == "sent" else f.acked))


def _unanswered(fates: Sequence[Fate]) -> int:
    return sum(f.messages for f in fates if f.sent and not (f.acked or f.failed))


def _place(queue: str) -> tuple[bool, int, str]:
    """Partitions by number; what has none comes last."""
    return (not queue.isdigit(), int(queue) if queue.isdigit() else 0, queue)
