"""Moments shifted by whole weeks: times of day and days of the week stay, so that only dates change their digits.

Dates are known by their shape, numbers since 1970 by lying within a year of the material; both keep their length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = "|".join(_MONTHS).encode()
_YEAR = 366 * 86400.0
_DATE = re.compile(
    rb"(?<!\d)(?P<y>20\d\d)(?P<m1>[-/.]?)(?P<m>0[1-9]|1[0-2])(?P=m1)(?P<d>0[1-9]|[12]\d|3[01])"
    rb"(?=T\d|[ _.,;\"\]\)/:-]|\d{6}(?:\d{3})?(?!\d)|Z|\Z|[\r\n])"
    rb"|(?<![\d\w])(?P<d2>[0-3]\d)/(?P<n2>" + _MONTH + rb")/(?P<y2>20\d\d)"
    rb"|(?<![\w])(?P<n3>"
    + _MONTH
    + rb") (?P<d3>[ 0-3]\d)(?= \d\d:\d\d:\d\d)(?: (?P<t3>\d\d:\d\d:\d\d[.\d]*) (?P<y3>20\d\d))?"
)
_NUMBER = re.compile(rb"(?<![\d.\w-])\d{10}(?:\d{3}|\d{6}|\d{9})?(?![\d\w])")


class Shift:
    """Moves dates of a material by weeks."""

    def __init__(self, weeks: int, first: float | None, last: float | None) -> None:
        """Move by *weeks*; numbers are moments from a year before *first* to a year after *last*."""
        self.seconds = weeks * 7 * 86400
        self._first, self._last = (first or 0.0) - _YEAR, (last or 0.0) + _YEAR
        self._year = datetime.fromtimestamp(last or 0.0, UTC).year

    def __call__(self, data: bytes) -> bytes:
        """*data* with its moments moved."""
        if not self.seconds:
            return data
        return _NUMBER.sub(self._number, _DATE.sub(self._date, data))

    def _number(self, found: re.Match[bytes]) -> bytes:
        scale = 10 ** (len(found[0]) - 10)
        number = int(found[0])
        inside = self._first <= number / scale <= self._last
        return b"%d" % (number + self.seconds * scale) if inside else found[0]

    def _date(self, found: re.Match[bytes]) -> bytes:
        try:
            if found["y"]:
                mark = found["m1"].decode()
                return self._moved(
                    int(found["y"]), int(found["m"]), int(found["d"]), lambda at: f"{at:%Y{mark}%m{mark}%d}"
                )
            if found["y2"]:
                month = _MONTHS.index(found["n2"].decode()) + 1
                return self._moved(int(found["y2"]), month, int(found["d2"]), lambda at: f"{at:%d}/{_name(at)}/{at:%Y}")
            month, pad = _MONTHS.index(found["n3"].decode()) + 1, "0" if found["d3"][:1] == b"0" else " "
            behind = f" {found['t3'].decode()}" if found["y3"] else ""
            year = int(found["y3"] or self._year)
            said = self._moved(year, month, int(found["d3"]), lambda at: f"{_name(at)} {at.day:{pad}>2}")
            return said + (
                behind.encode() + self._moved(year, month, int(found["d3"]), lambda at: f" {at:%Y}") if behind else b""
            )
        except ValueError:
            return found[0]

    def _moved(self, year: int, month: int, day: int, shape: Callable[[datetime], str]) -> bytes:
        return shape(datetime(year, month, day, tzinfo=UTC) + timedelta(seconds=self.seconds)).encode()


def _name(at: datetime) -> str:
    return _MONTHS[at.month - 1]
