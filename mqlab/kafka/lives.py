"""The life of each member of a Kafka group: when it joined, how it ended, and what its process did meanwhile.

One client id may be in two processes at a time: a life that went on is the one before another only if its process
started anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from mqlab.facts import Facts
from mqlab.kafka.endings import ending, failures, silent_since, timeouts
from mqlab.kafka.log_lines import STARTS, Lines, between, following, lines
from mqlab.kafka.rows import End, Life
from mqlab.kafka.spans import CLOCKS, Span, spans
from mqlab.memo import per_facts


@per_facts
def lives(facts: Facts, group: str) -> tuple[Life, ...]:
    """Lives of the members of *group*, by their beginning; those that were there from the start come first."""
    known = lines(facts, group)
    every = spans(facts, known)
    told, failed = timeouts(facts, known, every), failures(facts, known, every)
    open_: dict[str, list[Span]] = defaultdict(list)
    made: dict[int, Life] = {}
    for span in every:
        free = open_[span.client_id]
        old = _best([s for s in free if _over(s, span, known)], span)
        if old is not None:
            free.remove(old)
        open_[span.client_id] = [*free[-_KEPT:], span]
        how = ending(facts, known, span, told.get(id(span)))
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
            silent_since=silent_since(facts, known, span) if how.end is End.EXPIRED else None,
            evidence=tuple(dict.fromkeys((*span.evidence, *how.evidence)))[:3],
            because=how.because,
            failed="" if how.end is End.POLL_TIMEOUT else failed.get(id(span), ""),
            before=None if old is None else made[id(old)],
        )
    return tuple(sorted(made.values(), key=lambda o: (o.since or 0.0, o.client_id, o.member_id, o.until or 0.0)))


_KEPT = 8
"""Earlier lives of one client id that are still asked about: more processes than that do not share one."""


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
"""Seconds that the lines of one start lie apart at most, on a busy host."""
