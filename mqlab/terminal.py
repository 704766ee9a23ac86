r"""Text on its way to people: nothing in it moves a cursor, changes a terminal or turns the reading order around.

Names, lines and titles of the material may hold control characters and the marks that reverse text. ``visible`` shows
them as ``\uXXXX``, which means the same character within JSON. ``guard`` does so for everything that the process
prints, errors, prompts and progress included; ``bare`` is for the few places that draw. ``wrapped`` and ``filled``
count columns: characters of Chinese are two wide, and a line may end after any of them.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import TextIO
from unicodedata import category

_WIDE = "\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
_CLOSING = "、。》」』】%…,;:.!?)，；：）！？"
_UNIT = re.compile(rf"\s+|[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*")


def visible(text: str) -> str:
    """*text* with everything that people cannot see as an escape, but for spaces, tabs and ends of lines."""
    return text if text.isprintable() else "".join(map(_shown, text))


def safe(text: str | None) -> str:
    """*text* on one line, with everything that people cannot see as an escape."""
    return visible((text or "").replace("\t", " ")).replace("\n", "\\n")


def _shown(letter: str) -> str:
    if letter.isprintable() or letter in "\n\t" or category(letter) == "Zs":
        return letter
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


class _Guarded(io.TextIOWrapper):
    """A stream that shows what people cannot see as escapes."""

    def write(self, text: str) -> int:
        """Write *text* so that it is no more than text."""
        return super().write(visible(text))


def guard() -> None:
    """Make standard output and errors streams that only show; those that are closed are open again, on nothing.

    A file that is opened later would else take the number of a closed stream, and get what is printed.
    """
    for number, way in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, way), number)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or open(1 if name == "stdout" else 2, "w", closefd=False)  # noqa: SIM115
        setattr(sys, f"__{name}__", stream)
        ascii_only = codecs.lookup(stream.encoding).name == "ascii"  # click would go around it, and write UTF-8
        guarded = _Guarded(
            stream.buffer,
            encoding="utf-8" if ascii_only else stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
        )
        setattr(sys, name, guarded)


def bare(stream: TextIO) -> TextIO:
    """What is below the guard of *stream*: for what draws, and shows text of the material by ``safe`` only."""
    below = {"<stdout>": sys.__stdout__, "<stderr>": sys.__stderr__}.get(getattr(stream, "name", ""))
    return below if below is not None and isinstance(stream, _Guarded) else stream


def cells(text: str) -> int:
    """Columns that *text* takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


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
