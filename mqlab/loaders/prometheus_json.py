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

from pyspark.sql import DataFrame

from mqlab.loaders import samples
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import matches, replaced
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
_LABELS = samples.unique("filter(map_entries(series.metric), label -> label.key != '__name__')")
_ZEROS = r"\.?0+$"
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
    answers = documents.where(f"NOT {matches('text', _FAILED)}").selectExpr(
        "source", f"explode(from_json(text, '{_ANSWER}').data.result) AS series"
    )
    points = answers.selectExpr(
        "source",
        "try_element_at(series.metric, '__name__') AS name",
        f"{_LABELS} AS labels",
        "explode(coalesce(series.values, array(series.value))) AS point",
    )
    columns = {
        "at": samples.instant("get(point, 0)"),
        "name": "name",
        "labels": "labels",
        "value": samples.finite("get(point, 1)"),
        "line": "NULL",
        "text": f"""concat('[', {_literal("get(point, 0)")}, ',"', get(point, 1), '"]')""",
    }
    return {METRICS: METRICS.rows(points, columns).where("value IS NOT NULL"), EVENTS: _errors(documents)}


def understood(text: str) -> str:
    """True for a whole answer; half a document is no JSON."""
    answer = f"from_json({text}, '{_ENVELOPE}')"
    told = f"{answer}.data.resultType IN ('matrix', 'vector') OR {answer}.error IS NOT NULL"
    return f"coalesce(({told}) AND {answer}.status IN ('success', 'error'), false)"


def _literal(seconds: str) -> str:
    """As Prometheus writes it, ``1795261490.5``: Spark hands over ``1.7952614905E9``."""
    return replaced(f"CAST(try_cast({seconds} AS DECIMAL(20, 3)) AS STRING)", _ZEROS)


def _errors(documents: DataFrame) -> DataFrame:
    answers = documents.where(matches("text", _FAILED)).selectExpr(
        "source", "substring(text, 1, 500) AS text", f"from_json(text, '{_ENVELOPE}') AS answer"
    )
    reason = "concat_ws(': ', answer.errorType, answer.error)"
    return EVENTS.rows(answers, {"kind": "'tool-error'", "reason": reason, "line": "NULL"})
