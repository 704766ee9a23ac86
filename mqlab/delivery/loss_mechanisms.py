"""Which mechanism lost acknowledged records, and what findings about it share.

Which mechanism lost acknowledged records, if the material decides it.

A clean election begins at or above the high watermark, so what consumers had read cannot be lost by one. An unclean
election loses whatever the acks. A clean one loses only what the leader alone acknowledged (acks 0 or 1), and a leader
that follows itself with a shorter log had not flushed its pages. Everything else stays open: a wrong mechanism is worse
than none.

What the logs of a topic's partitions lost, each part with its mechanism and how well both are known.

What the rules for losses in the log say where they did not find their own class: open, or disproved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.delivery import durability
from mqlab.delivery.elections import Election, Handover, election, handovers, in_good_order, set_backs
from mqlab.delivery.leaders import leaderships, truncations
from mqlab.delivery.log_losses import BY_DUMP, BY_END, BY_OFFSETS, Piece, counted_by_ids, pieces
from mqlab.delivery.rows import Loss, Side
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Evidence
from mqlab.memo import per_facts
from mqlab.shared.wording import sample
from mqlab.units import counted, number

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
    fitting = [cut for cut in known if 0 < cut.offset <= limit]
    closest = max(fitting, key=lambda cut: (cut.offset, cut.at or 0.0), default=None)
    if closest is None:
        return ()
    place = closest.evidence
    return (Evidence(place.source, place.line, place.text, "a replica cut what the new leader lacked"),)


def _counted(facts: Facts) -> tuple[Evidence, ...]:
    """Unclean elections that the controllers' metric counted."""
    risen = [s for s in facts.named("broker.unclean_elections") if s.points and s.points[-1][1] > 0]
    return tuple(sample(facts, s, s.points[-1][0], "unclean elections, as the controller counts") for s in risen[:1])


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


def open_questions(facts: Facts, incident: str) -> tuple[str, ...]:
    """What would decide whether *incident* lost something; nothing where no log can have gone back by it."""
    found = [*_undecided(facts), *_unanswered(facts, incident)]
    if not found and incident == FAILOVER and _died_unseen(facts):
        found.append(f"{LEADERS}: a broker died while producers with acks=1 wrote to replicated topics")
    return tuple(dict.fromkeys(found))


def _undecided(facts: Facts) -> Iterator[str]:
    for case in undecided(facts):
        least = "" if case.loss.exact else f"{number(case.loss.least)} to "
        lost = f"{least}{number(case.loss.most)} records of {case.piece.topic}-{case.piece.queue}"
        yield f"{case.mechanism.missing or LEADERS}: {lost} are gone from the log; {case.mechanism.why}"


def _unanswered(facts: Facts, incident: str) -> Iterator[str]:
    """Logs that went back where neither ids nor acks tell whether anybody had been told of the records."""
    for topic in topics(facts):
        for piece, how in unanswered(facts, topic):
            if how.incident in (incident, None):
                behind = f"{topic}-{piece.queue} went on up to {number(piece.most)} records below its old end"
                yield f"acks of the producers, or their ledger of acknowledged ids: {behind}"


def _died_unseen(facts: Facts) -> bool:
    """A broker crashed, replicas exist, the leader's word was enough, and no line tells who led what."""
    if any(not topic.startswith("__") for topic, _ in leaderships(facts)):
        return False
    crashed = facts.of_kind("log-recovery") or facts.of_kind("broker-failed")
    copied = [
        s.owner for s in facts.settings if s.key == "replication.factor" and s.value.isdigit() and int(s.value) > 1
    ]
    written = [durability.acks(facts, topic) for topic in sorted({t for t in copied if t and not t.startswith("__")})]
    return bool(crashed) and any(acks is not None and acks.leader_only for acks in written)


def unmeasured_elections(facts: Facts) -> tuple[str, ...]:
    """Unclean elections that are told, of partitions of which nothing tells where their logs ended."""
    marked = [e for e in facts.of_kind("unclean-election") if e.topic is None or not e.topic.startswith("__")]
    blind = [e for e in marked if (e.topic or "", e.queue or "") not in handovers(facts)]
    risen = [s for s in facts.named("broker.unclean_elections") if s.points and s.points[-1][1] > 0]
    led = any(not topic.startswith("__") for topic, _ in handovers(facts))
    if blind or (risen and not led):
        return (f"{LEADERS}: there were unclean elections, and nothing tells where the logs ended",)
    return ()


def disproved(facts: Facts, incident: str) -> str | None:
    """Why logs that went back, or elections of this kind, are none of *incident*."""
    found = [_because(facts, incident, topic, one) for topic in topics(facts) for one in set_backs(facts, topic)]
    if incident == UNCLEAN:
        found += _harmless_elections(facts)
    reasons = list(dict.fromkeys(reason for reason in found if reason))
    return "; ".join(reasons[:3]) or None


def _because(facts: Facts, incident: str, topic: str, one: Handover) -> str | None:
    place, back = f"{topic}-{one.after.queue}", number(one.most or 0)
    other = {c.mechanism.incident for c in cases(facts, topic) if c.piece.queue == one.after.queue} - {incident, None}
    if other:
        return f"{place} was lost by another mechanism: {', '.join(sorted(slug for slug in other if slug))}"
    if counted_by_ids(facts, topic, one):
        return f"{place} went back by {back} records, none of which a ledger notes as acknowledged"
    acks = durability.acks(facts, topic, one.before.at)
    if acks is not None and not acks.leader_only and incident == FAILOVER:
        return f"{place} went back by {back} records that acks=all had not acknowledged"
    if incident == FAILOVER and in_good_order(facts, one) and election(facts, one).unclean is False:
        return f"{place} was handed over by a leader that lived on, with {counted(one.most or 0, 'record')} in flight"
    return None


def _harmless_elections(facts: Facts) -> list[str | None]:
    marked = {(e.topic, e.queue) for e in facts.of_kind("unclean-election") if e.topic and not e.topic.startswith("__")}
    whole = [p for p in sorted(handovers(facts)) if p in marked and not any(one.back for one in handovers(facts)[p])]
    return [f"the replica of {topic}-{queue} that was elected had every record" for topic, queue in whole]
