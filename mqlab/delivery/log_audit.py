"""The audit from the producer to the log: what each partition was sent, acknowledged, stores, lost and has twice.

A failure that was told is no loss of an acknowledged record. Some of these records were stored before the answer was
lost or the in-sync set fell: failed is not absent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mqlab.delivery.doubles import doubles
from mqlab.delivery.leaders import last_end, last_start
from mqlab.delivery.loss_mechanisms import cases
from mqlab.delivery.path import by_number
from mqlab.delivery.rows import Doubled, LogRow, Loss, Side
from mqlab.facts import Episode, Facts, span
from mqlab.memo import per_facts
from mqlab.rows import Fate

UNDER_MIN_ISR = "under-min-isr"
OVERSIZE = "oversize-record-rejected"
TOO_FEW = "NOT_ENOUGH_REPLICAS"
"""How the errors begin with which a partition below min.insync.replicas answers."""


def failed(fates: Sequence[Fate]) -> list[Fate]:
    """Messages that were reported as failed and never acknowledged."""
    return [f for f in fates if f.failed and not f.acked]


def kept(fates: Sequence[Fate]) -> int:
    """Messages among *fates* that the log holds or that a consumer read."""
    return sum(f.messages for f in fates if f.stored or f.handled)


def producer_losses(facts: Facts, topic: str) -> tuple[Loss, ...]:
    """Failed messages of *topic* that no dump and no consumer has, by partition; else what the client's log counts."""
    own = [f for f in failed(facts.fates) if f.topic == topic and not (f.stored or f.handled)]
    if own:
        return tuple(_of_ids(facts, topic, queue, [f for f in own if f.queue == queue])
                     for queue in sorted({f.queue for f in own}))  # fmt: skip
    if any(p.role == "failed" and p.topic == topic for p in facts.parts):
        return ()
    lines: dict[str, list[Episode]] = defaultdict(list)
    for line in facts.of_kind("record-expired"):
        if line.topic == topic:
            lines[line.queue or ""].append(line)
    return tuple(_of_lines(facts, topic, queue, rows) for queue, rows in sorted(lines.items()))


def never_stored(facts: Facts, incident: str, topic: str | None) -> int:
    """Records of *topic* (of any where it is None) that *incident* refused and that are known to be nowhere."""
    topics = sorted({f.topic for f in failed(facts.fates) if f.topic and topic in (None, f.topic)})
    return sum(one.least for name in topics for one in producer_losses(facts, name) if one.incident == incident)


def _of_ids(facts: Facts, topic: str, queue: str, fates: Sequence[Fate]) -> Loss:
    records = sum(f.messages for f in fates)
    since, until = span(t for f in fates for t in (f.first_at, f.last_at))
    return Loss(
        _why(facts, topic, queue), Side.PRODUCER, topic, queue, None, records,
        records if until is not None and _seen_whole(facts, topic, until) else 0, records,
        None, None, since, until, "ids reported as failed that neither a dump nor a consumer has",
        (fates[0].first, fates[-1].last),
    )  # fmt: skip


def _seen_whole(facts: Facts, topic: str, until: float) -> bool:
    """Every partition was dumped from its begin, or read up to its last acknowledged message, after all of it."""
    parts = [p for p in facts.parts if p.topic == topic and p.queue]
    ends = {p.queue: p.last_offset or 0 for p in parts if p.role == "acked"}
    whole = {p.queue for p in parts if p.role == "stored" and not p.first_offset and (p.taken_at or 0.0) > until}
    whole |= {
        p.queue for p in parts
        if p.role in ("received", "consumed", "processed") and (p.last_at or 0.0) > until
        and p.queue in ends and (p.last_offset or 0) >= ends[p.queue]
    }  # fmt: skip
    return bool(ends) and whole >= ends.keys()


def _of_lines(facts: Facts, topic: str, queue: str, rows: Sequence[Episode]) -> Loss:
    likely, most = expired(rows)
    return Loss(
        _why(facts, topic, queue), Side.PRODUCER, topic, queue, None, likely, 0, most, None, None,
        *span(t for e in rows for t in (e.first_at, e.last_at)),
        "records that expired in the producer; some may be stored", (rows[0].first, rows[-1].last),
    )  # fmt: skip


def expired(rows: Sequence[Episode]) -> tuple[int, int]:
    """Records that ``Expiring N record(s)`` lines tell of, at least and at most: of ten seconds N is known twice."""
    least = sum((e.value_max or 1) + (e.count - 1) * (e.value_min or 1) for e in rows)
    return round(least), round(sum((e.value_max or 1) * e.count for e in rows))


def _why(facts: Facts, topic: str, queue: str) -> str | None:
    """The class that refused them, where one alone was at work."""
    few = any(e.topic in (topic, None) and (not queue or e.queue in (queue, None)) for e in refusals(facts))
    large = any(e.topic in (topic, None) for e in facts.of_kind("record-too-large"))
    if few == large:
        return None
    return UNDER_MIN_ISR if few else OVERSIZE


def refusals(facts: Facts) -> list[Episode]:
    """Lines of brokers and clients about writes that were refused for want of replicas in sync, by time."""
    lines = [e for e in facts.of_kind("produce-retry", "send-failed") if (e.reason or "").startswith(TOO_FEW)]
    lines += facts.of_kind("not-enough-replicas")
    return sorted(lines, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))


@per_facts
def log_rows(facts: Facts, topic: str) -> tuple[LogRow, ...]:
    """One row a partition of *topic*, by number; one more for messages of which nothing tells the partition."""
    own = [f for f in facts.fates if f.topic == topic]
    queues = {f.queue for f in own} | {loss.queue for loss in log_losses(facts, topic)}
    queues |= {p.queue for p in facts.parts if p.topic == topic and p.queue and p.role != "committed"}
    return tuple(
        _row(facts, topic, queue, [f for f in own if f.queue == queue]) for queue in sorted(queues, key=by_number)
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
    failures_told = "failed" in roles or bool(given_up)

    def messages(rows: Iterable[Fate]) -> int:
        return sum(f.messages for f in rows)

    return LogRow(
        topic,
        queue,
        sent=messages(f for f in fates if f.sent) if "sent" in roles else None,
        acked=messages(f for f in fates if f.acked) if "acked" in roles else None,
        failed=messages(given_up) if failures_told else None,
        failed_stored=kept(given_up) if failures_told else None,
        unanswered=messages(f for f in fates if f.sent and not (f.acked or f.failed))
        if {"sent", "acked"} <= roles
        else None,
        stored=messages(f for f in fates if f.acked or f.stored or f.handled) if queue and fates else None,
        lost=sum(case.piece.records for case in cases(facts, topic) if case.piece.queue == queue),
        doubled=sum(one.extra for one in log_doubled(facts, topic) if one.queue == queue),
        start=last_start(facts, (topic, queue)) if queue else None,
        end=last_end(facts, (topic, queue)) if queue else None,
    )
