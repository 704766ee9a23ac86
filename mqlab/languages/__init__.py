"""Languages that people read: texts are made in English, and told in the language that is spoken where they are shown.

A ``Text`` is filled again from the same room and values; any other text is told if it is known as a whole. Names,
numbers, code and lines of the material stay. Logic, JSON and diagnosis are English throughout.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import fields
from typing import TYPE_CHECKING

from mqlab.errors import MqlabError
from mqlab.words import Quoted, Text
from mqlab.words.telling import OTHERS, told

if TYPE_CHECKING:
    from mqlab.facts import Facts

LANGUAGES = ("en", "zh")
ENGLISH = "en"
_TAGS = {"zh": "zh-CN"}
_NAMES = ("group", "topic", "client_id", "node", "peer", "owner", "party")
_SPOKEN: ContextVar[str] = ContextVar("language", default=ENGLISH)


class UnknownLanguageError(MqlabError):
    """There is no edition in this language."""

    def __init__(self, language: str) -> None:
        super().__init__(f"There is no language {language!r}. Known: {', '.join(LANGUAGES)}.")


def speak(language: str) -> None:
    """What is shown from now on is shown in *language*.

    Raises:
        UnknownLanguageError: there is no edition in it.
    """
    if language not in LANGUAGES:
        raise UnknownLanguageError(language)
    if language != ENGLISH:
        OTHERS[language] = said
    _SPOKEN.set(language)


def spoken() -> str:
    """The language that is spoken."""
    return _SPOKEN.get()


def language_tag() -> str:
    """What the language that is spoken is called on a page (BCP 47)."""
    return _TAGS.get(spoken(), spoken())


def said(text: str) -> str:
    """*text* in the language that is spoken."""
    if spoken() == ENGLISH or isinstance(text, Quoted):
        return text
    if isinstance(text, Text):
        return told(text, spoken())
    from mqlab.languages import fixed

    return fixed.told(text, spoken())


def keep(facts: Facts) -> None:
    """From now on names of the material are shown as they are, whatever words they are made of."""
    if spoken() == ENGLISH:
        return
    from mqlab.languages import fixed

    rows = (row for field in fields(facts) for row in _rows(getattr(facts, field.name)))
    fixed.keep(name for row in rows for key in _NAMES if (name := getattr(row, key, None)))


def _rows(value: object) -> Iterable[object]:
    return value if isinstance(value, tuple) else ()
