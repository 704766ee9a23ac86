"""Moments as only a few programs write them, at the beginning of a line.

Sample lines::

    22.11.2026 06:43:08: Client trolley-055 disconnected.          mosquitto, log_timestamp_format %d.%m.%Y %H:%M:%S
    22/Nov/2026:10:46:14 +0100: Client cat-4 disconnected.         mosquitto, %d/%b/%Y:%H:%M:%S %z
    Sun Nov 22 10:46:14 2026: Client cat-4 disconnected.           mosquitto, %c
    18:54:07 22.11.2026: Client fan-2 disconnected.                mosquitto, %H:%M:%S %d.%m.%Y
    Nov 22, 2026 7:21:50 AM lab.Device connectionLost              java.util.logging, up to Java 19 and from Java 20 on
    1795330392.917 INFO connected rc=Success                       Python, seconds since 1970

Java 20 and later write a narrow no-break space before AM and PM (CLDR 42). A date with slashes that begins with a day
or a month in figures is none of these: nothing tells which of the two it is.
"""

from __future__ import annotations

import re
from itertools import count

from mqlab.sql import group, matches, quoted

_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
MONTH = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
WEEKDAY = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_JAVA = r"^([A-Z][a-z]{2}) (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d:\d\d)\W([AP]M) "
_SECONDS = r"^(1\d{9})\.(\d{3})\d{0,6} "

_PIECES = {
    "Y": r"(\d{4})",
    "m": r"(\d\d)",
    "d": r"(\d\d)",
    "e": r"(\d{1,2})",
    "b": rf"({MONTH})[a-z]{{0,6}}",
    "a": rf"(?:(?:{WEEKDAY})[a-z]{{0,6}},? )?",
    "T": r"(\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)",
    "z": r"(?: ?(Z|UTC|GMT|[+-]\d\d:?\d\d)(?=[^\w]|$))?",
    "Z": "[A-Z]{3,5}",
}
_LAYOUTS = (
    r"%d\.%m\.%Y[ ,T-]{1,2}%T%z",
    r"%Y\.%m\.%d[ ,T-]{1,2}%T%z",
    r"%Y%m%d[ T_-]%T%z",
    r"%a%e[/ .-]{1,2}%b[/ .-]{1,2}%Y[:, T]{1,2}%T%z",
    r"%Y[/ -]%b[/ -]%e[:, T]{1,2}%T%z",
    r"%a%b {1,2}%e,? %Y[:,]? %T(?!\W[AP]M )%z",
    r"%a%b {1,2}%e %T %Y%z",
    r"%a%b {1,2}%e %T %Z %Y",
    r"%T,? %d\.%m\.%Y%z",
    r"%T,? %Y[-/]%m[-/]%d%z",
    r"%T,? %e[/ -]%b[/ -]%Y%z",
)
"""What ``strftime`` gives without a doubt about day and month; ``%a`` with the blank behind it, where there is one."""
_PARTS = ("Y", "mb", "de", "T", "z")
"""Year, month, day, clock and zone, by the pieces that tell them."""


def _compiled() -> tuple[str, str]:
    """A regex for all layouts, and the parts of whichever fits, parted by bars; groups of the others are empty."""
    found = dict.fromkeys(_PARTS, "")
    numbers, patterns = count(1), []
    for layout in _LAYOUTS:
        first, *pieces = layout.split("%")
        for piece in pieces:
            first += _PIECES[piece[0]] + piece[1:]
            for part in _PARTS:
                found[part] += f"${next(numbers)}" if piece[0] in part else ""
        patterns.append(first)
    return rf"(?s)^\[?(?:{'|'.join(patterns)})", "|".join(found.values())


_WRITTEN, _CELLS = _compiled()
_ANY = rf"{_WRITTEN}|{_JAVA}|{_SECONDS}"
BEGINNING = re.compile(_ANY)
"""Such a moment at the beginning of a line."""
_ZONES = tuple(int(number) for number in _CELLS.rpartition("|")[2].split("$") if number)
"""Groups of the zone."""


def is_zoned(line: str) -> bool | None:
    """Whether a line that begins with such a moment tells its zone; None for any other line."""
    found = re.match(_WRITTEN, line)
    return None if found is None else any(found[number] for number in _ZONES)


def is_other(line: str) -> str:
    """SQL: true for a line that begins with such a moment."""
    return matches(line, _ANY)


def is_counted(line: str) -> str:
    """SQL: true where it counts from 1970, so that its zone is known."""
    return matches(line, _SECONDS)


def zone(line: str) -> str:
    """SQL: the zone that such a moment is written with; empty for none, and for names that many zones share."""
    return f"CASE WHEN {matches(line, _WRITTEN)} THEN get({_cells(line)}, 4) ELSE '' END"


def written(line: str) -> str:
    """SQL: ``2026-11-22 06:43:08`` on the line's own clock."""
    millis = f"concat({group(line, _SECONDS)}, {group(line, _SECONDS, 2)})"
    year, month, day, clock = (f"get({_cells(line)}, {n})" for n in range(4))
    date = f"concat_ws('-', {year}, {_number(month)}, lpad({day}, 2, '0'))"
    return (
        f"CASE WHEN {matches(line, _WRITTEN)} THEN concat({date}, ' ', translate({clock}, ',', '.')) "
        f"WHEN {matches(line, _JAVA)} THEN {_java(line)} "
        f"WHEN {is_counted(line)} THEN date_format(timestamp_millis(try_cast({millis} AS BIGINT)), "
        "'yyyy-MM-dd HH:mm:ss.SSS') END"
    )


def _cells(line: str) -> str:
    return f"split(regexp_replace({line}, {quoted(f'{_WRITTEN}.*$')}, {quoted(_CELLS)}), '[|]')"


def _number(month: str) -> str:
    """SQL: two figures of a month that is written as such, or by its name."""
    named = f"lpad((instr({quoted(_MONTHS)}, {month}) + 2) DIV 3, 2, '0')"
    return f"CASE WHEN {matches(month, '^[0-9]')} THEN {month} ELSE {named} END"


def _java(line: str) -> str:
    month, day, year, hour, rest, half = (group(line, _JAVA, n) for n in range(1, 7))
    of_day = f"coalesce(try_cast({hour} AS INT), 0) % 12 + CASE {half} WHEN 'PM' THEN 12 ELSE 0 END"
    return f"concat({year}, '-', {_number(month)}, '-', lpad({day}, 2, '0'), ' ', lpad({of_day}, 2, '0'), ':', {rest})"
