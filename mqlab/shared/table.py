"""Rows as a table for notebooks; its columns are named in one text, parted by ``|``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from mqlab.terminal import visible

_UNBROKEN = (16, 12, 10, 8, 6)
"""Letters of a word up to which it is not broken: the first of these with which the table fits."""
_ROOM = 112
"""Letters in a line of JupyterLab on a small screen."""
_BETWEEN = 2
"""Letters that the space between two columns takes."""
_STYLE = """<style>
.mqlab-table table.dataframe { table-layout: auto; margin-left: 0; }
.mqlab-table table.dataframe :is(td, th) { text-align: left; vertical-align: top !important;
  white-space: normal; overflow-wrap: anywhere; max-width: 60ch; }
</style>"""
"""Prose wraps, and the names of files and members break where they must, so that a table is as wide as its page."""


class Table(pd.DataFrame):
    """A DataFrame that a notebook shows whole: nothing is cut, and it is no wider than it must be."""

    @property
    def _constructor(self) -> type[Table]:
        return Table

    def _repr_html_(self) -> str | None:
        with pd.option_context("display.max_colwidth", None):
            html: str | None = super()._repr_html_()  # type: ignore[misc]
        if html is None:
            return None
        widths = iter(_widths(self) if self.columns.nlevels == self.index.nlevels == 1 else ())
        head, end, rest = html.partition("</thead>")
        head = re.sub("<th>", lambda _: f'<th style="min-width: {next(widths, 3)}ch">', head)
        return visible(f'<div class="mqlab-table">{_STYLE}{head}{end}{rest}</div>')


def _widths(frame: pd.DataFrame) -> Sequence[int]:
    """Letters of each column that stay together."""
    shown = frame.head(pd.get_option("display.max_rows"))
    columns = [(frame.columns.name, shown.index), *shown.items()]
    longest = [max(map(len, " ".join(map(str, [name, *cells])).split()), default=0) for name, cells in columns]
    tried = ([min(most, letters) for letters in longest] for most in _UNBROKEN)
    return next((widths for widths in tried if sum(widths) + _BETWEEN * len(widths) <= _ROOM), ())


def table(rows: Iterable[Sequence[object]] | Iterable[Mapping[str, object]], columns: str | Sequence[str]) -> Table:
    """The first column is the index, so that no running number is shown; its name stands in the one header row."""
    names = columns.split("|") if isinstance(columns, str) else list(columns)
    frame = Table(list(rows), columns=names).set_index(names[0])
    return frame.rename_axis(index=None, columns=names[0])
