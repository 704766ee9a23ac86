"""When a finding began and ended, against what its own sources cover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.precedence import is_over, own_events, pace
from mqlab.rows import GRID
from mqlab.selfcheck.claims import Around, Doubt, say, saying, without_begin, without_end
from mqlab.shared.reach import reach

_STARTS = ("broker-starting", "rocketmq-broker-started")
_ALONE = frozenset({"consumer-offline"})
"""Classes of a group without members."""
_JOINING = ("join-completed", "consumer-connected")
_BY_HAND = ("offset-set", "offsets-set", "offsets-reset", "offset-reset-to")
"""Events with which somebody else than a member moves positions."""


def order(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """It begins before it ends."""
    begin, end = finding.started_at, finding.ended_at
    if begin is not None and end is not None and end < begin:
        yield Doubt(finding.id, "ended_at", say("order", began=begin, ended=end), without_end(finding))


def window(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """It begins and ends within what was read."""
    first, last = (units.moment(at) for at in around.window)
    if first is not None and last is not None:
        yield from _within(finding, first, last)


def sources(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """It begins and ends within what its own sources cover; what is counted by ten seconds may begin before it."""
    known = reach(around.facts, {place.source for place in finding.evidence})
    if known is not None:
        first, last = units.moment(known[0] - GRID), units.moment(known[1] + GRID)
        if first is not None and last is not None:
            yield from _within(finding, first, last)


def from_first(finding: Finding, facts: Facts) -> Finding:
    """*finding* that begins no earlier than its sources, nor than any broker, where it is counted by ten seconds.

    The ten seconds may begin before the first line that is counted in them.
    """
    begin = finding.started_at.timestamp() if finding.started_at else None
    own = reach(facts, {place.source for place in finding.evidence})
    starts = [one.first_at for one in facts.of_kind(*_STARTS) if one.first_at is not None]
    firsts = [*([own[0]] if own else []), *([min(starts)] if starts else [])]
    late = max((at for at in firsts if begin is not None and at - GRID <= begin < at), default=None)
    first = units.moment(late)
    if first is None:
        return finding
    told = saying(replace(finding, started_at=first), since=first)
    return told if told.ended_at is None or told.ended_at >= first else replace(told, ended_at=first)


def later(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """It ends with the last line that tells of it, in whatever source, until they pause for longer than before."""
    if finding.ended_at is None or finding.ongoing:
        return
    own = own_events(around.facts, finding)
    end = last = finding.ended_at.timestamp()
    pause = max(pace(finding, own), GRID)
    for at in sorted(at for one in own for at in (one.first_at, one.last_at) if at is not None and at > end):
        if at - last > pause:
            break
        last = at
    seen = units.moment(last)
    if last - end > GRID and seen is not None:
        left = replace(without_end(finding), ended_at=seen)
        yield Doubt(finding.id, "ended_at", say("later", ended=finding.ended_at, seen=seen), left)


def ended(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """It is over only where a source goes on without it, for longer than it paused before."""
    if finding.over and finding.ended_at is not None and not is_over(finding, around.facts, around.window[1]):
        yield Doubt(finding.id, "over", say("ended", ended=finding.ended_at), replace(finding, over=False))


def cure(finding: Finding, _: Around) -> Iterator[Doubt[Finding]]:
    """What ended it came after it had begun."""
    change, begin = finding.cure, finding.started_at
    if change is not None and change.at is not None and begin is not None and change.at < begin.timestamp() - GRID:
        because = say("cure", at=units.moment(change.at), began=begin)
        yield Doubt(finding.id, "cure", because, replace(finding, cure=None))


def silent(finding: Finding, around: Around) -> Iterator[Doubt[Finding]]:
    """Nobody joins a group that has no members, and none of its positions moves but by hand."""
    begin, end = finding.started_at, finding.ended_at.timestamp() if finding.ended_at else around.window[1]
    if finding.incident not in _ALONE or begin is None or end is None:
        return
    heard = _heard(around.facts, finding.subject.partition("/")[0], begin.timestamp() + GRID, end - GRID)
    if heard is not None:
        because = say("silent", since=begin, seen=units.moment(heard))
        yield Doubt(finding.id, "started_at", because, without_begin(finding))


def _heard(facts: Facts, group: str, since: float, until: float) -> float | None:
    """The first moment within at which a member of *group* joins, or commits."""
    joined = (e.first_at for e in facts.of_kind(*_JOINING) if e.group == group)
    moments = [at for at in joined if at is not None and since < at < until]
    if not any(e.group == group for e in facts.of_kind(*_BY_HAND)):
        last: dict[tuple[str, str], int] = {}
        for row in sorted(facts.positions, key=lambda one: one.at or 0.0):
            if row.group == group and row.committed is not None and row.at is not None and since < row.at < until:
                before = last.setdefault((row.topic, row.queue), row.committed)
                moments += [row.at] if row.committed > before else []
    return min(moments, default=None)


def _within(finding: Finding, first: datetime, last: datetime) -> Iterator[Doubt[Finding]]:
    begin, end = finding.started_at, finding.ended_at
    if begin is not None and not first <= begin <= last:
        because = say("within", at=begin, first=first, last=last)
        yield Doubt(finding.id, "started_at", because, without_begin(finding))
    if end is not None and not first <= end <= last:
        because = say("within", at=end, first=first, last=last)
        yield Doubt(finding.id, "ended_at", because, without_end(finding))
