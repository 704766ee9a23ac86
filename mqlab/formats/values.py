r"""Numbers, moments, labels and cells of CSV as texts hold them, and regexes for Polars, whose engine is Rust's.

What is no number or no moment is None, never an error: a bad line stops nothing. Samples of regexes::

    ^\\d{10}\\s    ^[0-9]{10}[\t-\r ]        its \\d, \\s, \\w and \b would know all of Unicode
    \\<a\\>         <a>                    its \\< and \\> are ends of words
    (?:a.){0,500}  (?:a.)*              it needs no such bound, and would copy the group as often

Rust's engine knows no lookaround and no back references.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone

MICRO = 1_000_000
"""Microseconds of a second."""
_WHOLE = re.compile(r"\s*[+-]?\d{1,19}\s*", re.ASCII)
_REAL = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?\s*", re.ASCII)
_LONG = 1 << 63
_ISO = re.compile(
    r"\s*(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d{1,9}))?"
    r"\s?(Z|UTC|GMT|[+-]\d{1,2}:?\d{2})?)?\s*",
    re.ASCII,
)
_LABEL = re.compile(r'([A-Za-z_][\w.-]*)="((?:[^"\\]|\\.)*)"', re.ASCII)
_ESCAPED = re.compile(r'\\(["\\])')


def whole(text: str | None) -> int | None:
    """The whole number in *text*; None where it is none, or one of more than 64 bits."""
    if text is None or not _WHOLE.fullmatch(text):
        return None
    number = int(text)
    return number if -_LONG <= number < _LONG else None


def real(text: str | None) -> float | None:
    """The number in *text*; None for NaN, infinities and anything else."""
    if text is None or not _REAL.fullmatch(text):
        return None
    number = float(text.strip().rstrip("dDfF"))
    return number if math.isfinite(number) else None


def east(zone: str | None) -> int | None:
    """Seconds east of UTC of ``Z``, ``UTC``, ``GMT``, ``+0100``, ``+01:00``; None for anything else."""
    if zone in ("Z", "UTC", "GMT"):
        return 0
    found = re.fullmatch(r"([+-])(\d{1,2}):?(\d{2})", zone or "", re.ASCII)
    if not found:
        return None
    seconds = int(found[2]) * 3600 + int(found[3]) * 60
    return -seconds if found[1] == "-" else seconds


def instant(text: str | None) -> int | None:
    """Microseconds of a date with a clock in ISO's form; read as UTC where it writes no zone."""
    found = _ISO.fullmatch(text) if text else None
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:
        return None
    return micros(moment) + int((fraction or "").ljust(6, "0")[:6]) - (east(zone) or 0) * MICRO


def micros(moment: datetime) -> int:
    """Microseconds since 1970 of an aware *moment*."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def at_zone(moment: datetime, seconds_east: int) -> int:
    """Microseconds of a naive *moment* that a clock so far east of UTC shows."""
    return micros(moment.replace(tzinfo=timezone(timedelta(seconds=seconds_east))))


def epoch(text: str | float | None) -> int | None:
    """Microseconds of epoch seconds or milliseconds, told apart by size."""
    number = real(text) if isinstance(text, str) else text
    if number is None or not math.isfinite(number):
        return None
    value = round((number / 1000 if abs(number) > 1e11 else number) * MICRO)
    return value if abs(value) < _LONG else None


def labels(text: str | None) -> dict[str, str]:
    r"""The labels of ``topic="a",path="C:\\x"``; of one that is named twice the first counts."""
    return first_of_each((name, _ESCAPED.sub(r"\1", word)) for name, word in _LABEL.findall(text or ""))


def first_of_each(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A mapping of *pairs*; of a name that comes twice the first value counts."""
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(name, value)
    return found


def filled(text: str | None) -> str | None:
    """*text*; None where it is empty."""
    return text or None


def cells(line: str, separator: str = ",") -> list[str]:
    """What stands between the separators, without quotes; nothing of a line that no CSV writer wrote."""
    try:
        return next(csv.reader((line,), delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return []


def moment(cell: str) -> int | None:
    """Microseconds of epoch seconds, epoch milliseconds or a date with a clock."""
    number = epoch(cell)
    return instant(cell) if number is None else number


_ASCII = {
    "d": "[0-9]", "D": "[^0-9]", "s": r"[\t-\r ]", "S": r"[^\t-\r ]", "w": "[0-9A-Za-z_]", "W": "[^0-9A-Za-z_]",
    "b": r"(?-u:\b)", "<": "<", ">": ">",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BOUND = "{0,500}"
"""What keeps Java from recursing too deep."""


def rust(pattern: str) -> str:
    """The *pattern* as Rust reads what Java and Python, with ``re.ASCII``, read in it."""
    return _ESCAPE.sub(lambda escape: _ASCII.get(escape[1], escape[0]), pattern).replace(_BOUND, "*")
