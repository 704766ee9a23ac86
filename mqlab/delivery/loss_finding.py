"""What one mechanism lost of one topic's log, as findings tell it: numbers, times, places, proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from mqlab.delivery import group_audit, log_audit
from mqlab.delivery.elections import Handover
from mqlab.delivery.log_losses import BY_PLACE, Piece, acknowledged
from mqlab.delivery.loss_mechanisms import Case, of_incident
from mqlab.facts import Facts, span
from mqlab.findings import Certainty, Evidence
from mqlab.units import number

_SHOWN = 3
"""Partitions that a sentence names, and whose lines are shown."""


@dataclass(frozen=True, slots=True)
class TopicLoss:
    """What the partitions of one topic lost by one mechanism."""

    topic: str
    cases: tuple[Case, ...]

    @property
    def exact(self) -> bool:
        """All of it was counted."""
        return all(case.loss.exact for case in self.cases)

    @property
    def certainty(self) -> Certainty:
        """That of the least certain part."""
        return min(case.certainty for case in self.cases)

    @property
    def queues(self) -> int:
        """Partitions that lost some."""
        return len({case.piece.queue for case in self.cases})

    @property
    def read(self) -> int:
        """Counted messages that consumers had read before."""
        return sum(case.piece.read for case in self.cases if case.loss.exact)

    @property
    def span(self) -> tuple[float | None, float | None]:
        """From the first lost message to the leader that began without it."""
        begun = [case.piece.handover.after.at for case in self.cases if case.piece.handover is not None]
        return span([*(at for case in self.cases for at in (case.piece.since, case.piece.until)), *begun])

    @property
    def records(self) -> str:
        """``1,562 records of orders-0 (offsets 5 to 1,566)``; ``374 to 1,574 records`` where it is an interval."""
        least, most = sum(case.piece.least for case in self.cases), sum(case.piece.most for case in self.cases)
        amount = number(most) if least == most else f"{number(least)} to {number(most)}"
        places = [_place(case.piece) for case in self.cases]
        more = f" and {number(len(places) - _SHOWN)} more" if len(places) > _SHOWN else ""
        return f"{amount} records of {', '.join(places[:_SHOWN])}{more}"

    @property
    def handover(self) -> Handover | None:
        """The change of leader that lost the most."""
        known = [case.piece for case in self.cases if case.piece.handover is not None]
        worst = max(known, key=lambda piece: (piece.records, piece.queue), default=None)
        return worst.handover if worst is not None else None


def _place(piece: Piece) -> str:
    if piece.first_offset is None or piece.last_offset is None:
        return f"{piece.topic}-{piece.queue}"
    return f"{piece.topic}-{piece.queue} (offsets {number(piece.first_offset)} to {number(piece.last_offset)})"


def topic_losses(facts: Facts, incident: str) -> tuple[TopicLoss, ...]:
    """What *incident* lost, a row for each topic, by name."""
    found = sorted(of_incident(facts, incident), key=lambda case: case.piece.topic)
    return tuple(TopicLoss(topic, tuple(own)) for topic, own in groupby(found, key=lambda case: case.piece.topic))


def measures(facts: Facts, one: TopicLoss) -> dict[str, float]:
    """Lost, pending and acknowledged messages; an interval where they could not be counted."""
    least, most = sum(case.piece.least for case in one.cases), sum(case.piece.most for case in one.cases)
    found = {"lost_records": float(sum(case.piece.records for case in one.cases))}
    if least != most:
        found |= {"lost_records_least": float(least), "lost_records_most": float(most)}
    if one.read:
        found["lost_records_read_before"] = float(one.read)
    pending = [row.pending for row in group_audit.group_rows(facts, one.topic) if row.pending is not None]
    if pending:
        found["pending_records"] = float(sum(pending))
    acked = [row.acked for row in log_audit.log_rows(facts, one.topic) if row.acked is not None]
    if acked:
        found["acknowledged_records"] = float(sum(acked))
    return found


def evidence(facts: Facts, one: TopicLoss) -> tuple[Evidence, ...]:
    """What shows the mechanism, then the messages: of a place that was given out twice, both lines."""
    shown = sorted(one.cases, key=lambda case: (-case.piece.records, case.piece.queue))[:_SHOWN]
    found = [line for case in shown for line in case.mechanism.evidence]
    found += [line for case in shown for line in _messages(facts, case.piece)]
    return tuple(dict.fromkeys(found))


def _messages(facts: Facts, piece: Piece) -> Iterator[Evidence]:
    if piece.how != BY_PLACE:
        yield from piece.evidence
        return
    yield replace(piece.evidence[0], why="acknowledged, and lost")
    for fate in acknowledged(facts, piece.topic):
        if (fate.queue, fate.first_offset) == (piece.queue, piece.first_offset) and not fate.overwritten:
            yield replace(fate.first, why="the same place, acknowledged to another id")
            break
    yield replace(piece.evidence[1], why="the last that was lost")
