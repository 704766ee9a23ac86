"""Fixed texts of another language, by what they are in English: fields of tables, headers, prose of notebooks.

What is made of values is a ``Text`` of a room (``mqlab.words``). Here a text is known as a whole, or stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources

from babel.messages.pofile import read_po

from mqlab.words.telling import local

_AROUND = " \t\u200a↓→·:;,—"
_KEPT: set[str] = set()


@cache
def messages(language: str) -> Mapping[str, str]:
    """Every text of the catalogues of *language* that is translated."""
    folder = resources.files("mqlab").joinpath("languages", language)
    found: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".po"):
            with file.open("rb") as stream:
                found |= {str(one.id): str(one.string) for one in read_po(stream) if one.id and one.string}
    return found


def keep(names: Iterable[str]) -> None:
    """Leave these *names* as they are."""
    _KEPT.update(names)


def told(text: str, language: str) -> str:
    """*text* in *language*, its lines one by one; what is not known stays."""
    return "\n".join(_line(line, language) for line in text.split("\n"))


def _line(text: str, language: str) -> str:
    inner = text.strip(_AROUND)
    known = None if not inner or inner in _KEPT else _known(inner, language)
    return text if known is None else text.replace(inner, known, 1)


def _known(text: str, language: str) -> str | None:
    """The translation, however the text begins and ends."""
    every = _folded(language)
    folded = _fold(text)
    if folded in every:
        return every[folded]
    if folded.endswith(".") and (without := every.get(folded.removesuffix("."))) is not None:
        return f"{without}。"
    if (whole := every.get(f"{folded}.")) is not None:
        return whole.removesuffix("。")
    upper = every.get(text.lower()) if text.isupper() else None
    return local(text, language) if upper is None else upper


@cache
def _folded(language: str) -> Mapping[str, str]:
    return {_fold(text): translation for text, translation in messages(language).items()}


def _fold(text: str) -> str:
    return text[:1].lower() + text[1:]
