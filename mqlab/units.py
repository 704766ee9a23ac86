"""Numbers and times as people read them: three significant digits, decimal units, UTC."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from math import floor, inf, isfinite
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mqlab.errors import BadTimeError, BadTimeZoneError

_STEPS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def digits(value: float, significant: int = 3) -> str:
    """The number with this many significant digits, never in exponent form and never shorter than its integer part."""
    if value == 0 or not isfinite(value):
        return "0" if value == 0 else "∞"
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:,.{max(0, significant - whole)}f}" if whole else f"{value:.{significant}g}"


def size(amount: float) -> str:
    """Bytes: ``50.5 MB``, ``307 kB``, ``812 B``."""
    for step, unit in _STEPS:
        if abs(amount) >= step:
            return f"{digits(amount / step)} {unit}"
    return f"{amount:,.0f} B"


def factor(value: float) -> str:
    """A ratio: ``15.1×``."""
    return f"{digits(value)}×"


def number(value: float) -> str:
    """A count with thousands marked; fractions keep three digits."""
    return f"{value:,.0f}" if float(value).is_integer() else digits(value)


def rate(value: float) -> str:
    """So many a second: ``71.4/s``."""
    return f"{digits(value)}/s"


def counted(count: float, name: str) -> str:
    """How many there are of what has a regular plural: ``1 rebalance``, ``4,200 rebalances``."""
    return f"{number(count)} {name}{'' if count == 1 else 's'}"


def tenths(value: float) -> str:
    """One place behind the point, whatever stands before it: ``300.1``."""
    return f"{value:,.1f}"


def percent(share: float) -> str:
    """A share: ``91.3 %``."""
    return f"{share * 100:.1f} %"


def portion(share: float) -> str:
    """A share that is never rounded up to the whole: ``99.97 %``."""
    return f"{floor(share * 1000) / 10:.1f} %" if share < 0.999 else f"{floor(share * 10_000) / 100:.2f} %"


def duration(seconds: float) -> str:
    """Seconds up to three minutes, then minutes, hours, days."""
    for limit, divisor, unit in ((180, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return f"{digits(seconds / divisor)} {unit}"
    return f"{digits(seconds / 86400)} days"


def brief(seconds: float) -> str:
    """A time that is mostly short: ``85.0 ms``, from a second on as ``duration`` tells it."""
    return duration(seconds) if seconds >= 1 else f"{digits(round(seconds * 1000, 6))} ms"


def measure(name: str, value: float) -> str:
    """A measure of a finding, in the unit that its name carries."""
    words = name.removesuffix("_low").removesuffix("_high").split("_")
    if "factor" in words:
        return factor(value)
    if "fraction" in words or "share" in words:
        return percent(value)
    if "bytes" in words:
        return size(value)
    return duration(value) if words[-1] == "seconds" else number(value)


def interval(measures: Mapping[str, float], name: str) -> Interval:
    """The measure called *name* with its bounds, which are itself where none are known."""
    likely = measures[name]
    return Interval(measures.get(f"{name}_low", likely), likely, measures.get(f"{name}_high", likely))


@dataclass(frozen=True, slots=True)
class Interval:
    """A quantity with the bounds it is taken to lie in; infinite means never.

    A bound that the likely value passes was worked out from other sources than it: it is moved there.
    """

    low: float
    likely: float
    high: float

    def __post_init__(self) -> None:
        """Lower bound, likely value, upper bound."""
        object.__setattr__(self, "low", min(self.low, self.likely))
        object.__setattr__(self, "high", max(self.high, self.likely))

    def words(self, value: Callable[[float], str]) -> str:
        """``36.0 min (31.2 min to 45.1 min)``; the likely one alone where the bounds read the same."""
        likely, low, high = value(self.likely), value(self.low), value(self.high)
        return likely if low == high else f"{likely} ({low} to {high})"

    def plus(self, other: Interval) -> Interval:
        """Sum, bounds added up."""
        return Interval(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def over(self, other: Interval) -> Interval:
        """How many times *other* it is; the bounds do not go with each other. *other* is above zero."""
        return Interval(self.low / other.high, self.likely / other.likely, self.high / other.low if other.low else inf)

    def times(self, factor: float) -> Interval:
        """So many times as much."""
        return Interval(self.low * factor, self.likely * factor, self.high * factor)

    def measures(self, name: str) -> dict[str, float]:
        """The measure called *name*; where they read otherwise, its finite bounds as ``…_low`` and ``…_high`` too."""
        apart = measure(name, self.low) != measure(name, self.high)
        bounds = {f"{name}_low": self.low, f"{name}_high": self.high} if apart else {}
        return {name: self.likely, **{key: value for key, value in bounds.items() if isfinite(value)}}


def between(likely: float, values: Iterable[float]) -> Interval:
    """The interval of what a quantity may be by other readings of the same material."""
    known = (likely, *values)
    return Interval(min(known), likely, max(known))


NO_DATE = 1976
"""The year of moments of which lines show the time only."""


def is_dateless(at: float) -> bool:
    """Whether nothing tells the date of the moment *at*, only its distance from others."""
    return datetime.fromtimestamp(at, UTC).year == NO_DATE


def moment(at: float | datetime | None) -> datetime | None:
    """Epoch seconds or an aware datetime as UTC."""
    if at is None:
        return None
    return at.astimezone(UTC) if isinstance(at, datetime) else datetime.fromtimestamp(round(at, 3), UTC)


def epoch(text: str | float | None) -> float | None:
    """A moment as somebody wrote it, as epoch seconds; without a zone it is UTC."""
    if text is None or isinstance(text, int | float):
        return text
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadTimeError(text) from error
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def clock(at: float | datetime | None) -> str:
    """Time of day, UTC; ``—`` where unknown."""
    known = moment(at)
    return f"{known:%H:%M:%S}" if known else "—"


def minute(at: float | datetime | None) -> str:
    """Time of day, UTC, of what is known to the minute only; ``—`` where unknown."""
    return clock(at)[:5]


def stamp(at: float | datetime | None) -> str:
    """Date and time of day, UTC; ``—`` where unknown."""
    known = moment(at)
    return f"{known:%Y-%m-%d %H:%M:%S}" if known else "—"


def iso(at: float | datetime | None) -> str | None:
    """ISO 8601 with ``Z``, milliseconds only where there are any."""
    known = moment(at)
    if known is None:
        return None
    spec = "milliseconds" if known.microsecond else "seconds"
    return known.replace(tzinfo=None).isoformat(timespec=spec) + "Z"


def by_number(text: str) -> list[tuple[str, int]]:
    """What sorts names by the numbers in them: 3.9 before 3.10."""
    return [(word, int(number or -1)) for word, number in re.findall(r"([^0-9]*)([0-9]*)", text)]


def parse_zone(text: str) -> tzinfo:
    """The zone called *text*: an IANA name, ``UTC`` or an offset such as ``+08:00``.

    Raises:
        BadTimeZoneError: it is neither.
    """
    sign = {"+": 1, "-": -1}.get(text[:1])
    digits = text[1:].replace(":", "")
    try:
        if sign and digits.isdigit() and len(digits) in (2, 4):
            return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0)))
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadTimeZoneError(text) from error
