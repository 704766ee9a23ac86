"""Moments and levels of dated log lines, in the many ways in which programs write them.

Sample lines::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance … (kafka.coordinator…)
    2026-11-21 12:13:33,850 WARN  [kafka-producer-network-thread | p] Sender: [Producer clientId=p] Got error …
    %4|1729766123.421|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval …
    1795261186: New connection from 10.41.3.40:46436 on port 1883.
    22.11.2026 06:43:08: Client trolley-055 disconnected.          mosquitto, log_timestamp_format %d.%m.%Y %H:%M:%S
    22/Nov/2026:10:46:14 +0100: Client cat-4 disconnected.         mosquitto, %d/%b/%Y:%H:%M:%S %z
    Sun Nov 22 10:46:14 2026: Client cat-4 disconnected.           mosquitto, %c
    18:54:07 22.11.2026: Client fan-2 disconnected.                mosquitto, %H:%M:%S %d.%m.%Y
    Nov 22, 2026 7:21:50 AM lab.Device connectionLost              java.util.logging, up to Java 19 and from Java 20 on
    1795330392.917 INFO connected rc=Success                       Python, seconds since 1970

Java 20 and later write a narrow no-break space before AM and PM (CLDR 42). A date with slashes that begins with a day
or a month in figures is no moment: nothing tells which of the two it is. One without a year, as syslog writes it
(``Nov 22 00:24:29 …``), is in the year ``NO_YEAR``; see ``mqlab.clocks.years``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mqlab.formats import values

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


def other_moment(line: str) -> Written | None:
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


STAMP = (
    r"(?P<date>\d{4}[-/]\d{2}[-/]\d{2})[T ](?P<clock>\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?) ?"
    r"(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
)
"""Date, clock and zone of a line."""
NO_YEAR = "1972"
"""A leap year, so that each day of any year is in it."""
NEAR = 120
"""Characters in which a moment and a level are looked for."""
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
LEVEL = (
    r"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE|CRITICAL)(?:ING)?\b"
    r"|\[(warn|warning|err|error|crit|critical|alert|emergency)\]"
)
"""Erlang's brokers (EMQX, VerneMQ, RabbitMQ) write ``[warning]``; their levels that complain of nothing say no more
than that."""
SAME = {
    "SEVERE": "ERROR",
    "CRITICAL": "ERROR",
    "warn": "WARN",
    "warning": "WARN",
    "err": "ERROR",
    "error": "ERROR",
    "crit": "ERROR",
    "critical": "ERROR",
    "alert": "FATAL",
    "emergency": "FATAL",
}
RDKAFKA = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
"""Levels by syslog's numbers from 0."""

_STAMP = re.compile(STAMP, re.ASCII)
_YEARLESS = re.compile(r"([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d(?:[.,]\d{1,9})?):? ", re.ASCII)
_EPOCH = re.compile(r"%\d\|(\d{10})\.(\d{3})\|", re.ASCII)
_SECOND_FORMS = re.compile(r"1\d{9}: ", re.ASCII)
"""Up to the year 2033."""
_SECONDS_TWICE = re.compile(r"^(\S+ \d\d:\d\d:(\d\d)),0\2( [A-Z]+ +Rocketmq\w+ - )", re.ASCII)
"""RocketMQ's client 4.3 to 4.8 prints its seconds once more where others print milliseconds."""
_LEVEL = re.compile(LEVEL, re.ASCII)


class Moment(NamedTuple):
    """When a line was written."""

    wall: int
    """Microseconds since 1970 on the line's own clock, without regard to zones."""
    east: int | None
    """Seconds east of UTC, where the line writes its zone; 0 where it counts from 1970."""


def moment(line: str) -> Moment | None:
    """The moment that *line* shows; None for a line without one."""
    first = line[:1]
    if first == "1" and _SECOND_FORMS.match(line):
        return Moment(int(line[:10]) * values.MICRO, 0)
    if first == "%" and (counted := _EPOCH.match(line)):
        return Moment(int(counted[1] + counted[2]) * 1000, 0)
    near = _SECONDS_TWICE.sub(r"\1\3", line[:NEAR]) if "Rocketmq" in line[:NEAR] else line[:NEAR]
    found = _STAMP.search(near)
    if (not found or found.start() > 1) and (other := other_moment(near)):
        return _other(other)
    if found:
        wall = values.instant(f"{found['date'].replace('/', '-')} {found['clock']}")
        if wall is not None:
            return Moment(wall, values.east(found["zone"]))
    return _yearless(near)


def level(line: str) -> str | None:
    """The level of *line*; WARNING and [warning] read as WARN, SEVERE and CRITICAL as ERROR."""
    if line.startswith("%") and _EPOCH.match(line):
        return RDKAFKA[int(line[1])] if line[1] < "8" else None
    found = _LEVEL.search(line[:24] if _SECOND_FORMS.match(line) else line[:NEAR])
    word = found and (found[1] or found[2])
    return SAME.get(word, word) if word else None


def _other(other: Written) -> Moment | None:
    if other.zone == "Z" and "-" not in other.text:
        return Moment(round(float(other.text) * 1000) * 1000, 0)
    wall = values.instant(other.text)
    return None if wall is None else Moment(wall, values.east(other.zone))


def _yearless(line: str) -> Moment | None:
    found = _YEARLESS.match(line)
    if not found or found[1] not in MONTHS:
        return None
    month = MONTHS.index(found[1]) + 1
    wall = values.instant(f"{NO_YEAR}-{month:02d}-{int(found[2]):02d} {found[3]}")
    return None if wall is None else Moment(wall, None)
