"""Courses of what stages of a chain count without ids: rows of ledgers, counters of logs and brokers, offsets.

A counter that only rises lies between its samples: the growth from one moment to another is at least that between the
samples inside and at most that between the samples around.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from mqlab.bridging import parties
from mqlab.facts import Facts, Series
from mqlab.findings import Evidence
from mqlab.questions.actors import base_name

_WIDTH = 10.0
_TAKING = ("received", "consumed", "processed")


@dataclass(frozen=True, slots=True)
class Course:
    """What was counted up to each moment; points by time."""

    who: str
    points: tuple[tuple[float, float], ...]
    place: Evidence
    from_nothing: bool
    """It begins at 0: a ledger or a process; a broker's counter may be older than its first sample."""
    late: bool = False
    """Its moments are those at which commands were started: what they print may have been read much later."""


def published(facts: Facts) -> tuple[Course, ...]:
    """Ledgers of publishers; else what their logs count; else what the broker counts as received."""
    sources = sorted({r.source for r in facts.receipts})
    ledgers = tuple(_ledgers(facts, ("sent",), sources)) or tuple(_ledgers(facts, ("acked",), sources))
    clients = {e.source for e in facts.of_kind("client-configured", "connection-made")}
    printed = tuple(_counter(s) for s in facts.named("app.published") if s.source in clients and s.points)
    return ledgers or printed or tuple(_counter(s) for s in facts.named("mqtt.publish_received") if s.points)


def taken(facts: Facts) -> Iterator[Course]:
    """Ledgers that say that they forward; else what logs of clients count that are producers, too."""
    named = {r.source for r in facts.receipts if parties.FORWARDED.search(base_name(r.source))}
    ledgers = tuple(_ledgers(facts, _TAKING, sorted(named)))
    if ledgers:
        yield from ledgers
        return
    both = parties.producers(facts)
    own = {e.source: e.client_id for e in facts.of_kind("client-configured", "connection-made") if e.client_id in both}
    for series in facts.named("app.received"):
        if series.source in own and series.points:
            yield _counter(series, own[series.source])


def _ledgers(facts: Facts, roles: Sequence[str], sources: Sequence[str]) -> Iterator[Course]:
    """How many rows of *roles* each of the ledgers had, by the end of each ten seconds."""
    for source in sources:
        rows = [r for r in facts.receipts if r.source == source and r.role in roles]
        if rows:
            sums = accumulate((r.rows for r in rows), initial=0)
            times = (rows[0].at, *(r.at + _WIDTH for r in rows))
            points = tuple((at, float(total)) for at, total in zip(times, sums, strict=True))
            place = rows[0].first("")
            yield Course(parties.names(facts, [source])[0], points, place, from_nothing=True)


def _counter(series: Series, who: str | None = None) -> Course:
    """A counter of which a fall is a new start."""
    total = series.points[0][1]
    points = [series.points[0]]
    for (_, before), (at, value) in pairwise(series.points):
        total += value - before if value >= before else value
        points.append((at, total))
    line = series.lines[-1] if series.lines else None
    place = Evidence(series.source, line, f"{series.original} {series.points[-1][1]:.0f}")
    return Course(who or base_name(series.source), tuple(points), place, series.name.startswith("app."))


def ends(facts: Facts, topic: str) -> Iterator[Course]:
    """Ends of the log of *topic*, by partition: of snapshots, else as exporters count them."""
    told = tuple(_offsets(facts, topic, None))
    yield from told
    for series in () if told else facts.named("topic.end_offset"):
        if series.labels.get("topic") == topic and series.points:
            yield _counter(series)


def committed(facts: Facts, topic: str) -> Mapping[str, tuple[Course, ...]]:
    """What each group committed of *topic*, by partition."""
    groups = sorted({p.group for p in facts.positions if p.topic == topic and p.group and p.committed is not None})
    return {group: tuple(_offsets(facts, topic, group)) for group in groups}


def _offsets(facts: Facts, topic: str, group: str | None) -> Iterator[Course]:
    """By partition: ends of the log, or what *group* committed; they only rise."""
    found: dict[str, dict[float, tuple[int, Evidence]]] = defaultdict(dict)
    for one in facts.positions:
        value = one.end if group is None else one.committed
        if one.topic == topic and one.at is not None and value is not None and (group is None or one.group == group):
            known = found[one.queue].get(one.at)
            if known is None or value > known[0]:
                found[one.queue][one.at] = (value, Evidence(one.source, one.line, one.text))
    for queue, told in sorted(found.items()):
        points = tuple((at, float(told[at][0])) for at in sorted(told))
        yield Course(f"{topic} {queue}", points, told[points[-1][0]][1], from_nothing=False, late=True)


def growth(course: Course, since: float, until: float) -> tuple[float, float, float]:
    """At least, about and at most by how much *course* rose."""
    before, start, after = _at(course, since)
    early, end, late = _at(course, until)
    return max(0.0, early - after), max(0.0, end - start), late - before


def _at(course: Course, at: float) -> tuple[float, float, float]:
    """At least, about and at most what was counted up to *at*."""
    times = [moment for moment, _ in course.points]
    first, last = bisect_right(times, at) - 1, bisect_left(times, at)
    if first < 0:
        start = 0.0 if course.from_nothing else course.points[0][1]
        return start, start, start
    if last >= len(times):
        return (course.points[-1][1],) * 3
    (t0, low), (t1, high) = course.points[first], course.points[last]
    share = (at - t0) / (t1 - t0) if t1 > t0 else 0.0
    about = low + share * (high - low)
    if course.late:
        low = course.points[first - 1][1] if first else 0.0
    return low, about, high
