"""``prometheus.yml`` → SETTINGS: how often was scraped, and what.

Sample lines::

    global:
      scrape_interval: 5s
    scrape_configs:
    - job_name: kafka
      static_configs:
      - targets: ['kafka-1:19404']
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, replaced
from mqlab.tables import SETTINGS, Table

FORMAT = "prometheus-config"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_INTERVAL = r"^\s*(?:-\s+)?scrape_interval:\s*['\"]?(\w+)"
_JOB = r"^\s*(?:-\s+)?job_name:\s*['\"]?([^'\"#]+?)['\"]?\s*(?:#.*)?$"
_INLINE = r"^\s*(?:-\s+)?targets:\s*\[(.*)\]"
_TARGET = r"^\s*-\s+['\"]?([\w.\[\]-]+:\d+)['\"]?\s*(?:#.*)?$"
_DRESS = r"['\"\s]"
_YAML = r"^\s*(?:#.*|---|(?:-\s+)*[\w'\"$/.-]+:(?:\s.*)?|-\s+\S.*|[\]}])?$"


def recognise(head: Head) -> bool:
    """True for scrape_configs, or a global scrape interval, at the left margin."""
    return bool(re.search(r"^scrape_configs:", head.text, re.M)) or bool(
        re.search(r"^global:\s*\n(?:[ #].*\n)*?\s+scrape_interval:", head.text, re.M)
    )


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """The interval (owner null: global) and each target, owned by its job."""
    interval = matches("plain", _INTERVAL)
    inline = f"split({replaced(group('plain', _INLINE), _DRESS)}, ',')"
    values = f"""CASE
        WHEN {interval} THEN array({group("plain", _INTERVAL)})
        ELSE array_append({inline}, {group("plain", _TARGET)}) END"""
    lines = rows.selectExpr(
        "source", "line", "text", "plain", f"{console.nearest_above(filled(group('plain', _JOB)))} AS owner"
    )
    told = lines.selectExpr("*", f"explode(filter({values}, value -> value != '')) AS value")
    columns = {
        "scope": "'application'",
        "owner": "owner",
        "key": f"CASE WHEN {interval} THEN 'scrape_interval' ELSE 'target' END",
        "value": "value",
        "origin": "'file'",
    }
    return {SETTINGS: SETTINGS.rows(told, columns)}


def line_class(text: str) -> str:
    """Intervals, jobs and targets are data, other YAML noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, f"{_INTERVAL}|{_JOB}|{_INLINE}|{_TARGET}")} THEN 'data'
        WHEN {matches(line, _YAML)} THEN 'noise' END"""
