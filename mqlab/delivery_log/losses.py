"""What the log of a partition lost: message by message where ledgers tell, else as an interval between offsets.

By ids: another id was acknowledged later at the same place, or the log ended below it after a change of leader, or a
dump that covers its offset does not hold it. Without ids: the old leader's log end less the new leader's first offset
at most; what metrics or consumers had seen beyond that at least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mqlab.delivery_log import durability
from mqlab.delivery_log.handovers import Handover, set_backs
from mqlab.delivery_log.loss_pieces import BY_OFFSETS, Piece
from mqlab.delivery_log.lost_ids import by_ids
from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.rows.messages import Part


@per_facts
def pieces(facts: Facts, topic: str) -> tuple[Piece, ...]:
    """What was lost of each partition of *topic*, by partition and time."""
    by_id = list(by_ids(facts, topic))
    by_offsets = list(_by_offsets(facts, topic))
    cut_short = {piece.handover for piece in by_offsets}
    found = [piece for piece in by_id if piece.handover not in cut_short]
    found += [_with_ids(piece, [p for p in by_id if p.handover == piece.handover]) for piece in by_offsets]
    return tuple(sorted(found, key=lambda p: (p.queue, p.since or 0.0, p.first_offset or 0, p.how)))


@per_facts
def counted_by_ids(facts: Facts, topic: str, one: Handover) -> bool:
    """A ledger of acknowledged ids and their places covers the end of the old leadership: it tells what was lost."""
    return any(_covers(part, one) for part in _acked_parts(facts, topic))


def _covers(part: Part, one: Handover) -> bool:
    if part.first_at is None or part.last_at is None or one.after.at is None or part.first_offset is None:
        return False
    return part.first_at < one.after.at < part.last_at


def _acked_parts(facts: Facts, topic: str) -> Sequence[Part]:
    return [p for p in facts.parts if p.role == "acked" and p.topic == topic]


def _by_offsets(facts: Facts, topic: str) -> Iterator[Piece]:
    for one in set_backs(facts, topic):
        if not counted_by_ids(facts, topic, one):
            yield _between(facts, one)


def _with_ids(piece: Piece, known: Sequence[Piece]) -> Piece:
    """The interval of a change of leader, of which a ledger that ends too early tells a part."""
    told = sum(p.records for p in known)
    return replace(
        piece,
        least=max(piece.least, told),
        records=max(piece.records, told),
        most=max(piece.most, told),
        evidence=tuple(dict.fromkeys((*piece.evidence, *(e for p in known for e in p.evidence)))),
    )


def _between(facts: Facts, one: Handover) -> Piece:
    """The tail that the new leader lacked, which was acknowledged at most.

    At least it was what a snapshot had shown to consumers, and with acks=1 what the leader had been seen to have.
    """
    acks = durability.acks(facts, one.after.topic, one.before.at)
    known = (one.passed, one.seen_end if acks is not None and acks.leader_only else None)
    seen = [end.offset - one.to_offset for end in known if end is not None]
    most = one.most or 0
    least = min(most, max((n for n in seen if n > 0), default=0))
    return Piece(
        one.after.topic, one.after.queue, BY_OFFSETS, most, least, most, one.to_offset, one.to_offset + most - 1,
        one.before.at, one.after.at, one.visible, 0, one, tuple(end.evidence for end in one.ends),
    )  # fmt: skip
