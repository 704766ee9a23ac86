"""The two sentences of an audit: what was counted, and what that means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.delivery.rows import Doubled, GroupRow, LogRow, Loss, Outcome, Side
from mqlab.units import counted, number

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
