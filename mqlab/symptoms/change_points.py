"""What left its own earlier level when, what did so first and what followed: the order of a cascade.

Events of clients are counted in equal pieces of the time that their source covers; counters become rates; ledgers, logs
and lag are taken as they are. Causes come before their consequences, so the first riser that nothing earlier explains
is where to look; most often it is concentrated in few client ids or in one topic. Of a total and its part, the part is
named. Where the samples or the clocks do not tell two onsets apart, nobody can say which came first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from math import ceil, inf, log

from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Certainty, Finding
from mqlab.memo import per_facts
from mqlab.models import onsets
from mqlab.models.onsets import Onset, onset
from mqlab.mqtt.brokers import broker_of
from mqlab.mqtt.connections import resumed
from mqlab.rows import GRID
from mqlab.shared import queues
from mqlab.units import digits, number, size
from mqlab.words import room

say, _tables = room("change-points"), room("mqtt-tables")

_PIECES = 10_000
"""Pieces of time, at most, in which something is counted: 14 hours of ``PIECE``; what lasts longer has longer ones."""
CLOCKS = 1.0
"""Seconds by which the clocks of two sources may differ unseen: the error of ``clocks.offsets`` for whole seconds."""


@dataclass(frozen=True, slots=True)
class Riser:
    """One quantity that left the level that it had."""

    quantity: str
    """What is measured: ``connects``, ``takeovers``, ``published``, ``log end``, a metric's name."""
    who: str
    """Client id, ledger, topic, group or log; empty for the total of a broker."""
    unit: str
    """``/s``, ``/min``, ``messages``, ``B`` and so on."""
    before: float
    after: float
    since: float
    """The last sample at the level before."""
    at: float
    """The first sample at the new level; the change lies between the two."""
    share: float | None
    """Part that *who* has of all that was measured of this quantity after the change; None where alone or fallen."""
    source: str
    lasting: bool = True
    """It stayed up to the end."""
    reached: float | None = None
    """What was measured at *at*, where the level was another one afterwards."""


@dataclass(frozen=True, slots=True)
class Course:
    """What is measured of one quantity, by time."""

    quantity: str
    who: str
    unit: str
    points: tuple[tuple[float, float], ...]
    source: str
    events: bool = False
    """Counts of what happens at random."""
    labels: int = 0
    """How many tell it from others: a topic's bytes are in those of its broker, too."""


def earlier(riser: Riser, other: Riser) -> bool:
    """*one* surely left its level before *other* did, whatever lies between the samples and the clocks."""
    clocks = 0.0 if riser.source == other.source else CLOCKS
    return riser.at + clocks < other.since or (riser.source == other.source and riser.at <= other.since)


_ROLES = {"sent": "published", "received": "received", "consumed": "consumed", "processed": "processed"}


def _whole_pieces(counts: Mapping[float, float], width: float) -> tuple[tuple[float, float], ...]:
    """Counts by the begin of their piece of time, at its end; the first and the last piece are not whole.

    Where there would be more than ``_PIECES``, several are one, with their mean.
    """
    first, last = min(counts), max(counts)
    whole = int((last - first) // width) - 1
    together = max(1, ceil(whole / _PIECES))
    sums = [0.0] * (whole // together)
    for at, count in counts.items():
        place = int((at - first - width) // (width * together))
        if 0 <= place < len(sums):
            sums[place] += count / together
    return tuple((first + width * (1 + together * (n + 1)), count) for n, count in enumerate(sums))


def _receipts(facts: Facts) -> Iterator[Course]:
    """Rows a second of each ledger."""
    rates: dict[tuple[str, str], dict[float, float]] = defaultdict(dict)
    for receipt in facts.receipts:
        if receipt.role in _ROLES:
            rates[receipt.source, receipt.role][receipt.at] = receipt.rows / GRID
    for (source, role), rows in sorted(rates.items()):
        yield Course(_ROLES[role], source, "/s", _whole_pieces(rows, GRID), source)


def _volumes(facts: Facts) -> Iterator[Course]:
    """Bytes a minute of each log."""
    for volume in facts.volumes:
        if volume.minutes:
            points = _whole_pieces({m.at: m.bytes for m in volume.minutes}, 60.0)
            yield Course("log volume", volume.source, "B/min", points, volume.source)


def _lags(facts: Facts) -> Iterator[Course]:
    """Messages that wait for each group, at snapshots that tell of all partitions."""
    for (group, topic), by_queue in queues.of_groups(facts).items():
        points = tuple((at, float(waiting)) for at, waiting, _ in queues.totals(by_queue))
        source = next((p.source for own in by_queue.values() for p in own), "")
        yield Course("lag", f"{group} {topic}", "", points, source)


PIECE = 5.0
"""Seconds in which events of clients are counted: a fight for an id makes one connection a second."""
_EVENTS = {"client-connected": "connects", "session-takeover": "takeovers", "connection-lost": "connections lost"}
_MOST = 50
"""Clients with most events of a kind; who causes a storm is among them."""
_FEW = 3
_COUNTERS = (
    "mqtt.messages_received", "mqtt.messages_sent", "mqtt.publish_received", "mqtt.publish_sent",
    "mqtt.publish_dropped", "mqtt.bytes_received", "mqtt.bytes_sent", "mqtt.queue_full_dropped", "mqtt.takeovers",
    "mqtt.publish_denied", "mqtt.quota_exceeded", "broker.bytes_in", "broker.bytes_out", "topic.end_offset",
)  # fmt: skip
_PRINTED = ("app.published", "app.acknowledged", "app.received", "app.failed")
_LEVELS = (
    "mqtt.stored_messages", "mqtt.stored_bytes", "mqtt.clients_connected", "mqtt.clients_disconnected",
    "mqtt.inflight_messages", "mqtt.heap_bytes", "process.resident_bytes",
)  # fmt: skip


def all_courses(facts: Facts) -> Iterator[Course]:
    """Every course, in a fixed order."""
    for kind, quantity in _EVENTS.items():
        yield from _events(facts, kind, quantity)
    for name in (*_COUNTERS, *_PRINTED):
        yield from (_rate(facts, s) for s in facts.named(name) if len(s.points) > 1)
    for name in _LEVELS:
        yield from (_level(facts, s) for s in facts.named(name) if s.points)
    yield from _receipts(facts)
    yield from _volumes(facts)
    yield from _lags(facts)


def _events(facts: Facts, kind: str, quantity: str) -> Iterator[Course]:
    """Events of each client that has most of them, and of all."""
    by_client: dict[str, list[Episode]] = defaultdict(list)
    told = [e for e in facts.of_kind(kind) if e.first_at is not None and e not in resumed(facts)]
    for episode in told:
        by_client[episode.client_id or ""].append(episode)
    often = sorted(by_client, key=lambda c: (-sum(e.count for e in by_client[c]), c))[:_MOST]
    spans = {c.source: (c.first_at, c.last_at) for c in facts.coverage}
    for client in sorted(often):
        if client and sum(e.count for e in by_client[client]) >= _FEW:
            yield _counted(quantity, client, by_client[client], spans)
    if len(by_client) > 1:
        yield _counted(quantity, "", told, spans)


def _counted(
    quantity: str, who: str, told: Sequence[Episode], spans: Mapping[str, tuple[float | None, float | None]]
) -> Course:
    """How many there were in each piece of the time that their log covers; pieces begin where the log begins."""
    moments = [e.first_at or 0.0 for e in told]
    covered = [span for e in told for span in [spans.get(e.source)] if span is not None]
    begin = min([*moments, *(first for first, _ in covered if first is not None)])
    end = max([*moments, *(last for _, last in covered if last is not None)])
    width = PIECE * max(1, ceil((end - begin) / PIECE / _PIECES))
    pieces = [0] * max(1, int((end - begin) // width))
    for episode in told:
        place = int(((episode.first_at or 0.0) - begin) // width)
        if place < len(pieces):
            pieces[place] += episode.count
    points = tuple((begin + width * (n + 1), float(many)) for n, many in enumerate(pieces))
    return Course(quantity, who, say("in", seconds=width), points, told[0].source, events=True)


def _rate(facts: Facts, series: Series) -> Course:
    unit = "B/s" if "bytes" in series.name else "/s"
    who = series.source if series.name in _PRINTED else _whose(facts, series)
    points = tuple(onsets.rates(_filled(facts, series)))
    return Course(series.name, who, unit, points, series.source, labels=len(_labels(series)))


def _level(facts: Facts, series: Series) -> Course:
    unit = "B" if "bytes" in series.name else ""
    who, labels = _whose(facts, series), len(_labels(series))
    return Course(series.name, who, unit, tuple(_filled(facts, series)), series.source, labels=labels)


def _filled(facts: Facts, series: Series) -> Sequence[tuple[float, float]]:
    """Its samples; ``$SYS`` topics are published only when they change, so that the old value goes on between."""
    if not series.original.startswith("$SYS"):
        return series.points
    beside = (s for s in facts.series if s.source == series.source and s.original.startswith("$SYS"))
    times = sorted({at for s in beside for at, _ in s.points})
    # What was published together has moments that differ by milliseconds, more of them the more changed: it is once.
    return onsets.level(
        series.points, [at for at, later in zip(times, [*times[1:], inf], strict=True) if later - at > CLOCKS]
    )


def _labels(series: Series) -> list[str]:
    wanted = ("topic", "partition", "group", "node", "instance")
    return [series.labels[name] for name in wanted if series.labels.get(name)]


def _whose(facts: Facts, series: Series) -> str:
    """What labels tell it by; without any the broker, or the file, where another one counts the same."""
    beside = {one.source for one in facts.named(series.name) if not _labels(one)}
    if _labels(series) or len(beside) < 2:
        return " ".join(_labels(series))
    return broker_of(facts, series.source) or series.source


CONCENTRATED = 0.5
"""Part of all from which one has caused the rise of the total: more than all others together."""


@per_facts
def _changed(facts: Facts) -> tuple[tuple[Riser, ...], tuple[tuple[float, float], ...]]:
    """Everything that left its level, by the moment at which that is sure, and moves of what had no level yet."""
    every = list(all_courses(facts))
    found = []
    for course in every:
        change = onset(course.points, events=course.events)
        if change is not None:
            found.append(_riser(course, change, every))
    early = (move for course in every if not course.events for move in onsets.unlevelled(course.points))
    return tuple(sorted(found, key=lambda r: (r.at, r.since, r.quantity, r.who, r.source))), tuple(early)


def risers(facts: Facts) -> tuple[Riser, ...]:
    """Everything that left its level, by the moment at which that is sure."""
    return _changed(facts)[0]


def risers_beside(facts: Facts, lead: Finding | None) -> tuple[Riser, ...]:
    """All ``risers``; none where what moved before it had a level may have begun a proven incident before them."""
    every, early = _changed(facts)
    if lead is None or lead.started_at is None or lead.certainty is not Certainty.PROVEN:
        return every
    begin = lead.started_at.timestamp()
    earliest = min((riser.since for riser in first(during(every, lead))), default=0.0)
    return () if any(since < earliest and at + CLOCKS >= begin for since, at in early) else every


def first(every: Sequence[Riser]) -> tuple[Riser, ...]:
    """Those before which nothing surely changed; more than one where nobody can say which of them came first.

    A total is left out where one of its parts is there.
    """
    open_ = [riser for riser in every if not any(earlier(other, riser) for other in every)]
    parts = {riser.quantity for riser in open_ if riser.who and (riser.share or 0.0) >= CONCENTRATED}
    return tuple(riser for riser in open_ if riser.who or riser.quantity not in parts)


def consequences(every: Sequence[Riser]) -> tuple[Riser, ...]:
    """What surely changed after all of the first ones did, by time."""
    began = first(every)
    return tuple(riser for riser in every if began and all(earlier(other, riser) for other in began))


def _riser(course: Course, change: Onset, every: Sequence[Course]) -> Riser:
    return Riser(
        course.quantity, course.who, course.unit, change.before, change.after, change.since, change.at,
        _share(course, change.at, every) if change.after > change.before else None, course.source, change.lasting,
        change.reached if change.ramp else None,
    )  # fmt: skip


def _share(course: Course, at: float, every: Sequence[Course]) -> float | None:
    """Part of *course* in its total, else in all that is measured of the same quantity, after *at*.

    The memory of one process is no part of another one's.
    """
    same = [one for one in every if one.quantity == course.quantity and one.unit == course.unit]
    whole = [one for one in same if not one.who] or [one for one in same if one.labels == course.labels]
    if not course.who or course.quantity in _LEVELS or (len(whole) == 1 and whole[0] is course and not course.events):
        return None
    total = sum(_after(one, at) for one in whole)
    return min(1.0, _after(course, at) / total) if total > 0 else None


def _after(course: Course, at: float) -> float:
    return sum(value for moment, value in course.points if moment >= at)


def order(risers: Sequence[Riser], tz: tzinfo = UTC, most: int = 3, lead: Finding | None = None) -> str:
    """The first ones, then those that surely came after them; empty where nothing left its level.

    What one client does, such as to connect and to take over, is one thing. What *lead* itself is, it tells.
    """
    began, then = first(risers), consequences(risers)
    shown = [riser for riser in began if lead is None or not _is_of(riser, lead)]
    if not shown:
        return ""
    alone = len(began) == 1 or (began[0].who and len({riser.who for riser in began}) == 1)
    return say(
        "order",
        unsure=not alone,
        first=[words(riser, tz) for riser in shown[:most]],
        more=max(0, len(shown) - most),
        next=words(then[0], tz) if then else None,
        later=len(then) - 1,
    )


def _is_of(riser: Riser, lead: Finding) -> bool:
    """Connects and losses of the finding's own client, from the moment at which it began."""
    if lead.started_at is None or riser.who != lead.subject or riser.quantity not in _EVENTS.values():
        return False
    return riser.since - CLOCKS <= lead.started_at.timestamp() <= riser.at + CLOCKS


def during(risers: Sequence[Riser], lead: Finding) -> Sequence[Riser]:
    """What changed with an incident: what changed after its end came of the end, and began nothing.

    What was over before a proven one is no part of it; when a likely one began is known less well.
    """
    if lead.started_at is None:
        return risers
    begin = lead.started_at.timestamp()
    end = inf if lead.ended_at is None else lead.ended_at.timestamp()
    until = [riser for riser in risers if riser.since <= end]
    if lead.certainty is not Certainty.PROVEN:
        return until
    since = [riser for riser in until if riser.at + CLOCKS >= begin]
    return since if any(riser.since <= begin for riser in since) else ()


_TRAFFIC = ("bytes", "published", "received", "consumed", "processed", "publish_received", "publish_sent")
"""How names of what crosses a network begin or end."""
_MOVED = 300.0
"""Seconds in which leaders come back after a restart (leader.imbalance.check.interval.seconds)."""


def traffic(facts: Facts) -> str | None:
    """Of the traffic that left its level the one that did by the largest factor; None where all kept theirs.

    Where a broker stops or starts, leaders move and with them the traffic of each broker: the restart tells that.
    """
    seen = facts.of_kind("broker-stopping", "broker-starting", "broker-started")
    restarts = [e.first_at for e in seen if e.first_at is not None]
    own = [r for r in risers(facts) if r.quantity.endswith(_TRAFFIC) or "bytes_" in r.quantity]
    moved = [
        r for r in own if r.quantity.startswith("broker.") and any(r.since - _MOVED <= at <= r.at for at in restarts)
    ]
    own = [r for r in own if r not in moved]
    most = max(own, key=lambda r: abs(log((r.after or 1.0) / (r.before or 1.0))), default=None)
    return words(most) if most else None


def words(riser: Riser, tz: tzinfo = UTC) -> str:
    """``11:40:15-11:40:20 takeovers of press-07 0 -> 5.00 in 5 s (100.0 % of the total)``."""
    rate = riser.unit.removeprefix("B")
    since, until = (f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (riser.since, riser.at))
    return say(
        "riser",
        quantity=_tables("quantity", quantity=riser.quantity),
        who=riser.who,
        before=_value(riser.before, riser.unit),
        reached=None if riser.reached is None else _value(riser.reached, riser.unit),
        lasting=riser.lasting,
        after=_value(riser.after, riser.unit),
        rate=rate if rate.startswith("/") else None,
        unit=riser.unit if rate else "",
        share=riser.share,
        since=since,
        until=until,
    )


def _value(value: float, unit: str) -> str:
    if unit.startswith("B"):
        return size(value)
    return number(value) if not unit and value.is_integer() else digits(value)
