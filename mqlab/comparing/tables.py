"""Tables of comparisons and histories: the same rows for the terminal, the page and a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from mqlab.languages import said
from mqlab.screens.rows import WIDTH, clipped
from mqlab.shared import table as frames
from mqlab.terminal import cells, filled, safe, wrapped
from mqlab.words import room

say = room("comparison-tables")

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
        return frames.table(self.rows, self.header)


def without_empty(table: Table) -> Table:
    """*table* without columns in which nothing stands."""
    kept = [place for place in range(len(table.header)) if any(row[place] for row in table.rows)]
    header, *rows = (tuple(row[place] for place in kept) for row in (table.header, *table.rows))
    return replace(table, header=header, rows=tuple(rows)) if table.rows else table


def text(tables: Sequence[Table], most: int = 12) -> Iterator[str]:
    """The lines of *tables* on a terminal, at most so many rows of each."""
    for one in tables:
        yield ""
        yield said(one.title).upper()
        yield from (f"  {line}" for line in wrapped(said(one.note), WIDTH - 2, ""))
        rows = one.shown[:most]
        yield from (f"  {line}" for line in columns([one.header, *rows])) if rows else ()
        if left := len(one.rows) - len(rows):
            yield "  " + said(say("more-here", rows=left))


_GAP = "  "
_NAME = 34
"""Letters that the name of a setting, a class or a log may take: columns as narrow as that give way last."""


def columns(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells below each other; the widest columns give way until a row fits."""
    told = [[safe(said(cell)) for cell in row] for row in table]
    widths = [max(map(cells, column)) for column in zip(*told, strict=True)]
    while sum(widths) > WIDTH - len(_GAP) * len(widths):
        wide = [width for width in widths if width > _NAME] or widths
        widths[widths.index(max(wide))] -= 1
    for row in told:
        parts = (filled(clipped(cell, width), width) for cell, width in zip(row, widths, strict=True))
        yield _GAP.join(parts).rstrip()
