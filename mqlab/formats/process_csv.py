"""What a loop wrote down of a process's memory → METRICS.

Sample lines::

    utc,VmRSS_kB
    2026-11-21T11:49:14.328Z,8660

A moment stands first; ``VmRSS``, ``RSS`` and the like become ``process_resident_memory_`` and the unit, so that the
value stays as it is written. Linux counts kB of 1024 bytes (``proc(5)``). Other columns are nothing that is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.formats.values import cells, moment, real
from mqlab.sources import Role
from mqlab.tables import METRICS, Row

FORMAT = Spec("process-csv", Role.METRICS, (METRICS,))

_FIRST = r"(?:utc|time|timestamp|ts|date|datetime|at|epoch)(?:_?(?:ms|s|utc|iso))?"
_MEMORY = r"(?:vm|process_|mem_?)?(?:rss|resident)(?:_?(?:memory|mem|size))?"
_COLUMN = rf"{_MEMORY}[_ .(]*(?P<unit>k|m|g)?i?(?:b|bytes)\)?"
_HEADER = regex(rf'(?i)^"?{_FIRST}"?\s*(?P<separator>[,;\t])(?:.*[,;\t])?\s*"?{_COLUMN}"?\s*(?:[,;\t].*)?$')
_TITLE = regex(rf"(?i)\s*{_COLUMN}\s*")
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|\d{10}(?:\d{3}|\.\d{1,9})?"
_ROW = regex(rf'^"?(?:{_TIME})"?\s*[,;\t]')
_NUMBER = regex(r"\s*\d+(?:\.\d+)?\s*")


def recognise(head: Head) -> bool:
    """True for a header with a moment and a process's memory, and a row below it."""
    lines = console.plain_lines(head)
    return len(lines) > 1 and bool(_HEADER.search(lines[0])) and bool(_ROW.search(lines[1]))


def parse(lines: Lines, about: About) -> Items:
    """One sample a cell of memory."""
    names: list[str | None] = []
    separator = ","
    for one in console.shown(lines, about):
        if _ROW.search(one.plain):
            yield Data(one.line, tuple(_samples(cells(one.plain, separator), names)))
        elif header := _HEADER.search(one.plain):
            separator = header["separator"]
            names = [_name(title) for title in cells(one.plain, separator)]
            yield Noise(one.line)
        else:
            yield console.remark(one)


def _name(title: str) -> str | None:
    """None for a column that is no memory."""
    found = _TITLE.fullmatch(title)
    if not found:
        return None
    unit = found["unit"]
    return f"process_resident_memory_{f'{unit.lower()}ib' if unit else 'bytes'}"


def _samples(row: list[str], names: list[str | None]) -> Iterator[Row]:
    for name, cell in zip(names[1:], row[1:], strict=False):
        value = real(cell) if _NUMBER.fullmatch(cell) else None
        if name and value is not None:
            yield METRICS.row(at=moment(row[0].strip()), name=name, labels={}, value=value)
