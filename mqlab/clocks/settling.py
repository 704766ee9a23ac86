"""Which zone a source's clock shows, and why.

Order: written in the line, which nothing overrides > an epoch that the line prints beside its clock > a rule of the
format > a client id that a zoned source saw connect > alignment with zoned sources on at least three shared events or
generations of a consumer group, in steps of fifteen minutes > `--log-tz` > the zone of the other logs of the same
broker > a zone that other sources of the same material were found in and that alone fits > UTC, assumed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from fnmatch import fnmatch

from mqlab.clocks.zones import ASSUMED, WRITTEN, Zone, fixed, parse_zone, ruled

SHARED = 3
"""Shared events that an alignment needs."""
MOST = 0.6
"""Share of a source's events that an alignment must explain."""
NEARLY_ALL = 0.9
"""Share from which a long incident aligns, although its neighbours in time fit in part."""
_FARTHEST = 14 * 3600
_APART = 120.0
"""Seconds within which two logs tell of the same thing, if nothing is wrong but their zones."""


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


STEP = 900
"""Zones differ by multiples of fifteen minutes."""
BEFORE, AFTER = 120.0, 5.0
"""Seconds by which a client may be made before and, by its own clock, after a broker sees it connect."""


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
        if len(offsets) == 1:
            return fixed(offsets.pop(), "the log prints the epoch time of an event beside its own clock")
    if clock.rule:
        return ruled(clock.rule)
    return _recognised(clock) or _aligned(clock, anchors)


def _recognised(clock: Clock) -> Zone | None:
    """The only zone in which each client that the log makes connects at once to a broker that saw its id."""
    fitting = [
        {o for t in epochs if -BEFORE <= wall - t - (o := round((wall - t) / STEP) * STEP) <= AFTER}
        for wall, epochs in clock.met
    ]
    offsets = set.intersection(*fitting) if fitting else set()
    if len(offsets) != 1:
        return None
    return fixed(offsets.pop(), "a broker saw its client id connect at that moment")


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
    return fixed(found[0], f"aligned on {found[1]} generations of consumer groups that others saw") if found else None


def _of_kin(clocks: Sequence[Clock], settled: Mapping[str, Zone]) -> Mapping[str, Zone]:
    """The zones of logs beside which another one of the same process is settled, if those agree."""
    kin: dict[str, dict[str, Zone]] = {}
    for clock in clocks:
        if clock.kin is not None and clock.source in settled and not clock.written:
            kin.setdefault(clock.kin, {})[settled[clock.source].label] = settled[clock.source]
    alike = {name: next(iter(zones.values())) for name, zones in kin.items() if len(zones) == 1}
    return {
        clock.source: replace(alike[clock.kin], why="that of the other logs of this broker")
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
    return fixed(found[0], f"aligned with zoned sources on {found[1]} shared events") if found else None


def _wanted(source: str, wanted: Sequence[tuple[str, str]]) -> Zone | None:
    fitting = [name for glob, name in wanted if fnmatch(source, glob) or fnmatch(source.rsplit("/", 1)[-1], glob)]
    return Zone(parse_zone(fitting[-1]), fitting[-1], "given by --log-tz") if fitting else None


def _fitting(clock: Clock, offsets: Sequence[timedelta], span: tuple[float, float] | None) -> Zone:
    if clock.window is None or span is None or _overlap(clock.window, span, 0) > 0:
        return ASSUMED
    fits = [o.total_seconds() for o in offsets if _overlap(clock.window, span, o.total_seconds()) > 0]
    if len(fits) != 1:
        return ASSUMED
    return fixed(int(fits[0]), "assumed: the only zone found in this material in which the log falls into its time")


def _overlap(window: tuple[float, float], span: tuple[float, float], offset: float) -> float:
    return min(window[1] - offset, span[1]) - max(window[0] - offset, span[0])
