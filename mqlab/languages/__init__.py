"""Languages that people read: texts are written in English where they are made, and translated where they are shown.

A text is translated by the template that it was made from, as the message catalogues of a language hold it
(``zh/*.po``); names, numbers, code and lines of the material stay. Logic, JSON and diagnosis are English throughout.
"""

from __future__ import annotations

from contextvars import ContextVar

from mqlab.errors import MqlabError

LANGUAGES = ("en", "zh")
ENGLISH = "en"
_SPOKEN: ContextVar[str] = ContextVar("language", default=ENGLISH)


class UnknownLanguageError(MqlabError):
    """There is no edition in this language."""

    def __init__(self, language: str) -> None:
        super().__init__(f"There is no edition in {language!r}. Known: {', '.join(LANGUAGES)}.")


def speak(language: str) -> None:
    """What is shown from now on is shown in *language*.

    Raises:
        UnknownLanguageError: there is no edition in it.
    """
    if language not in LANGUAGES:
        raise UnknownLanguageError(language)
    _SPOKEN.set(language)


def spoken() -> str:
    """The language that is spoken."""
    return _SPOKEN.get()


def said(text: str) -> str:
    """*text* in the language that is spoken."""
    if spoken() == ENGLISH:
        return text
    from mqlab.languages.translation import translator

    return translator(spoken())(text)
