"""Texts of one language: a message catalogue, and the search for the template that a text was made from.

Of all ways to read a text, as a whole template, as a list or as clauses, that counts which leaves the fewest words as
they are; names, numbers and code are left by each of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product
from math import inf
from string import Formatter
from typing import Any

from babel.messages.pofile import read_po

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.languages.extraction import SENTENCE
from mqlab.words import filling
from mqlab.words.telling import local, tidied

_PLACE = re.compile(r"\{(\d+)\}")
_CHOICE = re.compile(r"\{([^{}|]*)\|([^{}]*)\}")
_WORDS = re.compile(r"[A-Za-z]+")
_PROSE = re.compile(r"(?<![\w.\-/:=$_`@*])[A-Za-z]?[a-z]+(?![\w\-/=_`@*]|[.:]\w)")
"""Words that are no part of a name, an address or an assignment."""
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^' ]*'")
_READINGS = 8
"""Templates that are tried of those that fit, the one with most letters of its own first."""
_STEPS = 400
"""Readings of one text; what is left then stays as it is."""
_DEEPEST, _FEW = 14, 2
_LONGEST, _LONGEST_GLUED = 6000, 400
_JOINTS = ((re.compile(r"( {2,}| \| | · | → | -> )"), None), (re.compile("(; )"), "；"), (re.compile("(: )"), "："))
_LATER = (
    (re.compile(r"( = | \+ | × )"), None),
    (re.compile("(, and )"), "，"),
    (re.compile("(, or )"), "，或 "),
    (re.compile("(, )"), "，"),
    (re.compile("( and )"), " 和 "),
    (re.compile("( or )"), " 或 "),
)
_HARD = re.compile(r" {2,}| \| | · |; |: ")
"""What joins texts that are made apart: it stands in a place of a template in rare cases only."""
_APART = re.compile(rf"{_HARD.pattern}|, ")
_SOFT = re.compile(r", | and ")
_LOG_LINE = re.compile(r"\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\]? +[\[#(\w.]")
_NUMBERED = re.compile(r"([≥≤≈~]? ?\d[\d.,]*[×x]?) (\D.*)", re.DOTALL)
_DATED = re.compile(r"((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?: UTC)?) (\D.*)", re.DOTALL)
_AROUND = " \t\u200a↓→·:;,—"
_GLUED = ("-", "/", "@", ".", "_")
_COUNTED = re.compile(r"(\D+) ([≥≤≈~]? ?\d[\d.,]*)")
_DIGIT = re.compile(r"\d")
_GOOD = 0.25
_LITTLE, _LISTED, _JOINT, _NEAR, _FAR, _WEAK = 0.05, 0.1, 0.15, 0.4, 1.5, 0.6
"""What readings cost, where a word that is left costs 1."""
_SHORT, _LONG, _MOST_WORDS, _TWO = 24, 8, 24, 3
_PREPOSITIONS = {
    "of", "by", "in", "to", "at", "on", "for", "from", "with", "and", "or", "than", "as", "is", "are", "until", "after",
    "before", "since", "under", "a", "the", "then", "s", "not", "left", "out",
}  # fmt: skip
"""A template of such words alone fits nearly everything."""
_RUN = re.compile(r"\{\d+\}(?: ?\{\d+\})+")
_BEFORE = re.compile(r"\{\d+\} (?=\{|[A-Z][a-z])")
"""A place at the beginning, in which a sentence of its own may stand."""
_Told = tuple[str, float]
"""A translation and its cost."""
_RANGE = re.compile(r"([^\s].*?) to (.*)", re.DOTALL)
_NUMERIC = re.compile(r"[\s\d.,:%×≥≤≈~∞+-]*(?:[A-Za-z]{1,4}(?:/s)?)?(?: UTC)?")
_BRACKETED = re.compile(r"(.*?)(\s*)\(([^()]*(?:\([^()]*\)[^()]*)*)\)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Template:
    """Words around places, and the same in the other language."""

    pieces: tuple[str, ...]
    order: tuple[int, ...]
    translation: str
    letters: int
    """How much of a text it accounts for."""
    cost: float
    """How little it says: a single preposition fits nearly everything."""
    counted: bool
    """A number stands in its first place."""

    def places(self, text: str) -> tuple[str, ...] | None:
        """What stands in the places of *text*, None where it is no such text."""
        first, *middle, last = self.pieces
        if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
            return None
        at, found, end = len(first), [], len(text) - len(last)
        for piece in middle:
            begin = text.find(piece, at, end)
            while begin >= 0 and not _whole(text[at:begin]):
                begin = text.find(piece, begin + 1, end)
            if begin < 0:
                return None
            found.append(text[at:begin])
            at = begin + len(piece)
        found.append(text[at:end])
        if at > end or not all(map(_whole, found)) or any(place.rstrip().endswith((":", ";", ",")) for place in found):
            return None
        if self.counted and not _DIGIT.search(found[0]):
            return None
        names = (place for n, one in enumerate(self.pieces) if n and one in _GLUED for place in found[n - 1 : n + 1])
        return None if any(" " in name for name in names) else tuple(found)


@cache
def messages(language: str) -> Mapping[str, str]:
    """Every text of the catalogues of *language* that is translated."""
    folder = resources.files("mqlab").joinpath("languages", language)
    found: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".po"):
            with file.open("rb") as stream:
                found |= {str(one.id): str(one.string) for one in read_po(stream) if one.id and one.string}
    return dict(_of_rooms(language)) | found


def _of_rooms(language: str) -> Iterator[tuple[str, str]]:
    """Texts of rooms as templates, for those that stand within a text that is made without a room."""
    for name in words.rooms():
        yield from _pairs(words.catalogue(name, words.ENGLISH), words.catalogue(name, language))


def _pairs(text: Any, translation: Any) -> Iterator[tuple[str, str]]:
    if isinstance(text, str):
        if text:
            places = [name for _, name, _, _ in Formatter().parse(text) if name and not name.endswith("?")]
            order = {name: n for n, name in enumerate(dict.fromkeys(places))}
            yield _numbered(text, order).removesuffix("."), _numbered(translation, order).removesuffix("。")
        return
    for key in text if isinstance(text, dict) else range(len(text)):
        yield from _pairs(text[key], translation[key])


def _numbered(text: str, order: Mapping[str, int]) -> str:
    """A room's template as one of a message catalogue: ``{0} record{|s} of {1}``."""
    told = ""
    for before, name, form, _ in Formatter().parse(text):
        told += before
        if not name or name.endswith("?"):
            continue
        one, choice, many = (form or "").partition("|")
        thing = "" if not form or form in filling.FORMS or form.split()[0] in ("of", "by", "few", "and", "or") else form
        plural = "{|s}" if thing.isascii() else ""
        chosen = f"{{{one}|{many}}}" if many.isascii() else many
        told += chosen if choice else f"{{{order[name]}}}" + (f" {thing}{plural}" if thing else "")
    return told.strip()


@cache
def translator(language: str) -> Translator:
    """What translates into *language*; classes keep their names, whether or not a figure parts their words."""
    classes = {slug.replace("-", " "): slug for slug in INCIDENTS}
    return Translator({**messages(language), **classes}, language)


class Translator:
    """Gives texts in another language; what it does not know stays."""

    def __init__(self, known: Mapping[str, str], language: str = "zh") -> None:
        self._language = language
        self._exact: dict[str, str] = {}
        self._capitals = {word for text in known for word in _WORDS.findall(text) if word.isupper() and len(word) > 3}
        templates: list[Template] = []
        for text, translation in known.items():
            for variant in _variants(text):
                if _PLACE.search(variant):
                    counted = text.startswith("{0} ") and "|s}" in text
                    templates += _templates(variant, translation, counted)
                else:
                    self._exact[_folded(variant)] = translation
        self._by_word = _by_rarest_word(templates)
        self._names: set[str] = set()
        self._told: dict[str, str] = {}
        self._steps = self._depth = 0

    def keep(self, names: Iterable[str]) -> None:
        """Leave these *names* as they are."""
        self._names.update(names)
        self._told.clear()

    def __call__(self, text: str) -> str:
        """*text* in the language, its lines one by one."""
        if text not in self._told:
            if len(self._told) > 20_000:
                self._told.clear()
            self._told[text] = "\n".join(map(self._line, text.split("\n")))
            if self._told[text] != text:
                self._told[text] = tidied(self._told[text])
        return self._told[text]

    def _line(self, text: str) -> str:
        if not _WORDS.search(text) or len(text) > _LONGEST:
            return text
        self._steps = self._depth = 0
        inner = text.strip(_AROUND)
        start = text.index(inner)
        told = self._best(inner, {})[0]
        left = self._left(told)
        if left > _FEW and left > self._left(inner) / 2:
            return text  # a line of a log, or prose of somebody else: its few words that are known are no reason
        return text[:start] + told + _marks(text[start + len(inner) :])

    def _best(self, text: str, known: dict[str, _Told]) -> _Told:
        """The translation that costs least: words that are left, and readings that are far-fetched."""
        if text in known:
            return known[text]
        stays = text in self._names or _LOG_LINE.match(text) is not None
        plain = None if stays else self._plain(text)
        best = (text, float(self._left(text))) if plain is None else (plain, 0.0)
        known[text] = best
        if plain is None and not stays and best[1] and self._depth < _DEEPEST:
            self._depth += 1
            for reading in self._readings(text, known):
                if reading[1] < best[1]:
                    best = reading
                if best[1] < _GOOD or self._steps > _STEPS:
                    break
            known[text] = best
            self._depth -= 1
        return best

    def _left(self, text: str) -> int:
        """Words that are prose, or labels."""
        words = _CODE.sub("", text)
        return len(_PROSE.findall(words)) + len(self._capitals.intersection(_WORDS.findall(words)))

    def _plain(self, text: str) -> str | None:
        """A text without places, or a number or moment."""
        folded = _folded(text)
        if folded in self._exact:
            return self._exact[folded]
        if f"{folded}." in self._exact:
            return self._exact[f"{folded}."].removesuffix("。")
        if text.isupper() and text.lower() in self._exact:
            return self._exact[text.lower()]
        return local(text, self._language)

    def _readings(self, text: str, known: dict[str, _Told]) -> Iterator[_Told]:
        self._steps += 1
        parts = SENTENCE.split(text)
        if len(parts) > 1:
            sentences = [self._best(part, known) for part in parts]
            yield (
                "。".join([*(told.removesuffix("。") for told, _ in sentences[:-1]), sentences[-1][0]]),
                sum(cost for _, cost in sentences),
            )
        if text.endswith(".") and not text.endswith(".."):
            told, cost = self._best(text[:-1], known)
            yield told.removesuffix("。") + "。", cost
        for template, places in self._fitting(text):
            yield self._filled(template, places, known)
        yield from self._clauses(text, _JOINTS, known)
        yield from self._brackets(text, known)
        yield from self._clauses(text, _LATER, known)
        yield from self._numbers(text, known)
        if len(text) > _LONGEST_GLUED:
            return
        yield from self._appended(text, known)
        name, gap, rest = text.partition(" ")
        if gap and not name.endswith(":"):
            told, cost = self._best(rest, known)
            yield f"{name} {told}", self._left(name) + cost + _NEAR

    def _appended(self, text: str, known: dict[str, _Told]) -> Iterator[_Told]:
        """A text and what was put behind it."""
        ends = [place.start() for place in re.finditer(" ", text)][-_MOST_WORDS:]
        for end in ends:
            head, tail = text[:end].rstrip(), text[end + 1 :]
            if head in _PREPOSITIONS:
                continue
            plain = None if tail in self._names else self._plain(tail)
            found = [(plain, 0.0)] if plain is not None else []
            for template, places in self._fitting(tail) if plain is None else ():
                if template.pieces[0] and template.letters >= _LONG and not any(map(_HARD.search, places)):
                    found.append(self._filled(template, places, known))
                    break
            for told, cost in found:
                first = self._best(head, known)
                yield f"{first[0]} {told}", first[1] + cost + _NEAR

    def _numbers(self, text: str, known: dict[str, _Told]) -> Iterator[_Told]:
        """How many of something, or from where to where."""
        if many := _NUMBERED.fullmatch(text):
            for name in (many[2], many[2].removesuffix("s")):
                told, cost = self._best(name, known)
                yield f"{many[1]} {told}", cost * 2 + _NEAR
        if dated := _DATED.fullmatch(text):
            told, cost = self._best(dated[2], known)
            yield f"{dated[1]} {told}", cost + _JOINT
        if many := _COUNTED.fullmatch(text):
            told, cost = self._best(many[1], known)
            yield f"{told} {many[2]}", cost + _JOINT
        ends = _RANGE.fullmatch(text)
        if ends and _NUMERIC.fullmatch(ends[1]) and _NUMERIC.fullmatch(ends[2]):
            yield f"{self._best(ends[1], known)[0]} 至 {self._best(ends[2], known)[0]}", _JOINT

    def _fitting(self, text: str) -> Iterator[tuple[Template, tuple[str, ...]]]:
        """Templates that the whole text fits, those with most letters first."""
        folded = _folded(text)
        words = {word.lower() for word in _WORDS.findall(text)}
        near = sorted((one for word in words for one in self._by_word.get(word, ())), key=lambda one: -one.letters)
        fitting = 0
        for template in near:
            places = template.places(folded)
            if places is None or (template.cost >= _WEAK and any(_APART.search(place) for place in places)):
                continue
            if not template.pieces[0] and text[:1] != folded[:1]:
                places = (text[:1] + places[0][1:], *places[1:])
            yield template, places
            fitting += 1
            if fitting >= _READINGS:
                return

    def _filled(self, template: Template, places: tuple[str, ...], known: dict[str, _Told]) -> _Told:
        parts = {number: self._edged(place, known) for number, place in zip(template.order, places, strict=True)}
        if template.cost >= _WEAK and any(cost > 1 for _, cost in parts.values()):
            return "", inf
        told = _PLACE.sub(lambda place: parts.get(int(place[1]), ("", 0))[0], template.translation)
        far = sum(len(_HARD.findall(place)) * _FAR + len(_SOFT.findall(place)) * _LISTED for place in places)
        return told, template.cost + far + sum(cost for _, cost in parts.values())

    def _edged(self, text: str, known: dict[str, _Told]) -> _Told:
        """What stands in a place, with the spaces and marks around it."""
        inner = text.strip(" ,;:")
        if not inner:
            return _marks(text), 0
        start = text.index(inner)
        told, cost = self._best(inner, known)
        return _marks(text[:start]) + told + _marks(text[start + len(inner) :]), cost

    def _clauses(
        self, text: str, joints: Iterable[tuple[re.Pattern[str], str | None]], known: dict[str, _Told]
    ) -> Iterator[_Told]:
        for joint, between in joints:
            every = joint.split(text)
            if len(every) == 1:
                continue
            for parts in (every, joint.split(text, maxsplit=1)) if len(every) > _TWO else (every,):
                told = [self._best(part.strip(), known) for part in parts[::2]]
                if all(one == part.strip() for (one, _), part in zip(told, parts[::2], strict=True)):
                    continue
                listed = parts[1] == ", " and all(len(part) < _SHORT for part in parts)
                marks = [*(("、" if listed else between) or one for one in parts[1::2]), ""]
                cost = _JOINT * len(marks) + sum(cost for _, cost in told)
                yield "".join(one + mark for (one, _), mark in zip(told, marks, strict=True)), cost

    def _brackets(self, text: str, known: dict[str, _Told]) -> Iterator[_Told]:
        found = _BRACKETED.fullmatch(text)
        if found is None or not all(map(_whole, (found[1], found[4]))):
            return
        before, inside, after = (self._edged(part, known) for part in (found[1], found[3], found[4]))
        if (before[0], inside[0], after[0]) != (found[1], found[3], found[4]):
            yield f"{before[0]}（{inside[0]}）{after[0]}", before[1] + inside[1] + after[1] + _JOINT


def _marks(text: str) -> str:
    """What joins a part to others."""
    return text.replace(", ", "，").replace("; ", "；").replace(": ", "：").replace(":", "：")


def _whole(text: str) -> bool:
    """True where brackets and quotes of *text* are closed in it."""
    return text.count("(") == text.count(")") and text.count('"') % 2 == 0


def _templates(text: str, translation: str, counted: bool) -> Iterator[Template]:
    """The template; with places as one that stand beside each other in both languages; without a sentence before it."""
    yield _template(text, translation, counted)
    if text[0] + text[-1] == "()" and _whole(text[1:-1]):
        yield _template(text[1:-1], translation[1:-1])
    one_place, told = text, translation
    for run in _RUN.findall(text):
        if run in translation:
            first = run.split("}")[0] + "}"
            one_place, told = one_place.replace(run, first), told.replace(run, first)
    if one_place != text:
        yield _template(one_place, told, counted)
    if before := _BEFORE.match(text):
        rest = text[before.end() :]
        if _PLACE.search(rest) and translation.startswith(before[0].strip()):
            yield _template(rest, translation.removeprefix(before[0].strip()).lstrip())


def _template(text: str, translation: str, counted: bool = False) -> Template:
    pieces = _PLACE.split(_folded(text))
    own = [word for piece in pieces[::2] for word in _WORDS.findall(piece)]
    cost = _WEAK if _PREPOSITIONS.issuperset(own) else 0.3 / len(own)
    cost += sum(_JOINT if piece == " " else -_LITTLE if "=" in piece else 0 for piece in pieces[2:-1:2])
    return Template(
        tuple(pieces[::2]), tuple(map(int, pieces[1::2])), translation, sum(map(len, pieces[::2])), cost, counted
    )


def _variants(text: str) -> Iterator[str]:
    """The text with each of its choices made."""
    parts = _CHOICE.split(text)
    for chosen in product(*zip(parts[1::3], parts[2::3], strict=True)):
        words = iter(chosen)
        yield "".join(part + next(words, "") for part in parts[::3])


def _folded(text: str) -> str:
    return text[:1].lower() + text[1:]


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
