"""Answers of Prometheus' HTTP API (Thanos, Mimir and VictoriaMetrics alike) → METRICS, EVENTS.

Sample document::

    {"status":"success","data":{"resultType":"matrix","result":[
      {"metric":{"__name__":"up","instance":"b:1"},"values":[[1795261480,"1"],[1795261490.5,"1"]]}]}}

An instant query answers with ``vector`` and one ``value``. Values are texts and may be NaN. After an aggregation
``metric`` is ``{}``, so the name is null. ``text`` of a row is the sample as it stands in the document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import EVENTS, METRICS, Table

FORMAT = "prometheus-json"
TABLES: tuple[Table, ...] = (METRICS, EVENTS)
READING = Reading.DOCUMENT

_ANSWER = (
    "status string, data struct<resultType: string, result: array<struct<"
    "metric: map<string, string>, value: array<string>, values: array<array<string>>>>>"
)
_ENVELOPE = "status string, error string, errorType string, data struct<resultType: string>"
_FAILED = r'"status"\s*:\s*"error"'
_SERIES = r'"metric"\s*:\s*\{[^{}]*\}\s*,\s*"values?"\s*:\s*\[\s*\[?\s*\d'


def recognise(head: Head) -> bool:
    """True for the envelope with series in it, in any order of keys, or with an error."""
    text = head.text.lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return False
    empty = re.search(r'"resultType"\s*:\s*"(?:matrix|vector)"', text)
    failed = re.search(_FAILED, text) and '"errorType"' in text
    return bool(empty or failed or (re.search(r'\A\{\s*"(?:status|data)"', text) and re.search(_SERIES, text)))


def load(documents: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a sample; NaN and infinite ones are left out."""
    answers = documents.where(~F.col("text").rlike(_FAILED)).select("source", F.from_json("text", _ANSWER).alias("doc"))
    series = answers.select("source", F.explode("doc.data.result").alias("series"))
    points = F.coalesce("series.values", F.array("series.value"))
    found = series.select("source", F.col("series.metric").alias("metric"), F.explode(points).alias("point"))
    at, value = F.get("point", F.lit(0)), F.get("point", F.lit(1))
    metrics = found.select(
        "source",
        samples.instant(at).alias("at"),
        F.try_element_at("metric", F.lit("__name__")).alias("name"),
        F.map_filter("metric", lambda label, _: label != "__name__").alias("labels"),
        samples.finite(value).alias("value"),
        F.concat(F.lit("["), _literal(at), F.lit(',"'), value, F.lit('"]')).alias("text"),
    )
    return {METRICS: metrics.where(F.col("value").isNotNull()).transform(METRICS.conform), EVENTS: _errors(documents)}


def understood(text: Column) -> Column:
    """True for a whole answer; half a document is no JSON."""
    answer = F.from_json(text, _ENVELOPE)
    told = answer["data"]["resultType"].isin("matrix", "vector") | answer["error"].isNotNull()
    return F.coalesce(told & answer["status"].isin("success", "error"), F.lit(False))


def _literal(seconds: Column) -> Column:
    """As Prometheus writes it, ``1795261490.5``: Spark hands over ``1.7952614905E9``."""
    return F.regexp_replace(seconds.try_cast("decimal(20,3)").cast("string"), r"\.?0+$", "")


def _errors(documents: DataFrame) -> DataFrame:
    answer = F.from_json("text", _ENVELOPE)
    return documents.where(F.col("text").rlike(_FAILED)).select(
        "source", F.substring("text", 1, 500).alias("text"),
        F.lit("tool-error").alias("kind"),
        F.concat_ws(": ", answer["errorType"], answer["error"]).alias("reason"),
    ).transform(EVENTS.conform)  # fmt: skip
