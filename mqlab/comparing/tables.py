"""Tables of comparisons and histories: the same rows for the terminal, the page and a notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from mqlab.screens.rows import WIDTH, clipped, safe
from mqlab.shared.table import table

NOTHING = "—"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words under a title; the first of them stand in sight, the others behind a fold."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    first: int | None = None
    """How many stand in sight; all where it is None."""

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """Rows in sight."""
        return self.rows[: self.first]

    @property
    def folded(self) -> tuple[tuple[str, ...], ...]:
        """Rows behind the fold."""
        return () if self.first is None else self.rows[self.first :]

    @property
    def frame(self) -> pd.DataFrame:
        """All rows, for a notebook."""
        return table(self.rows, self.header)


def text(tables: Sequence[Table], most: int = 12) -> Iterator[str]:
    """The lines of *tables* on a terminal, at most so many rows of each."""
    for one in tables:
        yield ""
        yield one.title.upper()
        yield from textwrap.wrap(one.note, WIDTH - 2, initial_indent="  ", subsequent_indent="  ")
        rows = one.shown[:most]
        yield from _columns([one.header, *rows]) if rows else ()
        if left := len(one.rows) - len(rows):
            yield f"  {left} more: --format json, or -o compare.html"


_GAP = 2


def _columns(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells below each other; the widest columns give way until a row fits."""
    told = [[safe(cell) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*told, strict=True)]
    room = WIDTH - _GAP * len(widths)
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    for row in told:
        parts = (f"{clipped(cell, width):<{width}}" for cell, width in zip(row, widths, strict=True))
        yield " " * _GAP + (" " * _GAP).join(parts).rstrip()
