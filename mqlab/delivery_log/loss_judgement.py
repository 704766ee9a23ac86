"""What the rules for losses in the log say where they did not find their own class: open, or disproved."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.delivery_log import durability
from mqlab.delivery_log.cases import cases, topics, unanswered, undecided
from mqlab.delivery_log.elections import election
from mqlab.delivery_log.handovers import Handover, handovers, in_good_order, set_backs
from mqlab.delivery_log.loss_mechanisms import FAILOVER, LEADERS, UNCLEAN
from mqlab.delivery_log.losses import counted_by_ids
from mqlab.delivery_log.replica_history import leaderships
from mqlab.facts import Facts
from mqlab.units import counted, number


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
