"""Which mechanism lost acknowledged records, if the material decides it, and what is said of logs where none did.

A clean election begins at or above the high watermark, so what consumers had read cannot be lost by one. An unclean
election loses whatever the acks. A clean one loses only what the leader alone acknowledged (acks 0 or 1), and a leader
that follows itself with a shorter log had not flushed its pages. Everything else stays open: a wrong mechanism is worse
than none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mqlab import words
from mqlab.delivery import durability
from mqlab.delivery.durability import topics
from mqlab.delivery.elections import Handover, election, handovers, in_good_order, set_backs
from mqlab.delivery.leaders import leaderships, truncations
from mqlab.delivery.log_losses import BY_DUMP, BY_END, BY_OFFSETS, Piece, counted_by_ids, pieces
from mqlab.delivery.rows import Loss, Side
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence
from mqlab.memo import per_facts
from mqlab.shared.wording import sample
from mqlab.words.filling import Value

FAILOVER = "acks1-failover-loss"
UNCLEAN = "unclean-election-loss"
say = words.room("loss-mechanisms")
LEADERS = say("leaders")
_ALLOWED = "unclean.leader.election.enable"


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


@dataclass(frozen=True, slots=True)
class Case:
    """One part of a loss, and how it came about."""

    piece: Piece
    mechanism: Mechanism

    @property
    def loss(self) -> Loss:
        """The same as a row of the audit."""
        piece, how = self.piece, self.mechanism
        return Loss(
            how.incident, Side.LOG, piece.topic, piece.queue, None, piece.records, piece.least, piece.most,
            piece.first_offset, piece.last_offset, piece.since, piece.until, piece.how,
            tuple(dict.fromkeys((*piece.evidence, *how.evidence))),
        )  # fmt: skip

    @property
    def certainty(self) -> Certainty:
        """Proven where ids and the offsets of leaders or truncations agree and the mechanism's own sign is there."""
        piece, how = self.piece, self.mechanism
        if piece.how == BY_OFFSETS:
            agree = how.incident == UNCLEAN and piece.passed
        elif piece.how == BY_END:
            agree = piece.handover is not None and piece.handover.back and piece.least == piece.records
        else:
            agree = piece.handover is not None or how.sure
        return Certainty.PROVEN if how.sure and agree else Certainty.LIKELY


@per_facts
def _judged(facts: Facts, topic: str) -> tuple[Case, ...]:
    return tuple(Case(piece, _mechanism(facts, piece)) for piece in pieces(facts, topic))


@per_facts
def cases(facts: Facts, topic: str) -> tuple[Case, ...]:
    """Every part of what the log of *topic* lost, by partition."""
    return tuple(case for case in _judged(facts, topic) if _counts(facts, case))


@per_facts
def of_incident(facts: Facts, incident: str | None) -> tuple[Case, ...]:
    """The parts that *incident* lost, over all topics; of None those of which nothing tells the mechanism."""
    return tuple(case for topic in topics(facts) for case in cases(facts, topic)
                 if case.mechanism.incident == incident)  # fmt: skip


@per_facts
def unanswered(facts: Facts, topic: str) -> tuple[Case, ...]:
    """Logs that went back while nothing tells whether what they lacked had been acknowledged.

    Nothing hints at a loss with acks=all, or where a leader that lived on handed over what was in flight.
    """
    open_cases = []
    for case in _judged(facts, topic):
        piece, how = case.piece, case.mechanism
        in_flight = not how.sure and how.incident == FAILOVER and not piece.least
        passes = in_flight and piece.handover is not None and in_good_order(facts, piece.handover)
        if not (_counts(facts, case) or how.harmless or passes):
            open_cases.append(case)
    return tuple(open_cases)


def _counts(facts: Facts, case: Case) -> bool:
    """Without ids a tail that no known mechanism acknowledged is no loss: followers are cut in every failover."""
    piece, how = case.piece, case.mechanism
    if piece.how != BY_OFFSETS or how.incident == UNCLEAN:
        return True
    if how.incident != FAILOVER or not how.sure:
        return False
    return piece.least > 0 or piece.handover is None or not in_good_order(facts, piece.handover)


def _mechanism(facts: Facts, piece: Piece) -> Mechanism:
    if piece.handover is None:
        return _without_leaders(facts, piece)
    if piece.handover.same_broker and piece.handover.next_known:
        return _came_back(facts, piece.handover)
    return _elected(facts, piece, piece.handover)


def _elected(facts: Facts, piece: Piece, handover: Handover) -> Mechanism:
    how = election(facts, handover)
    ends = (end.evidence for end in handover.ends[:1])
    evidence = (handover.after.evidence, *ends, *_cut(facts, piece), *how.evidence)
    if not (handover.next_known or how.told):
        return Mechanism(None, False, say("between"), evidence, LEADERS)
    counted = _unclean_elections(facts)
    if how.unclean:
        return Mechanism(
            UNCLEAN, how.told or bool(piece.passed or handover.visible or counted), how.why, (*evidence, *counted)
        )
    if piece.passed or handover.visible:
        # No replica in sync lacked what consumers had read, whatever set was told before.
        allowed = durability.in_force(facts, handover.after.topic, _ALLOWED, handover.after.at)
        if how.told or (allowed is not None and allowed.value == "false" and allowed.evidence is not None):
            return Mechanism(None, False, say("read-yet", why=how.why), evidence, say("controller"))
        return Mechanism(UNCLEAN, False, say("read"), evidence)
    acks = durability.acks(facts, piece.topic, piece.since)
    setting = (acks.evidence,) if acks is not None and acks.evidence is not None else ()
    if acks is not None and not acks.leader_only:
        clean = how.unclean is False
        return Mechanism(None, False, say("harmless"), evidence, say("every-acks"), harmless=clean)
    if how.unclean is False:
        return Mechanism(FAILOVER, acks is not None, how.why, (*setting, *evidence))
    if acks is None or counted:
        return Mechanism(None, False, how.why, evidence, say("in-sync-set"))
    return Mechanism(FAILOVER, False, say("no-unclean"), (*setting, *evidence))


def _came_back(facts: Facts, handover: Handover) -> Mechanism:
    """The same broker leads again with a shorter log."""
    since, until = handover.before.at or 0.0, handover.after.at or float("inf")
    folder = handover.after.evidence.source.rpartition("/")[0]
    recovered = [
        e.first for e in facts.of_kind("log-recovery")
        if (e.node == handover.after.leader or e.source.rpartition("/")[0] == folder)
        and e.first_at is not None and since <= e.first_at <= until
    ]  # fmt: skip
    evidence = (handover.after.evidence, *(end.evidence for end in handover.ends[:1]), *recovered[:1])
    if not recovered:
        return Mechanism(None, False, say("shorter"), evidence, say("server-log"))
    return Mechanism(FAILOVER, handover.back, say("unflushed"), evidence)


def _without_leaders(facts: Facts, piece: Piece) -> Mechanism:
    """Nothing tells of a change of leader that fits: acks decide, where they can."""
    cut = _cut(facts, piece)
    acks = durability.acks(facts, piece.topic, piece.since)
    allowed = durability.in_force(facts, piece.topic, _ALLOWED, piece.since)
    if not cut and (piece.topic, piece.queue) in leaderships(facts):
        why = say("no-leader")
    elif not cut and piece.how == BY_DUMP:
        why = say("no-start")
    elif not cut and piece.first_offset == 0:
        why = say("created-again")
    elif acks is None or not acks.leader_only or piece.passed or _unclean_elections(facts):
        why = say("no-change")
    elif allowed is not None and allowed.value == "true":
        why = say("allowed")
    else:
        sure = bool(cut) and allowed is not None and allowed.evidence is not None
        setting = (acks.evidence,) if acks.evidence is not None else ()
        why = say("acks", acks=acks.value)
        return Mechanism(FAILOVER, sure, why, (*setting, *cut))
    return Mechanism(None, False, why, cut, LEADERS)


def _cut(facts: Facts, piece: Piece) -> tuple[Evidence, ...]:
    """A broker cut its log at or below the messages, at the new leader's first offset where that is known."""
    limit = piece.handover.to_offset if piece.handover is not None else (piece.first_offset or 0)
    fitting = [cut for cut in truncations(facts).get((piece.topic, piece.queue), ()) if 0 < cut.offset <= limit]
    if not fitting:
        return ()
    closest = max(fitting, key=lambda cut: (cut.offset, cut.at or 0.0))
    return (replace(closest.evidence, why=say("cut")),)


def _unclean_elections(facts: Facts) -> tuple[Evidence, ...]:
    """Unclean elections that the controllers' metric counted."""
    risen = [s for s in facts.named("broker.unclean_elections") if s.points and s.points[-1][1] > 0]
    return tuple(sample(facts, s, s.points[-1][0], say("counted")) for s in risen[:1])


def open_questions(facts: Facts, incident: str) -> tuple[str, ...]:
    """What would decide whether *incident* lost something; nothing where no log can have gone back by it."""
    questions = [*_undecided(facts), *_unacknowledged(facts, incident)]
    if not questions and incident == FAILOVER and _died_unseen(facts):
        questions.append(say("died", leaders=LEADERS))
    if incident == UNCLEAN and _unmeasured(facts):
        questions.append(say("ends", leaders=LEADERS))
    return tuple(dict.fromkeys(questions))


def _undecided(facts: Facts) -> Iterator[str]:
    for case in of_incident(facts, None):
        piece, how = case.piece, case.mechanism
        yield say(
            "undecided",
            missing=how.missing or LEADERS,
            least=None if case.loss.exact else piece.least,
            most=piece.most,
            topic=piece.topic,
            queue=piece.queue,
            why=how.why,
        )


def _unacknowledged(facts: Facts, incident: str) -> Iterator[str]:
    """Logs that went back where neither ids nor acks tell whether anybody had been told of the records."""
    for topic in topics(facts):
        for case in unanswered(facts, topic):
            if case.mechanism.incident in (incident, None):
                yield say("unacknowledged", topic=topic, queue=case.piece.queue, records=case.piece.most)


def _died_unseen(facts: Facts) -> bool:
    """A broker crashed, replicas exist, the leader's word was enough, and no line tells who led what."""
    if any(not topic.startswith("__") for topic, _ in leaderships(facts)):
        return False
    copied = {
        s.owner for s in facts.settings
        if s.key == "replication.factor" and s.value.isdigit() and int(s.value) > 1
        and s.owner and not s.owner.startswith("__")
    }  # fmt: skip
    acks = [durability.acks(facts, topic) for topic in sorted(copied)]
    return bool(facts.of_kind("log-recovery", "broker-failed")) and any(a is not None and a.leader_only for a in acks)


def _unmeasured(facts: Facts) -> bool:
    """Unclean elections that are told, of partitions of which nothing tells where their logs ended."""
    marked = [e for e in facts.of_kind("unclean-election") if e.topic is None or not e.topic.startswith("__")]
    blind = any((e.topic or "", e.queue or "") not in handovers(facts) for e in marked)
    led = any(not topic.startswith("__") for topic, _ in handovers(facts))
    return blind or (bool(_unclean_elections(facts)) and not led)


def disproved(facts: Facts, incident: str) -> str | None:
    """Why logs that went back, or elections of this kind, are none of *incident*."""
    reasons = [
        _because(facts, incident, topic, handover) for topic in topics(facts) for handover in set_backs(facts, topic)
    ]
    if incident == UNCLEAN:
        marked = {(e.topic, e.queue) for e in facts.of_kind("unclean-election")}
        for (topic, queue), changes in sorted(handovers(facts).items()):
            if (topic, queue) in marked and not topic.startswith("__") and not any(change.back for change in changes):
                reasons.append(say("complete", topic=topic, queue=queue))
    distinct = list(dict.fromkeys(reason for reason in reasons if reason))
    return words.listed(distinct[:3]) or None


def _because(facts: Facts, incident: str, topic: str, handover: Handover) -> str | None:
    place: dict[str, Value] = {"topic": topic, "queue": handover.after.queue, "records": handover.most or 0}
    mechanisms = {c.mechanism.incident for c in cases(facts, topic) if c.piece.queue == handover.after.queue}
    other = sorted(slug for slug in mechanisms if slug and slug != incident)
    if other:
        return say("other", classes=other, **place)
    if counted_by_ids(facts, topic, handover):
        return say("not-noted", **place)
    acks = durability.acks(facts, topic, handover.before.at)
    if acks is not None and not acks.leader_only and incident == FAILOVER:
        return say("not-acknowledged", **place)
    if incident == FAILOVER and in_good_order(facts, handover) and election(facts, handover).unclean is False:
        return say("in-flight", **place)
    return None
