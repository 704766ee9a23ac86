"""Logs whose lines are all built alike, as tables of words.

Log lines that are all built alike, as a table of words.

A line is cut at blanks and punctuation. A word that stands at the same place in nearly all lines names what is behind
it, as the name of a column does.

What the words of a log's lines are, where each line notes one message.

Sample lines::

    2026-11-22 03:21:15,592 INFO web ack id=1 partition=1 offset=0 topic=clicks
    2026-11-22 03:19:55,396 INFO  [main] com.acme.Payer - paid PO-000001 (topic=payouts partition=1 offset=0)
    2026-11-22 04:03:22,384 acked SMS0000006
    2026-11-22 04:03:22,384 INFO stored orders-0@33
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mqlab.ledgers.columns import ID, NO_KEY, all_match, key_of
from mqlab.ledgers.layout import ROLES, WORDS, field_of, role_in

MOMENT = r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|1\d{12}|1\d{9}\.\d{1,9}"
LINE = rf"^[\[(]?({MOMENT})[\])]?(?=\s)(.*)$"
"""A moment and what is behind it."""
APART = r"[\s=:,;()\[\]{}\"'|<>@]+"
"""What parts two words."""
NEARLY_ALL = 0.95
NUMBER = re.compile(r"\d{1,18}")
_ENOUGH = 3
"""Lines from which words are told by where they stand."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of lines, by their place."""

    names: tuple[str, ...]
    """What stands before the word at each place; empty where that differs from line to line."""
    cells: tuple[tuple[str, ...], ...]
    """By place, then by line."""

    @property
    def lines(self) -> int:
        """Lines with so many words."""
        return len(self.cells[0])


def table(lines: Sequence[str]) -> Words | None:
    """Words of *lines* as far as nearly all lines reach; None where they are too few or not all dated."""
    rows = [row for line in lines if (row := cut(line)) is not None]
    if len(rows) < _ENOUGH or len(rows) < NEARLY_ALL * len(lines):
        return None
    kept = _most(rows)
    cells = tuple(tuple(row[n] for row in kept) for n in range(min(map(len, kept))))
    return Words(("", *(_constant(column) for column in cells[:-1])), cells)


def cut(line: str) -> list[str] | None:
    """The words behind the moment of a line; None where it has none."""
    found = re.match(LINE, line.rstrip())
    return re.split(APART, found[2]) if found else None


def nearly(pattern: re.Pattern[str], column: Sequence[str]) -> bool:
    """Whether nearly all words are of this kind."""
    return sum(pattern.fullmatch(cell) is not None for cell in column) >= NEARLY_ALL * len(column)


def _most(rows: Sequence[list[str]]) -> list[list[str]]:
    """Rows without the few that have fewer words."""
    lengths = Counter(map(len, rows))
    few = (1 - NEARLY_ALL) * len(rows)
    shortest = next(n for n in sorted(lengths) if sum(lengths[m] for m in lengths if m <= n) > few)
    return [row for row in rows if len(row) >= shortest]


def _constant(column: Sequence[str]) -> str:
    """The word that nearly all lines have there; empty where they differ, or where it is a number."""
    word, often = Counter(column).most_common(1)[0]
    return word if often >= NEARLY_ALL * len(column) and not NUMBER.fullmatch(word) else ""


_QUANTITY = re.compile(r"-?\d+(?:\.\d+)?[a-zA-Zµ%]{0,3}|\W*")
_PLACE = re.compile(r"[\w.-]*[A-Za-z_][\w.-]*-\d{1,5}")
_IDS = ("key", "message")
_PLACED = ("topic", "broker", "queue", "offset", "place", "bytes", "qos", "dup")
_UNSURE = frozenset({"in", "out", "sub", "pub", "tx", "rx", "read", "done", "got", "seen"})
"""Words for roles that stand in a sentence for something else."""
_ANSWERED = frozenset({"sent", "received"})
"""What a line calls *sent* or *delivered* and knows the offset of has been acknowledged: nobody else knows it."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Places of the fields among the words of a line, and the role that it tells."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """``4:offset``: the word at place 4, where the word ``offset`` stands before it; ``4:`` whatever stands there."""
    role: str | None = None
    told: str | None = None
    sure: bool = False
    """Nearly all lines note a message each."""


def noted(lines: Sequence[str], file: str) -> Noted:
    """What stands where in *lines* of a file of this name."""
    words = table(lines)
    if words is None:
        return Noted()
    found, spoken = _places(words), _role_place(words)
    key = _key(words, found, spoken)
    if key is not None:
        found["key"] = key
    role, told = _role(words, spoken, "offset" in found, file)
    columns = {name: f"{n}:{words.names[n]}" for name, n in sorted(found.items())}
    if role is None:
        columns |= {"role": f"{spoken}:"} | ({"key": f"{key}:"} if key == (spoken or 0) + 1 else {})
    sure = "offset" in found or (told != "shape" and key is not None and _is_id(words, key))
    return Noted(columns, role, told, sure and _fit(words, found))


def _places(words: Words) -> dict[str, int]:
    """Topic, partition and offset: by the words before them, else ``orders-0@33``."""
    found: dict[str, int] = {}
    for n, name in enumerate(words.names):
        known = field_of(name) if name else None
        if known == "topic" or (known in ("queue", "offset") and nearly(NUMBER, words.cells[n])):
            found.setdefault(known, n)
    if "offset" in found and "queue" in found:
        return found
    place = next((n for n, column in enumerate(words.cells) if nearly(_PLACE, column) and _comes_again(column)), None)
    behind = found.get("offset", place + 1 if place is not None else 0)
    if place is None or behind >= len(words.cells) or not nearly(NUMBER, words.cells[behind]):
        return {}
    return {"place": place, "offset": behind}


def _comes_again(column: Sequence[str]) -> bool:
    """Partitions come again and again, ids of the same form do not."""
    return 2 * len(set(column)) <= max(len(column), 2)


def _role_place(words: Words) -> int | None:
    """Where the word for what was done stands, as the first of such words."""
    spoken = (n for n, column in enumerate(words.cells) if sum(map(_says_role, column)) >= NEARLY_ALL * words.lines)
    return next(spoken, None)


def _says_role(word: str) -> bool:
    return _spoken(word) is not None


def _spoken(word: str) -> str | None:
    lower = word.lower()
    return None if lower in _UNSURE else lower if lower in ROLES else WORDS.get(lower)


def _role(words: Words, spoken: int | None, placed: bool, file: str) -> tuple[str | None, str]:
    """The role and what it is known by: the file's name, else the lines, each of which may tell its own (None)."""
    by_file = role_in(file)
    if by_file:
        return by_file, "name"
    if spoken is None:
        return "processed", "shape"
    said = {role for word in words.cells[spoken] if (role := _spoken(word))}
    return ("acked" if placed and len(said) == 1 and said <= _ANSWERED else None), "column"


def _key(words: Words, found: Mapping[str, int], spoken: int | None) -> int | None:
    """Where the word stands that tells messages apart."""
    taken = {*found.values(), spoken}
    free = [
        n for n, name in enumerate(words.names)
        if n not in taken and (name or n - 1 == spoken) and field_of(name) not in _PLACED
        and not NO_KEY.fullmatch(name) and (field_of(name) in _IDS or not all_match(_QUANTITY, words.cells[n]))
    ]  # fmt: skip
    return key_of(words.names, words.cells, found, free)


def _is_id(words: Words, key: int) -> bool:
    """It looks like an id, and nothing but it changes from line to line."""
    steady = all(len(set(column)) <= len(ROLES) for n, column in enumerate(words.cells) if n != key)
    return steady and (ID.fullmatch(words.names[key]) is not None or not all_match(_QUANTITY, words.cells[key]))


def _fit(words: Words, found: Mapping[str, int]) -> bool:
    """Nearly all lines hold every field that was found."""
    fitting = sum(all(words.cells[n][row] for n in found.values()) for row in range(words.lines))
    return fitting >= NEARLY_ALL * words.lines
