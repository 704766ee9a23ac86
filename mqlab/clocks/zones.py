"""Zones of clocks, and moments that are told on a clock in one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mqlab.errors import BadTimeZoneError


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


Instant = Callable[[str, float | None, int | None], float | None]
"""(source, wall in seconds, offset written in the line) → epoch seconds."""


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


def ruled(rule: str) -> Zone:
    """The zone that a format fixes to the offset *rule*."""
    return Zone(parse_zone(rule), rule, "this format's clock shows it wherever it is written")


def fixed(offset: int, why: str) -> Zone:
    """The zone that is *offset* seconds east of UTC."""
    if offset == 0:
        return Zone(UTC, "UTC", why)
    sign, rest = ("+" if offset > 0 else "-"), abs(offset)
    return Zone(timezone(timedelta(seconds=offset)), f"{sign}{rest // 3600:02d}:{rest % 3600 // 60:02d}", why)


def written(offset: int) -> Zone:
    """The zone of a log whose lines write it, mostly *offset* seconds east of UTC: for what tells minutes only."""
    return replace(WRITTEN, tz=timezone(timedelta(seconds=offset))) if offset else WRITTEN


def instants(zones: Mapping[str, Zone]) -> Instant:
    """A function that turns a line's clock into epoch seconds."""

    def instant(source: str, wall: float | None, offset: int | None) -> float | None:
        if wall is None:
            return None
        if offset is not None:
            return wall - offset
        return zones.get(source, ASSUMED).instant(wall)

    return instant
