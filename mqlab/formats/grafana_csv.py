"""CSV that Grafana exports from a panel → METRICS.

Sample lines::

    "Time","{instance=""kafka-1:19404""}","node_network_transmit_bytes_total{device=""eth0""}"
    1729764000000,12,
    2024-10-24 10:00:05,1.02 MB/s,3.4 K
    Series;Time;Value

With formatted data on, cells carry units and times the browser's zone, read as UTC. Sizes and counts become plain
bytes, bits and numbers, durations seconds. A column ``Value`` is named after the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.formats.values import cells, labels, moment, real
from mqlab.sources import Role
from mqlab.tables import METRICS, Row

FORMAT = Spec("grafana-csv", Role.METRICS, (METRICS,))

_HEADER = re.compile(r'^"?(?:Time|Series)"?(?P<separator>[,;])')
_SEP = re.compile(r"^sep=[,;]$")
_TIME = r"(?:\d{13}|\d{10}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
_ROW = regex(rf'^(?:"(?:[^"]|"")*"|[^",;]*)?;?"?{_TIME}"?[,;]')
_MINUTE = regex(r"(?<=[T ]\d\d:\d\d)(?!:)")
"""Where a clock leaves its seconds out."""
_SELECTOR = regex(r"(?P<name>[A-Za-z_:][\w:.]*)?\{(?P<labels>.*)\}")
_NUMBER = regex(r"\s*(?P<number>-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\s/]*)")
_PANEL = regex(r"(?:-data)?(?:-as-[a-z-]+)?(?:[-_. ]\d[\d_ .-]*)?\.csv$")
_UNITS = {
    **dict.fromkeys(("K", "k", "kB", "KB", "kb", "Kb", "kBs", "kbs"), 1e3),
    **dict.fromkeys(("M", "Mil", "MB", "Mb", "MBs", "Mbs"), 1e6),
    **dict.fromkeys(("G", "Bil", "GB", "Gb", "GBs", "Gbs"), 1e9),
    **dict.fromkeys(("T", "Tri", "TB", "Tb"), 1e12),
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "min": 60.0, "mins": 60.0, "hour": 3600.0, "hours": 3600.0,
}  # fmt: skip


_LINES = re.compile(r"(?i)[,;\t]\"?(?:line|message|body)\"?(?=[,;\t]|\r?$)")
"""A column of Explore's table of logs."""


def recognise(head: Head) -> bool:
    """True for a header that begins with Time or Series and a row with a time under it; not for lines of a log."""
    lines = [line for line in console.plain_lines(head) if not _SEP.search(line)]
    return (
        len(lines) > 1
        and bool(_HEADER.search(lines[0]))
        and bool(_ROW.search(lines[1]))
        and not _LINES.search(lines[0])
    )


def parse(lines: Lines, about: About) -> Items:
    """One sample a cell that holds a number."""
    legends: list[str] = []
    separator, panel = ",", _PANEL.sub("", about.name)
    for one in console.shown(lines, about):
        if _ROW.search(one.plain):
            yield Data(one.line, tuple(_samples(cells(one.plain, separator), legends, panel)))
        elif header := _HEADER.search(one.plain):
            separator = header["separator"]
            legends = cells(one.plain, separator)
            yield Noise(one.line)
        elif _SEP.search(one.plain):
            yield Noise(one.line)
        else:
            yield console.remark(one)


def _samples(row: list[str], legends: list[str], panel: str) -> Iterator[Row]:
    """Of the old export, which begins with ``Series``, one sample a line; else one a column."""
    if legends[:1] == ["Series"]:
        legends, row = [legends[1], row[0]], row[1:3]
    for legend, cell in zip(legends[1:], row[1:], strict=False):
        if (value := _value(cell)) is not None:
            selector = _SELECTOR.fullmatch(legend)
            name = selector["name"] if selector else None if legend == "Value" else legend
            told = labels(selector["labels"]) if selector else {}
            yield METRICS.row(at=moment(_MINUTE.sub(":00", row[0])), name=name or panel, labels=told, value=value)


def _value(cell: str) -> float | None:
    found = _NUMBER.match(cell)
    number = real(found["number"].replace(",", "")) if found else None
    return number * _UNITS.get(found["unit"], 1.0) if found and number is not None else None
