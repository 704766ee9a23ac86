"""Lists with headings: tables as wide as the terminal, or lines of aligned columns in a pipe."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from io import StringIO

from mqlab.languages import said
from mqlab.languages.width import cells, filled

_GAP = "  "
_WIDE = 160
"""Columns from which a terminal has room for more than a name and what it is."""
_NARROW = 40
"""Columns of a terminal below which nothing is laid out any narrower."""


def listing(groups: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The rows of each group below its heading; the first column is a name and never wraps."""
    groups = {said(heading): [(name, *map(said, told)) for name, *told in rows] for heading, rows in groups.items()}
    if sys.stdout.isatty():
        return _table(groups)
    rows = [row for group in groups.values() for row in group]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    blocks = [
        [
            heading,
            *(
                _GAP + _GAP.join(filled(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
                for row in group
            ),
        ]
        for heading, group in groups.items()
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _table(groups: Mapping[str, Sequence[Sequence[str]]]) -> str:
    from rich.console import Console
    from rich.table import Table

    first = max(len(row[0]) for group in groups.values() for row in group)
    told = StringIO()
    width = max(_NARROW, shutil.get_terminal_size().columns)
    console = Console(file=told, force_terminal=True, width=width, no_color="NO_COLOR" in os.environ, highlight=False)
    for heading, group in groups.items():
        table = Table.grid(padding=(0, 2))
        table.add_column(style="cyan", no_wrap=True, min_width=first)
        for row in group:
            table.add_row(*(row if width >= _WIDE else row[:2]))
        console.print(f"[bold]{heading}[/bold]", table, "")
    return told.getvalue()
