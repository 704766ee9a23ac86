"""What mqlab says: texts stand in catalogues, a file for each class or subject, and are filled with what was seen.

Whoever says something names a text and gives its values:

    say = room("session-timeout")
    say("trace", group="billing", expulsions=3)   ->  "billing: 3 expulsions …"

In ``en/session-timeout.toml`` a text is a template, or a list of clauses. A clause is a template or a list of
templates, of which the first is taken whose places can all be filled; a clause of which none can be filled is left out.
So nothing is said of what was not seen. How places are written: ``mqlab.words.filling``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from mqlab.words.filling import Filling, Unseen, Value

ENGLISH = "en"
_LISTED = "list"
_NOTHING = "nothing"

Catalogue = Mapping[str, Any]


class Quoted(str):
    """Words of the material, such as a setting's value: no language says them otherwise."""

    __slots__ = ()


class Text(str):
    """English words that know which text of which room they are, so that ``telling`` can say the same otherwise.

    It is a string like any other; what is made of it by slicing or joining is plain. ``listed`` joins texts.
    """

    __slots__ = ("key", "room", "values")
    room: str
    key: str
    values: Mapping[str, Value]

    def __new__(cls, room: str, key: str, values: Mapping[str, Value]) -> Text:
        """The text *key* of *room*, filled.

        Raises:
            LookupError: there is no such text, or nothing of it can be filled.
        """
        one = super().__new__(cls, filled(room, key, values))
        one.room, one.key, one.values = room, key, values
        return one

    def __reduce__(self) -> tuple[type[Text], tuple[str, str, Mapping[str, Value]]]:
        """Made again from what it is made of."""
        return Text, (self.room, self.key, self.values)


def room(name: str) -> Callable[..., Text]:
    """What says the texts of the class or subject *name*: ``say(key, **values)``; a value of None is not known."""

    def say(key: str, /, **values: Value) -> Text:
        return Text(name, key, values)

    return say


def seen(name: str, key: str, values: Mapping[str, Value]) -> Text | None:
    """The text *key* of room *name*; None where there is no such room or text, or nothing of it can be filled."""
    try:
        return Text(name, key, values)
    except LookupError:
        return None


def listed(texts: Iterable[str], between: str = "; ") -> str:
    """*texts* with *between* them, as a text; the empty string of none."""
    every = tuple(texts)
    return Text("", between, {_LISTED: every}) if every else ""


def pieces(text: str, between: str = "; ") -> tuple[str, ...]:
    """The texts that ``listed`` joined with *between*; of any other text its pieces."""
    if isinstance(text, Text) and (text.room, text.key) == ("", between):
        return tuple(text.values[_LISTED])  # type: ignore[arg-type]
    return (text,) if isinstance(text, Text) else tuple(text.split(between))


def is_idle(text: str) -> bool:
    """The text of a repair says that nothing is to be done: it is no more than the part ``nothing`` of its room."""
    if not isinstance(text, Text):
        return False
    texts = catalogue(text.room, ENGLISH) if text.room else {}
    nothing = texts.get("part", {}).get(_NOTHING)
    try:
        return nothing is not None and Filling(text.values, texts).first(nothing, _NOTHING) == text
    except Unseen:
        return False


@cache
def catalogue(name: str, language: str) -> Catalogue:
    """Texts of the room *name*; *language* has the same rooms and keys as English.

    Raises:
        LookupError: there is no such room.
    """
    file = resources.files(__name__).joinpath(language, f"{name}.toml")
    if not file.is_file():
        raise LookupError(f"no words for {name} in {language}")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _fetch() -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads(resources.files(__name__).joinpath("fetch.toml").read_text(encoding="utf-8"))


def fetched_by(text: str) -> tuple[str, ...]:
    """Names of the commands that fetch what *text* says is missing; none of a text that is of no room."""
    return tuple(_fetch().get(text.room, {}).get(text.key, ())) if isinstance(text, Text) else ()


def rooms(language: str = ENGLISH) -> tuple[str, ...]:
    """Names of all rooms, sorted."""
    folder = resources.files(__name__).joinpath(language)
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


def filled(
    name: str, key: str, values: Mapping[str, Value], language: str = ENGLISH, how: type[Filling] = Filling
) -> str:
    """The text *key* of room *name* with *values*, in the *language* that this way of filling writes.

    Raises:
        LookupError: there is no such text, or nothing of it can be filled.
    """
    if not name:
        return how(values, {}).text("{list:by " + key + "}")
    texts = catalogue(name, language)
    filling = how(values, texts)
    told = []
    for clause in texts[key] if isinstance(texts[key], list) else [texts[key]]:
        try:
            told.append(filling.first(clause, key))
        except Unseen as error:
            missing = error
    if not told:
        raise Unseen(f"{name}: {missing}")
    return how.BETWEEN.join(one for one in told if one)
