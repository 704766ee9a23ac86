"""Which zone a source's clock shows, and why.

Order: written in the line, which nothing overrides > an epoch that the line prints beside its clock > a rule of the
format > a client id that a zoned source saw connect > alignment with zoned sources on at least three shared events or
generations of a consumer group, in steps of fifteen minutes > `--log-tz` > the zone of the other logs of the same
broker > a zone that other sources of the same material were found in and that alone fits > UTC, assumed.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from fnmatch import fnmatch
from itertools import pairwise

from mqlab import words
from mqlab.clocks.zones import (
    ASSUMED,
    MICRO,
    WRITTEN,
    Row,
    Rows,
    Zone,
    fixed,
    minute,
    ruled,
    written,
)
from mqlab.formats import exporters, kafka_broker_log
from mqlab.sources import Reading, Source
from mqlab.units import parse_zone

say = words.room("clocks")

STEP = 900
"""Zones differ by multiples of fifteen minutes."""
_FARTHEST = 14 * 3600
"""Seconds by which a zone may be off: the farthest is Pacific/Kiritimati's, 14 hours east."""
_START_UP = STEP / 20
"""Seconds within which a process that a supervisor started prints its settings."""
SHARED = 3
"""Shared events that an alignment needs: an event meets an interval of ``_START_UP`` under a wrong offset once in 20
times, so three of them meet theirs under one of the 112 wrong offsets once in 70."""
MOST = 0.6
"""Share of a source's events that an alignment must explain: clearly more than half, as two zones may share half.
Judgement, no default behind it."""
NEARLY_ALL = 0.9
"""Share from which a long incident aligns, although its neighbours in time fit in part. Judgement, no default behind
it."""
_APART = 120.0
"""Seconds within which two logs tell of the same thing, if nothing is wrong but their zones: then a client has given
up (delivery.timeout.ms of Kafka's producers, CHANNEL_EXPIRED_TIMEOUT of RocketMQ's brokers)."""
_SLACK = 5.0
"""Seconds by which clocks that nobody calls wrong may differ, as ``delivery.leaders.SLACK`` says for brokers."""


def aligned(events: Sequence[float], anchors: Sequence[tuple[float, float]], step: int) -> tuple[int, int] | None:
    """(offset in seconds, events that fit) where the *events* meet the *anchors* and no other offset comes near.

    *events* are seconds on the clock that is off, *anchors* intervals on a known one; offsets are multiples of *step*.
    """
    if len(events) < SHARED or len(anchors) < SHARED:
        return None
    merged = _merged(anchors)
    offsets = range(-_FARTHEST, _FARTHEST + step, step)
    scores = sorted(((_shared(events, merged, offset), -abs(offset), offset) for offset in offsets), reverse=True)
    (best, _, offset), (second, _, _) = scores[0], scores[1]
    if best < SHARED or best < MOST * len(events):
        return None
    whole = best >= NEARLY_ALL * len(events) and best - second >= max(SHARED, (1 - NEARLY_ALL) * best)
    if second * 2 > best and not whole:
        return None
    return offset, best


def by_name(
    events: Sequence[tuple[str, float]], known: Mapping[str, Collection[float]], step: int
) -> tuple[int, int] | None:
    """(offset in seconds, names that fit) where *events* carry names that clocks that are *known* saw, too.

    Every name that both know must fit one offset, a multiple of *step*; a name may stand for several moments.
    """
    offsets: dict[str, set[int]] = {}
    for name, wall in events:
        for epoch in known.get(name, ()):
            offset = round((wall - epoch) / step) * step
            if abs(wall - epoch - offset) <= _APART and abs(offset) <= _FARTHEST:
                offsets.setdefault(name, set()).add(offset)
    shared = {name for name, _ in events if name in known}
    if len(shared) < SHARED or len(offsets) < len(shared):
        return None
    common = set.intersection(*offsets.values())
    return (common.pop(), len(shared)) if len(common) == 1 else None


def _merged(anchors: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for first, last in sorted(anchors):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def _shared(events: Sequence[float], merged: Sequence[tuple[float, float]], offset: float) -> int:
    starts = [first for first, _ in merged]
    count = 0
    for event in events:
        place = bisect_right(starts, event - offset) - 1
        count += place >= 0 and event - offset <= merged[place][1]
    return count


@dataclass(frozen=True, slots=True)
class Clock:
    """What is known of one source before its zone is: all times in seconds on its own clock."""

    source: str
    written: bool
    started: tuple[tuple[float, float], ...]
    """(on its clock, epoch) of lines that print both."""
    events: tuple[float, ...]
    """Moments that other sources may share."""
    window: tuple[float, float] | None
    rule: str | None = None
    """Offset that the format fixes."""
    met: tuple[tuple[float, tuple[float, ...]], ...] = ()
    """(on its clock, epochs): a client was made, and brokers saw one of its id connect."""
    generations: tuple[tuple[str, float], ...] = ()
    """(group and generation, on its clock): it became complete, by its coordinator or a member; UTC where written."""
    kin: str | None = None
    """What the logs of one process share, such as the folder of a broker's server.log and state-change.log."""


def settle(
    clocks: Sequence[Clock],
    anchors: Sequence[tuple[float, float]],
    span: tuple[float, float] | None,
    wanted: Sequence[tuple[str, str]],
) -> Mapping[str, Zone]:
    """The zone of each source.

    *anchors* are intervals (epoch seconds) in which a zoned source saw something happen, *span* is what the zoned
    sources cover, *wanted* are (glob, zone) pairs of the user, later ones win.
    """
    certain = {clock.source: zone for clock in clocks if (zone := _certain(clock, anchors))}
    told = _generations(clocks, certain)
    settled = dict(certain)
    for clock in clocks:
        zone = certain.get(clock.source) or _complete(clock, told) or _wanted(clock.source, wanted)
        if zone:
            settled[clock.source] = zone
    settled |= _of_kin(clocks, settled)
    span = _hull([span, *(_covered(clock) for clock in clocks)])
    offsets = sorted({z.tz.utcoffset(None) or timedelta() for z in settled.values() if isinstance(z.tz, timezone)})
    for clock in clocks:
        if clock.source not in settled:
            settled[clock.source] = _fitting(clock, offsets, span)
    return settled


def _certain(clock: Clock, anchors: Sequence[tuple[float, float]]) -> Zone | None:
    if clock.written:
        return WRITTEN
    if clock.started:
        offsets = {round((wall - epoch) / STEP) * STEP for wall, epoch in clock.started}
        if len(offsets) == 1 and abs(*offsets) <= _FARTHEST:  # a log of times of day has another date
            return fixed(offsets.pop(), say("printed"))
    if clock.rule:
        return ruled(clock.rule)
    return _recognised(clock) or _aligned(clock, anchors)


def _recognised(clock: Clock) -> Zone | None:
    """The only zone in which each client that the log makes connects at once to a broker that saw its id."""
    fitting = [
        {o for t in epochs if -_APART <= wall - t - (o := round((wall - t) / STEP) * STEP) <= _SLACK}
        for wall, epochs in clock.met
    ]
    offsets = {o for o in (set.intersection(*fitting) if fitting else ()) if abs(o) <= _FARTHEST}
    if len(offsets) != 1:
        return None
    return fixed(offsets.pop(), say("connect"))


def _generations(clocks: Sequence[Clock], certain: Mapping[str, Zone]) -> Mapping[str, set[float]]:
    """Epoch seconds at which logs whose zone is certain saw each generation become complete."""
    found: dict[str, set[float]] = {}
    for clock in clocks:
        if clock.source in certain:
            for name, wall in clock.generations:
                found.setdefault(name, set()).add(certain[clock.source].instant(wall))
    return found


def _complete(clock: Clock, told: Mapping[str, set[float]]) -> Zone | None:
    found = by_name(clock.generations, told, STEP)
    return fixed(found[0], say("generations", generations=found[1])) if found else None


def _of_kin(clocks: Sequence[Clock], settled: Mapping[str, Zone]) -> Mapping[str, Zone]:
    """The zones of logs beside which another one of the same process is settled, if those agree."""
    kin: dict[str, dict[str, Zone]] = {}
    for clock in clocks:
        if clock.kin is not None and clock.source in settled and not clock.written:
            kin.setdefault(clock.kin, {})[settled[clock.source].label] = settled[clock.source]
    alike = {name: next(iter(zones.values())) for name, zones in kin.items() if len(zones) == 1}
    return {
        clock.source: replace(alike[clock.kin], why=say("kin"))
        for clock in clocks
        if clock.source not in settled and clock.kin in alike
    }


def _covered(clock: Clock) -> tuple[float, float] | None:
    """What a source whose format fixes its zone covers, in epoch seconds."""
    if not clock.rule or not clock.window:
        return None
    zone = ruled(clock.rule)
    return zone.instant(clock.window[0]), zone.instant(clock.window[1])


def _hull(spans: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    known = [span for span in spans if span is not None]
    return (min(first for first, _ in known), max(last for _, last in known)) if known else None


def _aligned(clock: Clock, anchors: Sequence[tuple[float, float]]) -> Zone | None:
    found = aligned(clock.events, anchors, STEP)
    return fixed(found[0], say("events", events=found[1])) if found else None


def _wanted(source: str, wanted: Sequence[tuple[str, str]]) -> Zone | None:
    fitting = [name for glob, name in wanted if fnmatch(source, glob) or fnmatch(source.rsplit("/", 1)[-1], glob)]
    return Zone(parse_zone(fitting[-1]), fitting[-1], say("given")) if fitting else None


def _fitting(clock: Clock, offsets: Sequence[timedelta], span: tuple[float, float] | None) -> Zone:
    if clock.window is None or span is None or _overlap(clock.window, span, 0) > 0:
        return ASSUMED
    fits = [o.total_seconds() for o in offsets if _overlap(clock.window, span, o.total_seconds()) > 0]
    if len(fits) != 1:
        return ASSUMED
    return fixed(int(fits[0]), say("only-fit"))


def _overlap(window: tuple[float, float], span: tuple[float, float], offset: float) -> float:
    return min(window[1] - offset, span[1]) - max(window[0] - offset, span[0])


Sources = Mapping[str, Source]
"""By link name, as rows name them."""

_SHARED_KINDS = frozenset(
    {"batch-split", "produce-retry", "record-too-large", "record-expired", "settings-printed",
     "membership-notified", "queues-allocated"}
)  # fmt: skip
_EPOCH_KINDS = frozenset({"client-start-time", "consumer-connected", "producer-connected", "subscription-versioned"})
"""Events whose value is their moment in epoch milliseconds."""
_MADE = ("client-created", "connection-made")
"""What a client says when it is about to connect, or has just done so."""
_JOINED = frozenset({"consumer-connected", "producer-connected"})
_MEMBERS = frozenset({"consumer-connected", "consumer-disconnected", "group-offline"})
"""What a RocketMQ broker tells at once to all clients of the group."""
_TROUBLE = frozenset(
    {"producer.batch_splits", "producer.record_retries", "producer.record_errors", "broker.bytes_rejected"}
)
"""Counters whose increase falls together with a line in the client's log."""
_COMPLETE = frozenset({"rebalance-stabilized", "join-completed"})
"""What a coordinator and each member say of the same generation of a group."""


def settled(rows: Rows, sources: Sources, wanted: Sequence[tuple[str, str]]) -> Mapping[str, Zone]:
    """The zone of each log, by path; *wanted* are the user's (glob, zone) pairs."""
    anchors = sorted({*_increases(rows), *_starts(rows), *_memberships(rows, sources)})
    known = settle(_clocks(rows, sources), anchors, _zoned_span(rows, sources), wanted)
    east = _written(rows, sources)
    return {path: written(east.get(path, 0)) if zone is WRITTEN else zone for path, zone in known.items()}


def _written(rows: Rows, sources: Sources) -> Mapping[str, int]:
    """Seconds east of UTC that most lines of each log write, by path."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for row in rows["events"]:
        if row.get("offset") is not None:
            found[sources[row["source"]].path][row["offset"]] += 1
    return {path: min(told, key=lambda offset: (-told[offset], offset)) for path, told in found.items()}


def _clocks(rows: Rows, sources: Sources) -> list[Clock]:
    events: dict[str, list[Row]] = defaultdict(list)
    for row in rows["events"]:
        if row.get("first_at") is not None and row.get("offset") is None:
            events[row["source"]].append(row)
    minutes: dict[str, list[float]] = defaultdict(list)
    for row in rows["coverage"]:
        minutes[row["source"]] += [t for k in ("first_second", "last_second") if (t := minute(row.get(k)))]
    joined, complete = _joined(rows), _completed(rows)
    logs = [(link, s) for link, s in sources.items() if s.reading is Reading.LOG]
    return [
        _clock(source, events[link], minutes[link], joined, complete.get(link, ()))
        for link, source in sorted(logs, key=lambda s: s[1].path)
    ]


def _clock(
    source: Source,
    events: Sequence[Row],
    minutes: Sequence[float],
    joined: Mapping[str, set[float]],
    generations: tuple[tuple[str, float], ...],
) -> Clock:
    ids = {row["client_id"] for row in events if row["kind"] in ("client-configured", *_MADE) and row.get("client_id")}
    own = next(iter(ids)) if len(ids) == 1 else ""
    seen = [*minutes, *(row[k] / MICRO for row in events for k in ("first_at", "last_at") if row.get(k) is not None)]
    return Clock(
        source=source.path,
        written=source.zone_written,
        started=tuple(
            (row["first_at"] / MICRO, row["value_min"] / 1000)
            for row in events
            if row["kind"] in _EPOCH_KINDS and row.get("value_min")
        ),
        events=tuple(sorted({row["first_at"] / MICRO for row in events if row["kind"] in _SHARED_KINDS})),
        window=(min(seen), max(seen)) if seen else None,
        rule=source.zone_rule,
        met=tuple(
            (row["first_at"] / MICRO, tuple(sorted(joined[_client(row, own)])))
            for row in events
            if row["kind"] in _MADE and _client(row, own) in joined
        ),
        generations=generations,
        kin=source.path.rpartition("/")[0] if source.format == kafka_broker_log.FORMAT.name else None,
    )


def _joined(rows: Rows) -> Mapping[str, set[float]]:
    """Epoch seconds at which brokers saw each client id connect."""
    found: dict[str, set[float]] = defaultdict(set)
    for row in rows["events"]:
        if row["kind"] in _JOINED and row.get("client_id") and row.get("value_min"):
            found[row["client_id"]].add(row["value_min"] / 1000)
        if row["kind"] == "client-connected" and row.get("client_id") and row.get("offset") is not None:
            found[row["client_id"]].add(row["first_at"] / MICRO - row["offset"])
    return found


def _client(row: Row, own: str) -> str:
    """Whom the row is about: the client that it names, else the only one of its log."""
    return row.get("client_id") or own


def _completed(rows: Rows) -> Mapping[str, tuple[tuple[str, float], ...]]:
    """By link: (group and generation, on the log's clock) of lines that say that one is complete."""
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for row in rows["events"]:
        told = row["kind"] in _COMPLETE and row.get("group") and row.get("value_min") is not None
        if told and row.get("first_at") is not None:
            at = row["first_at"] / MICRO - (row.get("offset") or 0)
            found[row["source"]].append((f"{row['group']} {row['value_min']:.0f}", at))
    return {link: tuple(these) for link, these in found.items()}


def _increases(rows: Rows) -> Iterator[tuple[float, float]]:
    """When a counter of trouble rose between two samples."""
    for row in rows["metrics"]:
        labels = json.loads(row.get("labels") or "{}")
        if exporters.canonical(row["name"], labels) in _TROUBLE and row.get("offset") is not None:
            points = [(p["at"] / MICRO, p["value"]) for p in row["points"] if p.get("at") is not None]
            yield from ((one - _SLACK, two + _SLACK) for (one, v), (two, w) in pairwise(points) if w > v)


def _starts(rows: Rows) -> Iterator[tuple[float, float]]:
    """When supervisors that write their zone started a process."""
    for row in rows["events"]:
        if row["kind"] == "process-started" and row.get("offset") is not None and row.get("first_at") is not None:
            at = row["first_at"] / MICRO - row["offset"]
            yield at - _SLACK, at + _START_UP


def _memberships(rows: Rows, sources: Sources) -> Iterator[tuple[float, float]]:
    """When RocketMQ brokers whose layout fixes the zone saw a group change."""
    for row in rows["events"]:
        rule, wall = sources[row["source"]].zone_rule, row.get("first_at")
        if row["kind"] in _MEMBERS and rule and wall is not None and row.get("offset") is None:
            at = ruled(rule).instant(wall / MICRO)
            yield at - _SLACK, at + _SLACK


def _zoned_span(rows: Rows, sources: Sources) -> tuple[float, float] | None:
    moments = [s.snapshot_at for s in sources.values() if s.snapshot_at is not None]
    for row in rows["metrics"]:
        if row.get("offset") is not None:
            moments += [p["at"] / MICRO for p in (row["points"][0], row["points"][-1]) if p.get("at") is not None]
    return (min(moments), max(moments)) if moments else None
