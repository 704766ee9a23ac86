"""The last look at a copy: what of the originals is still in it, and what nobody but its owner can judge.

Each word that was replaced is looked for once more: as it was and in any case, within longer words, and behind codings:
per cent, hex, base64 at each of its three alignments.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import unquote_to_bytes

import polars as pl

from mqlab.gather.redact_images import TOKEN, small
from mqlab.gather.redact_vocabulary import WORDS_TOO
from mqlab.gather.redact_words import is_software, parts

_MIN_CODED = 6
"""Letters from which a name within another word, or in what a coding stands for, is no chance."""
_CODED = re.compile(rb"[A-Za-z0-9+/_-]{8,}={0,2}")
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2}){5,}")
_PERCENT = re.compile(rb"(?:%[0-9A-Fa-f]{2}[\w.~-]*)+")
_TITLED = re.compile(rb"(?<=[a-z,:;)] )([A-Z][a-z]{2,15})(?= (?!\d)[a-z(]|[,.!?]|\Z)")
_PAIR = re.compile(rb"(?<![\w.])(?=([A-Z][a-z]{2,15}) ([A-Z][a-z\x80-\xff]{2,20})(?!\w))")
"""A first and a second name."""
_NUMBERED = re.compile(rb"(?<!\w)([A-Za-z\x80-\xff]{3,20})[.:#]? (?!1[5-9]\d{8}(?:\d{3})?\b)(\d{6,15})(?![\w.:-])")
_COMPOUND = re.compile(rb"[A-Za-z0-9]+(?:[-@][A-Za-z0-9]+)+")
_HEXED = re.compile("[0-9a-f]+")
_SPAN = 1 << 16
"""Coded bytes that are looked into at once."""


class Search:
    """Looks through a copy for words and names that were replaced."""

    def __init__(self, words: Iterable[str], names: Collection[str], images: Collection[str]) -> None:
        """Look for *words* that were replaced, and *names*, but not for *images* that happen to be spelled alike."""
        shown = {small(image) for image in images}
        self._words = {small(word) for word in words if _is_telling(word)} - shown
        long = {small(name) for name in names if len(name) >= _MIN_CODED} - shown
        self._long = sorted(name for name in long if not is_software(name))
        self._joined = sorted(name for name in long if not name.isalnum())
        self.found: Counter[str] = Counter()
        """What is still there, and how often."""
        self._seen: set[bytes] = set()
        self._tried: set[bytes] = set()

    def look(self, data: bytes) -> None:
        """Search whole lines, or the path of a file."""
        tokens = TOKEN.findall(data)
        told = {token: small(token.decode("utf-8", "surrogateescape")) for token in set(tokens) if not token.isdigit()}
        hits = {token for token, word in told.items() if word in self._words and not _is_own(word, token)}
        self.found.update(told[token] for token in tokens if token in hits)
        self.found.update(_held([data.decode("utf-8", "replace")], self._joined))
        within = [word for token, word in told.items() if token not in self._seen and token not in hits]
        self._seen.update(told)
        coded = {found[0] for pattern in (_CODED, _HEX, _PERCENT) for found in pattern.finditer(data)} - self._tried
        self._tried |= coded
        within += [text for one in coded for text in _decoded(one[:_SPAN])]
        self.found.update(f"{name} (within another word, or coded)" for name in _held(within, self._long))


class Doubts:
    """Collects what stayed and may be somebody's all the same: for a person to judge."""

    def __init__(self, images: Iterable[str], core: Collection[str]) -> None:
        """*images* are what words became; those of *core* are what mqlab knows lines by, and no doubt."""
        self._images = {small(image) for image in images if len(image) > 2 and not image.isdigit()}
        self._core = core
        self._found: Counter[str] = Counter()

    def look(self, data: bytes) -> None:
        """Look through whole lines, or the path of a file."""
        self._found.update(word for word in map(bytes.decode, _TITLED.findall(data)) if word.lower() in WORDS_TOO)
        self._found.update(word for found in _COMPOUND.findall(data) for word in self._kept(found.decode()))
        for found in _PAIR.findall(data):
            first, second = (word.decode("utf-8", "replace") for word in found)
            if first.lower() in WORDS_TOO and small(second) in self._images:
                self._found[first] += 1
        for word, number in _NUMBERED.findall(data):
            if small(word.decode("utf-8", "replace")) in self._images:
                self._found[number.decode()] += 1

    def told(self) -> list[str]:
        """Names with a capital, parts of names, numbers behind a name; frequent ones first."""
        return [word for word, _ in self._found.most_common()]

    def _kept(self, compound: str) -> list[str]:
        """Words of *compound* that stayed though others in it were replaced."""
        words = re.split("[-@]", compound)
        if not any(small(word) in self._images for word in words):
            return []
        return [word for word in words if self._is_doubtful(word)]

    def _is_doubtful(self, word: str) -> bool:
        single = len(word) > 2 and word.isalpha() and len(parts(word)) == 1 and not _HEXED.fullmatch(word)
        return single and small(word) not in self._images and small(word) not in self._core


def _held(texts: list[str], names: list[str]) -> list[str]:
    """Which of *names* are in *texts*, as often as they are."""
    if not (names and texts):
        return []
    found = pl.Series(texts, dtype=pl.String).str.extract_many(names, ascii_case_insensitive=True)
    return [small(name) for name in found.explode(empty_as_null=False).drop_nulls()]


def _is_own(word: str, token: bytes) -> bool:
    """Whether *word*, as it is written in *token*, is one of the software's: ``isvalid`` is none, ``isValid`` is."""
    return word.isalnum() and is_software(token.decode("utf-8", "surrogateescape"))


def _is_telling(word: str) -> bool:
    return len(word) > 2 and not word.isdigit()


def _decoded(coded: bytes) -> Iterator[str]:
    """What *coded* may stand for."""
    if b"%" in coded:
        yield unquote_to_bytes(coded).decode("latin-1")
    if _HEX.fullmatch(coded):
        yield binascii.unhexlify(coded).decode("latin-1")
    if not _CODED.fullmatch(coded):
        return
    plain = coded.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    for begin in range(4):
        part = plain[begin : begin + (len(plain) - begin) // 4 * 4]
        yield base64.b64decode(part).decode("latin-1")
