"""The rebalances of a Kafka group, one by one: trigger, cause, whether its log is whole.

Whether the coordinators' lines about a Kafka group are all there around a moment, or some are missing.

Each rebalance takes a group from one generation to the next, and the coordinator writes a line at its begin and at its
end (GroupCoordinator.prepareRebalance, onCompleteJoin); a KIP-848 group goes from epoch to epoch. Numbers that are
left out, and a generation without its end, tell of lines that are gone: rotated away, cut off, never gathered.

What is behind a rebalance: the life of the member that caused it, the one before it and the one after it.

The rebalances of a Kafka group, one by one: what began them, what is behind them, and what they cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka.endings import EXITED, WENT_ON
from mqlab.kafka.generations import Begun, recorded, seen, told
from mqlab.kafka.lives import chain
from mqlab.kafka.log_lines import CLOSED, POLL_TIMEOUT, Lines, lines, number
from mqlab.kafka.member_lineage import Kin, kin
from mqlab.kafka.rebalance_costs import (
    cooperative,
    delayed,
    eager,
    follow_up,
    idle,
    moved,
    own_reason,
    repeated,
    standstills,
)
from mqlab.kafka.rows import Behind, End, Life, Rebalance, Trigger
from mqlab.memo import per_facts

_BEGIN = "rebalance-started"
_ENDS = ("rebalance-stabilized", "rebalance-assigned", "group-emptied")
Hole = tuple[float, float]
"""From the last line before it to the first one behind it."""


def whole(facts: Facts, group: str, since: float, until: float) -> bool:
    """No line about *group* is known to be missing in this time."""
    return not any(begin < until and since < end for begin, end in holes(facts, group))


@per_facts
def holes(facts: Facts, group: str) -> tuple[Hole, ...]:
    """Times in which lines are missing, by begin; a group that begins anew at 0 had been removed."""
    told = lines(facts, group).coordinator
    return tuple(sorted({*_between_generations(told), *_between_epochs(told)}))


def _between_generations(told: Sequence[Episode]) -> Iterator[Hole]:
    """Where a generation begins that does not follow the last one, or one ends that did not begin."""
    steps = sorted((e for e in told if e.kind in (_BEGIN, *_ENDS)), key=_in_order)
    last: Episode | None = None
    for step in steps:
        if last is not None and not _follows(last, step):
            yield last.first_at or 0.0, step.first_at or 0.0
        last = step


def _follows(one: Episode, step: Episode) -> bool:
    """Nothing lies between two lines; a line may be there twice, and several tell of one end."""
    before, now = number(one) or 0, number(step) or 0
    if step.kind == _BEGIN:
        return now in (0, before) if one.kind != _BEGIN else (now, step.first_at) == (before, one.first_at)
    return now == (before + 1 if one.kind == _BEGIN else before)


def _in_order(line: Episode) -> tuple[float, str, int]:
    return (line.first_at or 0.0, line.source, line.first.line or 0)


def _between_epochs(told: Sequence[Episode]) -> Iterator[Hole]:
    bumps = sorted({(e.first_at or 0.0, number(e) or 0) for e in told if e.kind == "group-epoch-bumped"})
    for (at, epoch), (later, next_) in pairwise(bumps):
        if next_ > epoch + 1:
            yield at, later


RETURN = 300.0
"""Seconds within which a process that stopped is back, if it is to come back: Kubernetes waits at most so long between
two starts of a container (CrashLoopBackOff)."""
_LEFT = frozenset({Trigger.LEAVE, Trigger.POLL_TIMEOUT})


@dataclass(frozen=True, slots=True)
class Cause:
    """Trigger, what is behind it, and how that is known."""

    trigger: Trigger
    behind: Behind
    inferred: bool
    because: str
    life: Life | None = None


def cause(begun: Begun, known: Kin) -> Cause:
    """What is behind *begun*."""
    if begun.trigger is Trigger.JOIN:
        life = known.joined(begun.member_id, begun.started)
        return _joined(begun, life, known)
    if begun.trigger in _LEFT or begun.trigger is Trigger.HEARTBEAT_EXPIRY:
        life = known.ended(begun.member_id, begun.started)
        return _ended(begun, life, known)
    return Cause(begun.trigger, Behind.UNKNOWN, begun.inferred, begun.because)


def _joined(begun: Begun, life: Life | None, known: Kin) -> Cause:
    old = known.before.get(id(life)) if life else None
    if life is None:
        return Cause(Trigger.JOIN, Behind.UNKNOWN, begun.inferred, begun.because)
    if old is None:
        if known.nameless(life):
            return Cause(Trigger.JOIN, Behind.UNKNOWN, False, "nothing tells which client it is", life)
        began = (life.since or 0.0) if life.process_started is None else life.process_started
        first = known.since == -inf or (life.process_started is not None and began - known.since > RETURN)
        because = "nobody of that name was there before" if first else "what was before it is not in the material"
        return Cause(Trigger.JOIN, Behind.START if first else Behind.UNKNOWN, first, because, life)
    behind, because = _again(life, old)
    return Cause(Trigger.JOIN, behind, behind is not Behind.UNKNOWN, because, life)


def _again(life: Life, old: Life) -> tuple[Behind, str]:
    """What is behind the join of a client that was there before."""
    if old.failed:
        return Behind.CRASH, old.failed
    if life.process_started is not None:
        if old.end is End.POLL_TIMEOUT or old.because == WENT_ON:
            return Behind.RESTART, "its process was started anew when it was out of the group already"
        if old.because != EXITED and (old.process_stopped is not None or old.end is End.LEFT):
            return Behind.RESTART, "its process stopped and a new one joined"
        return Behind.CRASH, "its process was started anew and had not said that it stops"
    if old.end is End.POLL_TIMEOUT:
        return Behind.POLL_TIMEOUT, _told("it comes again after it did not poll in time", old.because)
    if old.end is End.EXPIRED:
        return Behind.EXPIRY, "it comes again after the coordinator gave it up"
    if old.process_stopped is not None or any(word in old.reason for word in CLOSED):
        return Behind.RESTART, "it comes again after it left in good order"
    return Behind.UNKNOWN, "it was there before, and nothing tells why it left"


def _ended(begun: Begun, life: Life | None, known: Kin) -> Cause:
    if begun.trigger is Trigger.HEARTBEAT_EXPIRY:
        return _expired(begun, life, known)
    if begun.trigger is Trigger.POLL_TIMEOUT or (life is not None and life.end is End.POLL_TIMEOUT):
        said = POLL_TIMEOUT in begun.reason
        because = begun.because if said or life is None else life.because or "the client's own log says so"
        return Cause(Trigger.POLL_TIMEOUT, Behind.POLL_TIMEOUT, begun.inferred or not said, because, life)
    if life is not None and life.failed:
        return Cause(Trigger.LEAVE, Behind.CRASH, True, life.failed, life)
    if life is None or (life.process_stopped is None and not any(word in life.reason for word in CLOSED)):
        return Cause(Trigger.LEAVE, Behind.UNKNOWN, begun.inferred, "it left, and nothing tells why", life)
    behind, because = _back(life, known)
    return Cause(Trigger.LEAVE, behind, True, f"its process stopped{because}", life)


def _back(life: Life, known: Kin) -> tuple[Behind, str]:
    new = known.after.get(id(life))
    if new is not None and (new.since or 0.0) - (life.until or 0.0) <= RETURN:
        return Behind.RESTART, " and came again"
    return Behind.STOP, " and did not come again"


def _expired(begun: Begun, life: Life | None, known: Kin) -> Cause:
    trigger = Trigger.HEARTBEAT_EXPIRY
    if life is None:
        return Cause(trigger, Behind.EXPIRY, begun.inferred, begun.because)
    new = known.after.get(id(life))
    if life.failed or life.because == EXITED:
        return Cause(trigger, Behind.CRASH, True, life.failed or EXITED, life)
    if life.because == WENT_ON:
        return Cause(trigger, Behind.EXPIRY, begun.inferred, WENT_ON, life)
    if life.process_stopped is not None:
        behind, because = _back(life, known)
        how = "a static member says nothing when it stops; " if life.static else ""
        return Cause(trigger, behind, True, f"{how}its process stopped{because}", life)
    if new is not None and new.process_started is not None:
        return Cause(trigger, Behind.CRASH, True, "its process was started anew and had not said that it stops", life)
    return Cause(trigger, Behind.EXPIRY, begun.inferred, begun.because, life)


def _told(sentence: str, because: str) -> str:
    return f"{sentence}: {because}" if because else sentence


__all__ = ["history", "standstills"]


@per_facts
def history(facts: Facts, group: str) -> tuple[Rebalance, ...]:
    """Rebalances of *group*, by time: one for each generation or epoch that began, the last member's leave included.

    What coordinators wrote comes first; generations that only clients tell of are concluded from their logs.
    """
    known = lines(facts, group)
    own = told(known)
    own += seen(known, own)
    begun = sorted([*own, *recorded(known, own)], key=lambda b: (b.started, b.generation or 0))
    family = kin(chain(facts, group), _since(known, begun))
    rows = _stories([_row(group, one, _cause(facts, group, old, one, family)) for old, one in _pairs(begun)])
    return tuple(_costed(facts, group, begun, rows))


def _since(known: Lines, begun: Sequence[Begun]) -> float:
    """From when on the material tells of the group: always, where that is its first generation."""
    if begun and begun[0].generation == 1:
        return -inf
    firsts = [these[0] for these in (known.coordinator, *known.clients.values()) if these]
    return min((line.first_at or 0.0 for line in firsts), default=inf)


def _pairs(begun: Sequence[Begun]) -> Iterable[tuple[Begun | None, Begun]]:
    return zip([None, *begun[:-1]], begun, strict=True) if begun else ()


def _cause(facts: Facts, group: str, old: Begun | None, one: Begun, family: Kin) -> Cause:
    because = follow_up(facts, group, old, one)
    if because:
        return Cause(Trigger.FOLLOW_UP, Behind.UNKNOWN, True, because)
    said = own_reason(facts, group, one)
    if said is not Trigger.UNKNOWN:
        return Cause(said, Behind.UNKNOWN, True, "the client's own log says why it joins again")
    return cause(one, family)


def _row(group: str, one: Begun, why: Cause) -> Rebalance:
    own = _own_line(why)
    return Rebalance(
        group=group,
        started=one.started,
        stabilised=one.stabilised,
        generation=one.generation,
        trigger=why.trigger,
        behind=why.behind,
        reason=one.reason,
        client_id=why.life.client_id if why.life else one.client_id,
        member_id=one.member_id,
        host=one.host or (why.life.host if why.life else None),
        inferred=why.inferred or one.inferred,
        because=why.because,
        story=0,
        members_before=None,
        members_after=one.members,
        moved=None,
        standstill=None,
        delayed=None,
        repeated=None,
        evidence=_evidence(one, own),
    )


def _own_line(why: Cause) -> Evidence | None:
    """The line of the client's own log, or the coordinator's about the end of its life."""
    return why.life.evidence[-1] if why.life is not None and why.life.evidence else None


def _evidence(one: Begun, own: Evidence | None) -> tuple[Evidence, ...]:
    first, *more = [line.first for line in one.lines]
    return tuple(dict.fromkeys((first, *((own,) if own else ()), *more)))[:3]


def _stories(rows: Sequence[Rebalance]) -> list[Rebalance]:
    """Rows with their story; a follow-up has behind it what began the story."""
    found: list[Rebalance] = []
    for row in rows:
        if row.trigger is Trigger.FOLLOW_UP and found:
            found.append(replace(row, story=found[-1].story, behind=found[-1].behind))
        else:
            found.append(replace(row, story=found[-1].story + 1 if found else 1))
    return found


def _costed(facts: Facts, group: str, begun: Sequence[Begun], rows: Sequence[Rebalance]) -> Iterable[Rebalance]:
    owners = moved(facts, group, begun)
    before = _members_before(begun)
    still = idle(facts, group, begun) if cooperative(facts, group) else eager(rows)
    since = 0.0
    for place, row in enumerate(rows):
        lasted = still[place]
        end = None if lasted is None else row.started + lasted
        yield replace(
            row,
            members_before=before[place],
            moved=owners[place],
            standstill=lasted,
            delayed=None if end is None else delayed(facts, group, row.started, end),
            repeated=repeated(facts, group, since, row.started),
        )
        since = row.started


def _members_before(begun: Sequence[Begun]) -> list[int | None]:
    """Members at the start of each: those of the generation before it."""
    found: list[int | None] = [0 if begun[0].generation == 1 and begun[0].classic else None] if begun else []
    for old, new in pairwise(begun):
        follows = None not in (old.generation, new.generation) and new.generation == (old.generation or 0) + 1
        found.append(old.members if follows else None)
    return found
