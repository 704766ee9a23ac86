"""The life of each member of a Kafka group: what single lines say of a member id, put together and handed to the next.

One client id may be in two processes at a time: a life that went on is the one before another only if its process
started anew.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab.facts import Episode, Facts, Position
from mqlab.kafka.endings import ending, failures, timeouts
from mqlab.kafka.log_lines import (
    CLOSED,
    COORDINATOR,
    STARTS,
    Lines,
    between,
    client_of,
    client_reason,
    following,
    lines,
    members_in,
    static_of,
    timed_out,
    trigger_of,
)
from mqlab.kafka.poll_limits import PROCESSES, session_limit, silence
from mqlab.kafka.rows import ONCE, End, Life, Span, Trigger
from mqlab.memo import per_facts
from mqlab.rows import Assignment
from mqlab.shared.restarts import CLOCKS

_ENDS = {
    "member-left": End.LEFT, "member-expired": End.EXPIRED, "member-dropped": End.DROPPED, "leave-sent": End.LEFT,
}  # fmt: skip
_BEGINS = frozenset({"member-joined", "join-completed"})
_SEEN = frozenset({"sync-completed", "rebalance-assigned"})
_OLD = re.compile(r"(?:old member(?: id)?|previously mapped member) (\S+)")


@per_facts
def lives(facts: Facts, group: str) -> tuple[Life, ...]:
    """Lives of the members of *group*, by their beginning; those that were there from the start come first."""
    known = lines(facts, group)
    every = spans(facts, known)
    late, failed = timeouts(facts, known, every), failures(facts, known, every)
    unfollowed: dict[str, list[Span]] = defaultdict(list)
    made: dict[int, Life] = {}
    for span in every:
        free = unfollowed[span.client_id]
        old = _best([s for s in free if _over(s, span, known)], span)
        if old is not None:
            free.remove(old)
        unfollowed[span.client_id] = [*free[-PROCESSES:], span]
        how = ending(facts, known, span, late.get(id(span)))
        made[id(span)] = Life(
            group=group,
            client_id=span.client_id,
            member_id=span.member_id,
            host=span.host,
            static=span.static,
            since=span.since,
            until=span.until,
            end=how.end,
            reason=span.reason,
            process_started=_started(known, old, span),
            process_stopped=how.stopped,
            silent_since=_silent_since(facts, group, span) if how.end is End.EXPIRED else None,
            evidence=tuple(dict.fromkeys((*span.evidence, *how.evidence)))[:3],
            because=how.because,
            wordless=how.wordless,
            went_on=how.went_on,
            failed="" if how.end is End.POLL_TIMEOUT else failed.get(id(span), ""),
            before=None if old is None else made[id(old)],
        )
    return tuple(sorted(made.values(), key=lambda o: (o.since or 0.0, o.client_id, o.member_id, o.until or 0.0)))


def without_members(facts: Facts, group: str) -> Iterator[tuple[float, float]]:
    """Times from the end of the last life to the begin of the next one, by lines about members."""
    every = lives(facts, group)
    for end in sorted({one.until for one in every if one.until is not None}):
        following = min((one.since for one in every if one.since is not None and one.since >= end), default=None)
        lived = any((one.since or end) <= end and (one.until is None or one.until > end) for one in every)
        if following is not None and not lived:
            yield end, following


def _silent_since(facts: Facts, group: str, span: Span) -> float | None:
    """The last sign of life before the end, where what followed is a silence that tells something."""
    limit = session_limit(facts, span.client_id, span.until)
    if limit is None or span.until is None:
        return None
    silent = silence(facts, group, span.client_id, span.until, limit.seconds)
    if silent is None or not silent.telling or silent.since < (span.since or 0.0):
        return None
    return max(silent.since, span.until - limit.seconds) if span.sure else silent.since


def _over(old: Span, new: Span, known: Lines) -> bool:
    ended = old.until is not None and old.until <= (new.since or new.seen) + CLOCKS
    anew = _started(known, old, new) is not None and not _elsewhere(known, old, new)
    return ended or anew or _fell_out(known, old, new)


def _elsewhere(known: Lines, old: Span, new: Span) -> bool:
    """Each has a log of its own, and the log of *old* went on: two processes at a time."""
    if old.end is not End.OPEN or not (old.evidence and new.evidence):
        return False
    mine, other = old.evidence[0].source, new.evidence[0].source
    later = [e.source for e in following(known.of(new.client_id), new.since or new.seen)]
    return mine != other and mine in later and other in later


def _fell_out(known: Lines, old: Span, new: Span) -> bool:
    """One log has both joins, and between them that the member was out: its coordinator's log is not there."""
    if old.end is not End.OPEN or old.since is None or new.since is None or not (old.evidence and new.evidence):
        return False
    source = old.evidence[0].source
    between_joins = between(known.of(new.client_id), old.since, new.since)
    return source == new.evidence[0].source and any(e.kind in _OUT and e.source == source for e in between_joins)


_OUT = frozenset({"generation-reset", "partitions-lost"})
"""What a client writes that is told that it is no member any more."""


def _best(candidates: Sequence[Span], span: Span) -> Span | None:
    """The same host first, then the one that ended last."""
    return max(
        candidates,
        key=lambda s: (s.host == span.host or None in (s.host, span.host), s.until or 0.0, s.seen),
        default=None,
    )


def _started(known: Lines, old: Span | None, span: Span) -> float | None:
    """When the process of *span* began, if that was after the life before it had begun."""
    if span.since is None:
        return None
    begun = -1.0 if old is None else old.since or old.seen
    near = between(known.of(span.client_id), begun, span.since + CLOCKS)
    starts = [e for e in near if e.kind in STARTS and (e.first_at or 0.0) > begun]
    moments = [e.first_at or 0.0 for e in starts]
    cut = max((place for place, (one, next_) in enumerate(pairwise(moments), 1) if next_ - one > _START), default=0)
    return moments[cut] if moments else None


_START = 60.0
"""Seconds that the lines of one start lie apart at most: a consumer is made when the application is up, which takes a
busy host that long. Judgement, no default behind it."""


@dataclass(frozen=True, slots=True)
class _Mark:
    at: float
    member_id: str
    what: str
    """begin, again, seen or end."""
    line: Episode
    end: End = End.OPEN


def spans(facts: Facts, lines: Lines) -> list[Span]:
    """Lives by time, from lines that name members and from snapshots."""
    clients, hosts = _told(facts, lines)
    marks = [mark for line in lines.coordinator for mark in _of_line(line)]
    marks += [mark for these in lines.clients.values() for line in these for mark in _of_line(line)]
    by_member: dict[str, list[_Mark]] = defaultdict(list)
    for mark in sorted(marks, key=lambda m: (m.at, m.line.source, m.line.first.line or 0)):
        by_member[mark.member_id].append(mark)
    found: list[Span] = []
    for member, these in by_member.items():
        client = clients.get(member) or client_of(member) or member
        found += _lives(member, client, these)
    for span in found:
        span.host = span.host or hosts.get(span.member_id)
    return sorted(found, key=lambda s: (s.seen, s.member_id))


def _told(facts: Facts, lines: Lines) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Member id → client id and address, from snapshots and from logs of clients."""
    clients: dict[str, str] = {}
    hosts: dict[str, str] = {}
    for client, these in lines.clients.items():
        clients.update({line.member_id: client for line in these if line.member_id})
    rows: tuple[Position | Assignment, ...] = (*facts.positions, *facts.assignments)
    for row in rows:
        if row.group == lines.group and row.member_id:
            if row.client_id:
                clients.setdefault(row.member_id, row.client_id)
            if row.peer:
                hosts.setdefault(row.member_id, row.peer.lstrip("/"))
    return clients, hosts


def _of_line(line: Episode) -> Iterator[_Mark]:
    at = line.first_at or 0.0
    if line.kind == "rebalance-started":
        yield from _of_start(line, at)
    elif line.kind == "static-member-replaced":
        old = _OLD.search(line.first.text)
        if old:
            yield _Mark(at, old[1].rstrip("., "), "end", line, End.FENCED)
        yield from (_Mark(at, member, "begin", line) for member in _named(line) if not old or member not in old[1])
    elif line.kind == "poll-timeout":
        yield from (_Mark(timed_out(line), member, "end", line, End.POLL_TIMEOUT) for member in _named(line))
    elif line.kind in _ENDS:
        yield from (_Mark(at, member, "end", line, _ENDS[line.kind]) for member in _named(line))
    elif line.kind in _BEGINS or line.kind in _SEEN:
        what = "seen" if line.kind in _SEEN else "again" if line.kind == "member-joined" else "begin"
        yield from (_Mark(at, member, what, line) for member in _named(line))


def _of_start(line: Episode, at: float) -> Iterator[_Mark]:
    trigger = trigger_of(line.reason)
    ends = {
        Trigger.LEAVE: End.LEFT,
        Trigger.POLL_TIMEOUT: End.POLL_TIMEOUT,
        Trigger.HEARTBEAT_EXPIRY: End.EXPIRED,
    }
    what = "end" if trigger in ends else "begin" if trigger is Trigger.JOIN else "seen"
    for member in _named(line):
        yield _Mark(at, member, what, line, ends.get(trigger, End.OPEN))


def _named(line: Episode) -> tuple[str, ...]:
    """Members that *line* is about; a line about several has them in its reason."""
    words = (line.reason or "").partition("client reason:")[0]
    several = members_in(words) if line.kind in ("rebalance-started", "member-dropped") else ()
    return several or ((line.member_id,) if line.member_id else members_in(words)[:1])


def _lives(member: str, client: str, marks: list[_Mark]) -> Iterator[Span]:
    """The lives of one member id: a second one only where KIP-848 lets it come again with the same id."""
    span = Span(member, client, seen=marks[0].at)
    for mark in marks:
        if mark.what == "again" and span.end is not End.OPEN and mark.at > (span.until or 0.0):
            yield span
            span = Span(member, client, seen=mark.at)
        _add(span, mark)
    yield span


def _add(span: Span, mark: _Mark) -> None:
    line = mark.line
    span.static = span.static or bool(static_of(f"{line.reason or ''} {line.first.text}"))
    if line.peer and span.host is None:
        span.host = line.peer
    fresh = span.since is None and span.end is End.OPEN
    if mark.what in ("begin", "again") and fresh:
        span.since = mark.at
        span.evidence.append(line.first)
    if mark.what == "end":
        _end(span, mark)


def _end(span: Span, mark: _Mark) -> None:
    """The first line that tells of the end tells when; the others may tell why."""
    line = mark.line
    said = client_reason(line.reason)
    if not said and line.kind in ("leave-sent", "member-left"):
        said = _own_words(line.reason)
    if span.end is End.OPEN:
        span.until, span.end, span.reason = mark.at, mark.end, said
        span.evidence.append(mark.line.first)
        span.sure = line.kind in COORDINATOR
    elif mark.at - (span.until or 0.0) <= ONCE:
        if line.kind in COORDINATOR and not span.sure:
            span.until, span.sure = mark.at, True
        span.reason = span.reason or said
        _say(span, mark)


def _say(span: Span, mark: _Mark) -> None:
    """A client that says that it closes had another end than the poll timeout that its log has nearby."""
    closed = any(word in span.reason for word in CLOSED)
    if span.end is End.LEFT and mark.end is End.POLL_TIMEOUT and not closed:
        span.end = mark.end
        span.evidence.append(mark.line.first)
    elif span.end is End.POLL_TIMEOUT and mark.end is End.LEFT and closed:
        span.until, span.end = mark.at, mark.end
        span.evidence.append(mark.line.first)


def _own_words(reason: str | None) -> str:
    words = (reason or "").strip()
    return "" if words == "not provided" or words.startswith("client reason") else words
