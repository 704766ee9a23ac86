"""Pseudonyms that keep what mechanisms and layouts depend on, and nothing else.

A pseudonym is as long as its name in UTF-8, has letters where that has letters, and sorts as it does: RocketMQ's
allocation sorts client ids, Kafka's assignors sort member ids, outputs are columns, and bytes of a log are evidence.
Names that begin alike have pseudonyms that begin alike, so that ``orders`` and ``orders-dlq`` stay related, and two
addresses of one network stay in one. Numbers of up to three digits at the end of a word stay: they count shards.

Each word is a path through a tree of letters. What a letter becomes is drawn by HMAC with the owner's key among those
that leave its siblings in order.
"""

from __future__ import annotations

import hmac
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import shake_256
from ipaddress import IPv4Address, ip_network
from itertools import pairwise

_DIGITS, _LOWER, _UPPER = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_HEX = r"[0-9A-Fa-f]"
_TOKEN = re.compile(
    rf"(?P<four>(?<![0-9A-Za-z.]){_OCTET}(?P<mark>[.\-_]){_OCTET}(?P=mark){_OCTET}(?P=mark){_OCTET}(?![0-9A-Za-z]))"
    rf"|(?P<hex>(?<![\w:]){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}(?![\w:])"
    rf"|(?<![\w:])(?:{_HEX}{{0,4}}:){{2,7}}{_HEX}{{0,4}}(?![\w:]))|(?P<word>[^\W_]+)"
)
_COUNT = re.compile(r"(?<!\d)\d{1,3}$")
_WHOLE = tuple(map(ip_network, ("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3")))
"""Addresses that say nothing of anybody: they stay."""
_OWN = tuple(map(ip_network, ("10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16")))
"""Networks that everybody has: their first two numbers stay, since some of them are on every host anew."""
_LIBVIRT = ip_network("192.168.122.0/24")
_HEXED = re.compile(r"(?=[a-f.-]*\d)(?=[\d.-]*[a-f])[\da-f.-]{6,}")
"""Ids in hex, in which no digits count anything."""
_IDEOGRAMS = "".join(map(chr, range(0x4E00, 0x9FA6)))
_ATTEMPTS = 120
_LEFT = 1000
"""Words to avoid that are better than one name that is left, be it as the pseudonym of another."""

Signs = list[tuple[str, str]]
"""Each sign of a word, and the alphabet that its place allows; an empty one where it stays."""


class Pseudonyms:
    """The pseudonym of each of some names."""

    def __init__(self, key: bytes, names: Iterable[str], taken: Collection[str] = ()) -> None:
        """Draw pseudonyms for *names*; *taken* are words that none of them should be."""
        self._key = key
        self._tree: dict[str, dict[str, str]] = {}
        """By root and prefix, the signs that follow and their alphabets."""
        known = sorted(set(names))
        for name in known:
            for root, signs in (spelled for _, spelled in _pieces(name)):
                self._grow(root, signs)
        words = {word.lower() for name in known for word in (name, *re.findall(r"[^\W_]{2,}", name))}
        self.of = self._drawn(known, {*known}, {*words} | {*taken})
        self.tokens = {
            before: after
            for name, other in self.of.items()
            for before, after in zip(tokens(name), tokens(other), strict=True)
        }
        """What each word and address in a name became."""

    def _grow(self, root: str, signs: Signs) -> None:
        for place, (sign, alphabet) in enumerate(signs):
            prefix = root + "".join(s for s, _ in signs[:place])
            node = self._tree.setdefault(prefix, {})
            node[sign] = alphabet if node.get(sign, alphabet) else ""

    def _drawn(self, known: list[str], names: set[str], avoided: set[str]) -> Mapping[str, str]:
        """The attempt of which the fewest pseudonyms are the name itself, another name, or a word to avoid."""
        best: tuple[int, dict[str, str]] | None = None
        for attempt in range(_ATTEMPTS):
            images = {prefix: self._images(attempt, prefix, node) for prefix, node in self._tree.items()}
            drawn = {name: _replaced(name, images) for name in known}
            clashes = sum(_clash(name, other, names, avoided) for name, other in drawn.items())
            if best is None or clashes < best[0]:
                best = (clashes, drawn)
            if not clashes:
                break
        return best[1] if best else {}

    def _images(self, attempt: int, prefix: str, node: Mapping[str, str]) -> dict[str, str]:
        """What each sign behind *prefix* becomes: in order, those that stay as they are."""
        seed = hmac.digest(self._key, f"{attempt}\0{prefix}".encode("utf-8", "surrogatepass"), "sha256")
        draw, images = random.Random(int.from_bytes(seed)), {sign: sign for sign in node}
        for alphabet in _widest(node.values()):
            own = sorted(sign for sign in node if sign in alphabet)
            open_to_all = set(alphabet).intersection(*(node[sign] for sign in own if node[sign]))
            stays = [-1, *(alphabet.index(sign) for sign in own if not node[sign]), len(alphabet)]
            for low, high in pairwise(stays):
                moved = [sign for sign in own if node[sign] and low < alphabet.index(sign) < high]
                free = [place for place in range(low + 1, high) if alphabet[place] in open_to_all]
                if len(moved) <= len(free):
                    places = sorted(draw.sample(free, len(moved)))
                    images |= {sign: alphabet[place] for sign, place in zip(moved, places, strict=True)}
        return images


def _widest(alphabets: Iterable[str]) -> list[str]:
    """Those of *alphabets* that no other one contains."""
    known = sorted({alphabet for alphabet in alphabets if alphabet})
    return [one for one in known if not any(set(one) < set(other) for other in known)]


def tokens(name: str) -> list[str]:
    """The words and addresses in *name*, one after the other."""
    return [token[0] for token in _TOKEN.finditer(name)]


def disguised(key: bytes, words: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """What each of *words* in lower case becomes that is in no name: as long, of the same kinds of signs, no order.

    No two become one, and none becomes a word of *taken*, as long as there are enough others.
    """
    used: set[str] = set()
    drawn = {}
    for word in sorted(set(words)):
        alphabets = [_free(sign) for sign in word] if not is_hexed(word) else [_hex(sign) for sign in word]
        stays = _count(word)
        for attempt in range(_ATTEMPTS):
            told = f"{attempt}\0word\0{word}".encode("utf-8", "surrogatepass")
            draws = memoryview(shake_256(key + told).digest(2 * len(word))).cast("H")
            signs = [
                each[n % len(each)] if each else sign for sign, each, n in zip(word, alphabets, draws, strict=True)
            ]
            other = "".join(signs[: len(word) - stays]) + word[len(word) - stays :]
            if other not in used and other not in taken and other != word:
                break
        used.add(other)
        drawn[word] = other
    return drawn


def recased(image: str, word: str) -> str:
    """*image*, which is in lower case, with the capitals of *word*."""
    return "".join(
        new.upper() if old.isascii() and old.isupper() else new for new, old in zip(image, word, strict=True)
    )


def can_change(name: str) -> bool:
    """Whether there is anything in *name* that would not stay as it is."""
    return any(alphabet for _, (_, signs) in _pieces(name) for _, alphabet in signs)


def _clash(name: str, other: str, names: set[str], avoided: set[str]) -> int:
    words = re.findall(r"[^\W_]{2,}", other)
    same = [word for word in words if not word.isdigit() and word.lower() in avoided]
    left = (other == name and can_change(name)) or (other != name and other in names)
    return _LEFT * left + bool(same)


def _pieces(name: str) -> Iterator[tuple[re.Match[str], tuple[str, Signs]]]:
    for token in _TOKEN.finditer(name):
        if token["four"]:
            yield token, ("4", _four(token["four"].replace(token["mark"], ".")))
        elif token["hex"]:
            yield token, ("6", [(sign, _hex(sign)) for sign in token["hex"]])
        else:
            yield token, ("w", _word(token["word"]))


def _replaced(name: str, images: Mapping[str, Mapping[str, str]]) -> str:
    parts, end = [], 0
    for token, (root, signs) in _pieces(name):
        spelled = "".join(sign for sign, _ in signs)
        image = "".join(images[root + spelled[:place]][sign] for place, (sign, _) in enumerate(signs))
        parts += [name[end : token.start()], image.replace(".", token["mark"]) if token["four"] else image]
        end = token.end()
    return "".join([*parts, name[end:]])


def _word(word: str) -> Signs:
    count = _COUNT.search(word)
    stays = len(count[0]) if count else 0
    return [(sign, "" if place >= len(word) - stays else _alphabet(sign)) for place, sign in enumerate(word)]


def _alphabet(sign: str) -> str:
    for alphabet in (_DIGITS, _LOWER, _UPPER):
        if sign in alphabet:
            return alphabet
    if not sign.isalpha():
        return ""
    # The 64 characters that share all bytes of UTF-8 but the last.
    block = (chr((ord(sign) & ~63) + place) for place in range(64))
    return "".join(each for each in block if each.isalpha() and not each.isascii())


def _count(word: str) -> int:
    """Digits at the end of *word* that stay, since they count what is called by the letters before."""
    found = _COUNT.search(word)
    return len(found[0]) if found and any(map(str.isalpha, word)) and not is_hexed(word) else 0


def is_hexed(word: str) -> bool:
    """Whether *word* is an id in hex, in small letters."""
    return _HEXED.fullmatch(word) is not None


def _free(sign: str) -> str:
    return _IDEOGRAMS if sign in _IDEOGRAMS else _alphabet(sign)


def _hex(sign: str) -> str:
    return next((alphabet for alphabet in (_DIGITS, "abcdef", "ABCDEF") if sign in alphabet), "")


def _four(address: str) -> Signs:
    known = IPv4Address(address)
    stays = 4 if any(known in network for network in _WHOLE) else 2 if any(known in network for network in _OWN) else 1
    stays = 3 if known in _LIBVIRT else stays
    signs: Signs = []
    for place, number in enumerate(address.split(".")):
        signs += [(".", "")] if place else []
        alphabets = [""] * len(number) if place < stays else _number(number)
        signs += zip(number, alphabets, strict=True)
    return signs


def _number(number: str) -> list[str]:
    """What each digit of a number up to 255 may become so that it stays one, of as many digits."""
    if len(number) < 3:
        return [_DIGITS[1:], _DIGITS] if len(number) == 2 else [_DIGITS]
    if number[0] == "1":
        return ["", _DIGITS, _DIGITS]
    return ["", "", _DIGITS[:6] if number[1] == "5" else _DIGITS]
