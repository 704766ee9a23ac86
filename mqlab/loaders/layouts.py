"""Layouts of dated log lines: where the moment, the level and the message stand.

The two layouts that nearly all brokers and clients use are read by position; everything else by one regex::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance … (kafka.coordinator…)
    2026-11-21 12:13:33,850 WARN  [kafka-producer-network-thread | p] Sender: [Producer clientId=p] Got error …
    %4|1729766123.421|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval …
"""

from __future__ import annotations

from mqlab.sql import quoted

_DATE = r"\d{4}[-/]\d{2}[-/]\d{2}"
_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
STAMP = rf"({_DATE})[T ]({_CLOCK}) ?(Z|UTC|[+-]\d{{2}}:?\d{{2}})?"
"""Date, clock and zone of a line."""
_EPOCH = r"^%\d\|(\d{10})\.(\d{3})\|"
_LEVEL = r"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE|CRITICAL)(?:ING)?\b"
_RDKAFKA = {"0": "FATAL", "1": "FATAL", "2": "FATAL", "3": "ERROR", "4": "WARN", "5": "INFO", "6": "INFO", "7": "DEBUG"}


def bracketed(line: str) -> str:
    """SQL: true for ``[2026-11-21 12:18:43,427] …``."""
    return f"(substring({line}, 1, 1) = '[' AND substring({line}, 6, 1) = '-' AND substring({line}, 15, 1) = ':')"


def plain(line: str) -> str:
    """SQL: true for ``2026-11-21 12:13:33,850 …`` and ``2026-11-21T12:13:33…``."""
    return f"(substring({line}, 5, 1) = '-' AND substring({line}, 8, 1) = '-' AND substring({line}, 14, 1) = ':')"


def epoch(line: str) -> str:
    """SQL: true for librdkafka's own layout, which counts seconds since 1970."""
    return f"(substring({line}, 1, 1) = '%' AND {line} RLIKE {quoted(_EPOCH)})"


def minute(line: str) -> str:
    """SQL: ``2026-11-21 12:18``, the minute on the line's own clock; null for a line without a date."""
    near = f"substring({line}, 1, 80)"
    date, clock = (f"regexp_extract({near}, {quoted(STAMP)}, {n})" for n in (1, 2))
    seconds = f"try_cast(regexp_extract({line}, {quoted(_EPOCH)}, 1) AS BIGINT)"
    return (
        f"CASE WHEN {bracketed(line)} THEN substring({line}, 2, 16) WHEN {plain(line)} THEN substring({line}, 1, 16) "
        f"WHEN {epoch(line)} THEN date_format(timestamp_seconds({seconds}), 'yyyy-MM-dd HH:mm') "
        f"WHEN {near} RLIKE {quoted(STAMP)} "
        f"THEN concat_ws(' ', translate({date}, '/', '-'), substring({clock}, 1, 5)) END"
    )


def level(line: str) -> str:
    """SQL: the line's level, null where it has none. WARNING reads as WARN, SEVERE and CRITICAL as ERROR."""
    word = f"regexp_extract(substring({line}, 1, 120), {quoted(_LEVEL)}, 1)"
    short = " ".join(f"WHEN '{name:<5}' THEN '{name}'" for name in ("INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"))
    digits = " ".join(f"WHEN '{digit}' THEN '{name}'" for digit, name in _RDKAFKA.items())
    return (
        f"CASE WHEN {bracketed(line)} THEN CASE substring({line}, 27, 5) {short} "
        f"ELSE substring_index(substring({line}, 27, 6), ' ', 1) END "
        f"WHEN {epoch(line)} THEN CASE substring({line}, 2, 1) {digits} END "
        f"ELSE nullif(regexp_replace({word}, 'SEVERE|CRITICAL', 'ERROR'), '') END"
    )


def wall(line: str) -> str:
    """SQL: the moment on the line's own clock, as a timestamp without regard to zones."""
    near = f"substring({line}, 1, 120)"
    date, clock = (f"regexp_extract({near}, {quoted(STAMP)}, {n})" for n in (1, 2))
    seconds, millis = (f"regexp_extract({line}, {quoted(_EPOCH)}, {n})" for n in (1, 2))
    written = f"concat_ws(' ', translate({date}, '/', '-'), translate({clock}, ',', '.'))"
    return (
        f"CASE WHEN {epoch(line)} THEN timestamp_millis(try_cast(concat({seconds}, {millis}) AS BIGINT)) "
        f"ELSE try_cast({written} AS TIMESTAMP) END"
    )


def offset(line: str) -> str:
    """SQL: seconds east of UTC where the line writes its zone (0 for epoch times), else null."""
    zone = f"translate(regexp_extract(substring({line}, 1, 120), {quoted(STAMP)}, 3), ':', '')"
    hours, minutes = (f"try_cast(substring({zone}, {start}, 2) AS INT)" for start in (2, 4))
    return (
        f"CASE WHEN {zone} IN ('Z', 'UTC') OR {epoch(line)} THEN 0 "
        f"WHEN {zone} <> '' THEN CASE WHEN {zone} LIKE '-%' THEN -1 ELSE 1 END * ({hours} * 3600 + {minutes} * 60) END"
    )
