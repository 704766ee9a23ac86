"""Log lines that are all built alike, as a table of words.

A line is cut at blanks and punctuation. A word that stands at the same place in nearly all lines names what is behind
it, as the name of a column does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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
