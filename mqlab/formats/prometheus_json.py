"""Answers of Prometheus' HTTP API (Thanos, Mimir and VictoriaMetrics alike) → METRICS, EVENTS.

Sample document::

    {"status":"success","data":{"resultType":"matrix","result":[
      {"metric":{"__name__":"up","instance":"b:1"},"values":[[1795261480,"1"],[1795261490.5,"1"]]}]}}

An instant query answers with ``vector`` and one ``value``. Values are texts and may be NaN. After an aggregation
``metric`` is ``{}``, so the name is null. ``text`` of a row is the sample as it stands in the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

from mqlab.formats.base import About, Data, Head, Items, Lines, Reject, Spec, regex
from mqlab.formats.values import epoch, first_of_each, real
from mqlab.sources import Reading, Role
from mqlab.tables import EVENTS, METRICS, Row

FORMAT = Spec("prometheus-json", Role.METRICS, (METRICS, EVENTS), "", Reading.DOCUMENT)

_FAILED = regex(r'"status"\s*:\s*"error"')
_EMPTY = regex(r'"resultType"\s*:\s*"(?:matrix|vector)"')
_BEGINS = regex(r'\{\s*"(?:status|data)"')
_SERIES = regex(r'"metric"\s*:\s*\{[^{}]*\}\s*,\s*"values?"\s*:\s*\[\s*\[?\s*\d')
_BLANK = "\ufeff \t\r\n"
_SHOWN = 500
"""Characters of an error's document that its event shows."""


def recognise(head: Head) -> bool:
    """True for the envelope with series in it, in any order of keys, or with an error."""
    text = head.text.lstrip(_BLANK)
    if not text.startswith("{"):
        return False
    failed = _FAILED.search(text) and '"errorType"' in text
    return bool(_EMPTY.search(text) or failed or (_BEGINS.match(text) and _SERIES.search(text)))


def parse(lines: Lines, about: About) -> Items:  # noqa: ARG001 - each sample tells its moment
    """One row a sample of the document, NaN and infinite ones left out; half a document is not understood."""
    for line in lines:
        rows = _rows(_decoded(line.text), line.text)
        yield Reject(line) if rows is None else Data(line, rows)


def _first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a name that comes twice the first value counts."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else first_of_each(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_first, parse_int=float)


def _decoded(text: str) -> Any:
    """The document, whatever follows it; None where it is none, or nested beyond reason."""
    try:
        return _DECODER.raw_decode(text.lstrip(_BLANK))[0]
    except (ValueError, RecursionError):
        return None


def _rows(answer: Any, text: str) -> Sequence[Row] | None:
    """What an answer tells; None where it is none of Prometheus'."""
    told = answer if isinstance(answer, dict) else {}
    data, error = told.get("data"), told.get("error")
    series = data if isinstance(data, dict) else {}
    if series.get("resultType") not in ("matrix", "vector") and error is None:
        return None
    if told.get("status") == "error":
        reason = ": ".join(_word(part) for part in (told.get("errorType"), error) if part is not None)
        return (EVENTS.row(kind="tool-error", reason=reason, line=None, text=text[:_SHOWN]),)
    return list(_samples(series.get("result"))) if told.get("status") == "success" else None


def _samples(result: Any) -> Iterator[Row]:
    for series in filter(lambda one: isinstance(one, dict), result if isinstance(result, list) else ()):
        metric, points = series.get("metric"), series.get("values")
        labels = {_word(key): _word(value) for key, value in metric.items()} if isinstance(metric, dict) else {}
        name = labels.pop("__name__", None)
        for point in points if isinstance(points, list) else [series.get("value")]:
            try:
                (at, seconds), number = _moment(point[0]), point[1]
                value = float(number)
            except (TypeError, LookupError, ValueError):
                continue
            if isfinite(value):
                shown = f'[{seconds},"{number}"]'
                yield METRICS.row(at=at, name=name, labels=labels, value=value, line=None, text=shown)


@lru_cache(maxsize=1 << 14)
def _moment(seconds: str | float) -> tuple[int | None, str]:
    """The moment, and how Prometheus writes it; series of one answer share theirs."""
    number = real(seconds) if isinstance(seconds, str) else float(seconds)
    return epoch(number), str(seconds) if number is None else f"{number:.3f}".rstrip("0").rstrip(".")


def _word(value: Any) -> str:
    """A label, without halves of characters, which no table can hold."""
    word = value if isinstance(value, str) else json.dumps(value)
    return word if word.isascii() else word.encode("utf-8", "replace").decode("utf-8")
