"""The year of lines that write none, as those of syslog: ``Nov 22 00:24:29 app-7 systemd[1]: …``.

They come out of Spark in a leap year long before Kafka. Each moment is put into the year in which it is nearest to
what the rest of the material covers; without such, into the last year in which it was not later than its file's last
change. Zones are settled afterwards: no offset moves a moment by half a year.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mqlab.formats.layouts import NO_YEAR
from mqlab.sources import Source

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]

_MICRO = 1_000_000
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
    times = [t for text in minutes if not text.startswith(NO_YEAR) if (t := _moment(text)) is not None]
    times += [source.snapshot_at for source in sources.values() if source.snapshot_at is not None]
    times += [p["at"] / _MICRO for row in rows["metrics"] for p in row["points"] if p.get("at") is not None]
    return (min(times), max(times)) if times else None


def _moment(minute: str) -> float | None:
    try:
        return datetime.strptime(minute, _MINUTE).replace(tzinfo=UTC).timestamp()
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
        at = year(wall) if (wall := _moment(value)) is not None else None
        return None if at is None else f"{datetime.fromtimestamp(at, UTC):{_MINUTE}}"
    if name in _MOMENTS and value is not None and str(_year(value / _MICRO)) == NO_YEAR:
        at = year(value / _MICRO)
        return None if at is None else round(at * _MICRO)
    return value
