"""The delivery audit: for each topic what became of its messages.

What would have to be fetched before an audit of one topic can be certain.

The two sentences of an audit: what was counted, and what that means.

The delivery audit: for each topic what became of its messages, what was lost or doubled, or why it cannot be said.

Nothing is called complete unless every acknowledged message is accounted for: handled, stored, or pending in a log that
did not go back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.delivery import durability, group_audit, log_audit
from mqlab.delivery.elections import handovers
from mqlab.delivery.leaders import leaderships
from mqlab.delivery.log_losses import acknowledged, counted_by_ids
from mqlab.delivery.loss_mechanisms import cases, read_before, topics, unanswered
from mqlab.delivery.rows import Audit, Doubled, GroupRow, LogRow, Loss, Outcome, Side
from mqlab.facts import Facts
from mqlab.kafka import groups as kafka_groups
from mqlab.memo import per_facts
from mqlab.rows import Fate
from mqlab.units import counted, number

LEADERS = "state-change.log and controller.log of every broker: whether the log went back"


def missing(facts: Facts, log: Sequence[LogRow], groups: Sequence[GroupRow], losses: Sequence[Loss]) -> tuple[str, ...]:
    """What these rows of one topic leave open, each with what tells it; nothing where all is accounted for."""
    found = [*of_log(facts, log, losses), *_of_groups(groups)]
    return tuple(dict.fromkeys(found))


def of_log(facts: Facts, log: Sequence[LogRow], losses: Sequence[Loss]) -> tuple[str, ...]:
    """The same for the way to the log alone."""
    return (*_of_log(facts, log), *_of_losses(losses))


def _of_log(facts: Facts, log: Sequence[LogRow]) -> Iterator[str]:
    if all(row.acked is None for row in log):
        yield "which messages the producers had acknowledged: their own ledger, or ids in their log"
        return
    if any(row.queue and not _steady(facts, row) for row in log):
        yield LEADERS
    nowhere = sum(fate.messages for row in log if not row.queue for fate in _nowhere(facts, row.topic))
    if nowhere:
        yield (
            f"where {counted(nowhere, 'acknowledged message')} went that no consumer notes: a dump of each partition, "
            "or the places in the producers' ledger (with acks=0 there are none)"
        )


def _nowhere(facts: Facts, topic: str) -> Iterator[Fate]:
    """Messages that a producer counts as acknowledged, of which nothing tells a place and nobody has seen one."""
    for fate in facts.fates:
        if fate.topic == topic and fate.acked and fate.first_offset is None and not (fate.stored or fate.handled):
            yield fate


def _steady(facts: Facts, row: LogRow) -> bool:
    """Every acknowledged message of the partition was counted as lost, or the log holds or held it since.

    Its leaders are known and none began below the end; or it has one copy only; or the end seen last lies behind every
    place that was acknowledged, and each of these was given out once.
    """
    place = (row.topic, row.queue)
    if place in leaderships(facts):
        back = [one for one in handovers(facts).get(place, ()) if one.back]
        return all(counted_by_ids(facts, row.topic, one) for one in back)
    if durability.replicas(facts, row.topic) == 1:
        return True
    own = [f for f in acknowledged(facts, row.topic) if f.queue == row.queue]
    last = max((f.last_offset or 0 for f in own), default=-1)
    held = all(f.stored or f.handled for f in own)
    return held or (row.end is not None and row.end > last and not any(f.overwritten for f in own))


def _of_losses(losses: Sequence[Loss]) -> Iterator[str]:
    unclear = [loss for loss in losses if loss.incident is None and loss.side is Side.LOG]
    if unclear:
        yield LEADERS.partition(":")[0] + ": which mechanism it was"
    if any(loss.side is Side.LOG and not loss.exact for loss in losses):
        yield "the producers' ledger of acknowledged ids with partition and offset: the exact number"


def _of_groups(groups: Sequence[GroupRow]) -> Iterator[str]:
    for name in sorted({row.group for row in groups if row.unknown}):
        yield f"ledgers of every member of {name}, from begin to end: what it handled"
    for name in sorted({row.group for row in groups if row.handled is None}):
        yield f"what {name} handled, with partition and offset: ledgers of its members"


_SHOWN = 3
_MEANS = {
    Outcome.COMPLETE: "Nothing was lost: every acknowledged message is accounted for.",
    Outcome.UNKNOWN: "The material does not allow to say that nothing was lost.",
}


def statement(
    outcome: Outcome, log: Sequence[LogRow], groups: Sequence[GroupRow], losses: Sequence[Loss],
    doubled: Sequence[Doubled], read: int,
) -> str:  # fmt: skip
    """What became of the messages of one topic; *read* of those that the log lost had been read before."""
    acked = [row.acked for row in log if row.acked is not None]
    begin = f"{number(sum(acked))} acknowledged" if acked else "Nothing tells what was acknowledged"
    parts = [*_lost(losses, read), *_on_purpose(groups), *_waiting(groups), *_failed(log), *_twice(doubled)]
    told = f"{'; '.join([begin, *parts])}."
    if outcome is Outcome.IN_LOG:
        return f"{told} Nothing was lost from the log. {' '.join(_not_told(groups))}"
    meaning = _MEANS.get(outcome) or _mechanisms(losses, doubled)
    return f"{told} {meaning}"


def _not_told(groups: Sequence[GroupRow]) -> Iterator[str]:
    """Which part nobody can tell of."""
    for name in sorted({row.group for row in groups}):
        own = [row for row in groups if row.group == name]
        many = sum(row.unknown for row in own)
        if many:
            yield f"Whether {name} handled {number(many)} of them before its position, the material cannot say."
        elif any(row.handled is None for row in own):
            yield f"What {name} handled, the material cannot say."


def _lost(losses: Sequence[Loss], read: int) -> Iterator[str]:
    log = [loss for loss in losses if loss.side is Side.LOG and loss.most]
    if log:
        yield _gone(log)
    if read:
        yield f"{number(read)} of these had been read by consumers before"
    for group in sorted({loss.group or "" for loss in losses if loss.side is Side.GROUP}):
        own = [loss for loss in losses if loss.side is Side.GROUP and (loss.group or "") == group and loss.most]
        if own:
            yield f"{_amount(own)} were never handled by {group}"


def _gone(losses: Sequence[Loss]) -> str:
    places = [f"{_amount([one])} of {one.topic}-{one.queue}{_offsets(one)}" for one in losses[:_SHOWN]]
    if len(losses) == 1:
        return f"{places[0]} are gone from the log"
    more = [f"{number(len(losses) - _SHOWN)} more"] if len(losses) > _SHOWN else []
    return f"{_amount(losses)} are gone from the log: {', '.join([*places, *more])}"


def _amount(losses: Sequence[Loss]) -> str:
    least, most = sum(one.least for one in losses), sum(one.most for one in losses)
    return number(most) if least == most else f"{number(least)} to {number(most)}"


def _offsets(loss: Loss) -> str:
    if loss.first_offset is None or loss.last_offset is None:
        return ""
    return f" (offsets {number(loss.first_offset)}–{number(loss.last_offset)})"


def _on_purpose(groups: Sequence[GroupRow]) -> Iterator[str]:
    for name in sorted({row.group for row in groups}):
        skipped = sum(row.by_hand for row in groups if row.group == name)
        aside = sum(row.aside for row in groups if row.group == name)
        if skipped:
            yield f"{number(skipped)} were left out by {name} on purpose: its offsets were set by hand"
        if aside:
            yield f"{number(aside)} could not be handled by {name} and were set aside in a topic for such"


def _waiting(groups: Sequence[GroupRow]) -> Iterator[str]:
    for name in sorted({row.group for row in groups}):
        pending = sum(row.pending or 0 for row in groups if row.group == name)
        if pending:
            yield f"{number(pending)} are only not read yet by {name}"


def _failed(log: Sequence[LogRow]) -> Iterator[str]:
    refused, kept = sum(row.failed or 0 for row in log), sum(row.failed_stored or 0 for row in log)
    if refused:
        yield f"{number(refused)} were reported as failed, {number(kept)} of them are in the log all the same"
    unanswered = sum(row.unanswered or 0 for row in log)
    if unanswered:
        yield f"{number(unanswered)} were sent and never answered"


def _twice(doubled: Sequence[Doubled]) -> Iterator[str]:
    log = sum(one.extra for one in doubled if one.side is Side.LOG)
    if log:
        yield f"the log holds {number(log)} {'copy' if log == 1 else 'copies'} too many"
    for name in sorted({one.group or "" for one in doubled if one.side is Side.GROUP}):
        extra = sum(one.extra for one in doubled if one.side is Side.GROUP and (one.group or "") == name)
        if extra:
            yield f"{name} handled {counted(extra, 'time')} too often"


def _mechanisms(losses: Sequence[Loss], doubled: Sequence[Doubled]) -> str:
    slugs = {loss.incident for loss in losses} | {one.incident for one in doubled}
    named = ", ".join(sorted(slug for slug in slugs if slug))
    return f"By mechanism: {named}." if named else "Nothing in the material tells the mechanism."


@per_facts
def audits(facts: Facts) -> tuple[Audit, ...]:
    """One for each topic of which single messages are told, whose log went back, or of which a group lost some."""
    told = {f.topic for f in facts.fates} | {p.topic for p in facts.parts}
    read = {topic for _, topic in kafka_groups.topics(facts) if not topic.startswith("__")}
    return tuple(
        _audit(facts, topic)
        for topic in sorted({*topics(facts), *read})
        if topic in told or _went_back(facts, topic) or group_audit.group_losses(facts, topic)
    )


def _went_back(facts: Facts, topic: str) -> bool:
    """The log went back, by more than what was in flight when a leader handed over in good order."""
    return bool(cases(facts, topic) or unanswered(facts, topic))


def _audit(facts: Facts, topic: str) -> Audit:
    log, groups = log_audit.log_rows(facts, topic), group_audit.group_rows(facts, topic)
    losses = (*log_audit.log_losses(facts, topic), *group_audit.group_losses(facts, topic))
    doubled = (*log_audit.log_doubled(facts, topic), *group_audit.group_doubled(facts, topic))
    to_fetch = missing(facts, log, groups, losses)
    open_ = bool(of_log(facts, log, losses))
    outcome = _outcome(groups, losses, doubled, open_)
    said = statement(outcome, log, groups, losses, doubled, read_before(facts, topic))
    return Audit(topic, outcome, said, log, groups, losses, doubled, to_fetch)


def _outcome(groups: Sequence[GroupRow], losses: Sequence[Loss], doubled: Sequence[Doubled], open_: bool) -> Outcome:
    """*open_*: the material leaves open whether the log lost something."""
    lost = any(loss.most for loss in losses if loss.side is not Side.PRODUCER)
    twice = any(one.records for one in doubled)
    if lost:
        return Outcome.LOST_AND_DOUBLED if twice else Outcome.LOST
    if twice:
        return Outcome.DOUBLED
    if open_:
        return Outcome.UNKNOWN
    told = all(row.handled is not None and not row.unknown for row in groups)
    return Outcome.COMPLETE if told else Outcome.IN_LOG
