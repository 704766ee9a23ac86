"""Rows as a table for notebooks; its columns are named in one text, parted by ``|``."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources

import pandas as pd

from mqlab.languages import ENGLISH, said, spoken
from mqlab.terminal import visible
from mqlab.words import Text
from mqlab.words.telling import local

_WIDTHS = ((30, 16), (24, 16), (18, 16), (16, 12), (12, 12), (10, 10), (8, 8))
"""How wide prose is at least, and up to which width a word is not broken: the first with which the table fits."""
_PROSE = 40
"""Letters from which a cell is prose."""
_ROOM = 93
"""Zeros, by which CSS measures widths, in a line of JupyterLab on a small screen."""
_BETWEEN = 1.6
"""How many of them the space between two columns takes."""
_THIN = frozenset(".,:;|'!ijlrtf/()[] ")


class Table(pd.DataFrame):
    """A DataFrame that a notebook shows whole: nothing is cut, and it is no wider than it must be."""

    @property
    def _constructor(self) -> type[Table]:
        return Table

    def _repr_html_(self) -> str | None:
        simple = self.columns.nlevels == self.index.nlevels == 1
        shown = _told(self) if simple and spoken() != ENGLISH else self
        with pd.option_context("display.max_colwidth", None):
            html: str | None = super(Table, shown)._repr_html_()  # type: ignore[misc]
        if html is None:
            return None
        simple &= len(self.columns) <= (pd.get_option("display.max_columns") or len(self.columns))
        widths = iter(_widths(self) if simple else ())
        head, end, rest = html.partition("</thead>")
        head = re.sub("<th>", lambda _: f'<th style="min-width: {next(widths, 0):.1f}ch">', head)
        return visible(f'<div class="mqlab-table"><style>{_style()}</style>{head}{end}{rest}</div>')


def _told(frame: Table) -> Table:
    """*frame* in the language that is spoken: what its columns are called, and texts; names and lines stay."""
    told = frame.map(_cell)
    told.index = pd.Index([_cell(name) for name in frame.index], name=frame.index.name)
    told.columns = pd.Index([_head(name) for name in frame.columns], name=_head(frame.columns.name))
    return told


def _head(name: Hashable) -> Hashable:
    return said(name.strip()) if isinstance(name, str) else name


def _cell(cell: object) -> object:
    if isinstance(cell, Text):
        return said(cell)
    return local(cell, spoken()) or cell if isinstance(cell, str) else cell


@cache
def _style() -> str:
    """Prose wraps, and the names of files and members break where they must."""
    return resources.files("mqlab").joinpath("templates/table.css").read_text(encoding="utf-8")


def _widths(frame: pd.DataFrame) -> Sequence[float]:
    """How wide each column is at least, so that its words stay whole where there is room for them."""
    shown = frame.head(pd.get_option("display.max_rows") or len(frame)).reset_index()
    heads = [_longest([name]) for name in (frame.columns.name, *frame.columns)]
    columns = [[str(cell) for cell in shown.iloc[:, number]] for number in range(len(heads))]
    words = [_longest(cells) for cells in columns]
    proses = [any(len(cell) >= _PROSE for cell in cells) for cells in columns]
    for least, most in _WIDTHS:
        kept = [max(least if prose else 0, min(word, most)) for word, prose in zip(words, proses, strict=True)]
        if sum(map(max, heads, kept)) + _BETWEEN * len(heads) <= _ROOM:
            break
    return kept


def _longest(cells: Iterable[object]) -> float:
    """How wide the longest word is, about; a line may break behind a hyphen, too."""
    words = re.split(r"(?<=-)|\s", " ".join(map(str, cells)))
    return max(sum(0.55 if letter in _THIN else 0.98 for letter in word) for word in words)


def table(rows: Iterable[Sequence[object]] | Iterable[Mapping[str, object]], columns: str | Sequence[str]) -> Table:
    """The first column is the index, so that no running number is shown; its name stands in the one header row."""
    names = columns.split("|") if isinstance(columns, str) else list(columns)
    frame = Table(list(rows), columns=names).set_index(names[0])
    return frame.rename_axis(index=None, columns=names[0])
