"""Moments as applications write them into ledgers.

Samples::

    1795262756811    1795262756.811    2026-11-21T12:05:56.811Z    2026-11-21 12:05:56,811 +0100
    21.11.2026 12:05:56.811    2026/11/21 12:05:56    21/Nov/2026:12:05:56 +0100

A date of slashes that begins with numbers for day and month is none of these: nothing tells which is which.
"""

from __future__ import annotations

import re

_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"Z| ?[+-]\d\d:?\d\d"
_ISO = rf"20\d\d-\d\d-\d\d[T ]{_CLOCK}(?:{_ZONE})?"
_SLASHED = rf"(20\d\d)/(\d\d)/(\d\d)[T ]({_CLOCK})({_ZONE})?"
_DOTTED = rf"(\d\d)\.(\d\d)\.(20\d\d)[T ]({_CLOCK})({_ZONE})?"
_NAMED = rf"(\d\d)/([A-Z][a-z]{{2}})/(20\d\d)[: ]({_CLOCK})({_ZONE})?"
_EPOCH = r"1\d{12}|1[5-9]\d{14}|1\d{9}(?:\.\d{1,9})?"

MOMENT = re.compile(
    "|".join([_EPOCH, _ISO, *(re.sub(r"\((?!\?)", "(?:", form) for form in (_SLASHED, _DOTTED, _NAMED))])
)
"""Epoch seconds, milliseconds or microseconds, or a date with a time of day."""
