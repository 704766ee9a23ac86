"""Which zone a source's clock shows, and why.

Order: written in the line, which nothing overrides > an epoch that the line prints beside its clock > alignment with
zoned sources on at least three shared events, in steps of fifteen minutes > `--log-tz` >
a zone that other sources of the same material were found in and that alone fits > UTC, assumed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from fnmatch import fnmatch
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mqlab.errors import BadTimeZoneError

STEP = 900
"""Zones differ by multiples of fifteen minutes."""
SHARED = 3
"""Shared events that an alignment needs."""
MOST = 0.6
"""Share of a source's events that an alignment must explain."""
NEARLY_ALL = 0.9
"""Share from which a long incident aligns, although its neighbours in time fit in part."""
_REACH = range(-14 * 3600, 14 * 3600 + STEP, STEP)


@dataclass(frozen=True, slots=True)
class Zone:
    """The zone of one source's clock."""

    tz: tzinfo
    label: str
    why: str

    def instant(self, wall: float) -> float:
        """Epoch seconds of *wall*, which counts seconds as if the clock showed UTC."""
        naive = datetime.fromtimestamp(wall, UTC).replace(tzinfo=None)
        return naive.replace(tzinfo=self.tz).timestamp()


WRITTEN = Zone(UTC, "as written", "the lines write their zone")
ASSUMED = Zone(UTC, "UTC", "assumed: nothing in the material says")


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


def parse_zone(text: str) -> tzinfo:
    """The zone called *text*: an IANA name, ``UTC`` or an offset such as ``+08:00``.

    Raises:
        BadTimeZoneError: it is neither.
    """
    sign = {"+": 1, "-": -1}.get(text[:1])
    digits = text[1:].replace(":", "")
    if sign and digits.isdigit() and len(digits) in (2, 4):
        return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0)))
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadTimeZoneError(text) from error


def settle(
    clocks: Sequence[Clock],
    anchors: Sequence[tuple[float, float]],
    span: tuple[float, float] | None,
    wanted: Sequence[tuple[str, str]],
) -> Mapping[str, Zone]:
    """The zone of each source.

    *anchors* are intervals (epoch seconds) in which a zoned source saw something happen, *span* is what the zoned
    sources cover, *wanted* are (glob, zone) pairs of the user, later ones win.
    """  # fmt: skip
    settled: dict[str, Zone] = {}
    for clock in clocks:
        zone = _certain(clock, anchors) or _wanted(clock.source, wanted)
        if zone:
            settled[clock.source] = zone
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
            return _fixed(offsets.pop(), "the log prints the epoch time of a start beside its own clock")
    return _aligned(clock, anchors)


def _aligned(clock: Clock, anchors: Sequence[tuple[float, float]]) -> Zone | None:
    """The zone in which the events fall together with the anchors, where no other comes near."""
    if len(clock.events) < SHARED or len(anchors) < SHARED:
        return None
    merged = _merged(anchors)
    scores = sorted(((_shared(clock.events, merged, offset), -abs(offset), offset) for offset in _REACH), reverse=True)
    (best, _, offset), (second, _, _) = scores[0], scores[1]
    if best < SHARED or best < MOST * len(clock.events):
        return None
    whole = best >= NEARLY_ALL * len(clock.events) and best - second >= max(SHARED, (1 - NEARLY_ALL) * best)
    if second * 2 > best and not whole:
        return None
    return _fixed(offset, f"aligned with zoned sources on {best} shared events")


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


def _wanted(source: str, wanted: Sequence[tuple[str, str]]) -> Zone | None:
    fitting = [name for glob, name in wanted if fnmatch(source, glob) or fnmatch(source.rsplit("/", 1)[-1], glob)]
    return Zone(parse_zone(fitting[-1]), fitting[-1], "given by --log-tz") if fitting else None


def _fitting(clock: Clock, offsets: Sequence[timedelta], span: tuple[float, float] | None) -> Zone:
    if clock.window is None or span is None or _overlap(clock.window, span, 0) > 0:
        return ASSUMED
    fits = [o.total_seconds() for o in offsets if _overlap(clock.window, span, o.total_seconds()) > 0]
    if len(fits) != 1:
        return ASSUMED
    return _fixed(int(fits[0]), "assumed: the only zone found in this material in which the log falls into its time")


def _overlap(window: tuple[float, float], span: tuple[float, float], offset: float) -> float:
    return min(window[1] - offset, span[1]) - max(window[0] - offset, span[0])


def _fixed(offset: int, why: str) -> Zone:
    if offset == 0:
        return Zone(UTC, "UTC", why)
    sign, rest = ("+" if offset > 0 else "-"), abs(offset)
    return Zone(timezone(timedelta(seconds=offset)), f"{sign}{rest // 3600:02d}:{rest % 3600 // 60:02d}", why)


Instant = Callable[[str, float | None, int | None], float | None]
"""(source, wall in seconds, offset written in the line) → epoch seconds."""


def instants(zones: Mapping[str, Zone]) -> Instant:
    """A function that turns a line's clock into epoch seconds."""

    def instant(source: str, wall: float | None, offset: int | None) -> float | None:
        if wall is None:
            return None
        if offset is not None:
            return wall - offset
        return zones.get(source, ASSUMED).instant(wall)

    return instant
