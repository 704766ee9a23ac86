"""Ranges of offsets that a Kafka group did not read: deleted before it came, jumped over, or skipped by hand.

A consumer whose position the log refuses, or that finds no committed one, goes where auto.offset.reset says
(SubscriptionState, ``offset out of range`` and ``Found no committed offset``); what lies between is not read. Below the
log start it was deleted (retention), from there on it was still there (reset). Without a consumer's log, a log start
above the committed offset of a group that stands still tells the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from mqlab.delivery_groups.before import inherited
from mqlab.delivery_groups.by_hand import by_hand
from mqlab.delivery_groups.first import first_start
from mqlab.delivery_groups.jumps import Jump, jumps
from mqlab.delivery_groups.offsets import Mark, Offsets, before, furthest, offsets
from mqlab.delivery_groups.ranges import Skip, Why
from mqlab.delivery_groups.removed import removed
from mqlab.delivery_groups.vacant import vacant
from mqlab.facts import Facts
from mqlab.memo import per_facts
from mqlab.questions.configured import consumer_value

EARLIEST = "earliest"
"""auto.offset.reset that goes to the log start, so that all that was passed over had been deleted."""


@per_facts
def skips(facts: Facts, group: str, topic: str, queue: str) -> tuple[Skip, ...]:
    """Ranges of one partition, by offset; those with a cause that is seen do not overlap."""
    known = offsets(facts, group, topic, queue)
    told = [skip for jump in jumps(facts, known) for skip in _of_jump(facts, known, jump)]
    told += [skip for skip in removed(facts, known) if not _overlapping(skip, told)]
    told += [skip for skip in by_hand(facts, known) if not _overlapping(skip, told)]
    seen = [skip for skip in _overtaken(facts, known) if not _overlapping(skip, told)]
    return tuple(sorted((*told, *seen), key=lambda s: (s.low, s.high, s.why)))


def _of_jump(facts: Facts, known: Offsets, jump: Jump) -> Iterator[Skip]:
    """What lies between the position and where it went on; nothing where it went back."""
    stood = furthest(known, jump.at)
    if jump.refused is None and not stood:
        stood = inherited(facts, known, jump.at)
    low = stood if jump.refused is None else max(jump.refused, stood)
    to_end = _to_end(facts, known, jump)
    if jump.truncated:
        return
    if jump.refused is not None and jump.refused >= jump.target:
        begun = _written_anew(facts, known, jump)
        if to_end and begun is not None and begun < jump.target:
            yield Skip(Why.RESET, begun, jump.target, jump.at, jump.places)
        return
    if jump.refused is None and not stood:
        yield from first_start(facts, known, jump.at, jump.target, jump.places) if to_end else ()
        return
    start = max(low, min(jump.target, _log_start(known, jump) if to_end else jump.target))
    if start > low:
        yield Skip(Why.RETENTION, low, start, jump.at, jump.places)
    if jump.target > start:
        yield Skip(Why.RESET, start, jump.target, jump.at, jump.places)


def _to_end(facts: Facts, known: Offsets, jump: Jump) -> bool:
    """Its auto.offset.reset sent it to the end; where nobody says what that was, it got at least as far as the end."""
    value = consumer_value(facts, jump.client, "auto.offset.reset", jump.at)
    if value is not None and value.setting is not None:
        return value.value != EARLIEST
    end = before(known.ends, jump.at)
    return end is not None and jump.target >= end.offset


def _written_anew(facts: Facts, known: Offsets, jump: Jump) -> int | None:
    """Where the log was cut before a position turned out to be above its end: what is behind that is new."""
    told = [
        int(e.value_max) for e in facts.of_kind("leader-started", "log-truncated")
        if (e.topic, e.queue) == (known.topic, known.queue) and e.value_max is not None
        and (e.first_at or 0.0) <= jump.at and e.value_max <= (jump.refused or 0)
    ]  # fmt: skip
    return told[-1] if told else None


def _log_start(known: Offsets, jump: Jump) -> int:
    """The log start when a consumer jumped, as it was seen last."""
    seen = before(known.starts, jump.at)
    return seen.offset if seen is not None else 0


def _overtaken(facts: Facts, known: Offsets) -> Iterator[Skip]:
    """A log start that was seen above the committed offset while that stood still."""
    spans = vacant(facts, known.group)
    for still, later in _passed(known):
        until = later.at if later else float("inf")
        gone = [s for s in known.starts if still[0].at <= s.at < until and s.offset > still[0].offset]
        quiet = [s for s in gone if s.at <= still[-1].at or any(since <= s.at <= end for since, end in spans)]
        if later is None:
            quiet = [s for s in quiet if known.looked is None or s.at <= known.looked] or quiet
        if not quiet:
            continue
        low = max(still[0].offset, furthest(known, still[0].at))
        high = quiet[-1].offset if later is None else min(quiet[-1].offset, max(later.offset, low))
        if high > low and not _read_on(known, quiet[0].at, high):
            places = (still[-1].place, quiet[-1].place)
            yield Skip(Why.RETENTION, low, high, quiet[0].at, places, ongoing=later is None)


def _read_on(known: Offsets, at: float, high: int) -> bool:
    """A consumer's next word is that its position behind *high* is out of range: it had fetched what lies before."""
    told = next((line for line in known.lines if (line.first_at or 0.0) > at), None)
    return told is not None and told.kind == "offset-reset" and (told.value_max or 0.0) >= high


def _passed(known: Offsets) -> Iterator[tuple[list[Mark], Mark | None]]:
    """Committed offsets below a log start that was seen then, each as long as it stood, and the one after it."""
    stood = [list(marks) for _, marks in groupby(known.committed, key=lambda m: m.offset)]
    begun = [marks[0].at for marks in stood]
    seen = {(bisect_right(begun, s.at) - 1, s.offset) for s in known.starts}
    for place in sorted({n for n, offset in seen if n >= 0 and stood[n][0].offset < offset}):
        yield stood[place], stood[place + 1][0] if place + 1 < len(stood) else None


def _overlapping(skip: Skip, others: Sequence[Skip]) -> bool:
    return any(skip.low < other.high and other.low < skip.high for other in others)
