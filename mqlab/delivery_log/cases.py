"""What the logs of a topic's partitions lost, each part with its mechanism and how well both are known."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.delivery.rows import Loss, Side
from mqlab.delivery_log.handovers import in_good_order
from mqlab.delivery_log.loss_mechanisms import FAILOVER, UNCLEAN, Mechanism, mechanism
from mqlab.delivery_log.loss_pieces import BY_END, BY_OFFSETS, Piece
from mqlab.delivery_log.losses import pieces
from mqlab.facts import Facts
from mqlab.findings import Certainty
from mqlab.memo import per_facts


@dataclass(frozen=True, slots=True)
class Case:
    """One part of a loss."""

    piece: Piece
    mechanism: Mechanism
    loss: Loss
    certainty: Certainty


@per_facts
def topics(facts: Facts) -> tuple[str, ...]:
    """Topics of users that ledgers, dumps or leaders tell of, sorted."""
    named = {f.topic for f in facts.fates} | {p.topic for p in facts.parts if p.role != "committed"}
    named |= {e.topic for e in facts.of_kind("leader-started") if e.topic}
    return tuple(sorted(name for name in named if name and not name.startswith("__")))


@per_facts
def cases(facts: Facts, topic: str) -> tuple[Case, ...]:
    """Every part of what the log of *topic* lost, by partition."""
    judged = [(piece, mechanism(facts, piece)) for piece in pieces(facts, topic)]
    return tuple(_case(piece, how) for piece, how in judged if _counts(facts, piece, how))


@per_facts
def of_incident(facts: Facts, incident: str) -> tuple[Case, ...]:
    """The parts that *incident* lost, over all topics."""
    return tuple(case for topic in topics(facts) for case in cases(facts, topic)
                 if case.mechanism.incident == incident)  # fmt: skip


@per_facts
def undecided(facts: Facts) -> tuple[Case, ...]:
    """Losses of which nothing tells the mechanism."""
    return tuple(case for topic in topics(facts) for case in cases(facts, topic) if case.mechanism.incident is None)


def read_before(facts: Facts, topic: str) -> int:
    """Messages that consumers had read before the log of *topic* lost them."""
    return sum(case.piece.read for case in cases(facts, topic) if case.piece.how != BY_OFFSETS)


@per_facts
def unanswered(facts: Facts, topic: str) -> tuple[tuple[Piece, Mechanism], ...]:
    """Logs that went back while nothing tells whether what they lacked had been acknowledged."""
    judged = [(piece, mechanism(facts, piece)) for piece in pieces(facts, topic)]
    return tuple(
        (piece, how) for piece, how in judged if not (_counts(facts, piece, how) or _passes(facts, piece, how))
    )


def _passes(facts: Facts, piece: Piece, how: Mechanism) -> bool:
    """Nothing hints at a loss: acks=all, or what was in flight when a leader handed over that lived on."""
    in_flight = not how.sure and how.incident == FAILOVER and not piece.least
    return how.harmless or (in_flight and piece.handover is not None and in_good_order(facts, piece.handover))


def _counts(facts: Facts, piece: Piece, how: Mechanism) -> bool:
    """Without ids a tail that no known mechanism acknowledged is no loss: followers are cut in every failover."""
    if piece.how != BY_OFFSETS or how.incident == UNCLEAN:
        return True
    if how.incident != FAILOVER or not how.sure:
        return False
    return piece.least > 0 or piece.handover is None or not in_good_order(facts, piece.handover)


def _case(piece: Piece, how: Mechanism) -> Case:
    loss = Loss(
        how.incident, Side.LOG, piece.topic, piece.queue, None, piece.records, piece.least, piece.most,
        piece.first_offset, piece.last_offset, piece.since, piece.until, piece.how,
        tuple(dict.fromkeys((*piece.evidence, *how.evidence))),
    )  # fmt: skip
    return Case(piece, how, loss, _certainty(piece, how))


def _certainty(piece: Piece, how: Mechanism) -> Certainty:
    """Proven where ids and the offsets of leaders or truncations agree and the mechanism's own sign is there."""
    if piece.how == BY_OFFSETS:
        agree = how.incident == UNCLEAN and piece.passed
    elif piece.how == BY_END:
        agree = piece.handover is not None and piece.handover.back and piece.least == piece.records
    else:
        agree = piece.handover is not None or bool(how.sure)
    return Certainty.PROVEN if how.sure and agree else Certainty.LIKELY
