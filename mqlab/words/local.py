"""Numbers, moments and marks as a language writes them."""

from __future__ import annotations

import re
from datetime import datetime

_UNITS = {
    "ms": "duration-millisecond", "s": "duration-second", "min": "duration-minute", "h": "duration-hour",
    "day": "duration-day", "days": "duration-day",
}  # fmt: skip
_DURATION = re.compile(r"([≥≤≈~<>+−-]? ?)([\d.,]+|∞) (ms|s|min|h|days?)")
_PERCENT = re.compile(r"([≥≤≈~<>]? ?[\d.,]+) %")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)((?:[ T]\d\d:\d\d(?::\d\d)?)?(?: ?(?:UTC|Z))?)")

_TIDYING = tuple(
    (re.compile(pattern), mark)
    for pattern, mark in (
        (r"(?<=[一-鿿]), |, (?=[一-鿿])", "，"),
        (r"(?<=[一-鿿]); |; (?=[^;]*[一-鿿])", "；"),
        (r"(?<=[一-鿿])\.(?= |$)", "。"),
        (r": (?=.*[一-鿿])", "："),
        (r"(?<! ) (?=[，；：。（、）])|(?<=[，；：。（、）]) (?! )|(?<=[一-鿿]) (?=[一-鿿])", ""),
        (r"(?<=[一-鿿])(?<![年月日第])(?=[A-Za-z0-9$-])|(?<=[A-Za-z0-9%])(?=[一-鿿])(?![年月日])", " "),
    )
)
"""Marks between Chinese words are Chinese and have their own room; names and numbers stand apart."""


def local(text: str, language: str) -> str | None:
    """A duration, share or date as *language* writes it; None for all else."""
    from babel.dates import format_date
    from babel.units import format_unit

    if told := _DURATION.fullmatch(text):
        words = format_unit(0, _UNITS[told[3]], length="short", locale=language)
        return f"{told[1]}{told[2]} {words.removeprefix('0').strip()}"
    if share := _PERCENT.fullmatch(text):
        return f"{share[1]}%"
    if stamp := _STAMP.fullmatch(text):
        try:
            day = format_date(datetime.fromisoformat(stamp[1]), "long", locale=language)
        except ValueError:
            return None
        return day + (f" {rest}" if (rest := stamp[2].removeprefix("T").strip()) else "")
    return None


def tidied(text: str) -> str:
    """*text* with the marks and the room that Chinese has between words, names and numbers."""
    for pattern, mark in _TIDYING:
        text = pattern.sub(mark, text)
    return text
