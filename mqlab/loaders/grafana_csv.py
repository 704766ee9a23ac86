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

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console, samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
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
    plain = console.plain(F.col("text"))
    header = F.last(F.when(plain.rlike(_HEADER), plain), ignorenulls=True).over(console.upward())
    titled = rows.select("source", "line", "text", "name", plain.alias("plain"), header.alias("header"))
    lines = titled.where(F.col("plain").rlike(_ROW)).withColumns({"cells": _cells("plain"), "header": _cells("header")})
    long = F.get("header", F.lit(0)) == "Series"
    one = F.array(F.struct(F.get("cells", F.lit(0)).alias("header"), F.get("cells", F.lit(2)).alias("cells")))
    wide = F.slice(F.arrays_zip("header", "cells"), 2, 100000)
    found = lines.select(
        "source", "line", "text", "name",
        _moment(F.get("cells", F.when(long, F.lit(1)).otherwise(F.lit(0)))).alias("at"),
        F.explode(F.when(long, one).otherwise(wide)).alias("pair"),
    )  # fmt: skip
    legend, cell = F.col("pair")["header"], F.col("pair")["cells"]
    metrics = found.select("source", "line", "text", "at", _name(legend), _labels(legend), _value(cell))
    return {METRICS: metrics.where(F.col("value").isNotNull()).transform(METRICS.conform)}


def line_class(text: Column) -> Column:
    """Rows are data; headers, ``sep=,`` and blank lines noise."""
    line = console.plain(text)
    return F.when(line.rlike(_ROW), F.lit("data")).when(line.rlike(rf"{_HEADER}|{_SEP}|^\s*$"), F.lit("noise"))


def _cells(line: str) -> Column:
    """Cells without their quotes; the header shows which character separates them."""
    comma, semicolon = (F.regexp_extract_all(line, F.lit(_CELL % (sep, sep)), F.lit(1)) for sep in (",", ";"))
    raw = F.when(F.col("header").rlike(f"{_TITLE};"), semicolon).otherwise(comma)
    return F.transform(raw, lambda cell: F.replace(F.regexp_replace(cell, '^"|"$', ""), F.lit('""'), F.lit('"')))


def _moment(cell: Column) -> Column:
    return F.coalesce(samples.instant(cell), cell.try_cast("timestamp"))


def _name(legend: Column) -> Column:
    selector = F.nullif(F.regexp_extract(legend, _SELECTOR, 1), F.lit(""))
    panel = F.regexp_replace("name", r"(?:-data)?(?:-as-[a-z-]+)?(?:[-_. ]\d[\d_ .-]*)?\.csv$", "")
    plain = F.when(legend.rlike(_SELECTOR) | (legend == "Value"), panel).otherwise(legend)
    return F.coalesce(selector, plain).alias("name")


def _labels(legend: Column) -> Column:
    return samples.labels(F.regexp_extract(legend, _SELECTOR, 2)).alias("labels")


def _value(cell: Column) -> Column:
    units = F.create_map(*[F.lit(word) for pair in _UNITS.items() for word in pair])
    number = samples.finite(F.replace(F.regexp_extract(cell, _NUMBER, 1), F.lit(","), F.lit("")))
    return (number * F.coalesce(F.try_element_at(units, F.regexp_extract(cell, _NUMBER, 2)), F.lit(1.0))).alias("value")
