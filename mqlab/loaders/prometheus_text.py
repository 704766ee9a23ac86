"""Prometheus' text exposition and OpenMetrics, as ``curl host:port/metrics`` saves them → METRICS.

Sample lines::

    # TYPE kafka_server_brokertopicmetrics_bytesin_total counter
    kafka_server_brokertopicmetrics_bytesin_total{topic="orders",} 1.0485760E7

A sample's moment is its own, else that of a ``date`` line or comment above, else the snapshot's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console, samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches
from mqlab.tables import METRICS, Table

FORMAT = "prometheus-text"
TABLES: tuple[Table, ...] = (METRICS,)
READING = Reading.TABLE

_META = r"^# (?:TYPE|HELP|UNIT|EOF)\b"
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|[Nn]a[Nn]|[Ii]nf)"
_SAMPLE = (
    r"^([A-Za-z_:][\w:]*)(?:\{((?:[^\"{}]|\"(?:[^\"\\]|\\.)*\")*)\})?"
    rf"\s+({_NUMBER})(?:\s+(-?\d+(?:\.\d+)?))?\s*(?:# \{{.*)?$"
)


def recognise(head: Head) -> bool:
    """True when nearly all lines are samples and some of them have labels or a type."""
    lines = console.plain_lines(head)
    found = [line for line in lines if re.search(_SAMPLE, line)]
    typed = any(re.search(_META, line) for line in lines) or any("{" in line for line in found)
    if not found or not typed:
        return False
    others = [line for line in lines if not line.startswith("#") and not re.search(_SAMPLE, line)]
    return len(found) >= 9 * sum(1 for line in others if not console.is_remark(line))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a sample; NaN and infinite ones are left out."""
    name, labels, number, moment = (group("plain", _SAMPLE, part) for part in (1, 2, 3, 4))
    columns = {
        "at": f"coalesce({samples.instant(filled(moment))}, at)",
        "name": name,
        "labels": samples.labels(labels),
        "value": samples.finite(number),
    }
    return {METRICS: METRICS.rows(rows.where(matches("plain", _SAMPLE)), columns).where("value IS NOT NULL")}


def line_class(text: str) -> str:
    """Samples are data, comments noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, _SAMPLE)} THEN 'data'
        WHEN startswith({line}, '#') OR ({console.remark_class(line)}) IS NOT NULL THEN 'noise' END"""
