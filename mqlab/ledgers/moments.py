"""Moments as applications write them into ledgers, and the same in SQL.

Samples::

    1795262756811    1795262756.811    2026-11-21T12:05:56.811Z    2026-11-21 12:05:56,811 +0100
    21.11.2026 12:05:56.811    2026/11/21 12:05:56    21/Nov/2026:12:05:56 +0100

A date of slashes that begins with numbers for day and month is none of these: nothing tells which is which.
"""

from __future__ import annotations

import re

from mqlab.sql import group, matches, quoted

_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"Z| ?[+-]\d\d:?\d\d"
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_ISO = rf"20\d\d-\d\d-\d\d[T ]{_CLOCK}(?:{_ZONE})?"
_SLASHED = rf"(20\d\d)/(\d\d)/(\d\d)[T ]({_CLOCK})({_ZONE})?"
_DOTTED = rf"(\d\d)\.(\d\d)\.(20\d\d)[T ]({_CLOCK})({_ZONE})?"
_NAMED = rf"(\d\d)/([A-Z][a-z]{{2}})/(20\d\d)[: ]({_CLOCK})({_ZONE})?"
_EPOCH = r"1\d{12}|1[5-9]\d{14}|1\d{9}(?:\.\d{1,9})?"
_SECONDS = r"^\d{10}(?:\.\d+)?$"

MOMENT = re.compile(
    "|".join([_EPOCH, _ISO, *(re.sub(r"\((?!\?)", "(?:", form) for form in (_SLASHED, _DOTTED, _NAMED))])
)
"""Epoch seconds, milliseconds or microseconds, or a date with a time of day."""


def instant(text: str) -> str:
    """SQL: timestamp of the moment in *text*; where no zone is written it is taken for UTC. Null where it is none."""
    whole = f"try_cast({text} AS BIGINT)"
    return f"""CASE
        WHEN length({text}) = 13 AND {whole} > 0 THEN timestamp_millis({whole})
        WHEN length({text}) = 16 AND {whole} > 0 THEN timestamp_micros({whole})
        WHEN {text} RLIKE {quoted(_SECONDS)} THEN
            timestamp_micros(CAST(try_cast({text} AS DECIMAL(20, 6)) * 1000000 AS BIGINT))
        ELSE try_cast(regexp_replace({_iso(text)}, ' ?([+-][0-9][0-9]):?([0-9][0-9])$', '$1:$2') AS TIMESTAMP) END"""


def _iso(text: str) -> str:
    """SQL: a date of another form as ISO writes it; *text* itself where it has none of these forms."""
    cases = [
        f"WHEN {text} LIKE '20__-%' THEN {text}",
        f"WHEN {matches(text, rf'^{_SLASHED}$')} THEN {_joined(text, _SLASHED, (1, 2, 3))}",
        f"WHEN {matches(text, rf'^{_DOTTED}$')} THEN {_joined(text, _DOTTED, (3, 2, 1))}",
        f"WHEN {matches(text, rf'^{_NAMED}$')} THEN {_joined(text, _NAMED, (3, 2, 1))}",
    ]
    return f"replace(CASE {' '.join(cases)} ELSE {text} END, ',', '.')"


def _joined(text: str, form: str, parts: tuple[int, int, int]) -> str:
    year, month, day = (group(text, rf"^{form}$", n) for n in parts)
    if form == _NAMED:
        month = f"lpad((instr({quoted(_MONTHS)}, {month}) + 2) DIV 3, 2, '0')"
    clock, zone = (group(text, rf"^{form}$", n) for n in (4, 5))
    return f"concat({year}, '-', {month}, '-', {day}, ' ', {clock}, {zone})"
