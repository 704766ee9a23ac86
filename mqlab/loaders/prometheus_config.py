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

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import SETTINGS, Table

FORMAT = "prometheus-config"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_INTERVAL = r"^\s*(?:-\s+)?scrape_interval:\s*['\"]?(\w+)"
_JOB = r"^\s*(?:-\s+)?job_name:\s*['\"]?([^'\"#]+?)['\"]?\s*(?:#.*)?$"
_INLINE = r"^\s*(?:-\s+)?targets:\s*\[(.*)\]"
_TARGET = r"^\s*-\s+['\"]?([\w.\[\]-]+:\d+)['\"]?\s*(?:#.*)?$"
_YAML = r"^\s*(?:#.*|---|(?:-\s+)*[\w'\"$/.-]+:(?:\s.*)?|-\s+\S.*|[\]}])?$"


def recognise(head: Head) -> bool:
    """True for scrape_configs, or a global scrape interval, at the left margin."""
    return bool(re.search(r"^scrape_configs:", head.text, re.M)) or bool(
        re.search(r"^global:\s*\n(?:[ #].*\n)*?\s+scrape_interval:", head.text, re.M)
    )


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """The interval (owner null: global) and each target, owned by its job."""
    job = F.nullif(F.regexp_extract("plain", _JOB, 1), F.lit(""))
    lines = rows.withColumn("plain", console.plain(F.col("text"))).withColumn(
        "job", F.last(job, ignorenulls=True).over(console.upward())
    )
    interval = F.col("plain").rlike(_INTERVAL)
    inline = F.split(F.regexp_replace(F.regexp_extract("plain", _INLINE, 1), r"['\"\s]", ""), ",")
    values = F.when(interval, F.array(F.regexp_extract("plain", _INTERVAL, 1))).otherwise(
        F.array_append(inline, F.regexp_extract("plain", _TARGET, 1))
    )
    settings = lines.select("*", F.explode(F.filter(values, lambda value: value != "")).alias("value")).select(
        "source", "line", "text", "value",
        F.lit("application").alias("scope"), F.lit("file").alias("origin"), F.col("job").alias("owner"),
        F.when(interval, F.lit("scrape_interval")).otherwise(F.lit("target")).alias("key"),
    )  # fmt: skip
    return {SETTINGS: settings.transform(SETTINGS.conform)}


def line_class(text: Column) -> Column:
    """Intervals, jobs and targets are data, other YAML noise."""
    line = console.plain(text)
    data = line.rlike(f"{_INTERVAL}|{_JOB}|{_INLINE}|{_TARGET}")
    return F.when(data, F.lit("data")).when(line.rlike(_YAML), F.lit("noise"))
