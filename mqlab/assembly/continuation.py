"""Undated lines of a log belong to the dated record before them: a stack trace, a payload over several lines.

The scan counts lines by minute and keeps the number of the first of them. What lies between the first line of one
minute and that of the next and was not counted under the minute is undated, so that its number follows without
reading the log again. Only their bytes are taken to be evenly spread over the undated lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LONGEST_RECORD = 300
"""Undated lines per dated one above which they are no continuations: no stack trace has so many frames."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What the scan counted: dated lines of one minute, or undated ones where ``minute`` is None."""

    minute: str | None
    line: int
    """The first of them."""
    lines: int
    bytes: int


def continued(counted: Sequence[Counted]) -> dict[str, int]:
    """Bytes of undated lines that continue the records of each minute; *counted* is the whole log."""
    dated = sorted((c for c in counted if c.minute is not None), key=lambda c: c.line)
    undated = [c for c in counted if c.minute is None]
    lines, size = sum(c.lines for c in undated), sum(c.bytes for c in undated)
    every = lines + sum(c.lines for c in dated)
    if not dated or not lines or lines > LONGEST_RECORD * (every - lines):
        return {}
    ends = [*(c.line for c in dated[1:]), every + 1]
    between = {c.minute or "": max(0, end - c.line - c.lines) for c, end in zip(dated, ends, strict=True)}
    whole = dated[0].line - 1 + sum(between.values())
    return {minute: size * count // whole for minute, count in between.items() if count}


def carrier_lines(dated: Mapping[str, int], calm: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Lines of each minute that undated ones may continue: those that complain, as traces do, where there are any.

    *dated* are all dated lines by minute, *calm* those of each shape that is known to complain of nothing.
    """
    left = dict(dated)
    for lines in calm:
        for minute, count in lines.items():
            left[minute] -= count
    return {minute: left[minute] or count for minute, count in dated.items()}
