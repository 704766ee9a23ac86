"""Texts of rooms in another language than English: the same key and values, filled as that language writes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from mqlab.words import Text, filled
from mqlab.words.filling import Filling

_UNITS = {
    "ms": "duration-millisecond", "s": "duration-second", "min": "duration-minute", "h": "duration-hour",
    "day": "duration-day", "days": "duration-day",
}  # fmt: skip
_DURATION = re.compile(r"([≥≤≈~<>+−-]? ?)([\d.,]+|∞) (ms|s|min|h|days?)")
_PERCENT = re.compile(r"([≥≤≈~<>+−-]? ?[\d.,]+) %")
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)((?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: ?(?:UTC|Z))?)")

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
OTHERS: dict[str, Callable[[str], str]] = {}
"""What tells a value that is no text of a room, by language."""


class Chinese(Filling):
    """What fills places in Chinese: nouns have one form, and marks are full-width."""

    __slots__ = ()
    LANGUAGE: ClassVar[str] = "zh"
    BETWEEN: ClassVar[str] = ""
    COMMA: ClassVar[str] = "、"
    AND: ClassVar[tuple[str, str]] = ("和", "或")
    MORE: ClassVar[str] = "等，另有 {} 个"
    ABOUT: ClassVar[str] = "约 {}"
    RANGE: ClassVar[tuple[str, str]] = ("至多 {1}", "{} 至 {}")

    def name(self, text: str) -> str:
        """A text in Chinese; a name as whoever translates the rest leaves it."""
        return told(text, self.LANGUAGE) if isinstance(text, Text) else OTHERS.get(self.LANGUAGE, str)(text)

    def local(self, number: str) -> str:
        """Durations, shares and dates with their Chinese units."""
        return local(number, self.LANGUAGE) or number

    def between(self, interval: str) -> str:
        """A value, and its bounds in brackets."""
        return interval.replace(" (", "（").replace(" to ", " 至 ").replace(")", "）")

    def many(self, amount: str, thing: str) -> str:
        """The number and what is counted."""
        return f"{amount} {thing}"


_LANGUAGES: dict[str, type[Filling]] = {Chinese.LANGUAGE: Chinese}


def told(text: Text, language: str) -> str:
    """*text* in *language*; as it is where there is no edition in it."""
    how = _LANGUAGES.get(language)
    return text if how is None else tidied(filled(text.room, text.key, text.values, language, how))


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
