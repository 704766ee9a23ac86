"""Layouts of dated log lines: where the moment, the level and the message stand.

The two layouts that nearly all brokers and clients use are read by position; everything else by one regex::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance … (kafka.coordinator…)
    2026-11-21 12:13:33,850 WARN  [kafka-producer-network-thread | p] Sender: [Producer clientId=p] Got error …
    %4|1729766123.421|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval …
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_DATE = r"\d{4}[-/]\d{2}[-/]\d{2}"
_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
STAMP = rf"({_DATE})[T ]({_CLOCK}) ?(Z|UTC|[+-]\d{{2}}:?\d{{2}})?"
"""Date, clock and zone of a line."""
_EPOCH = r"^%\d\|(\d{10})\.(\d{3})\|"
_LEVEL = r"\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE|CRITICAL)(?:ING)?\b"
_RDKAFKA = {"0": "FATAL", "1": "FATAL", "2": "FATAL", "3": "ERROR", "4": "WARN", "5": "INFO", "6": "INFO", "7": "DEBUG"}


def bracketed(line: Column) -> Column:
    """True for ``[2026-11-21 12:18:43,427] …``."""
    return (F.substring(line, 1, 1) == "[") & (F.substring(line, 6, 1) == "-") & (F.substring(line, 15, 1) == ":")


def plain(line: Column) -> Column:
    """True for ``2026-11-21 12:13:33,850 …`` and ``2026-11-21T12:13:33…``."""
    return (F.substring(line, 5, 1) == "-") & (F.substring(line, 8, 1) == "-") & (F.substring(line, 14, 1) == ":")


def minute(line: Column) -> Column:
    """``2026-11-21 12:18``: the minute on the line's own clock; null for a line without a date."""
    odd = F.regexp_extract(F.substring(line, 1, 80), STAMP, 1)
    clock = F.substring(F.regexp_extract(F.substring(line, 1, 80), STAMP, 2), 1, 5)
    epoch = F.regexp_extract(line, _EPOCH, 1)
    return (
        F.when(bracketed(line), F.substring(line, 2, 16))
        .when(plain(line), F.substring(line, 1, 16))
        .when(line.rlike(_EPOCH), F.date_format(F.timestamp_seconds(epoch.try_cast("long")), "yyyy-MM-dd HH:mm"))
        .when(odd != "", F.concat_ws(" ", F.translate(odd, "/", "-"), clock))
    )


def level(line: Column) -> Column:
    """The line's level; null where it has none. WARNING reads as WARN, SEVERE and CRITICAL as ERROR."""
    word = F.regexp_extract(F.substring(line, 1, 120), _LEVEL, 1)
    digit = F.substring(line, 2, 1)
    severity = F.coalesce(*[F.when(digit == k, F.lit(v)) for k, v in _RDKAFKA.items()])
    return (
        F.when(bracketed(line), F.substring_index(F.substring(line, 27, 6), " ", 1))
        .when(line.rlike(_EPOCH), severity)
        .when(word.isin("SEVERE", "CRITICAL"), F.lit("ERROR"))
        .when(word != "", word)
    )


def wall(line: Column) -> Column:
    """The moment on the line's own clock, as a timestamp without regard to zones."""
    near = F.substring(line, 1, 120)
    date = F.translate(F.regexp_extract(near, STAMP, 1), "/", "-")
    clock = F.translate(F.regexp_extract(near, STAMP, 2), ",", ".")
    epoch = F.concat_ws(".", F.regexp_extract(line, _EPOCH, 1), F.regexp_extract(line, _EPOCH, 2))
    return F.when(line.rlike(_EPOCH), epoch.try_cast("double").cast("timestamp")).otherwise(
        F.concat_ws(" ", date, clock).try_cast("timestamp")
    )


def offset(line: Column) -> Column:
    """Seconds east of UTC where the line writes its zone (0 for epoch times), else null."""
    zone = F.translate(F.regexp_extract(F.substring(line, 1, 120), STAMP, 3), ":", "")
    hours, minutes = F.substring(zone, 2, 2).try_cast("int"), F.substring(zone, 4, 2).try_cast("int")
    signed = F.when(zone.startswith("-"), -1).otherwise(1) * (hours * 3600 + minutes * 60)
    return F.when(zone.isin("Z", "UTC") | line.rlike(_EPOCH), 0).when(zone != "", signed)
