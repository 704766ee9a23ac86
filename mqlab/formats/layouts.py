"""Layouts of dated log lines: where the moment and the level stand in one line.

Sample lines::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance … (kafka.coordinator…)
    2026-11-21 12:13:33,850 WARN  [kafka-producer-network-thread | p] Sender: [Producer clientId=p] Got error …
    %4|1729766123.421|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval …
    1795261186: New connection from 10.41.3.40:46436 on port 1883.

Moments that only a few programs write are those of ``other_dates``. A moment without a year, as syslog writes it
(``Nov 22 00:24:29 …``), is in the year ``NO_YEAR``; see ``mqlab.clocks.years``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mqlab.formats import other_dates, values

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
LEVEL = r"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE|CRITICAL)(?:ING)?\b"
SAME = {"SEVERE": "ERROR", "CRITICAL": "ERROR"}
RDKAFKA = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
"""Levels by syslog's numbers from 0."""

_STAMP = re.compile(STAMP, re.ASCII)
_YEARLESS = re.compile(r"([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d(?:[.,]\d{1,9})?):? ", re.ASCII)
_EPOCH = re.compile(r"%\d\|(\d{10})\.(\d{3})\|", re.ASCII)
_SECONDS = re.compile(r"1\d{9}: ", re.ASCII)
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
    if first == "1" and _SECONDS.match(line):
        return Moment(int(line[:10]) * values.MICRO, 0)
    if first == "%" and (counted := _EPOCH.match(line)):
        return Moment(int(counted[1] + counted[2]) * 1000, 0)
    near = _SECONDS_TWICE.sub(r"\1\3", line[:NEAR]) if "Rocketmq" in line[:NEAR] else line[:NEAR]
    found = _STAMP.search(near)
    if (not found or found.start() > 1) and (other := other_dates.moment(near)):
        return _other(other)
    if found:
        wall = values.instant(f"{found['date'].replace('/', '-')} {found['clock']}")
        if wall is not None:
            return Moment(wall, values.east(found["zone"]))
    return _yearless(near)


def level(line: str) -> str | None:
    """The level of *line*; WARNING reads as WARN, SEVERE and CRITICAL as ERROR."""
    if line.startswith("%") and _EPOCH.match(line):
        return RDKAFKA[int(line[1])] if line[1] < "8" else None
    found = _LEVEL.search(line[:24] if _SECONDS.match(line) else line[:NEAR])
    return SAME.get(found[1], found[1]) if found else None


def _other(other: other_dates.Written) -> Moment | None:
    if other.zone == "Z" and "-" not in other.text:
        return Moment(round(float(other.text) * 1000) * 1000, 0)
    wall = values.instant(other.text)
    return None if wall is None else Moment(wall, values.east(other.zone))


def _yearless(line: str) -> Moment | None:
    found = _YEARLESS.match(line)
    if not found or found[1] not in other_dates.MONTHS:
        return None
    month = other_dates.MONTHS.index(found[1]) + 1
    wall = values.instant(f"{NO_YEAR}-{month:02d}-{int(found[2]):02d} {found[3]}")
    return None if wall is None else Moment(wall, None)
