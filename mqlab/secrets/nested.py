r"""Lists and objects under the name of a secret, and Kubernetes' Secrets as JSON: every value in them is masked.

They are read by their brackets, in JSON, HOCON, TOML and what Python and Java print, whole or cut off::

    "password": ["a", "b"]      credentials { x = y }      "kind": "Secret", "data": {"any": "czNjcjN0"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from mqlab.secrets.keys import BLANK, IS, KEY, MASK, QUOTE, is_count, is_harmless

_OPENS = re.compile(
    rf"(?i)(?P<name>{KEY})(?P<sign>{IS}|{QUOTE}?[ \t]{{1,9}}(?=\{{))(?=[\[{{])"
    r"(?!\[(?:masked|hidden)\]|\{\{|\{[\w\-]{1,20}\}[\w+/$])",
    re.ASCII,
)
_BRACKET = re.compile(rf"(?:[>→=:：＝]|{BLANK})[\[{{]")
"""What every match of ``_OPENS`` ends before, with what it ends in: looking for it costs a hundredth."""
_BEFORE, _BEHIND = 300, 40
"""Characters around a bracket that ``_OPENS`` looks at, at most: a name has 62, what stands behind it 141."""
_TOKEN = re.compile(
    r"(?P<text>\[(?:masked|hidden)\]|\"(?:[^\"\\\n]|\\[^\n])*+\"|'(?:[^'\\\n]|\\[^\n])*+'|"
    r"(?P<mark>\\{1,3}[\"'])(?:(?!(?P=mark))[^\n])*+(?P=mark)|(?:[^\s,:;=\[\]{}\"'\\]|\\(?![\"'\n])|[:=](?=[^\s\"'\[{\\]))++)|"
    r"(?P<open>[\[{])|(?P<close>[\]}])|(?P<sign>[:=])|(?P<part>[,;\n])",
    re.ASCII,
)
_KIND = re.compile(r"kind\\{0,3}\"\s{0,9}:\s{0,9}\\{0,3}\"Secret\\{0,3}\"")
_LOG_LINE = re.compile(r"\n(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\s+at )")
_LONGEST = 1 << 20
"""Characters of one list or object that are looked at; a list of credentials is far shorter."""
_PLAIN = re.compile(r"(?i)(?:null|none|nil|true|false|\[masked\]|\[hidden\])?")
_MARK = re.compile(r"\\{0,3}[\"']")
_NUMBER = re.compile(r"-?[\d.]{1,30}")
_BYTES = 4
"""Numbers from which a list of them under the name of a token is its bytes, not counts."""

Edit = tuple[int, int, str]
"""From where, up to where, and what stands there instead."""


class _Value(NamedTuple):
    """One value within brackets, and the name that it stands under there."""

    start: int
    end: int
    key: str
    text: str

    @property
    def is_number(self) -> bool:
        return _NUMBER.fullmatch(self.text) is not None

    @property
    def is_empty(self) -> bool:
        return _PLAIN.fullmatch(self.text.strip("\\\"'")) is not None

    def masked(self, *, quoted: bool) -> Edit:
        """The edit that hides it; in quotes where it has some, or where names have (*quoted*)."""
        mark = _MARK.match(self.text)
        quote = mark[0] if mark else '"' if quoted else ""
        return self.start, self.end, f"{quote}{MASK}{quote}"


def lists_and_objects(text: str) -> str:
    """*text* with all values masked that stand in brackets under the name of a secret."""
    edits: list[Edit] = []
    done = 0
    for found in chain.from_iterable(_OPENS.finditer(text, *near) for near in _near_brackets(text)):
        if found.start() >= done:
            values, done, closed = _inside(text, found.end())
            is_line = closed and "\n" not in text[found.end() : done]
            edits += _hidden(found["name"], values, (found.end(), done), quoted='"' in found["sign"], is_line=is_line)
    return _edited(text, edits)


def _near_brackets(text: str) -> Iterator[tuple[int, int]]:
    """The parts of *text* around its brackets, those that overlap as one."""
    start, end = 0, 0
    for found in _BRACKET.finditer(text):
        if found.end() - _BEFORE > end:
            yield start, end
            start = found.end() - _BEFORE
        end = found.end() + _BEHIND
    yield start, end


def _inside(text: str, start: int) -> tuple[list[_Value], int, bool]:
    """The values in the brackets that open at *start*, where they end, and whether they close there.

    Where they never close, only their first line counts, unless nothing but the bracket stands in it.
    """
    dated = _LOG_LINE.search(text, start, start + _LONGEST)
    limit = dated.start() if dated else min(len(text), start + _LONGEST)
    values: list[_Value] = []
    depth, key = 0, ""
    held: tuple[int, int] | None = None
    for token in _TOKEN.finditer(text, start, limit):
        if token["text"]:
            held = (held[0] if held else token.start(), token.end())
            continue
        word = text[slice(*held)] if held else ""
        if token["sign"]:
            key, held = word.strip("\\\"'") or key, None
            continue
        if held and not token["open"]:
            values.append(_Value(*held, key, word))
        key, held = (word or key if token["open"] else ""), None
        depth += bool(token["open"]) - bool(token["close"])
        if not depth:
            return values, token.end(), True
    if held:
        values.append(_Value(*held, key, text[slice(*held)]))
    line = text.find("\n", start, limit)
    end = limit if line < 0 or not text[start + 1 : line].strip() else line
    return [value for value in values if value.end <= end], end, False


def _hidden(
    name: str, values: Sequence[_Value], span: tuple[int, int], *, quoted: bool, is_line: bool
) -> Iterator[Edit]:
    """The edits that hide *values*, which stand under *name*; of a list of bytes in one line, the list."""
    counts = is_count(name)
    if values and all(value.is_number and not value.key for value in values):
        if counts and len(values) < _BYTES:
            return
        if is_line:
            yield (*span, f'"{MASK}"' if quoted else MASK)
            return
        counts = False
    for value in values:
        if not (value.is_empty or (value.key and is_harmless(value.key)) or (counts and value.is_number)):
            yield value.masked(quoted=quoted)


@dataclass
class _Object:
    """A JSON object while its end is not seen."""

    is_secret: bool = False
    data: list[int] = field(default_factory=list)
    """Where its ``data`` and ``stringData`` open."""
    key: str = ""

    def hidden(self) -> Sequence[int]:
        """Where that opens which is to be masked."""
        return self.data if self.is_secret else ()


def secrets_of_kubernetes(text: str) -> str:
    """*text* with the data of all Secrets in it masked that are written as JSON."""
    if not _KIND.search(text):
        return text
    edits = [
        value.masked(quoted=True)
        for start in sorted(_secret_data(text))
        for value in _inside(text, start)[0]
        if not value.is_empty
    ]
    return _edited(text, edits)


def _secret_data(text: str) -> Iterator[int]:
    """Where the data of Secrets open."""
    stack = [_Object()]
    held = ""
    for token in _TOKEN.finditer(text):
        inner = stack[-1]
        if token["text"]:
            held = token[0].strip("\\\"'")
            inner.is_secret |= inner.key == "kind" and held == "Secret"
        elif token["sign"]:
            inner.key = held
        elif token["open"]:
            inner.data += [token.start()] if inner.key in ("data", "stringData") else []
            stack.append(_Object())
        elif token["close"] and len(stack) > 1:
            yield from stack.pop().hidden()
        elif token["part"] == ",":
            inner.key = ""
    yield from chain.from_iterable(left.hidden() for left in stack)


def _edited(text: str, edits: Iterable[Edit]) -> str:
    pieces, place = [], 0
    for start, end, instead in edits:
        pieces += [text[place:start], instead]
        place = end
    return "".join([*pieces, text[place:]]) if pieces else text
