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
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console, samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted, replaced
from mqlab.tables import METRICS, Table

FORMAT = "grafana-csv"
TABLES: tuple[Table, ...] = (METRICS,)
READING = Reading.TABLE

_TITLE = r'^"?(?:Time|Series)"?'
_HEADER = rf"{_TITLE}[,;]"
_SEP = r"^sep=[,;]$"
_TIME = r"(?:\d{13}|\d{10}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
_ROW = rf'^(?:"(?:[^"]|"")*"|[^",;]*)?;?"?{_TIME}"?[,;]'
_CELL = r'(?:^|[%s])("(?:[^"]|"")*"|[^%s]*)'
_QUOTES = '^"|"$'
_SELECTOR = r"^([A-Za-z_:][\w:.]*)?\{(.*)\}$"
_NUMBER = r"^\s*(-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([^\s/]*).*$"
_UNITS = {
    **dict.fromkeys(("K", "k", "kB", "KB", "kb", "Kb", "kBs", "kbs"), 1e3),
    **dict.fromkeys(("M", "Mil", "MB", "Mb", "MBs", "Mbs"), 1e6),
    **dict.fromkeys(("G", "Bil", "GB", "Gb", "GBs", "Gbs"), 1e9),
    **dict.fromkeys(("T", "Tri", "TB", "Tb"), 1e12),
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "min": 60.0, "mins": 60.0, "hour": 3600.0, "hours": 3600.0,
}  # fmt: skip


def recognise(head: Head) -> bool:
    """True for a header that begins with Time or Series and a row with a time under it."""
    lines = [line for line in console.plain_lines(head) if not re.search(_SEP, line)]
    return len(lines) > 1 and bool(re.search(_HEADER, lines[0])) and bool(re.search(_ROW, lines[1]))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a cell that holds a number."""
    header = f"CASE WHEN {matches('plain', _HEADER)} THEN plain END"
    titled = rows.selectExpr("source", "line", "text", "name", "plain", f"{console.nearest_above(header)} AS header")
    cells = titled.where(matches("plain", _ROW)).selectExpr(
        "source", "line", "text", "name", f"{_cells('header')} AS legend", f"{_cells('plain')} AS cell"
    )
    long = "get(legend, 0) = 'Series'"
    time = f"get(cell, CASE WHEN {long} THEN 1 ELSE 0 END)"
    one = "array(named_struct('legend', get(cell, 0), 'cell', get(cell, 2)))"
    wide = "slice(arrays_zip(legend, cell), 2, 100000)"
    found = cells.selectExpr(
        "source", "line", "text", "name",
        f"coalesce({samples.instant(time)}, try_cast({time} AS TIMESTAMP)) AS at",
        f"inline(CASE WHEN {long} THEN {one} ELSE {wide} END)",
    )  # fmt: skip
    labels = samples.labels(group("legend", _SELECTOR, 2))
    columns = {"at": "at", "name": _NAME, "labels": labels, "value": _VALUE}
    return {METRICS: METRICS.rows(found, columns).where("value IS NOT NULL")}


def line_class(text: str) -> str:
    """Rows are data; headers, ``sep=,`` and blank lines noise."""
    line = console.plain(text)
    noise = matches(line, rf"{_HEADER}|{_SEP}|^\s*$")
    return f"CASE WHEN {matches(line, _ROW)} THEN 'data' WHEN {noise} THEN 'noise' END"


def _cells(line: str) -> str:
    """Cells without their quotes; the header shows which character separates them."""
    comma, semicolon = (f"regexp_extract_all({line}, {quoted(_CELL % (sep, sep))}, 1)" for sep in ",;")
    raw = f"CASE WHEN {matches('header', f'{_TITLE};')} THEN {semicolon} ELSE {comma} END"
    return f"transform({raw}, cell -> replace({replaced('cell', _QUOTES)}, '\"\"', '\"'))"


_PANEL = replaced("name", r"(?:-data)?(?:-as-[a-z-]+)?(?:[-_. ]\d[\d_ .-]*)?\.csv$")
_NAME = f"""coalesce({filled(group("legend", _SELECTOR))},
    CASE WHEN {matches("legend", _SELECTOR)} OR legend = 'Value' THEN {_PANEL} ELSE legend END)"""
_UNIT = f"map({', '.join(f'{quoted(unit)}, {factor!r}D' for unit, factor in _UNITS.items())})"
_VALUE = f"""{samples.finite(f"replace({group('cell', _NUMBER)}, ',', '')")}
    * coalesce(try_element_at({_UNIT}, {group("cell", _NUMBER, 2)}), 1D)"""
