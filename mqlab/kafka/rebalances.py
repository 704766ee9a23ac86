"""The rebalances of a Kafka group, one by one: what began them, what is behind them, what they cost.

Each rebalance takes a group from one generation to the next, and the coordinator writes a line at its begin and at its
end (GroupCoordinator.prepareRebalance, onCompleteJoin); a KIP-848 group goes from epoch to epoch. Numbers that are
left out, and a generation without its end, tell of lines that are gone: rotated away, cut off, never gathered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.kafka.generations import Generation, generations
from mqlab.kafka.lives import lives
from mqlab.kafka.log_lines import CLOSED, POLL_TIMEOUT, Lines, lines, number
from mqlab.kafka.rebalance_costs import cooperative, delayed, eager, follow_up, idle, moved, own_reason, repeated
from mqlab.kafka.rows import ONCE, Behind, End, Life, Rebalance, Trigger
from mqlab.memo import per_facts
from mqlab.shared.restarts import BACKOFF
from mqlab.words import listed

say = words.room("rebalances")

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


_LEFT = frozenset({Trigger.LEAVE, Trigger.POLL_TIMEOUT})


@dataclass(frozen=True, slots=True)
class _Cause:
    """Trigger, what is behind it, and how that is known."""

    trigger: Trigger
    behind: Behind
    inferred: bool
    because: str
    life: Life | None = None


@dataclass(frozen=True, slots=True)
class _Lineage:
    """Lives by member id, and who came after whom."""

    by_member: Mapping[str, Sequence[Life]]
    after: Mapping[int, Life]
    since: float
    """From when on the material tells of the group; minus infinity where that is from its first generation on."""
    nameless_since: float
    """When a member ended first whose client nothing names."""


def _lineage(known: Lines, begun: Sequence[Generation], every: Sequence[Life]) -> _Lineage:
    by_member: dict[str, list[Life]] = defaultdict(list)
    for life in every:
        by_member[life.member_id].append(life)
    firsts = [these[0].first_at or 0.0 for these in (known.coordinator, *known.clients.values()) if these]
    since = -inf if begun and begun[0].number == 1 else min(firsts, default=inf)
    nameless = min((_until(life) for life in every if life.client_id == life.member_id), default=inf)
    return _Lineage(by_member, {id(life.before): life for life in every if life.before}, since, nameless)


def _until(life: Life) -> float:
    return inf if life.until is None else life.until


def _since(life: Life) -> float:
    return life.since or 0.0


def _nearest(lives: Sequence[Life], at: float, moment: Callable[[Life], float]) -> Life | None:
    """Of *lives*, which are by time, the one whose *moment* is nearest to *at*."""
    place = bisect_left(lives, at, key=moment)
    return min(lives[max(0, place - 1) : place + 1], key=lambda life: abs(moment(life) - at), default=None)


def _cause(generation: Generation, lineage: _Lineage) -> _Cause:
    """What is behind *generation*, in the life of the member that caused it, the one before it and the one after it."""
    lives = lineage.by_member.get(generation.member_id or "", ())
    if generation.trigger is Trigger.JOIN:
        return _joined(generation, _nearest(lives, generation.started, _since), lineage)
    life = _nearest(lives, generation.started, _until)
    if life is not None and abs(_until(life) - generation.started) > ONCE:
        life = None
    if generation.trigger is Trigger.HEARTBEAT_EXPIRY:
        return _expired(generation, life, lineage)
    if generation.trigger in _LEFT:
        return _left(generation, life, lineage)
    return _Cause(generation.trigger, Behind.UNKNOWN, generation.inferred, generation.because)


def _joined(generation: Generation, life: Life | None, lineage: _Lineage) -> _Cause:
    if life is None:
        return _Cause(Trigger.JOIN, Behind.UNKNOWN, generation.inferred, generation.because)
    if life.before is not None:
        behind, because = _again(life, life.before)
        return _Cause(Trigger.JOIN, behind, behind is not Behind.UNKNOWN, because, life)
    if life.client_id == life.member_id and lineage.nameless_since <= _since(life):
        return _Cause(Trigger.JOIN, Behind.UNKNOWN, False, say("nameless"), life)
    fresh = life.process_started is not None and life.process_started - lineage.since > BACKOFF
    if fresh or lineage.since == -inf:
        return _Cause(Trigger.JOIN, Behind.START, True, say("first"), life)
    return _Cause(Trigger.JOIN, Behind.UNKNOWN, False, say("not-far-enough"), life)


def _again(life: Life, old: Life) -> tuple[Behind, str]:
    """What is behind the join of a client that was there before."""
    if old.failed or (old.wordless and old.end is End.EXPIRED):
        return Behind.CRASH, old.failed or say("died")
    if life.process_started is not None:
        if old.end is End.POLL_TIMEOUT or old.went_on:
            return Behind.RESTART, say("restarted-late")
        if not old.wordless and (old.process_stopped is not None or old.end is End.LEFT):
            return Behind.RESTART, say("new-process")
        return Behind.CRASH, say("died")
    if old.end is End.POLL_TIMEOUT:
        return Behind.POLL_TIMEOUT, say("rejoins-late", why=old.because or None)
    if old.end is End.EXPIRED:
        return Behind.EXPIRY, say("rejoins-expelled")
    if old.process_stopped is not None or any(word in old.reason for word in CLOSED):
        return Behind.RESTART, say("rejoins-left")
    return Behind.UNKNOWN, say("returns")


def _left(generation: Generation, life: Life | None, lineage: _Lineage) -> _Cause:
    if generation.trigger is Trigger.POLL_TIMEOUT or (life is not None and life.end is End.POLL_TIMEOUT):
        said = POLL_TIMEOUT in generation.reason
        because = generation.because if said or life is None else life.because or say("by-client")
        return _Cause(Trigger.POLL_TIMEOUT, Behind.POLL_TIMEOUT, generation.inferred or not said, because, life)
    if life is not None and life.failed:
        return _Cause(Trigger.LEAVE, Behind.CRASH, True, life.failed, life)
    if life is None or (life.process_stopped is None and not any(word in life.reason for word in CLOSED)):
        return _Cause(Trigger.LEAVE, Behind.UNKNOWN, generation.inferred, say("leaves"), life)
    behind, because = _back(life, lineage)
    return _Cause(Trigger.LEAVE, behind, True, because, life)


def _back(life: Life, lineage: _Lineage) -> tuple[Behind, str]:
    new = lineage.after.get(id(life))
    if new is not None and _since(new) - (life.until or 0.0) <= BACKOFF:
        return Behind.RESTART, say("back")
    return Behind.STOP, say("gone")


def _expired(generation: Generation, life: Life | None, lineage: _Lineage) -> _Cause:
    trigger = Trigger.HEARTBEAT_EXPIRY
    if life is not None and (life.failed or life.wordless):
        return _Cause(trigger, Behind.CRASH, True, life.failed or life.because, life)
    if life is not None and life.went_on:
        return _Cause(trigger, Behind.EXPIRY, generation.inferred, life.because, life)
    if life is not None and life.process_stopped is not None:
        behind, because = _back(life, lineage)
        return _Cause(trigger, behind, True, listed([say("static"), because]) if life.static else because, life)
    new = lineage.after.get(id(life))
    if new is not None and new.process_started is not None:
        return _Cause(trigger, Behind.CRASH, True, say("died"), life)
    return _Cause(trigger, Behind.EXPIRY, generation.inferred, generation.because, life)


@per_facts
def history(facts: Facts, group: str) -> tuple[Rebalance, ...]:
    """Rebalances of *group*, by time: one for each generation or epoch that began, the last member's leave included.

    What coordinators wrote comes first; generations that only clients tell of are concluded from their logs.
    """
    log = lines(facts, group)
    begun = generations(log)
    lineage = _lineage(log, begun, lives(facts, group))
    rows: list[Rebalance] = []
    for old, generation in zip([None, *begun[:-1]], begun, strict=True) if begun else ():
        because, own = follow_up(facts, group, old, generation), own_reason(facts, group, generation)
        if because:
            cause = _Cause(Trigger.FOLLOW_UP, Behind.UNKNOWN, True, because)
        elif own is not Trigger.UNKNOWN:
            cause = _Cause(own, Behind.UNKNOWN, True, say("own-reason"))
        else:
            cause = _cause(generation, lineage)
        rows.append(_row(group, old, generation, cause, rows[-1] if rows else None))
    return tuple(_costed(facts, group, begun, rows))


def _row(
    group: str, old: Generation | None, generation: Generation, cause: _Cause, last: Rebalance | None
) -> Rebalance:
    """The rebalance without its costs; a follow-up shares the story of the *last* rebalance, and what began that."""
    story = last if last is not None and cause.trigger is Trigger.FOLLOW_UP else None
    begin, *more = (line.first for line in generation.lines)
    own = cause.life.evidence[-1:] if cause.life else ()
    before = 0 if old is None and generation.number == 1 and generation.classic else None
    if old is not None and old.number is not None and generation.number == old.number + 1:
        before = old.members
    return Rebalance(
        group=group,
        started=generation.started,
        stabilised=generation.stabilised,
        generation=generation.number,
        trigger=cause.trigger,
        behind=story.behind if story else cause.behind,
        reason=generation.reason,
        client_id=cause.life.client_id if cause.life else generation.client_id,
        member_id=generation.member_id,
        host=generation.host or (cause.life.host if cause.life else None),
        inferred=cause.inferred or generation.inferred,
        because=cause.because,
        story=story.story if story else last.story + 1 if last else 1,
        members_before=before,
        members_after=generation.members,
        moved=None,
        standstill=None,
        delayed=None,
        repeated=None,
        evidence=tuple(dict.fromkeys((begin, *own, *more)))[:3],
    )


def _costed(facts: Facts, group: str, begun: Sequence[Generation], rows: Sequence[Rebalance]) -> Iterator[Rebalance]:
    still = idle(facts, group, begun) if cooperative(facts, group) else eager(rows)
    since = 0.0
    for row, lasted, owners in zip(rows, still, moved(facts, group, begun), strict=True):
        came = None if lasted is None else delayed(facts, group, row.started, row.started + lasted)
        again = repeated(facts, group, since, row.started)
        yield replace(row, moved=owners, standstill=lasted, delayed=came, repeated=again)
        since = row.started
