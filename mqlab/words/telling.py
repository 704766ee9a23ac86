"""Texts of rooms in another language than English: the same key and values, filled as that language writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mqlab.words import Text, filled
from mqlab.words.filling import Filling
from mqlab.words.local import local, tidied

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
