"""Was a new leader in sync? What controllers, in-sync sets, metrics and settings tell of one change of leader.

KRaft says it of every change; the controllers of ZooKeeper mode say which replicas were in sync when they elected. A
set that only the old leader told may be older than the election, so it counts together with the setting. The in-sync
set of a leader elected uncleanly is itself alone. KRaft writes UNCLEAN of eligible replicas too, which have everything
that was committed (KIP-966).
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.delivery_log import durability, replica_lines
from mqlab.delivery_log.handovers import Handover
from mqlab.delivery_log.reach import SLACK
from mqlab.delivery_log.replica_history import InSync, in_sync
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts

_IN_ORDER = (" -> ", "preferred replica", "using ELR")
"""Words of lines that controllers write of clean elections only: KRaft's change, a preferred leader, KIP-966."""


@dataclass(frozen=True, slots=True)
class Election:
    """Whether one change of leader was clean."""

    unclean: bool | None
    """None where nothing in the material decides it."""
    told: bool
    """A controller's own word, not an inference."""
    why: str
    evidence: tuple[Evidence, ...]


@per_facts
def election(facts: Facts, one: Handover) -> Election:
    """How the leader of *one* was elected."""
    marked = _marked(facts, one)
    if marked is not None and one.after.leader in replica_lines.elected(marked.reason).eligible:
        return Election(False, True, "it was an eligible replica (KIP-966)", (_why(marked.first, "the election"),))
    if marked is not None:
        return Election(True, True, "the controller says that the election was unclean", (_why(marked.first, "said"),))
    said = _elected(facts, one)
    if said is not None and any(words in (said.reason or "") for words in _IN_ORDER):
        return Election(False, True, "the controller elected it in good order", (_why(said.first, "the election"),))
    return _by_in_sync_set(facts, one)


def _by_in_sync_set(facts: Facts, one: Handover) -> Election:
    told = durability.in_force(facts, one.after.topic, "unclean.leader.election.enable", one.after.at)
    allowed = told.value if told is not None and told.evidence is not None else None
    last = _last_told(facts, one)
    shown = (_why(last.evidence, "replicas in sync before the election"),) if last is not None else ()
    switched_off = (*shown, *((told.evidence,) if told is not None and told.evidence is not None else ()))
    if last is None:
        if allowed == "false":
            return Election(False, False, "unclean elections are switched off", switched_off)
        return Election(None, False, "nothing tells which replicas were in sync", ())
    names = ", ".join(last.isr)
    if len(one.after.isr or ()) > 1 and not last.controller:
        return Election(False, False, f"others were in sync with it ({', '.join(one.after.isr or ())})", shown)
    if one.after.leader in last.isr and (last.controller or allowed != "true"):
        return Election(False, last.controller, f"it was in sync before ({names})", shown)
    alone = one.after.isr in (None, (one.after.leader,))
    if one.after.leader not in last.isr and alone and allowed != "false" and (last.controller or allowed == "true"):
        return Election(True, last.controller, f"only {names} had been in sync", shown)
    if allowed == "false" and not last.controller:
        return Election(False, False, "unclean elections are switched off", switched_off)
    return Election(None, False, f"in sync was {names}, as far as is told", shown)


def _marked(facts: Facts, one: Handover) -> Episode | None:
    return next((e for e in facts.of_kind("unclean-election") if _is_of(e, one)), None)


def _elected(facts: Facts, one: Handover) -> Episode | None:
    """The controller's line about the election of this leader."""
    found = [e for e in facts.of_kind("leader-elected") if _is_of(e, one) and _offered(e) == one.after.leader]
    return found[-1] if found else None


def _is_of(episode: Episode, one: Handover) -> bool:
    """The line is about this partition and between both leaderships."""
    at, since, until = episode.first_at, one.before.at, one.after.at
    here = (episode.topic, episode.queue) == (one.after.topic, one.after.queue)
    if not here or at is None or until is None or at > until + SLACK or _offered(episode) not in (one.after.leader, ""):
        return False
    return since is None or at > since


def _offered(episode: Episode) -> str:
    return "" if episode.value_min is None else f"{episode.value_min:.0f}"


def _last_told(facts: Facts, one: Handover) -> InSync | None:
    """The in-sync set before the election: by epoch where lines have one, else by time."""
    epoch, at = one.after.epoch, one.after.at
    told = in_sync(facts).get((one.after.topic, one.after.queue), ())
    dated = [r for r in told if r.epoch is not None and epoch is not None and _in_epochs(r.epoch, one)]
    if dated:
        newest = max(dated, key=lambda r: (r.epoch or 0, r.controller, r.at or 0.0))
        later = [r for r in told if r.epoch is None and r.at is not None and _between(r.at, newest.at, at)]
        return newest if newest.controller and newest.epoch != one.before.epoch else (later[-1] if later else newest)
    before = [r for r in told if r.epoch is None and r.at is not None and at is not None and r.at < at]
    return before[-1] if before else None


def _in_epochs(epoch: int, one: Handover) -> bool:
    first = one.before.epoch if one.before.epoch is not None else -1
    return first <= epoch < (one.after.epoch or 0)


def _between(at: float, since: float | None, until: float | None) -> bool:
    return (since is None or at > since) and until is not None and at < until - SLACK


def _why(evidence: Evidence, why: str) -> Evidence:
    return Evidence(evidence.source, evidence.line, evidence.text, why, evidence.pointer)
