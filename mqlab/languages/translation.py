"""Texts of one language: a message catalogue, and the search for the template that a text was made from.

Of all ways to read a text, as a whole template, as a list or as clauses, that counts which leaves the fewest words as
they are; names, numbers and code are left by each of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product

from babel.messages.pofile import read_po

from mqlab.languages.extraction import SENTENCE
from mqlab.languages.moments import local

_PLACE = re.compile(r"\{(\d+)\}")
_CHOICE = re.compile(r"\{([^{}|]*)\|([^{}]*)\}")
_WORDS = re.compile(r"[A-Za-z]+")
_PROSE = re.compile(r"(?<![\w.\-/:=$_`@*])[A-Za-z]?[a-z]+(?![\w\-/=_`@*]|[.:]\w)")
"""Words that are no part of a name, an address or an assignment."""
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^' ]*'")
_READINGS = 6
"""Templates that are tried of those that fit, the one with most letters of its own first."""
_STEPS = 600
"""Readings of one text; what is left then stays as it is."""
_LONGEST = 6000
_LISTS = (("; ", "；"), (" | ", " | "), (" · ", " · "), (" → ", " → "), (" -> ", " -> "), ("   ", "   "), (": ", "："))
_LATER = ((" = ", " = "), (" + ", " + "), (", and ", "，"), (", ", "，"), (" and ", " 和 "))
_RANGE = re.compile(r"([^\s].*?) to (.*)", re.DOTALL)
_NUMERIC = re.compile(r"[\s\d.,:%×≥≤≈~∞+-]*(?:[A-Za-z]{1,4}(?:/s)?)?(?: UTC)?")
_BRACKETED = re.compile(r"(.*?)(\s*)\(([^()]*(?:\([^()]*\)[^()]*)*)\)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Template:
    """Words around places, and the same in the other language."""

    pieces: tuple[str, ...]
    order: tuple[int, ...]
    translation: str

    @property
    def letters(self) -> int:
        """How much of a text it accounts for."""
        return sum(map(len, self.pieces))

    def places(self, text: str) -> tuple[str, ...] | None:
        """What stands in the places of *text*, None where it is no such text."""
        first, *middle, last = self.pieces
        if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
            return None
        at, found, end = len(first), [], len(text) - len(last)
        for piece in middle:
            begin = text.find(piece, at, end)
            if begin < 0:
                return None
            found.append(text[at:begin])
            at = begin + len(piece)
        return (*found, text[at:end]) if at <= end else None


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


@cache
def translator(language: str) -> Translator:
    """What translates into *language*."""
    return Translator(messages(language), language)


class Translator:
    """Gives texts in another language; what it does not know stays."""

    def __init__(self, known: Mapping[str, str], language: str = "zh") -> None:
        self._language = language
        self._exact: dict[str, str] = {}
        templates = []
        for text, translation in known.items():
            for variant in _variants(text):
                if _PLACE.search(variant):
                    pieces = _PLACE.split(_folded(variant))
                    templates.append(Template(tuple(pieces[::2]), tuple(map(int, pieces[1::2])), translation))
                else:
                    self._exact[_folded(variant)] = translation
        self._by_word = _by_rarest_word(templates)
        self._told: dict[str, str] = {}
        self._steps = 0

    def __call__(self, text: str) -> str:
        """*text* in the language, its lines one by one."""
        if text not in self._told:
            if len(self._told) > 20_000:
                self._told.clear()
            self._told[text] = "\n".join(map(self._line, text.split("\n")))
        return self._told[text]

    def _line(self, text: str) -> str:
        if not _WORDS.search(text) or len(text) > _LONGEST:
            return text
        self._steps = 0
        inner = text.strip()
        start = len(text) - len(text.lstrip())
        return text[:start] + self._best(inner, {})[0] + text[start + len(inner) :]

    def _best(self, text: str, known: dict[str, tuple[str, int]]) -> tuple[str, int]:
        """The translation that leaves the fewest words, and how many these are."""
        if text in known:
            return known[text]
        plain = self._plain(text)
        if plain is not None:
            known[text] = (plain, 0)
            return known[text]
        best = (text, _left(text))
        known[text] = best
        for reading in self._readings(text, known):
            if reading[1] < best[1]:
                best = reading
            if best[1] == 0 or self._steps > _STEPS:
                break
        known[text] = best
        return best

    def _plain(self, text: str) -> str | None:
        """A text without places, or a number or moment."""
        folded = _folded(text)
        if folded in self._exact:
            return self._exact[folded]
        if text.isupper() and text.lower() in self._exact:
            return self._exact[text.lower()]
        stopped = folded.removesuffix(".")
        if stopped != folded and stopped in self._exact:
            return self._exact[stopped] + "。"
        return local(text, self._language)

    def _readings(self, text: str, known: dict[str, tuple[str, int]]) -> Iterator[tuple[str, int]]:
        self._steps += 1
        parts = SENTENCE.split(text)
        if len(parts) > 1:
            sentences = [self._best(part, known) for part in parts]
            yield "。".join(told for told, _ in sentences), sum(left for _, left in sentences)
        if text.endswith(".") and not text.endswith(".."):
            told, left = self._best(text[:-1], known)
            yield told + "。", left
        for template, places in self._fitting(text):
            yield self._filled(template, places, known)
        yield from self._clauses(text, _LISTS, known)
        yield from self._brackets(text, known)
        yield from self._clauses(text, _LATER, known)
        ends = _RANGE.fullmatch(text)
        if ends and _NUMERIC.fullmatch(ends[1]) and _NUMERIC.fullmatch(ends[2]):
            yield f"{self._best(ends[1], known)[0]} 至 {self._best(ends[2], known)[0]}", 0

    def _fitting(self, text: str) -> Iterator[tuple[Template, tuple[str, ...]]]:
        """Templates that the whole text fits, those with most letters first."""
        folded = _folded(text)
        words = {word.lower() for word in _WORDS.findall(text)}
        near = sorted((one for word in words for one in self._by_word.get(word, ())), key=lambda one: -one.letters)
        fitting = 0
        for template in near:
            places = template.places(folded)
            if places is None or fitting >= _READINGS:
                continue
            fitting += 1
            if not template.pieces[0] and text[:1] != folded[:1]:
                places = (text[:1] + places[0][1:], *places[1:])
            yield template, places

    def _filled(
        self, template: Template, places: tuple[str, ...], known: dict[str, tuple[str, int]]
    ) -> tuple[str, int]:
        parts = {number: self._edged(place, known) for number, place in zip(template.order, places, strict=True)}
        told = _PLACE.sub(lambda place: parts.get(int(place[1]), ("", 0))[0], template.translation)
        return told, sum(left for _, left in parts.values())

    def _edged(self, text: str, known: dict[str, tuple[str, int]]) -> tuple[str, int]:
        """What stands in a place, with the spaces and marks around it."""
        inner = text.strip(" ,;")
        if not inner:
            return text, 0
        start = text.index(inner)
        told, left = self._best(inner, known)
        return _marks(text[:start]) + told + _marks(text[start + len(inner) :]), left

    def _clauses(
        self, text: str, joints: tuple[tuple[str, str], ...], known: dict[str, tuple[str, int]]
    ) -> Iterator[tuple[str, int]]:
        for joint, told in joints:
            if joint not in text:
                continue
            parts = [(part, *self._best(part.strip(), known)) for part in text.split(joint)]
            changed = any(part.strip() != translated for part, translated, _ in parts)
            between = "、" if joint == ", " and all(len(part) < 24 for part, *_ in parts) else told
            yield (between if changed else joint).join(one for _, one, _ in parts), sum(left for *_, left in parts)

    def _brackets(self, text: str, known: dict[str, tuple[str, int]]) -> Iterator[tuple[str, int]]:
        found = _BRACKETED.fullmatch(text)
        if found is None or not (found[1].strip() or found[4].strip() or found[3]):
            return
        before, inside, after = (self._edged(part, known) for part in (found[1], found[3], found[4]))
        left = before[1] + inside[1] + after[1]
        if (before[0], inside[0], after[0]) == (found[1], found[3], found[4]):
            return
        yield f"{before[0]}（{inside[0]}）{after[0]}", left


def _marks(text: str) -> str:
    return text.replace(", ", "，").replace("; ", "；")


def _variants(text: str) -> Iterator[str]:
    """The text with each of its choices made."""
    parts = _CHOICE.split(text)
    for chosen in product(*zip(parts[1::3], parts[2::3], strict=True)):
        words = iter(chosen)
        yield "".join(part + next(words, "") for part in parts[::3])


def _folded(text: str) -> str:
    return text[:1].lower() + text[1:]


def _left(text: str) -> int:
    """Words that are prose."""
    return len(_PROSE.findall(_CODE.sub("", text)))


def _by_rarest_word(templates: list[Template]) -> dict[str, list[Template]]:
    words = [_whole_words(one.pieces) for one in templates]
    often = Counter(word for these in words for word in these)
    found: dict[str, list[Template]] = defaultdict(list)
    for template, these in zip(templates, words, strict=True):
        if these:
            found[min(these, key=lambda word: (often[word], word))].append(template)
    return found


def _whole_words(pieces: tuple[str, ...]) -> set[str]:
    """Words that no place can be a part of."""
    text = "\0".join(("", *pieces, "")).replace("\0", " ", 1)[:-1] + " "
    return {word.lower() for word in re.findall(r"(?<=[^A-Za-z\0])[A-Za-z]+(?=[^A-Za-z\0])", text)}
