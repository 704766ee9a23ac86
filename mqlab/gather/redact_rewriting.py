"""Bytes without their names: each name gives way to its pseudonym of the same length, wherever it stands.

All names are looked for at once (Aho and Corasick, in Polars), and where several begin, the longest counts. A name of
six characters or more, or with a sign in it, is found within other words too, unless these are the software's own; a
shorter one must stand alone. A name that is a word of the software is renamed only where a name is expected: behind
``topic=`` and its like, before a partition's number, in a cell of a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from ipaddress import IPv4Address
from itertools import chain
from urllib.parse import quote

import polars as pl

_SURE = 6
"""Characters from which a name is no part of another word by chance."""
_SPELLINGS: tuple[Callable[[str], str], ...] = (
    str, lambda n: n.replace(".", "_"), lambda n: n.replace("/", "\\/"), lambda n: n.replace("/", "."),
    lambda n: n.replace("/", "_"), lambda n: quote(n, safe=""), str.upper, str.lower, str.capitalize,
)  # fmt: skip
"""How others write a name: JMX, JSON, AMQP, addresses of pages, environments."""
_KEY = rb"(?i:topics?|groups?|clients?|consumers?|members?|user|users|host|hosts|partitions?|queue)"
_END = rb"(?![A-Za-z0-9_]|[.-][A-Za-z])"
_ALNUM = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_NUMERALS = frozenset(b"0123456789")
_PAYLOAD = re.compile(
    rb"(?i)(?<![\w.])(?P<name>\"?(?:payload|body)\"?[ \t]?[=:][ \t]?)"
    rb"(?P<value>\"(?:[^\"\\\n]|\\.)*\"|(?!\[masked)[^\s\"\d][^\n]*?(?=,[ \t]?[a-z_]+(?:: |=)|[\r\n]|\Z))"
)
_NO_PAYLOAD = re.compile(rb"\$SYS/|key: (?:\{\"(?:type|version)\"|(?:offset_commit|group_metadata|metadata|offset)::)")


class Rewriter:
    """Rewrites pieces of whole lines; the same for every file of a capture."""

    def __init__(self, pseudonyms: Mapping[str, str], own: Collection[str], bold: bool = False) -> None:
        """Rename by *pseudonyms*; *own* are words of the software, *bold* renames what is one, too, everywhere."""
        self._own = frozenset(word.encode() for word in own)
        self.placed = {name: other for name, other in pseudonyms.items() if name in own and not bold}
        """Names that are renamed only where a name is expected."""
        self._of: dict[bytes, bytes] = {}
        everywhere = {name: other for name, other in pseudonyms.items() if name not in self.placed}
        for name, other in everywhere.items():
            for spell in _SPELLINGS[:1] if name in own else _SPELLINGS:
                self._learn(spell(name), spell(other), name, everywhere)
            if _is_four(name):
                self._learn(_hexed(name), _hexed(other), name, everywhere)
        self._patterns = [name.decode() for name in sorted(self._of, key=lambda name: (-len(name), name))]
        self._expected = _expected(self.placed)

    def _learn(self, name: str, other: str, of: str, everywhere: Mapping[str, str]) -> None:
        wide, new = _wide(name), _wide(other)
        fits = len(wide) == len(new) and (name == of or (name not in everywhere and wide not in self._own))
        if fits and (name == of or len(name) >= 4):
            self._of.setdefault(wide, new)

    def rewritten(self, data: bytes) -> bytes:
        """*data* with pseudonyms for names."""
        wide = data.decode("latin-1").encode()
        if self._patterns:
            buffer = bytearray(wide)
            for begin, name in self._found(wide):
                buffer[begin : begin + len(name)] = self._of[name]
            wide = bytes(buffer)
        if self._expected:
            wide = self._expected.sub(self._renamed, wide)
        return wide.decode().encode("latin-1")

    def path(self, name: str) -> str:
        """The path *name* with pseudonyms for names, also where a file is called by a word of the software."""
        known = {_wide(one): _wide(other) for one, other in self.placed.items()}
        parts = re.split(rb"(?<![^/])([^/.]+)", _wide(name))
        parts[1::2] = [known.get(part, part) for part in parts[1::2]]
        data = b"".join(parts).decode().encode("latin-1")
        return self.rewritten(data).decode("utf-8", "surrogateescape")

    def left(self, data: bytes) -> Mapping[str, int]:
        """How often each name, as it is known, still stands in *data* where it would be renamed."""
        counts: dict[str, int] = {}
        for _, name in self._found(data.decode("latin-1").encode()) if self._patterns else ():
            told = name.decode().encode("latin-1").decode("utf-8", "replace")
            counts[told] = counts.get(told, 0) + 1
        return counts

    def _renamed(self, found: re.Match[bytes]) -> bytes:
        group = str(found.lastgroup)
        name = found[group]
        new = _wide(self.placed[name.decode().encode("latin-1").decode()])
        start = found.start(group) - found.start()
        return found[0][:start] + new + found[0][start + len(name) :]

    def _found(self, wide: bytes) -> Iterator[tuple[int, bytes]]:
        """Where names stand that are to be renamed, and which; none overlaps another."""
        text, patterns = pl.Series([wide.decode()]), self._patterns
        places = text.str.find_many(patterns, overlapping=True)[0].to_list()
        names = text.str.extract_many(patterns, overlapping=True)[0].to_list()
        done = 0
        for begin, minus, name in sorted(
            (at, -len(n), n) for at, n in ((a, n.encode()) for a, n in zip(places, names, strict=True))
        ):
            if begin >= done and self._stands(wide, begin, begin - minus, name):
                yield begin, name
                done = begin - minus

    def _stands(self, wide: bytes, begin: int, end: int, name: bytes) -> bool:
        before = wide[begin - 1] if begin else 32
        after = wide[end] if end < len(wide) else 32
        if before in _ALNUM and _is_escape(wide, begin):
            before = 32
        if re.fullmatch(rb"\d+(?:\.\d+){3}", name):
            dotted = after == 46 and end + 1 < len(wide) and wide[end + 1] in _NUMERALS
            return before not in _NUMERALS and before != 46 and after not in _NUMERALS and not dotted
        if re.fullmatch(rb"[0-9A-F]{8}", name) and after in _ALNUM:
            return (
                before not in _ALNUM and re.match(rb"[0-9A-F]{8,24}(?![0-9A-Za-z])", wide[end : end + 25]) is not None
            )
        if (name[:1].isdigit() and before in _NUMERALS) or (name[-1:].isdigit() and after in _NUMERALS):
            return False
        alone = before not in _ALNUM and after not in _ALNUM
        if alone or len(name) < _SURE:
            return alone
        return self._around(wide, begin, end) not in self._own

    @staticmethod
    def _around(wide: bytes, begin: int, end: int) -> bytes:
        while begin and wide[begin - 1] in _ALNUM:
            begin -= 1
        while end < len(wide) and wide[end] in _ALNUM:
            end += 1
        return wide[begin:end]


def without_payloads(data: bytes) -> bytes:
    """*data* with each payload that a line prints blotted out, in as many bytes; numbers and nulls stay."""
    if not _PAYLOAD.search(data):
        return data
    return b"\n".join(line if _NO_PAYLOAD.search(line) else _PAYLOAD.sub(_blotted, line) for line in data.split(b"\n"))


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


def _blotted(found: re.Match[bytes]) -> bytes:
    value = found["value"]
    if value.strip(b'"').lower() in (b"null", b"<delete>", b"[masked]", b"none", b""):
        return found[0]
    quoted = value[:1] == b'"'
    return found["name"] + (b'"' + b"x" * (len(value) - 2) + b'"' if quoted else b"x" * len(value))


def _expected(placed: Collection[str]) -> re.Pattern[bytes] | None:
    """Where names are expected that are words of the software, too."""
    if not placed:
        return None
    names = b"|".join(re.escape(_wide(name)) for name in sorted(placed, key=lambda n: (-len(n), n)))
    return re.compile(
        rb"(?<![A-Za-z0-9])"
        + _KEY
        + rb"(?:[._ -]?(?i:id|name|s))?[\"']?[ \t]?[=:][ \t]?[\"'\[(<{]*(?P<keyed>"
        + names
        + rb")"
        + _END
        + rb"|(?<![A-Za-z0-9_.-])(?!consumer-|producer-|adminclient-)(?P<numbered>"
        + names
        + rb")(?=-\d{1,4}(?![\w.-]))"
        + rb"|(?:(?m:^)|(?<=  )|(?<=%RETRY%))(?P<cell>"
        + names
        + rb")(?=  | +\d+ +|@)"
        + rb"|(?:(?m:^)user +|\bu')(?P<user>"
        + names
        + rb")(?=[\r\n']|\Z)"
        + rb"|(?<=topics/)(?P<path>"
        + names
        + rb")(?![\w.-])"
        + rb"|(?<=\d )(?P<last>"
        + names
        + rb")(?= +(?:\d|-) )"
    )


def _wide(name: str) -> bytes:
    """The bytes of *name*, each of them as one character, in UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("latin-1").encode()


def _is_escape(wide: bytes, begin: int) -> bool:
    """Whether what stands before *begin* ends an escape: a backslash and its letter, or %2F."""
    return (
        wide[begin - 2 : begin] in (rb"\n", rb"\t", rb"\r")
        or re.search(rb"%[0-9A-F]{2}\Z", wide[max(0, begin - 3) : begin]) is not None
    )


def _is_four(name: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+){3}", name) is not None


def _hexed(address: str) -> str:
    """An address as ids of RocketMQ's messages begin."""
    return f"{int(IPv4Address(address)):08X}"
