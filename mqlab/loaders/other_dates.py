"""Moments as only a few programs write them, at the beginning of a line.

Sample lines::

    22.11.2026 06:43:08: Client trolley-055 disconnected.          mosquitto, log_timestamp_format %d.%m.%Y %H:%M:%S
    Nov 22, 2026 7:21:50 AM lab.Device connectionLost              java.util.logging, up to Java 19 and from Java 20 on
    1795330392.917 INFO connected rc=Success                       Python, seconds since 1970

Java 20 and later write a narrow no-break space before AM and PM (CLDR 42). A date with slashes that begins with a day
or a month is none of these: nothing tells which of the two it is.
"""

from __future__ import annotations

from mqlab.sql import group, matches, quoted

_DOTTED = r"^(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)"
_JAVA = r"^([A-Z][a-z]{2}) (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d:\d\d)\W([AP]M) "
_SECONDS = r"^(1\d{9})\.(\d{3})\d{0,6} "
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_ANY = rf"{_DOTTED}|{_JAVA}|{_SECONDS}"


def is_other(line: str) -> str:
    """SQL: true for a line that begins with such a moment."""
    return matches(line, _ANY)


def is_counted(line: str) -> str:
    """SQL: true where it counts from 1970, so that its zone is known."""
    return matches(line, _SECONDS)


def written(line: str) -> str:
    """SQL: ``2026-11-22 06:43:08`` on the line's own clock."""
    dotted = [group(line, _DOTTED, n) for n in (3, 2, 1)]
    millis = f"concat({group(line, _SECONDS)}, {group(line, _SECONDS, 2)})"
    return (
        f"CASE WHEN {matches(line, _DOTTED)} "
        f"THEN concat(concat_ws('-', {', '.join(dotted)}), ' ', translate({group(line, _DOTTED, 4)}, ',', '.')) "
        f"WHEN {matches(line, _JAVA)} THEN {_java(line)} "
        f"WHEN {is_counted(line)} THEN date_format(timestamp_millis(try_cast({millis} AS BIGINT)), "
        "'yyyy-MM-dd HH:mm:ss.SSS') END"
    )


def _java(line: str) -> str:
    month, day, year, hour, rest, half = (group(line, _JAVA, n) for n in range(1, 7))
    number = f"lpad((instr({quoted(_MONTHS)}, {month}) + 2) DIV 3, 2, '0')"
    of_day = f"coalesce(try_cast({hour} AS INT), 0) % 12 + CASE {half} WHEN 'PM' THEN 12 ELSE 0 END"
    return f"concat({year}, '-', {number}, '-', lpad({day}, 2, '0'), ' ', lpad({of_day}, 2, '0'), ':', {rest})"
