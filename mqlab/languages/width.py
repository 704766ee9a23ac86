"""Texts on a terminal, where characters of Chinese are two columns wide and a line may end after any of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from rich.cells import cell_len

_WIDE = "\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_CLOSING = "、。》」』】%…,;:.!?)，；：）！？"
_UNIT = re.compile(rf"\s+|[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*")


def cells(text: str) -> int:
    """Columns that *text* takes."""
    return len(text) if text.isascii() else cell_len(text)


def filled(text: str, width: int, *, right: bool = False) -> str:
    """*text* with spaces up to *width* columns."""
    room = " " * (width - cells(text))
    return room + text if right else text + room


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """*text* in lines of at most *width* columns, all but the first one indented."""
    if cells(text) == len(text):
        return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)
    return [line.rstrip() for line in _lines(text, width, indent)]


def _lines(text: str, width: int, indent: str) -> Iterator[str]:
    line = ""
    for unit in _UNIT.findall(text.strip()):
        if line.strip() and cells(line + unit.rstrip()) > width:
            yield line
            line = indent
        rest = unit.lstrip() if not line.strip() else unit
        while cells(line + rest) > width and not line.strip() and len(rest) > width // 2:
            room = width // 2 - len(line)
            yield line + rest[:room]
            line, rest = indent, rest[room:]
        line += rest
    if line.strip():
        yield line
