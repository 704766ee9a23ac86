"""What a loop wrote down of a process's memory → METRICS.

Sample lines::

    utc,VmRSS_kB
    2026-11-21T11:49:14.328Z,8660

A moment stands first; ``VmRSS``, ``RSS`` and the like become ``process_resident_memory_`` and the unit, so that the
value stays as it is written. Linux counts kB of 1024 bytes (``proc(5)``). Other columns are nothing that is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console, samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches, quoted
from mqlab.tables import METRICS, Table

FORMAT = "process-csv"
TABLES: tuple[Table, ...] = (METRICS,)
READING = Reading.TABLE

_FIRST = r"(?:utc|time|timestamp|ts|date|datetime|at|epoch)(?:_?(?:ms|s|utc|iso))?"
_MEMORY = r"(?:vm|process_|mem_?)?(?:rss|resident)(?:_?(?:memory|mem|size))?"
_COLUMN = rf'"?{_MEMORY}[_ .(]*(k|m|g)?i?(?:b|bytes)\)?"?'
_HEADER = rf'(?i)^"?{_FIRST}"?\s*[,;\t](?:.*[,;\t])?\s*{_COLUMN}\s*(?:[,;\t].*)?$'
_TIME = r'"?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|\d{10}(?:\d{3}|\.\d{1,9})?)"?'
_ROW = rf"^{_TIME}\s*[,;\t]"
_NUMBER = r'^\s*"?(\d+(?:\.\d+)?)"?\s*$'
_NAME = "process_resident_memory_"


def recognise(head: Head) -> bool:
    """True for a header with a moment and a process's memory, and a row below it."""
    lines = console.plain_lines(head)
    return len(lines) > 1 and bool(re.search(_HEADER, lines[0])) and bool(re.search(_ROW, lines[1]))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One sample a cell of memory."""
    header = f"CASE WHEN {matches('plain', _HEADER)} THEN split(plain, '[,;\\t]') END"
    cells = (
        rows.selectExpr("source", "line", "text", "plain", f"{console.nearest_above(header)} AS titles")
        .where(f"titles IS NOT NULL AND {matches('plain', _ROW)}")
        .selectExpr(
            "source", "line", "text", f"{group('plain', _ROW)} AS written",
            "inline(slice(arrays_zip(titles, split(plain, '[,;\\t]')), 2, 1000)) AS (title, cell)",
        )
    )  # fmt: skip
    unit = f"lower({group('trim(title)', f'(?i)^{_COLUMN}$')})"
    columns = {
        "at": f"coalesce({samples.instant('written')}, try_cast(written AS TIMESTAMP))",
        "name": f"concat({quoted(_NAME)}, CASE {unit} WHEN '' THEN 'bytes' ELSE concat({unit}, 'ib') END)",
        "labels": "CAST(map() AS MAP<STRING, STRING>)",
        "value": samples.finite(group("cell", _NUMBER)),
    }
    wanted = cells.where(f"title IS NOT NULL AND {matches('trim(title)', f'(?i)^{_COLUMN}$')}")
    return {METRICS: METRICS.rows(wanted, columns).where("value IS NOT NULL")}


def line_class(text: str) -> str:
    """Rows are data, headers noise."""
    line = console.plain(text)
    noise = matches(line, rf"{_HEADER}|^\s*$")
    return f"CASE WHEN {matches(line, _ROW)} THEN 'data' WHEN {noise} THEN 'noise' END"
