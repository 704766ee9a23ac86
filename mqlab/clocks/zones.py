"""Zones of clocks, and years that lines leave out.

They come out of Spark in a leap year long before Kafka. Each moment is put into the year in which it is nearest to
what the rest of the material covers; without such, into the last year in which it was not later than its file's last
change. Zones are settled afterwards: no offset moves a moment by half a year.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

from mqlab.formats.layouts import NO_YEAR
from mqlab.sources import Source
from mqlab.units import parse_zone


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


Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]

MICRO = 1_000_000
"""Microseconds of a second."""
_DAY = 86_400.0
"""Seconds by which a clock may be ahead of that of the file: it shows its own zone."""
_MOMENTS = ("first_at", "last_at", "wall", "at")
_MINUTES = ("first_minute", "last_minute", "minute")
_MINUTE = "%Y-%m-%d %H:%M"


def dated(rows: Rows, sources: Mapping[str, Source]) -> Rows:
    """*rows* by fact, whose moments are on their lines' own clocks, with the year where the line wrote none.

    A moment whose year nothing tells becomes None. *sources* are by link, as the rows name them.
    """
    without = {row["source"] for row in rows["coverage"] if str(row.get("first_minute")).startswith(NO_YEAR)}
    if not without:
        return rows
    span = _span(rows, sources)
    known: dict[str, list[Row]] = {}
    for fact, every in rows.items():
        known[fact] = [
            _dated(row, span, sources[row["source"]].modified) if row["source"] in without else row for row in every
        ]
    return {**rows, **known}


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
    minutes = [text for row in rows["coverage"] for name in _MINUTES if (text := row.get(name))]
    times = [t for text in minutes if not text.startswith(NO_YEAR) if (t := minute(text)) is not None]
    times += [source.snapshot_at for source in sources.values() if source.snapshot_at is not None]
    times += [p["at"] / MICRO for row in rows["metrics"] for p in row["points"] if p.get("at") is not None]
    return (min(times), max(times)) if times else None


def minute(text: str | None) -> float | None:
    """Seconds on the line's own clock at ``2026-11-21 12:18``; None where it is no moment."""
    try:
        return datetime.fromisoformat(text.replace("T", " ")).replace(tzinfo=UTC).timestamp() if text else None
    except ValueError:
        return None


def _dated(row: Row, span: tuple[float, float] | None, modified: float | None) -> Row:
    """*row* with the year in all its moments, those of the lists in it too."""

    def year(wall: float) -> float | None:
        return placed(wall, span, modified)

    return {name: _value(name, value, year) for name, value in row.items()}


def _value(name: str, value: Any, year: Callable[[float], float | None]) -> Any:
    if isinstance(value, list):
        return [{n: _value(n, v, year) for n, v in one.items()} if isinstance(one, dict) else one for one in value]
    if name in _MINUTES and isinstance(value, str) and value.startswith(NO_YEAR):
        at = year(wall) if (wall := minute(value)) is not None else None
        return None if at is None else f"{datetime.fromtimestamp(at, UTC):{_MINUTE}}"
    if name in _MOMENTS and value is not None and str(_year(value / MICRO)) == NO_YEAR:
        at = year(value / MICRO)
        return None if at is None else round(at * MICRO)
    return value
