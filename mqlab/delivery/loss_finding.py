"""What findings about a loss in the log share.

What findings about a loss in the log share: numbers, times, places, and the lines that prove it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mqlab.delivery import group_audit, log_audit
from mqlab.delivery.elections import Handover
from mqlab.delivery.log_losses import BY_PLACE, Piece, acknowledged
from mqlab.delivery.loss_mechanisms import Case
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.units import number

_SHOWN = 3
"""Partitions that a sentence names, and whose lines are shown."""


def by_topic(cases: Sequence[Case]) -> Iterator[tuple[str, list[Case]]]:
    """Cases of each topic, by name."""
    for topic, own in groupby(sorted(cases, key=lambda c: c.piece.topic), key=lambda c: c.piece.topic):
        yield topic, list(own)


def measures(facts: Facts, topic: str, cases: Sequence[Case]) -> dict[str, float]:
    """Lost, pending and acknowledged messages; an interval where they could not be counted."""
    least, most = sum(c.loss.least for c in cases), sum(c.loss.most for c in cases)
    found = {"lost_records": float(sum(c.loss.records for c in cases))}
    if least != most:
        found |= {"lost_records_least": float(least), "lost_records_most": float(most)}
    read = sum(c.piece.read for c in cases if c.loss.exact)
    if read:
        found["lost_records_read_before"] = float(read)
    pending = [row.pending for row in group_audit.group_rows(facts, topic) if row.pending is not None]
    if pending:
        found["pending_records"] = float(sum(pending))
    acked = [row.acked for row in log_audit.log_rows(facts, topic) if row.acked is not None]
    if acked:
        found["acknowledged_records"] = float(sum(acked))
    return found


def times(cases: Sequence[Case]) -> tuple[float | None, float | None]:
    """From the first lost message to the leader that began without it."""
    begun = [c.piece.handover.after.at for c in cases if c.piece.handover is not None]
    return span([*(c.piece.since for c in cases), *(c.piece.until for c in cases), *begun])


def amount(cases: Sequence[Case]) -> str:
    """``1,562``; ``374 to 1,574`` where it is an interval."""
    least, most = sum(c.loss.least for c in cases), sum(c.loss.most for c in cases)
    return number(most) if least == most else f"{number(least)} to {number(most)}"


def places(cases: Sequence[Case]) -> str:
    """Partitions with their offsets, the first few."""
    told = [f"{c.piece.topic}-{c.piece.queue}{_offsets(c.piece)}" for c in cases]
    more = f" and {number(len(told) - _SHOWN)} more" if len(told) > _SHOWN else ""
    return ", ".join(told[:_SHOWN]) + more


def _offsets(piece: Piece) -> str:
    if piece.first_offset is None or piece.last_offset is None:
        return ""
    return f" (offsets {number(piece.first_offset)} to {number(piece.last_offset)})"


def handover(cases: Sequence[Case]) -> Handover | None:
    """The change of leader that lost the most."""
    known = [c for c in cases if c.piece.handover is not None]
    worst = max(known, key=lambda c: (c.loss.records, c.piece.queue), default=None)
    return worst.piece.handover if worst is not None else None


def evidence(facts: Facts, cases: Sequence[Case]) -> tuple[Evidence, ...]:
    """What shows the mechanism, then the messages: of a place that was given out twice, both lines."""
    shown = sorted(cases, key=lambda c: (-c.loss.records, c.piece.queue))[:_SHOWN]
    found = [line for case in shown for line in case.mechanism.evidence]
    found += [line for case in shown for line in _messages(facts, case.piece)]
    return tuple(dict.fromkeys(found))


def _messages(facts: Facts, piece: Piece) -> Iterator[Evidence]:
    if piece.how != BY_PLACE:
        yield from piece.evidence
        return
    yield _why(piece.evidence[0], "acknowledged, and lost")
    own = [f for f in acknowledged(facts, piece.topic) if f.queue == piece.queue and not f.overwritten]
    again = [f for f in own if f.first_offset == piece.first_offset]
    yield from (_why(f.first, "the same place, acknowledged to another id") for f in again[:1])
    yield _why(piece.evidence[1], "the last that was lost")


def _why(evidence: Evidence, why: str) -> Evidence:
    return Evidence(evidence.source, evidence.line, evidence.text, why, evidence.pointer)
