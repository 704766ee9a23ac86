"""The rebalances of a Kafka group, one by one: what began them, what is behind them, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.kafka.lives import chain
from mqlab.memo import per_facts
from mqlab.rebalances.causes import Cause, cause
from mqlab.rebalances.costs import delayed, repeated
from mqlab.rebalances.index import Lines, lines
from mqlab.rebalances.kin import Kin, kin
from mqlab.rebalances.owners import moved
from mqlab.rebalances.recorded import recorded
from mqlab.rebalances.rows import Behind, Rebalance, Trigger
from mqlab.rebalances.seen import seen
from mqlab.rebalances.standstill import eager, idle, standstills
from mqlab.rebalances.starts import Begun, told
from mqlab.rebalances.stories import cooperative, follow_up, own_reason

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
