"""Layouts of dated log lines: where the moment, the level and the message stand.

The two layouts that nearly all brokers and clients use are read by position; everything else by one regex::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance … (kafka.coordinator…)
    2026-11-21 12:13:33,850 WARN  [kafka-producer-network-thread | p] Sender: [Producer clientId=p] Got error …
    %4|1729766123.421|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval …
    1795261186: New connection from 10.41.3.40:46436 on port 1883.

Moments that only a few programs write are those of ``other_dates``. A moment without a year, as syslog writes it
(``Nov 22 00:24:29 …``), is in the year ``NO_YEAR``; see ``mqlab.clocks.years``.
"""

from __future__ import annotations

from mqlab.loaders import other_dates
from mqlab.sql import quoted, replaced

_DATE = r"\d{4}[-/]\d{2}[-/]\d{2}"
_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
STAMP = rf"({_DATE})[T ]({_CLOCK}) ?(Z|UTC|GMT|[+-]\d{{2}}:?\d{{2}})?"
"""Date, clock and zone of a line."""
NO_YEAR = "1972"
"""A leap year, so that each day of any year is in it."""
_YEARLESS = r"^([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d(?:[.,]\d{1,9})?):? "
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_EPOCH = r"^%\d\|(\d{10})\.(\d{3})\|"
_SECONDS = r"^1\d{9}: "
"""Up to the year 2033."""
_LEVEL = r"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE|CRITICAL)(?:ING)?\b"
_PLAIN = r"^\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:"
_SECONDS_TWICE = r"^(\S+ \d\d:\d\d:(\d\d)),0\2( [A-Z]+ +Rocketmq\w+ - )"
"""RocketMQ's client 4.3 to 4.8 prints its seconds once more where others print milliseconds."""
_RDKAFKA = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
"""Levels by syslog's numbers from 0."""


LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""A level's number is its place here, counted from 1."""
_SAME = {"SEVERE": "ERROR", "CRITICAL": "ERROR"}


def level_number(line: str) -> str:
    """SQL: the number of the line's level, null where it has none. WARNING counts as WARN, SEVERE as ERROR."""
    near = f"CASE WHEN {is_seconds(line)} THEN substring({line}, 1, 24) ELSE substring({line}, 1, 120) END"
    word = f"regexp_extract({near}, {quoted(_LEVEL)}, 1)"
    names = ", ".join(map(quoted, (*LEVELS, *_SAME)))
    numbers = ", ".join(str(LEVELS.index(_SAME.get(name, name)) + 1) for name in (*LEVELS, *_SAME))
    named = f"element_at(array(NULL, {numbers}), CAST(array_position(array({names}), {word}) AS INT) + 1)"
    digits = ", ".join(str(LEVELS.index(name) + 1) for name in _RDKAFKA)
    digit = f"element_at(array({digits}), CAST(substring({line}, 2, 1) AS INT) + 1)"
    return f"CASE WHEN {is_epoch(line)} THEN {digit} ELSE {named} END"


def level_name(number: str) -> str:
    """SQL: the name of a level's number."""
    return f"element_at(array(NULL, {', '.join(map(quoted, LEVELS))}), coalesce({number}, 0) + 1)"


def level(line: str) -> str:
    """SQL: the line's level, null where it has none. WARNING reads as WARN, SEVERE and CRITICAL as ERROR."""
    return level_name(level_number(line))


def is_plain(line: str) -> str:
    """SQL: true for ``2026-11-21 12:13:33,850 …`` and ``2026-11-21T12:13:33…``."""
    return f"(substring({line}, 1, 14) RLIKE {quoted(_PLAIN)})"


def is_epoch(line: str) -> str:
    """SQL: true for librdkafka's own layout, which counts seconds since 1970."""
    return f"(startswith({line}, '%') AND {line} RLIKE {quoted(_EPOCH)})"


def is_seconds(line: str) -> str:
    """SQL: true for mosquitto's own layout, ``1795261186: …``, which counts seconds since 1970."""
    return f"(startswith({line}, '1') AND substring({line}, 1, 12) RLIKE {quoted(_SECONDS)})"


def _counted(line: str) -> str:
    """SQL: the moment that mosquitto's own layout shows."""
    return f"timestamp_seconds(try_cast(substring({line}, 1, 10) AS BIGINT))"


def minute(line: str) -> str:
    """SQL: ``2026-11-21 12:18``, the minute on the line's own clock; null for a line without a date."""
    near = f"substring({line}, 1, 80)"
    date, clock = (f"regexp_extract({near}, {quoted(STAMP)}, {n})" for n in (1, 2))
    seconds = f"try_cast(regexp_extract({line}, {quoted(_EPOCH)}, 1) AS BIGINT)"
    return (
        f"CASE WHEN {is_seconds(line)} THEN substring(CAST({_counted(line)} AS STRING), 1, 16) "
        f"WHEN {is_plain(line)} THEN translate(substring({line}, 1, 16), '/T', '- ') "
        f"WHEN {is_epoch(line)} THEN date_format(timestamp_seconds({seconds}), 'yyyy-MM-dd HH:mm') "
        f"WHEN {other_dates.is_other(near)} THEN substring({other_dates.written(near)}, 1, 16) "
        f"WHEN {near} RLIKE {quoted(STAMP)} "
        f"THEN concat_ws(' ', translate({date}, '/', '-'), substring({clock}, 1, 5)) "
        f"WHEN {near} RLIKE {quoted(_YEARLESS)} THEN substring({_yearless(near)}, 1, 16) END"
    )


def wall(line: str) -> str:
    """SQL: the moment on the line's own clock, as a timestamp without regard to zones."""
    near = replaced(f"substring({line}, 1, 120)", _SECONDS_TWICE, "$1$3")
    date, clock = (f"regexp_extract({near}, {quoted(STAMP)}, {n})" for n in (1, 2))
    seconds, millis = (f"regexp_extract({line}, {quoted(_EPOCH)}, {n})" for n in (1, 2))
    written = f"concat_ws(' ', translate({date}, '/', '-'), translate({clock}, ',', '.'))"
    counted = f"timestamp_millis(try_cast(concat({seconds}, {millis}) AS BIGINT))"
    yearless = f"CASE WHEN {near} RLIKE {quoted(_YEARLESS)} THEN {_yearless(near)} END"
    return (
        f"CASE WHEN {is_seconds(line)} THEN {_counted(line)} WHEN {is_epoch(line)} THEN {counted} "
        f"WHEN {other_dates.is_other(near)} THEN try_cast({other_dates.written(near)} AS TIMESTAMP) "
        f"ELSE coalesce(try_cast({written} AS TIMESTAMP), try_cast({yearless} AS TIMESTAMP)) END"
    )


def _yearless(line: str) -> str:
    """SQL: ``1972-11-22 00:24:29`` for a line that begins with ``Nov 22 00:24:29``."""
    month, day, clock = (f"regexp_extract({line}, {quoted(_YEARLESS)}, {n})" for n in (1, 2, 3))
    number = f"lpad((instr({quoted(_MONTHS)}, {month}) + 2) DIV 3, 2, '0')"
    return f"concat('{NO_YEAR}-', {number}, '-', lpad(trim({day}), 2, '0'), ' ', translate({clock}, ',', '.'))"


def offset(line: str) -> str:
    """SQL: seconds east of UTC where the line writes its zone (0 for epoch times), else null."""
    near = f"substring({line}, 1, 120)"
    plain = f"regexp_extract({near}, {quoted(STAMP)}, 3)"
    told = f"CASE WHEN {other_dates.is_other(near)} THEN {other_dates.zone(near)} ELSE {plain} END"
    zone = f"translate({told}, ':', '')"
    hours, minutes = (f"try_cast(substring({zone}, {start}, 2) AS INT)" for start in (2, 4))
    return (
        f"CASE WHEN {is_epoch(line)} OR {is_seconds(line)} OR {other_dates.is_counted(line)} THEN 0 "
        f"WHEN {zone} IN ('Z', 'UTC', 'GMT') THEN 0 "
        f"WHEN {zone} <> '' THEN CASE WHEN {zone} LIKE '-%' THEN -1 ELSE 1 END * ({hours} * 3600 + {minutes} * 60) END"
    )
