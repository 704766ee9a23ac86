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
from typing import NamedTuple

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTH = "|".join(MONTHS)
WEEKDAY = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"

_PIECES = {
    "Y": r"(?P<year>\d{4})",
    "m": r"(?P<month>\d\d)",
    "d": r"(?P<day>\d\d)",
    "e": r"(?P<day>\d{1,2})",
    "b": rf"(?P<month>{MONTH})[a-z]{{0,6}}",
    "a": rf"(?:(?:{WEEKDAY})[a-z]{{0,6}},? )?",
    "T": r"(?P<clock>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)",
    "z": r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)(?=[^\w]|$))?",
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
_JAVA = rf"(?P<month>{MONTH}) (?P<day>\d{{1,2}}), (?P<year>\d{{4}}),? (?P<clock>\d{{1,2}}:\d\d:\d\d)\W(?P<half>[AP]M) "
_SECONDS = r"(?P<seconds>1\d{9})\.(?P<millis>\d{3})\d{0,6} "


def _compiled(layout: str) -> re.Pattern[str]:
    first, *pieces = layout.split("%")
    return re.compile(r"\[?" + first + "".join(_PIECES[piece[0]] + piece[1:] for piece in pieces), re.ASCII)


_ALL = (*map(_compiled, _LAYOUTS), re.compile(_JAVA, re.ASCII), re.compile(_SECONDS, re.ASCII))
BEGINNING = re.compile(
    rf"\[?(?:\d{{1,8}}[./:T_ -]|{WEEKDAY}|{MONTH}|\d{{4}}-(?:{MONTH})|1\d{{9}}\.\d)|\[?(?:{WEEKDAY})", re.ASCII
)
"""How such a moment may begin, so that most lines are done with after a glance."""


class Written(NamedTuple):
    """A moment as a line shows it."""

    text: str
    """``2026-11-22 06:43:08.123``, on the line's own clock."""
    zone: str
    """As written; ``Z`` where it counts from 1970; empty where the line shows none."""


def moment(line: str) -> Written | None:
    """The moment that *line* begins with, where it is one of these."""
    if not BEGINNING.match(line):
        return None
    found = next((found for layout in _ALL if (found := layout.match(line))), None)
    if not found:
        return None
    parts = found.groupdict()
    if seconds := parts.get("seconds"):
        return Written(f"{seconds}.{parts['millis']}", "Z")
    month, clock = parts["month"], parts["clock"].replace(",", ".")
    number = f"{MONTHS.index(month) + 1:02d}" if month in MONTHS else month
    if half := parts.get("half"):
        hour, rest = clock.split(":", 1)
        clock = f"{int(hour) % 12 + (12 if half == 'PM' else 0):02d}:{rest}"
    return Written(f"{parts['year']}-{number}-{int(parts['day']):02d} {clock}", parts.get("zone") or "")
