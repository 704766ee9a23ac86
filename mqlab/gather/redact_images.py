"""What becomes of each word of a material: it stays if it is the software's own, else it is replaced, always alike.

A word of somebody's name becomes what it became in the name's pseudonym, whatever its case, and any other word that
is not known is drawn anew: so do stems of names, parts of addresses and of e-mail addresses, keys, ids, prose.
Shapes of people's numbers are judged by their checks: cards (Luhn), accounts (IBAN), telephones.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Iterator, Sequence
from ipaddress import IPv4Address

import polars as pl

from mqlab.gather.redact_names import is_address
from mqlab.gather.redact_pseudonyms import Pseudonyms, disguised, is_hexed, recased
from mqlab.gather.redact_words import is_software, parts

_OCTETS = r"\d{1,3}(?:\.\d{1,3}){3}"
_DASHED = r"\d{1,3}(?:-\d{1,3}){3}"
"""As clouds name hosts."""
_UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_PHONE = (
    r"(?<![\w.+-])(?:\+[1-9](?:[ ()./-]{0,2}\d){7,14}|0\d{2,4}[ /-]\d{6,9}"
    r"|0\d{1,4}[/-]\d{3,4}[ -]?\d{3,5}"
    r"|(?=(?:\d ?){9,13}(?![\d ]))0\d{2,4}(?: \d{2,5}){2,4}|(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}"
    r"|\d{3}-\d{2}-\d{4})(?![\w.-])"
)
_DASHED_MAC = r"(?=[\d-]*[A-Fa-f])(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}(?![\w-])"
_DOTTED_MAC = r"(?=[\d.]*[A-Fa-f])(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}(?![\w.])"
"""Addresses of network cards, as Windows and as switches write them."""
_CARD = r"(?<![\w.-])[2-6]\d{3}(?:(?: \d{4}){3}|(?:-\d{4}){3})(?!\d)"
_ACCOUNT = r"(?<!\w)[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,4})?(?!\w)"
_WORD = r"0-9A-Za-z\x80-\xff"
TOKEN = re.compile(
    (
        rf"((?=[{_WORD}\\%+(:-])(?:"
        rf"(?![A-Z]{{2}}\d\d )(?:[G-Zg-z\x80-\xff][{_WORD}]*+|(?!{_DOTTED_MAC})[A-Fa-f][{_WORD}]*+(?![-:]))"
        rf"|\d++(?![{_WORD}. :()/-])|\\(?:[nrtbf]|u[0-9a-fA-F]{{4}})|(?<!RETRY)(?<!DLQ)%[0-9A-F]{{2}}"
        rf"|(?<![0-9A-Za-z.])(?<!ersion )(?<!ersion: ){_OCTETS}(?!\w|\.\w|-[A-Za-z])|(?<=ip-){_DASHED}(?!\w)"
        rf"|(?<![\w-]){_UUID}(?!\w)|(?<=[\w.])-{_UUID}(?!\w)"
        r"|(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:)(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])"
        r"|(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:)(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"
        rf"|(?<![\w.:-])(?:{_DASHED_MAC}|{_DOTTED_MAC})"
        rf"|(?<![\w.])\d+\.\d+(?![\w.])|{_PHONE}|{_CARD}|{_ACCOUNT}|[{_WORD}]+))"
    ).encode("latin-1")
)
"""Words, and what is one thing though signs are in it; escapes, which are none; what Kafka sets behind a member."""
_RUN = re.compile(r"([^\W_]+)")
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_MEMBER = re.compile(_UUID)
_MAC = re.compile(f"{_DASHED_MAC}|{_DOTTED_MAC}")
_SURE_NUMBER = re.compile(r"[2-6]\d{14,15}|62\d{17}|3[47]\d{13}")
"""Numbers of cards; moments since 1970 begin with 1 for some time to come."""
_DATED = re.compile(
    r"(?:\d+[年月日号时時点點分秒년월일시분초]+|[上下]午|午[前後]|오[전후]|星期[一二三四五六日天]|周[一二三四五六日])+"
)
_MESSAGE_ID = re.compile(r"(?=\d*[A-F])(?:[0-9A-F]{16}|[0-9A-F]{32})")
"""Ids of RocketMQ's messages: they begin with an address."""
_DECIMAL = re.compile(rb"\d+\.\d+")
_MIN_CARD = 13
"""Digits of a card's number, at least."""
_MIN_LETTERS = 3
"""Letters from which a part of a word is judged by itself."""
_MIN_DIGITS = 6
"""Digits from which a number that is part of a name is no count by chance."""
_SURE = 6
"""Letters from which a name within a word is no chance."""


def is_worth_a_look(token: bytes) -> bool:
    """Whether a token may have to be replaced: no plain number, no escape, no mark that Kafka gives a member."""
    plain = token.isdigit() and len(token) < _MIN_CARD
    return not plain and _DECIMAL.fullmatch(token) is None and token[:1] not in b"\\%-" and len(token) > 1


class Images:
    """What each token of a material becomes."""

    def __init__(
        self, key: bytes, names: Pseudonyms, found: Iterable[str], numbers: Collection[str], core: Collection[str]
    ) -> None:
        """Decide on all tokens *found* and *numbers* of people; words of *core* are replaced within names only."""
        self._numbers = numbers
        self._core = frozenset(core)
        known = {token: other for token, other in names.tokens.items() if self._is_told_apart(token, other)}
        known |= {
            token.replace(".", "-"): other.replace(".", "-") for token, other in known.items() if is_octets(token)
        }
        self._names = known
        self._small = {small(token): small(other) for token, other in known.items()}
        self._hexed = {_hexed(token): _hexed(other) for token, other in names.tokens.items() if is_octets(token)}
        tokens = sorted({*found, *numbers})
        self._holding, self._sure = _holding(tokens, self._small)
        unknown = {small(part) for token in tokens for part in self._parts(token) if not self._settled(part)}
        taken = _Taken({*self._small, *self._small.values(), *unknown})
        self._drawn = disguised(key, unknown, taken)
        images = {token: "".join(self._of(part) or "" for part in self._parts(token)) for token in tokens}
        self.of = {token: image for token, image in images.items() if image != token}
        """Those that change."""

    def _is_told_apart(self, token: str, other: str) -> bool:
        """Whether a part of a name is replaced wherever it stands: no letter, no small number, no word of the core."""
        short = len(token) < (_MIN_DIGITS if token.isdigit() else 2)
        return token != other and not short and small(token) not in self._core

    def _parts(self, token: str) -> Iterator[str]:
        """What *token* is made of: what is replaced or stays as one, and signs between."""
        if token in self._names or self._is_one(token) or _MESSAGE_ID.fullmatch(token):
            yield token
            return
        for place, run in enumerate(_RUN.split(token)):
            yield from self._split(run) if place % 2 else (run,)

    def _split(self, run: str) -> Iterable[str]:
        """*run*, or its parts where it holds a name, or each is a word by itself."""
        if self._settled(run) or is_hexed(small(run)):
            return (run,)
        if run in self._holding and self._sure:
            return [part for part in self._sure.split(run) if part]
        found = parts(run)
        fits = all(len(part) >= _MIN_LETTERS or part.isdigit() or is_software(part) for part in found)
        words = [part for part in found if part.isalpha() and len(part) >= _MIN_LETTERS]
        return found if fits and words and "".join(found) == run else (run,)

    def _settled(self, part: str) -> bool:
        return self._of(part, drawn=False) is not None

    def _of(self, part: str, drawn: bool = True) -> str | None:
        """What *part* becomes; None where it is to be drawn."""
        low = small(part)
        if part in self._names:
            return self._names[part]
        if _MESSAGE_ID.fullmatch(part) and part[:8] in self._hexed:
            return self._hexed[part[:8]] + part[8:]
        if low in self._small:
            return recased(self._small[low], part)
        if not self._is_one(part) and (low in self._core or self._is_own(part)):
            return part
        return recased(self._drawn[low], part) if drawn else None

    def _is_one(self, token: str) -> bool:
        return token in self._numbers or _is_one(token)

    def _is_own(self, part: str) -> bool:
        if _DATED.fullmatch(part) or _MESSAGE_ID.fullmatch(part):
            return True
        return is_software(part) and part not in self._holding and not any(small(p) in self._small for p in parts(part))


def is_octets(token: str) -> bool:
    """Whether *token* is an address of four numbers."""
    return re.fullmatch(_OCTETS, token) is not None


def addresses(tokens: Iterable[str]) -> Iterator[str]:
    """The addresses among *tokens*, in their usual spelling: those that RocketMQ's ids begin with, too."""
    for token in tokens:
        if re.fullmatch(_DASHED, token):
            token = token.replace("-", ".")
        elif _MESSAGE_ID.fullmatch(token):
            token = str(IPv4Address(int(token[:8], 16)))
        if is_address(token):
            yield token


def small(text: str) -> str:
    """*text* with small letters for the capitals of ASCII, as long as before."""
    return text.translate(_SMALL)


def _holding(tokens: Sequence[str], names: Collection[str]) -> tuple[set[str], re.Pattern[str] | None]:
    """The words of *tokens* that hold one of the *names* that are no part of another word by chance; these names."""
    sure = sorted((name for name in names if len(name) >= _SURE and name.isalnum()), key=lambda n: (-len(n), n))
    if not sure:
        return set(), None
    runs = pl.Series(sorted({run for token in tokens for run in _RUN.findall(token)}), dtype=pl.String)
    held = runs.filter(runs.str.contains_any(sure, ascii_case_insensitive=True))
    return set(held) - {*names}, re.compile("(" + "|".join(map(re.escape, sure)) + ")", re.IGNORECASE | re.ASCII)


class _Taken(frozenset[str]):
    """Words that no other may become: those given, and all of the software."""

    def __contains__(self, word: object) -> bool:
        return super().__contains__(word) or (isinstance(word, str) and not word.isdigit() and is_software(word))


def _is_one(token: str) -> bool:
    """Whether *token* is somebody's as a whole: an id, a network card, a number of a card, an account, a telephone."""
    if _MEMBER.fullmatch(token) or _MAC.fullmatch(token):
        return True
    plain = re.sub(r"[ -]", "", token)
    if _SURE_NUMBER.fullmatch(plain):
        return _luhn(plain)
    if re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return _mod97(plain)
    return re.fullmatch(_PHONE, token) is not None


def _luhn(number: str) -> bool:
    digits = [int(sign) for sign in reversed(number)]
    return sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0


def _mod97(account: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in account[4:] + account[:4])) % 97 == 1


def _hexed(address: str) -> str:
    """An address as ids of RocketMQ's messages begin."""
    return f"{int(IPv4Address(address)):08X}"
