"""Bytes without their names: each word gives way to its image of the same length, wherever it stands.

Words are looked up one by one. A name that is made of words of the software is looked for as a whole, with any signs
between its words: ``order-sync`` is ``order_sync`` for JMX and ``order%2Fsync`` in an address of a page. Where it is
a single such word, it is replaced only where a name is expected: behind ``topic=`` and its like, before a partition's
number, in a cell of a table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from mqlab.gather.redact_images import TOKEN
from mqlab.gather.redact_pseudonyms import Pseudonyms

_RUN = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(rb"[-._/@%~+#:\\]{1,4}")
"""What stands between two words of one name."""
_BEGIN = re.compile(rb"(?<![^/])[0-9A-Za-z\x80-\xff]+|(?<![0-9A-Za-z\x80-\xff])[A-Za-z]+(?=-\d{1,4}(?!\d))")
"""The first word of a file's or a folder's name, and a word before a number: who wrote it."""
_KEY = re.compile(rb"(?i)(?:topic|group|client|consumer|member|user|host|partition|queue)s?(?:id|name)?")
_IS = re.compile(rb"[\"']?[ \t]?[=:][ \t]?[\"'\[(<{]*")
_BESIDE = frozenset(((b"RETRY", b"%"), (b"topics", b"/"), (b"user", b" "), (b"u", b"'")))
"""Words and signs that stand before a name."""
_PREFIXES = frozenset((b"consumer", b"producer", b"adminclient"))
"""What clients call themselves, and a number behind it."""


class Rewriter:
    """Rewrites pieces of whole lines; the same for every file of a capture."""

    def __init__(self, images: Mapping[str, str], names: Pseudonyms, core: Collection[str]) -> None:
        """Replace words by their *images*, and *names* that are made of words of the *core*."""
        told = {name: list(_steps(name, other, images, core)) for name, other in names.of.items() if name not in images}
        single = {steps[0][0]: steps[0][1] for steps in told.values() if len(steps) == 1 and steps[0][0] != steps[0][1]}
        self.placed = {name: other for name, other in single.items() if name.lower() in core}
        """Names that are replaced only where a name is expected."""
        self._of = {_bytes(name): _bytes(other) for name, other in images.items()}
        self._long = _sequences([steps for steps in told.values() if len(steps) > 1], core)
        self._lengths: dict[bytes, list[int]] = defaultdict(list)
        for words in sorted(self._long, key=len, reverse=True):
            if len(words) not in self._lengths[words[0]]:
                self._lengths[words[0]].append(len(words))
        self._placed = {_bytes(name): _bytes(other) for name, other in self.placed.items()}

    def rewritten(self, data: bytes) -> bytes:
        """*data* with images for words."""
        found = TOKEN.split(data)
        words = found[1::2]
        of = self._of
        found[1::2] = [of.get(word, word) for word in words]
        for place in [place for place, word in enumerate(words) if word in self._placed]:
            if _is_expected(place, words, found):
                found[2 * place + 1] = self._placed[words[place]]
        for place in [place for place, word in enumerate(words) if word in self._lengths]:
            self._place(place, words, found)
        return b"".join(found)

    def name(self, name: str) -> str:
        """What becomes of *name*, where it is expected."""
        written = self.rewritten(_bytes(name)).decode("utf-8", "surrogateescape")
        return _RUN.sub(lambda run: self.placed.get(run[0], run[0]), written)

    def path(self, name: str) -> str:
        """The path *name* with images for words, also where a file is called by a word of the software."""
        begins = _BEGIN.sub(lambda word: self._placed.get(word[0], word[0]), self.rewritten(_bytes(name)))
        return begins.decode("utf-8", "surrogateescape")

    def _place(self, place: int, words: list[bytes], found: list[bytes]) -> None:
        """Put the image of the longest name that begins at *place* into *found*."""
        for length in self._lengths[words[place]]:
            at = _following(place, length, words, found)
            images = self._long.get(tuple(words[one] for one in at)) if len(at) == length else None
            if images:
                for one, image in zip(at, images, strict=True):
                    found[2 * one + 1] = image
                return


def whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The *pieces* cut anew, so that no name lies across a cut."""
    rest = b""
    for piece in chain(pieces, (None,)):
        data = rest + (piece or b"")
        cut = len(data) if piece is None else data.rfind(b"\n") + 1
        if not cut and len(data) > 64 << 20:
            cut = max(data.rfind(mark) for mark in (b"},", b", ", b" ")) + 1
        if cut:
            yield data[:cut]
        rest = data[cut:]


def _steps(name: str, other: str, images: Mapping[str, str], core: Collection[str]) -> Iterator[tuple[str, str]]:
    """The words of *name* and what each becomes, without counts at its end."""
    pairs = list(zip(_RUN.findall(name), _RUN.findall(other), strict=True))
    while pairs and pairs[-1][0].isdigit() and pairs[-1][0] == pairs[-1][1]:
        pairs.pop()
    for before, after in pairs:
        yield before, after if before.lower() in core else images.get(before, after)


def _sequences(
    told: Collection[list[tuple[str, str]]], core: Collection[str]
) -> dict[tuple[bytes, ...], tuple[bytes, ...]]:
    """By their words, names of several words that are not all replaced wherever they stand, and their stems."""
    kept: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}
    for steps in told:
        for length in range(len(steps), 1, -1):
            words, others = zip(*steps[:length], strict=True)
            if all(word == other for word, other in zip(words, others, strict=True)):
                continue
            known = any(mark.join(words).lower() in core for mark in "-._")
            needed = any(word.lower() in core or len(word) == 1 or word.isdigit() for word in words)
            if needed and not (known and length < len(steps)):
                for spell in (str, str.lower, str.upper, str.capitalize):
                    spelled = tuple(_bytes(spell(word)) for word in words)
                    kept.setdefault(spelled, tuple(_bytes(spell(other)) for other in others))
    return kept


def _following(place: int, length: int, words: list[bytes], found: list[bytes]) -> list[int]:
    """Where the *length* words stand that follow each other from *place* on, as those of one name do."""
    at = [place]
    while len(at) < length:
        last = at[-1] + 1
        if last < len(words) and words[last][:1] == b"%" and not found[2 * last]:
            if last + 1 < len(words) and not found[2 * last + 2]:
                at.append(last + 1)
                continue
            break
        if last >= len(words) or not _BETWEEN.fullmatch(found[2 * last]):
            break
        at.append(last)
    return at


def _is_expected(place: int, words: list[bytes], found: list[bytes]) -> bool:
    """Whether a name is expected at *place*: behind a key, before a number, in a cell of a table, in a path."""
    before, after = found[2 * place], found[2 * place + 2]
    previous = words[place - 1] if place else b""
    following = words[place + 1] if place + 1 < len(words) else b""
    if after[:1] == b"_" or (after in (b".", b"-") and following[:1].isalpha()):
        return False
    key = words[place - 2] if previous.lower() in (b"id", b"name") and place > 1 else previous
    if _IS.fullmatch(before) and _KEY.fullmatch(key):
        return True
    if after == b"-" and following.isdigit() and len(following) <= 4 and words[place].lower() not in _PREFIXES:
        return before[-1:] not in b"._-" or not before
    return _is_cell(before, after, following, first=not place) or (previous, before) in _BESIDE


def _is_cell(before: bytes, after: bytes, following: bytes, first: bool) -> bool:
    """Whether what stands between *before* and *after* is a cell of a table that spaces make."""
    spaces = after and not after.strip(b" ")
    if before == b" ":
        return bool(spaces) and following.isdigit()
    begins = before[-1:] == b"\n" or before[-2:] == b"  " or (first and not before)
    return begins and (after[:2] == b"  " or after[:1] == b"@" or (bool(spaces) and following.isdigit()))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
