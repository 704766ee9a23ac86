"""Numbers and times as people read them: three significant digits, decimal units, UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from mqlab.errors import BadTimeError

_STEPS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def digits(value: float, significant: int = 3) -> str:
    """The number with this many significant digits, never in exponent form and never shorter than its integer part."""
    if value == 0:
        return "0"
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


def counted(count: float, name: str) -> str:
    """How many there are of what has a regular plural: ``1 rebalance``, ``4,200 rebalances``."""
    return f"{number(count)} {name}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """A share: ``91.3 %``."""
    return f"{share * 100:.1f} %"


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
    words = name.split("_")
    if "factor" in words:
        return factor(value)
    if "fraction" in words or "share" in words:
        return percent(value)
    if "bytes" in words:
        return size(value)
    return duration(value) if words[-1] == "seconds" else number(value)


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
