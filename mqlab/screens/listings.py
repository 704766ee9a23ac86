"""Texts below headings: lists of names, pages of light Markdown; as wide as the terminal, coloured only there."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from mqlab.languages import said
from mqlab.screens.rows import WIDTH
from mqlab.terminal import cells, filled, wrapped

_GAP = "  "
_CODE = "    "
_WIDE = 160
"""Columns from which a terminal has room for more than a name and what it is."""
_NARROW = 40
"""Columns of a terminal below which nothing is laid out any narrower."""
_ITEM = re.compile(r"(?:[-*]|\d+\.) +")
_HEADING = re.compile(r"^\S.*[^.。\n]$", re.MULTILINE)
_NAME = re.compile(r"^  (\S+)", re.MULTILINE)


def listing(groups: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The rows of each group below its heading; the first column is a name.

    A row is one line in a pipe. On a terminal that is narrower, what stands next to the name is wrapped.
    """
    shown = {said(heading): [(name, *map(said, rest)) for name, *rest in rows] for heading, rows in groups.items()}
    widths = [max(map(cells, column)) for column in zip(*(row for rows in shown.values() for row in rows), strict=True)]
    if sys.stdout.isatty() and sum(widths) + len(_GAP) * len(widths) > _columns():
        name, _, *further = widths if _columns() >= _WIDE else widths[:2]
        room = _columns() - name - sum(further) - len(_GAP) * (2 + len(further))
        widths = [name, room, *further]
        shown = {heading: [line for row in rows for line in _wrapped(row, room)] for heading, rows in shown.items()}
    blocks = ["\n".join([heading, *(_row(row, widths) for row in rows)]) for heading, rows in shown.items()]
    return "\n\n".join(blocks) + "\n"


def _wrapped(row: tuple[str, ...], room: int) -> Iterator[tuple[str, ...]]:
    first, *rest = wrapped(row[1], room)
    yield (row[0], first, *row[2:])
    yield from (("", line) for line in rest)


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    return (_GAP + _GAP.join(filled(cell, width) for cell, width in zip(row, widths, strict=False))).rstrip()


def coloured(text: str) -> str:
    """A listing for a terminal: headings bold, names in colour."""
    text = _HEADING.sub(lambda heading: click.style(heading[0], bold=True), text)
    return _NAME.sub(lambda name: _GAP + click.style(name[1], fg="cyan"), text)


def page(markdown: str, *, colour: bool = False) -> str:
    """Light Markdown, a line being a paragraph, as text: all but headings is indented.

    Lines of code are never wrapped, so that they can be copied.
    """
    return "\n".join(line for text in markdown.rstrip("\n").split("\n") for line in _of_page(text, colour)) + "\n"


def _of_page(text: str, colour: bool) -> Iterator[str]:
    if heading := re.match(r"#+ +", text):
        yield from (click.style(line, bold=True) if colour else line for line in _lines(text[heading.end() :], ""))
    elif text.startswith(_CODE):
        yield click.style(text, fg="cyan") if colour else text
    else:
        item = _ITEM.match(text)
        for line in _lines(text, _GAP, " " * len(item[0]) if item else ""):
            yield re.sub("`[^`]+`", lambda code: click.style(code[0], fg="cyan"), line) if colour else line


def _lines(text: str, indent: str, further: str = "") -> list[str]:
    room = min(WIDTH, _columns()) if sys.stdout.isatty() else WIDTH
    return [indent + line for line in wrapped(text, room - len(indent), further)] or [""]


def _columns() -> int:
    return max(_NARROW, shutil.get_terminal_size().columns)
