"""Moments as applications write them into ledgers, as columns of microseconds since 1970.

Samples::

    1795262756811    1795262756.811    2026-11-21T12:05:56.811Z    2026-11-21 12:05:56,811 +0100
    21.11.2026 12:05:56.811    2026/11/21 12:05:56    21/Nov/2026:12:05:56 +0100

Where no zone is written the moment is taken for UTC. A date of slashes that begins with numbers for day and month is
no moment: nothing tells which is which.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from mqlab.formats import values
from mqlab.formats.other_dates import MONTHS

_MILLIS, _MICROS, _SECONDS = "^[0-9]{13}$", "^[0-9]{16}$", r"^[0-9]{10}(?:\.[0-9]+)?$"
_EAST = " ?([+-])([01][0-9]):?([0-5][0-9])$"
_ISO = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]{{1,9}})?(?:Z?$|{_EAST})"
_SWAPPED = (
    (r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})[T ]", "$3-$2-$1 "),
    ("^([0-9]{4})/([0-9]{2})/([0-9]{2})[T ]", "$1-$2-$3 "),
    (f"^([0-9]{{2}})/({'|'.join(MONTHS)})/([0-9]{{4}})[: ]", "$3-$2-$1 "),
)
"""Dates of other forms, and how ISO writes them."""
_NUMBERS = {f"-{month}-": f"-{number:02d}-" for number, month in enumerate(MONTHS, 1)}
_OTHER = re.compile(
    r"\s*(?P<date>\d{4}-\d{1,2}-\d{1,2})(?:[T ](?P<clock>\d{1,2}(?::\d{1,2}){0,2})(?:[.,](?P<fraction>\d{0,9}))?"
    r" ?(?P<zone>Z|[+-]\d{1,2}:?\d{2}|[A-Za-z][\w/+-]*)?)?\s*",
    re.ASCII,
)
_LONGEST = 64
"""Characters of a moment."""


def instants(text: pl.Series) -> pl.Series:
    """Microseconds of the moments in *text*; null where it is none. Each form is looked for in what is left."""
    found = _counted(text)
    for form in (_iso, _swapped, _others):
        left = (found.is_null() & text.is_not_null()).arg_true()
        if len(left):
            found = found.scatter(left, form(text.gather(left)))
    return found


def _counted(text: pl.Series) -> pl.Series:
    """Of milliseconds, microseconds or seconds since 1970."""
    whole = text.str.to_integer(strict=False)
    seconds = (text.cast(pl.Float64, strict=False) * values.MICRO).round().cast(pl.Int64, strict=False)
    found = (
        pl.when(text.str.contains(_MILLIS)).then(whole * 1000)
        .when(text.str.contains(_MICROS)).then(whole)
        .when(text.str.contains(_SECONDS)).then(seconds)
    )  # fmt: skip
    return pl.select(found).to_series().replace(0, None)


def _iso(text: pl.Series) -> pl.Series:
    """Of a date as ISO writes it; null where the calendar has no such day."""
    iso = text.set(~text.str.contains(_ISO), None)
    day = iso.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    clock = iso.str.slice(11, 8).str.to_time("%H:%M:%S", strict=False).cast(pl.Int64) // 1000
    rest = iso.str.slice(19)
    east, bare = pl.Series([0]), rest.str.strip_suffix("Z")
    if rest.str.contains("[+-]").any():
        hours, minutes = (rest.str.extract(_EAST, n).cast(pl.Int64) for n in (2, 3))
        east = (rest.str.extract(_EAST) + "1").cast(pl.Int64) * (hours * 3600 + minutes * 60)
        bare = bare.str.replace(_EAST, "")
    fraction = bare.str.slice(1, 6).str.pad_end(6, "0").cast(pl.Int64)
    return (day * 86_400 - east.fill_null(0)) * values.MICRO + clock + fraction


def _swapped(text: pl.Series) -> pl.Series:
    """Of a date with dots, slashes or the name of a month."""
    for form, by in _SWAPPED:
        text = text.str.replace(form, by)
    return _iso(text.str.replace_many(_NUMBERS))


def _others(text: pl.Series) -> pl.Series:
    return text.map_elements(_other, return_dtype=pl.Int64)


def _other(text: str) -> int | None:
    """Of ISO's form with numbers of one figure, without seconds, or with the name of a zone."""
    found = _OTHER.fullmatch(text) if len(text) <= _LONGEST else None
    if not found:
        return None
    clock = f"{found['clock'] or '0'}:0:0".split(":")
    wall = values.instant(f"{found['date']} {':'.join(clock[:3])}.{found['fraction'] or '0'}")
    return None if wall is None else _on_earth(wall, found["zone"] or "Z")


def _on_earth(wall: int, zone: str) -> int | None:
    """Microseconds of a moment on the clocks of a *zone*, which may be the name of a place."""
    seconds = values.east(zone)
    if seconds is not None:
        return wall - seconds * values.MICRO
    try:
        naive = datetime.fromtimestamp(wall // values.MICRO, UTC)
        return values.micros(naive.replace(tzinfo=ZoneInfo(zone))) + wall % values.MICRO
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
