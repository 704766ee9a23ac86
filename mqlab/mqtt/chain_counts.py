"""A way from MQTT to a log of which no ids are known: counters and offsets of its stages, over the time that all cover.

A counter that only rises lies between its samples: the growth from one moment to another is at least that between the
samples inside and at most that between the samples around. The bridge is a ledger that says that it forwards, or a
process that is a client of MQTT and a producer of the log.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from mqlab import words
from mqlab.facts import Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.mqtt import chain_stages
from mqlab.mqtt.chain_stages import Chain, Gap, Share, Stage, Step, Whereabouts, away
from mqlab.mqtt.copies import RECEIVING, name_of
from mqlab.mqtt.subscriptions import Subscription
from mqlab.rows import GRID
from mqlab.shared.actors import base_name

say = words.room("chain")


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


def _published(facts: Facts) -> tuple[Course, ...]:
    """Ledgers of publishers; else what their logs count; else what the broker counts as received."""
    sources = sorted({r.source for r in facts.receipts})
    ledgers = tuple(_ledgers(facts, ("sent",), sources)) or tuple(_ledgers(facts, ("acked",), sources))
    clients = {e.source for e in facts.of_kind(*chain_stages.MQTT_CLIENT)}
    printed = tuple(_counter(s) for s in facts.named("app.published") if s.source in clients and s.points)
    return ledgers or printed or tuple(_counter(s) for s in facts.named("mqtt.publish_received") if s.points)


def _taken(facts: Facts) -> tuple[Course, ...]:
    """Ledgers that say that they forward; else what logs of clients count that are producers, too."""
    named = {r.source for r in facts.receipts if chain_stages.FORWARDED.search(base_name(r.source))}
    both = chain_stages.producers(facts)
    own = {e.source: e.client_id for e in facts.of_kind(*chain_stages.MQTT_CLIENT) if e.client_id in both}
    printed = (s for s in facts.named("app.received") if s.source in own and s.points)
    return tuple(_ledgers(facts, RECEIVING, sorted(named))) or tuple(_counter(s, own[s.source]) for s in printed)


def _stored(facts: Facts, topic: str) -> tuple[Course, ...]:
    """Ends of the log of *topic*, by partition: of snapshots, else as exporters count them."""
    series = (s for s in facts.named("topic.end_offset") if s.labels.get("topic") == topic and s.points)
    return tuple(_offsets(facts, topic, None)) or tuple(_counter(s) for s in series)


def _ledgers(facts: Facts, roles: Sequence[str], sources: Sequence[str]) -> Iterator[Course]:
    """How many rows of *roles* each of the ledgers had, by the end of each ten seconds."""
    for source in sources:
        rows = [r for r in facts.receipts if r.source == source and r.role in roles]
        if rows:
            sums = accumulate((float(r.rows) for r in rows), initial=0.0)
            points = tuple(zip((rows[0].at, *(r.at + GRID for r in rows)), sums, strict=True))
            yield Course(name_of(facts, source), points, rows[0].first(""), from_nothing=True)


def _counter(series: Series, who: str | None = None) -> Course:
    """A counter of which a fall is a new start."""
    total = series.points[0][1]
    points = [series.points[0]]
    for (_, before), (at, now) in pairwise(series.points):
        total += now - before if now >= before else now
        points.append((at, total))
    place = Evidence(*series.place(-1), f"{series.original} {series.points[-1][1]:.0f}")
    return Course(who or base_name(series.source), tuple(points), place, series.name.startswith("app."))


def _offsets(facts: Facts, topic: str, group: str | None) -> Iterator[Course]:
    """By partition: ends of the log, or what *group* committed; they only rise."""
    found: dict[str, dict[float, tuple[int, Position]]] = defaultdict(dict)
    for row in facts.positions:
        offset = row.end if group is None else row.committed
        if row.topic == topic and row.at is not None and offset is not None and group in (None, row.group):
            known = found[row.queue].setdefault(row.at, (offset, row))
            if offset > known[0]:
                found[row.queue][row.at] = (offset, row)
    for queue, by_time in sorted(found.items()):
        points = tuple((at, float(by_time[at][0])) for at in sorted(by_time))
        place = by_time[points[-1][0]][1].evidence.because("")
        yield Course(f"{topic} {queue}", points, place, from_nothing=False, late=True)


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
    about = low + (at - t0) / (t1 - t0) * (high - low) if t1 > t0 else low
    if course.late:
        low = course.points[first - 1][1] if first else 0.0
    return low, about, high


def counted_chains(facts: Facts) -> tuple[Chain, ...]:
    """One for each topic of a log into which the only known bridge writes; empty where none is known."""
    takers, sent = _taken(facts), _published(facts)
    bridge = tuple(sorted({course.who for course in takers}))
    topics = sorted({p.topic for p in facts.positions if p.end is not None and not p.topic.startswith(("__", "%"))})
    if not (takers and sent and len(topics) == 1):
        return ()
    topic = topics[0]
    groups = sorted({p.group for p in facts.positions if p.topic == topic and p.group and p.committed is not None})
    every = [(Step.PUBLISHED, "", sent), (Step.TAKEN, ", ".join(bridge), takers),
             (Step.STORED, topic, _stored(facts, topic)),
             *((Step.HANDLED, group, tuple(_offsets(facts, topic, group))) for group in groups)]  # fmt: skip
    measured = [(stage, span) for stage in every for span in (_span(stage[2]),) if span[0] < span[1]]
    window = max((a for _, (a, _) in measured), default=0.0), min((b for _, (_, b) in measured), default=0.0)
    if window[0] >= window[1] or measured[0][0][0] is not Step.PUBLISHED or len(measured) < 2:
        return ()
    stages = tuple(_stage(step, who, own, window) for (step, who, own), _ in measured)
    gaps = tuple(_gaps(stages, away(facts, bridge)))
    return (Chain("kafka", topic, bridge, "counts", stages, gaps, (say("topics-unknown"),)),)


def _span(courses: Sequence[Course]) -> tuple[float, float]:
    return (
        min((course.points[0][0] for course in courses), default=0.0),
        max((course.points[-1][0] for course in courses), default=0.0),
    )


def _stage(step: Step, who: str, courses: Sequence[Course], window: tuple[float, float]) -> Stage:
    bounds = [growth(course, *window) for course in courses]
    low, many, high = (round(sum(some)) for some in zip(*bounds, strict=True))
    own = [Share(c.who, round(b[1]), c.place.source) for c, b in zip(courses, bounds, strict=True)]
    how = say("counters", bounded=low != high, read_later=any(course.late for course in courses))
    shares = tuple(own) if len(own) > 1 and step is not Step.STORED else ()
    places = tuple(course.place for course in courses[:3])
    return Stage(step, who, many, low, high, how, *window, shares=shares, evidence=places)


def _gaps(stages: Sequence[Stage], waiting: Sequence[Subscription]) -> Iterator[Gap]:
    """Differences of stages that follow one another, where they are larger than the samples' error."""
    here = stages[0]
    for there in stages[1:]:
        low = (here.low or 0) - (there.high or 0)
        if low > 0:
            where, who, since = Whereabouts.UNKNOWN, there.who, None
            if there.step is Step.HANDLED and here.step is Step.STORED:
                where = Whereabouts.PENDING
            elif there.step is Step.TAKEN and waiting:
                where, who = Whereabouts.QUEUED, ", ".join(sorted({subscription.client_id for subscription in waiting}))
                since = min(subscription.away[-1][0] for subscription in waiting)
            many, most = (here.messages or 0) - (there.messages or 0), (here.high or 0) - (there.low or 0)
            places = (*here.evidence[:1], *there.evidence[:1])
            yield Gap(here.step, there.step, where, who, many, low, most, say("difference"), here.since,
                      here.until, since, places)  # fmt: skip
        here = there if there.step is not Step.HANDLED else here
