"""Zones of clocks, and years and days that lines leave out.

They come out of Spark in leap years long before Kafka. Each moment without a year is put into the year in which it is
nearest to what the rest of the material covers; without such, into the last year in which it was not later than its
file's last change. Zones are settled afterwards: no offset moves a moment by half a year.

A log whose lines show the time only is moved as a whole to the days on which it is nearest to the rest. What lies
outside of the rest once zones are settled has no moment: such a line moves no window. Where nothing has a date, the
log stays in the year ``NO_DATE``, and only the times between its lines are known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import partial
from typing import Any

from mqlab import words
from mqlab.formats.layouts import NO_YEAR
from mqlab.sources import Source
from mqlab.units import NO_DATE, parse_zone

say = words.room("clocks")


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


WRITTEN = Zone(UTC, "as written", say("written"))
ASSUMED = Zone(UTC, "UTC", say("assumed"))


Instant = Callable[[str, float | None, int | None], float | None]
"""(source, wall in seconds, offset written in the line) → epoch seconds."""


def ruled(rule: str) -> Zone:
    """The zone that a format fixes to the offset *rule*."""
    return Zone(parse_zone(rule), rule, say("rule"))


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


Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]

MICRO = 1_000_000
"""Microseconds of a second."""
_DAY = 86_400.0
"""Seconds by which a clock may be ahead of that of the file: it shows its own zone."""
_Move = Callable[[float], float | None]
"""Seconds on a line's own clock, moved."""
_MOMENTS = ("first_at", "last_at", "wall", "at")
_MINUTE, _SECOND = "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"
_TEXTS = {"first_minute": _MINUTE, "last_minute": _MINUTE, "minute": _MINUTE} | dict.fromkeys(
    ("first_second", "last_second"), _SECOND
)
"""Moments that are texts, and how they are written."""


def dated(rows: Rows, sources: Mapping[str, Source]) -> Rows:
    """*rows* by fact, whose moments are on their lines' own clocks, with the year where the line wrote none.

    A moment whose year nothing tells becomes None. *sources* are by link, as the rows name them.
    """
    span = _span(rows, sources)
    years = {link: partial(placed, span=span, modified=sources[link].modified) for link in marked(rows, int(NO_YEAR))}
    known = _moved(rows, int(NO_YEAR), years)
    span = _span(known, sources)
    days = {link: partial(_on_days, days=_days(own, span)) for link, own in marked(known, NO_DATE).items() if span}
    return _moved(known, NO_DATE, days)


def marked(rows: Rows, year: int) -> Mapping[str, tuple[float, float]]:
    """What each log with lines in the *year* that stands for none covers of it, by link."""
    found: dict[str, list[float]] = {}
    for row in rows["coverage"]:
        for text in (row.get(name) for name in _TEXTS):
            if str(text).startswith(str(year)):
                found.setdefault(row["source"], []).extend(at for at in (minute(text),) if at is not None)
    for row in rows["metrics"]:
        if times := [at for at in _points(row) if _year(at) == year]:
            found.setdefault(row["source"], []).extend(times)
    return {link: (min(times), max(times)) for link, times in found.items() if times}


def _points(row: Row) -> Iterator[float]:
    """Moments of the samples of a series."""
    return (p["at"] / MICRO for p in row["points"] if p.get("at") is not None)


def bounded(instant: Instant, dateless: Collection[str], span: tuple[float | None, float | None]) -> Instant:
    """*instant*, by which the *dateless* logs have no moments outside of the *span* of the rest."""
    first, last = span
    if first is None or last is None or not dateless:
        return instant

    def inside(source: str, wall: float | None, offset: int | None) -> float | None:
        at = instant(source, wall, offset)
        return None if at is not None and source in dateless and not first <= at <= last else at

    return inside


def _days(own: tuple[float, float], span: tuple[float, float]) -> float:
    """Seconds of the whole days by which what covers *own* is nearest to *span*; 0 where several days fit as well."""
    likely = (span[0] - own[0]) // _DAY * _DAY
    near = sorted(
        (max(span[0] - own[0] - days, own[1] + days - span[1], 0.0), days)
        for days in (likely + n * _DAY for n in range(3))
    )
    return near[0][1] if near[0][0] < near[1][0] else 0.0


def _on_days(wall: float, days: float) -> float:
    return wall + days


def placed(wall: float, span: tuple[float, float] | None, modified: float | None) -> float | None:
    """Seconds of *wall*, which is in any year, in the one that fits; all on the line's own clock.

    *span* is what the rest of the material covers, *modified* when the file was last changed.
    """
    at = datetime.fromtimestamp(wall, UTC)
    if span is not None:
        near = _in_years(at, range(_year(span[0]) - 1, _year(span[1]) + 2))
        return min(near, key=lambda t: (max(span[0] - t, t - span[1], 0.0), t), default=None)
    if modified is None:
        return None
    last = _year(modified)
    return max((t for t in _in_years(at, range(last - 8, last + 2)) if t <= modified + _DAY), default=None)


def _in_years(at: datetime, years: range) -> Iterator[float]:
    """*at* in each of *years*, without those that have no 29 February where it is one."""
    for year in years:
        try:
            yield at.replace(year=year).timestamp()
        except ValueError:
            continue


def _year(at: float) -> int:
    return datetime.fromtimestamp(at, UTC).year


def _span(rows: Rows, sources: Mapping[str, Source]) -> tuple[float, float] | None:
    """What is dated with its year covers."""
    minutes = [text for row in rows["coverage"] for name in _TEXTS if (text := row.get(name))]
    times = [t for text in minutes if not text.startswith((NO_YEAR, str(NO_DATE))) if (t := minute(text)) is not None]
    times += [source.snapshot_at for source in sources.values() if source.snapshot_at is not None]
    times += [at for row in rows["metrics"] for at in _points(row) if _year(at) not in (int(NO_YEAR), NO_DATE)]
    return (min(times), max(times)) if times else None


def minute(text: str | None) -> float | None:
    """Seconds on the line's own clock at ``2026-11-21 12:18``; None where it is no moment."""
    try:
        return datetime.fromisoformat(text.replace("T", " ")).replace(tzinfo=UTC).timestamp() if text else None
    except ValueError:
        return None


def _moved(rows: Rows, year: int, by_link: Mapping[str, _Move]) -> Rows:
    """*rows* with all moments in this *year* moved, as each log's are."""
    if not by_link:
        return rows
    known: dict[str, list[Row]] = {}
    for fact, every in rows.items():
        known[fact] = [_row(row, year, by_link[row["source"]]) if row["source"] in by_link else row for row in every]
    return {**rows, **known}


def _row(row: Row, year: int, move: _Move) -> Row:
    """*row* with all its moments in this *year* moved, those of the lists in it too."""
    return {name: _value(name, value, year, move) for name, value in row.items()}


def _value(name: str, value: Any, year: int, move: _Move) -> Any:
    if isinstance(value, list):
        return [_row(one, year, move) if isinstance(one, dict) else one for one in value]
    if name in _TEXTS and isinstance(value, str) and value.startswith(str(year)):
        at = move(wall) if (wall := minute(value)) is not None else None
        return None if at is None else f"{datetime.fromtimestamp(at, UTC):{_TEXTS[name]}}"
    if name in _MOMENTS and value is not None and _year(value / MICRO) == year:
        at = move(value / MICRO)
        return None if at is None else round(at * MICRO)
    return value
