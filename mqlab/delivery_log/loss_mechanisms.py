"""Which mechanism lost acknowledged records, if the material decides it.

A clean election begins at or above the high watermark, so what consumers had read cannot be lost by one. An unclean
election loses whatever the acks. A clean one loses only what the leader alone acknowledged (acks 0 or 1), and a leader
that follows itself with a shorter log had not flushed its pages. Everything else stays open: a wrong mechanism is worse
than none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.delivery_log import durability
from mqlab.delivery_log.elections import Election, election
from mqlab.delivery_log.handovers import Handover
from mqlab.delivery_log.loss_pieces import BY_DUMP, Piece
from mqlab.delivery_log.replica_history import Cut, leaderships, truncations
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.questions.wording import sample

FAILOVER = "acks1-failover-loss"
UNCLEAN = "unclean-election-loss"
LEADERS = "state-change.log and controller.log of every broker"
CONTROLLER = "the controller's log with state-change.log"
"""What tells how a leader was elected."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """How the records of one piece were lost."""

    incident: str | None
    """Slug; None where the material does not decide it."""
    sure: bool
    """Its own signature is in the material."""
    why: str
    evidence: tuple[Evidence, ...] = ()
    missing: str | None = None
    """What would decide it."""
    harmless: bool = False
    """By what is known of settings and elections nothing that was acknowledged can be gone."""


def mechanism(facts: Facts, piece: Piece) -> Mechanism:
    """How *piece* was lost."""
    if piece.handover is None:
        return _without_leaders(facts, piece)
    if piece.handover.same_broker and piece.handover.next_known:
        return _came_back(facts, piece.handover)
    return _elected(facts, piece, piece.handover)


def _elected(facts: Facts, piece: Piece, one: Handover) -> Mechanism:
    how = election(facts, one)
    shown = (one.after.evidence, *(end.evidence for end in one.ends[:1]), *_cut(facts, piece), *how.evidence)
    if not (one.next_known or how.told):
        why = "leaders in between may not be in the material"
        return Mechanism(None, False, why, shown, LEADERS)
    if how.unclean:
        counted = _counted(facts)
        return Mechanism(UNCLEAN, how.told or bool(piece.passed or one.visible or counted), how.why, (*shown, *counted))
    if piece.passed or one.visible:
        return _read_before(facts, one, how, shown)
    acks = durability.acks(facts, piece.topic, piece.since)
    told = (acks.evidence,) if acks is not None and acks.evidence is not None else ()
    if acks is not None and not acks.leader_only:
        why = "acks=all and a clean election lose nothing that was acknowledged"
        fetch = f"acks of every producer of the topic, and {CONTROLLER}"
        return Mechanism(None, False, why, shown, fetch, harmless=how.unclean is False)
    if how.unclean is False:
        return Mechanism(FAILOVER, acks is not None, how.why, (*told, *shown))
    if acks is None or _counted(facts):
        return Mechanism(None, False, how.why, shown, f"{CONTROLLER}, or the in-sync set before the election")
    return Mechanism(FAILOVER, False, "nothing tells of an unclean election", (*told, *shown))


def _read_before(facts: Facts, one: Handover, how: Election, shown: Sequence[Evidence]) -> Mechanism:
    """Consumers had read what was lost: no replica in sync lacked it, whatever set was told before."""
    allowed = durability.in_force(facts, one.after.topic, "unclean.leader.election.enable", one.after.at)
    switched_off = allowed is not None and allowed.value == "false" and allowed.evidence is not None
    if how.told or switched_off:
        return Mechanism(None, False, f"consumers had read it, yet {how.why}", tuple(shown), CONTROLLER)
    why = "consumers had read what the new leader lacked, so it was not in sync"
    return Mechanism(UNCLEAN, False, why, tuple(shown))


def _came_back(facts: Facts, one: Handover) -> Mechanism:
    """The same broker leads again with a shorter log."""
    recovered = [e for e in facts.of_kind("log-recovery") if _before(e, one)]
    shown = (one.after.evidence, *(end.evidence for end in one.ends[:1]), *(e.first for e in recovered[:1]))
    if not recovered:
        return Mechanism(
            None, False, "the leader followed itself with a shorter log", shown, "that broker's server.log"
        )
    why = "the leader itself came back with a shorter log: pages that it had not flushed were lost"
    return Mechanism(FAILOVER, bool(one.back), why, shown)


def _before(episode: Episode, one: Handover) -> bool:
    """That broker recovered its log before it led again."""
    own = episode.node == one.after.leader or _folder(episode.source) == _folder(one.after.evidence.source)
    since, until = one.before.at or 0.0, one.after.at or float("inf")
    return own and episode.first_at is not None and since <= episode.first_at <= until


def _folder(source: str) -> str:
    return source.rpartition("/")[0]


def _without_leaders(facts: Facts, piece: Piece) -> Mechanism:
    """Nothing tells of a change of leader that fits: acks decide, where they can."""
    fetch = LEADERS
    cut = _cut(facts, piece)
    if not cut and (piece.topic, piece.queue) in leaderships(facts):
        return Mechanism(None, False, "brokers tell of no leader that began at or below them", (), fetch)
    if not cut and piece.how == BY_DUMP:
        return Mechanism(None, False, "nothing tells that another leader began there", (), fetch)
    if not cut and piece.first_offset == 0:
        return Mechanism(None, False, "the topic may have been deleted and made again", (), fetch)
    acks = durability.acks(facts, piece.topic, piece.since)
    if acks is None or not acks.leader_only or piece.passed or _counted(facts):
        why = "nothing in the material tells how the leader changed"
        return Mechanism(None, False, why, cut, fetch)
    told = (acks.evidence,) if acks.evidence is not None else ()
    allowed = durability.in_force(facts, piece.topic, "unclean.leader.election.enable", piece.since)
    if allowed is not None and allowed.value == "true":
        return Mechanism(None, False, "unclean elections are allowed, and nothing tells of elections", cut, fetch)
    sure = bool(cut) and allowed is not None and allowed.evidence is not None
    return Mechanism(FAILOVER, sure, f"acks={acks.value}, and nothing tells of an unclean election", (*told, *cut))


def _cut(facts: Facts, piece: Piece) -> tuple[Evidence, ...]:
    """A broker cut its log at or below the messages, at the new leader's first offset where that is known."""
    known = truncations(facts).get((piece.topic, piece.queue), ())
    limit = piece.handover.to_offset if piece.handover is not None else (piece.first_offset or 0)
    fitting: list[Cut] = [cut for cut in known if 0 < cut.to_offset <= limit]
    closest = max(fitting, key=lambda cut: (cut.to_offset, cut.at or 0.0), default=None)
    if closest is None:
        return ()
    place = closest.evidence
    return (Evidence(place.source, place.line, place.text, "a replica cut what the new leader lacked"),)


def _counted(facts: Facts) -> tuple[Evidence, ...]:
    """Unclean elections that the controllers' metric counted."""
    risen = [s for s in facts.named("broker.unclean_elections") if s.points and s.points[-1][1] > 0]
    return tuple(sample(facts, s, s.points[-1][0], "unclean elections, as the controller counts") for s in risen[:1])
