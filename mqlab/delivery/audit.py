"""The delivery audit: for each topic what became of its messages, what was lost or doubled, or why it cannot be said.

Nothing is called complete unless every acknowledged message is accounted for: handled, stored, or pending in a log that
did not go back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from mqlab import words
from mqlab.delivery import durability, group_audit, log_audit, queue_audit
from mqlab.delivery.elections import handovers
from mqlab.delivery.leaders import leaderships, looked
from mqlab.delivery.log_losses import BY_OFFSETS, acknowledged, counted_by_ids
from mqlab.delivery.loss_mechanisms import cases, unanswered
from mqlab.delivery.missing import sparse
from mqlab.delivery.positions import offsets
from mqlab.delivery.refused_writes import refused_as_too_large
from mqlab.delivery.rows import Audit, Doubled, Gap, GroupRow, LogRow, Loss, Outcome, Side
from mqlab.facts import Facts, span
from mqlab.memo import per_facts
from mqlab.words.filling import Value

_SHOWN = 3
_ABORTS = ("error:kafka-transaction-timed-out", "error:kafka-producer-fenced")
"""Lines after which an acknowledged record may stand in a transaction that was aborted: in the log, and never read."""
say = words.room("delivery-audit")


@per_facts
def audits(facts: Facts) -> tuple[Audit, ...]:
    """One for each topic of which single messages are told, whose log went back, or of which a group lost some.

    What was in flight when a leader handed over in good order is no log that went back. There is none where a time was
    cut out: what became of a message is often told outside of it.
    """
    if not facts.whole:
        return ()
    noted = {f.topic for f in facts.fates} | {p.topic for p in facts.parts}
    return tuple(
        _audit(facts, topic)
        for topic in durability.topics(facts)
        if topic in noted or cases(facts, topic) or unanswered(facts, topic) or group_audit.group_losses(facts, topic)
    )


def _audit(facts: Facts, topic: str) -> Audit:
    log, groups = log_audit.log_rows(facts, topic), group_audit.group_rows(facts, topic)
    losses = (*log_audit.log_losses(facts, topic), *group_audit.group_losses(facts, topic))
    doubled = (*log_audit.log_doubled(facts, topic), *group_audit.group_doubled(facts, topic))
    of_log = [*_missing_of_log(facts, log), *_missing_of_losses(losses)]
    outcome = _outcome(log, groups, losses, doubled, bool(of_log))
    beside = queue_audit.unowned(facts, topic)
    if outcome is Outcome.COMPLETE and beside:
        outcome = Outcome.IN_LOG
    read = sum(case.piece.read for case in cases(facts, topic) if case.piece.how != BY_OFFSETS)
    refused = refused_as_too_large(facts, topic)
    statement = _statement(outcome, log, groups, losses, doubled, (read, refused, sparse(facts, topic)))
    of_groups = [*_missing_of_groups(groups), *(_missing_owner(facts, ledger) for ledger in beside)]
    missing = tuple(dict.fromkeys([*of_log, *of_groups]))
    return Audit(topic, outcome, statement, log, groups, losses, doubled, missing, _looked(facts, log, groups))


def _looked(facts: Facts, log: Sequence[LogRow], groups: Sequence[GroupRow]) -> tuple[float, float] | None:
    positions = (offsets(facts, row.group, row.topic, row.queue).last for row in groups)
    moments = [mark.at for mark in positions if mark is not None]
    moments += [at for row in log for at in looked(facts, (row.topic, row.queue))]
    return (min(moments), max(moments)) if moments else None


def _missing_owner(facts: Facts, ledger: str) -> str:
    """What tells how far the reader with this *ledger* should have come."""
    group = queue_audit.broadcast_group(facts, ledger)
    return say("owner" if group is None else "own-offsets", ledger=ledger, group=group)


def is_whole(facts: Facts, topic: str) -> bool:
    """Ledgers tell what was acknowledged to *topic*, and its log is known to have kept all of it."""
    rows = log_audit.log_rows(facts, topic)
    return bool(rows) and not cases(facts, topic) and not any(_missing_of_log(facts, rows))


def _outcome(
    log: Sequence[LogRow], groups: Sequence[GroupRow], losses: Sequence[Loss], doubled: Sequence[Doubled],
    open_log: bool,
) -> Outcome:  # fmt: skip
    """*open_log*: the material leaves open whether the log lost something."""
    lost = any(loss.most for loss in losses if loss.side is not Side.PRODUCER)
    repeated = any(row.records for row in doubled)
    if lost:
        return Outcome.LOST_AND_DOUBLED if repeated else Outcome.LOST
    if repeated:
        return Outcome.DOUBLED
    if open_log:
        return Outcome.UNKNOWN
    acked = {row.queue: row.acked or 0 for row in log}
    closed = all(row.handled is not None and not _not_told(row, acked.get(row.queue, 0)) for row in groups)
    return Outcome.COMPLETE if closed and not any(row.earlier for row in groups) else Outcome.IN_LOG


def _not_told(row: GroupRow, acked: int) -> int:
    """Messages of which the material does not tell what became of them in the group, of so many acknowledged."""
    if row.handled is None:
        return row.unknown
    told = row.handled + (row.pending or 0) + row.lost + row.by_hand + row.aside + row.earlier
    return max(row.unknown, acked - told)


def _missing_of_log(facts: Facts, log: Sequence[LogRow]) -> Iterator[str]:
    """What the way to the log leaves open, each with what tells it."""
    if all(row.acked is None for row in log):
        yield say("acknowledged")
        return
    own = {row.queue for row in log}
    gone = [e.first_at for e in facts.of_kind("log-deleted") if e.topic == log[0].topic and e.queue in own]
    begin = span(f.first_at for f in facts.fates if f.topic == log[0].topic and f.acked)[0]
    if deleted := [at for at in gone if at and begin and begin < at]:
        yield say("deleted", topic=log[0].topic, at=deleted[0])
    elif any(row.queue and not _accounted(facts, row) for row in log):
        software = {c.software for c in facts.coverage}
        queues = any("/" in row.queue for row in log) or ("rocketmq" in software and "kafka" not in software)
        yield say("queue-end", topic=log[0].topic) if queues else say("went-back")
    unseen = sum(f.messages for f in facts.fates if f.topic == log[0].topic and f.acked and not f.handled)
    if unseen and facts.of_kind(*_ABORTS):
        yield say("aborted", messages=unseen)
    unplaced = {row.topic for row in log if not row.queue}
    nowhere = sum(
        f.messages for f in facts.fates
        if f.topic in unplaced and f.acked and f.first_offset is None and not (f.stored or f.handled)
    )  # fmt: skip
    if nowhere:
        yield say("nowhere", messages=nowhere)


def _accounted(facts: Facts, row: LogRow) -> bool:
    """Every acknowledged message of the partition was counted as lost, or the log holds or held it since.

    Its leaders are known and none began below the end; or it has one copy only; or the end seen last lies behind every
    place that was acknowledged, and each of these was given out once.
    """
    place = (row.topic, row.queue)
    if place in leaderships(facts):
        return all(
            counted_by_ids(facts, row.topic, handover) for handover in handovers(facts).get(place, ()) if handover.back
        )
    if durability.replicas(facts, row.topic) == 1:
        return True
    own = [f for f in acknowledged(facts, row.topic) if f.queue == row.queue]
    if all(f.stored or f.handled for f in own):
        return True
    behind = row.end is not None and all((f.last_offset or 0) < row.end for f in own)
    return behind and not any(f.overwritten for f in own)


def _missing_of_losses(losses: Sequence[Loss]) -> Iterator[str]:
    log = [loss for loss in losses if loss.side is Side.LOG]
    if any(loss.incident is None for loss in log):
        yield say("mechanism")
    if not all(loss.exact for loss in log):
        yield say("number")


def _missing_of_groups(groups: Sequence[GroupRow]) -> Iterator[str]:
    for name in sorted({row.group for row in groups if row.unknown}):
        yield say("members", group=name)
    for name in sorted({row.group for row in groups if row.handled is None}):
        yield say("handled", group=name)


def _statement(
    outcome: Outcome, log: Sequence[LogRow], groups: Sequence[GroupRow], losses: Sequence[Loss],
    doubled: Sequence[Doubled], beside: tuple[int, int, bool],
) -> str:  # fmt: skip
    """What became of the messages of one topic.

    *beside* is how many of those that the log lost had been read before, of how many only logs of producers tell that
    they were refused, and whether not each offset holds a record.
    """
    read, refused, up_to = beside
    acked = [row.acked for row in log if row.acked is not None]
    acked_of = {row.queue: row.acked or 0 for row in log}
    by_group = {name: list(rows) for name, rows in groupby(sorted(groups, key=_group), key=_group)}
    rows: tuple[Loss | Doubled, ...] = (*losses, *doubled)
    unnamed = [row for row in doubled if row.incident is None]
    at_changes = sum(row.at_changes for row in unnamed)
    untold = [loss for loss in losses if loss.incident is None and loss.gap is not Gap.FAILED]
    return say(
        "statement",
        acked=sum(acked) if acked else None,
        parts=(*_lost(losses, read), *_left(by_group, up_to), *_failed(log, refused), *_doubled(doubled)),
        outcome=outcome,
        named=sorted({row.incident for row in rows if row.incident}),
        rest=bool(untold) or sum(row.extra for row in unnamed) > at_changes,
        lost=sum(loss.side is not Side.PRODUCER for loss in untold),
        at_changes=at_changes,
        of_all=at_changes if at_changes == sum(row.extra for row in doubled) else None,
        untold=tuple(_unknown(by_group, acked_of)) if outcome is Outcome.IN_LOG else None,
    )


def _group(row: GroupRow | Loss | Doubled) -> str:
    return row.group or ""


def _unknown(by_group: dict[str, list[GroupRow]], acked: Mapping[str, int]) -> Iterator[str]:
    for name, rows in by_group.items():
        many = sum(_not_told(row, acked.get(row.queue, 0)) for row in rows)
        noted = all(row.handled is not None for row in rows)
        if many:
            yield say("unknown" if noted else "passed", group=name, unknown=many)
        elif not noted:
            yield say("no-ledger", group=name)


def _lost(losses: Sequence[Loss], read: int) -> Iterator[str]:
    log = [loss for loss in losses if loss.side is Side.LOG and loss.most]
    if log:
        places = [_place(loss) for loss in log[:_SHOWN]]
        more = [say("more", more=len(log) - _SHOWN)] if len(log) > _SHOWN else []
        yield say("gone", places=(*places, *more), several=len(log) > 1, **_amount(log))
    if read:
        yield say("read", read=read)
    of_groups = sorted((loss for loss in losses if loss.side is Side.GROUP and loss.most), key=_reckoned)
    for (name, failed), own in groupby(of_groups, _reckoned):
        yield say("given-up" if failed else "unhandled", group=name, **_amount(list(own)))


def _reckoned(loss: Loss) -> tuple[str, bool]:
    return _group(loss), loss.gap is Gap.FAILED


def _place(loss: Loss) -> str:
    ends = {"first": loss.first_offset, "last": loss.last_offset}
    return say("place", topic=loss.topic, queue=loss.queue, **ends, **_amount([loss]))


def _amount(losses: Sequence[Loss]) -> dict[str, Value]:
    """How many, and where they were not counted how many at least."""
    least, most = sum(loss.least for loss in losses), sum(loss.most for loss in losses)
    return {"least": least if least != most else None, "most": most}


def _left(by_group: dict[str, list[GroupRow]], up_to: bool) -> Iterator[str]:
    """What groups left out, then what lies past their positions."""
    for name, rows in by_group.items():
        if skipped := sum(row.by_hand for row in rows):
            yield say("by-hand", group=name, skipped=skipped)
        if aside := sum(row.aside for row in rows):
            yield say("aside", group=name, aside=aside)
        if earlier := sum(row.earlier for row in rows):
            yield say("earlier", group=name, earlier=earlier)
    for name, rows in by_group.items():
        if pending := sum(row.pending or 0 for row in rows):
            noted = all(row.handled is not None for row in rows if row.pending)
            yield say("pending", group=name, pending=pending, noted=noted, up_to=up_to)
        if rows[0].filters and any(row.pending or row.unknown for row in rows):
            yield say("filtered", group=name, topic=rows[0].topic, filters=rows[0].filters)


def _failed(log: Sequence[LogRow], refused: int) -> Iterator[str]:
    if failed := sum(row.failed or 0 for row in log):
        yield say("failed", failed=failed, stored=sum(row.failed_stored or 0 for row in log))
    if unanswered := sum(row.unanswered or 0 for row in log):
        yield say("unanswered", unanswered=unanswered, refused=refused if 0 < refused <= unanswered else None)


def _doubled(doubled: Sequence[Doubled]) -> Iterator[str]:
    if copies := sum(row.extra for row in doubled if row.side is Side.LOG):
        yield say("copies", copies=copies)
    for name, own in groupby(sorted((row for row in doubled if row.side is Side.GROUP), key=_group), _group):
        if duplicates := sum(row.extra for row in own):
            yield say("duplicates", group=name, duplicates=duplicates)
