"""Exports of metrics, as Prometheus' HTTP API answers: their samples, and the document with those up to a moment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mqlab.formats.values import MICRO, epoch


def until(text: str, moment: float) -> bytes:
    """The document with the samples up to *moment*, without the series that have none; nothing where none is left."""
    document, end = _document(text)
    kept = []
    for series in _series(document):
        points = [point for point in _points(series) if (at := _moment_of(point)) is None or at <= moment]
        if points:
            kept.append({**series, "values": points} if "values" in series else series)
    if not kept:
        return b""
    document["data"]["result"] = kept
    separators = (", ", ": ") if '": ' in text else (",", ":")
    return (json.dumps(document, ensure_ascii=False, separators=separators) + text[end:]).encode()


def moments(text: str) -> Iterator[float]:
    """The moments of all samples."""
    for series in _series(_document(text)[0]):
        yield from (at for point in _points(series) if (at := _moment_of(point)) is not None)


def _document(text: str) -> tuple[Any, int]:
    """The document in *text*, and where it ends."""
    begin = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    try:
        return json.JSONDecoder().raw_decode(text, begin)
    except ValueError:
        return None, len(text)


def _series(document: Any) -> list[dict[str, Any]]:
    data = document.get("data") if isinstance(document, dict) else None
    result = data.get("result") if isinstance(data, dict) else None
    return [one for one in result if isinstance(one, dict)] if isinstance(result, list) else []


def _points(series: Mapping[str, Any]) -> list[Any]:
    points = series.get("values")
    return points if isinstance(points, list) else [series.get("value")]


def _moment_of(point: Any) -> float | None:
    at = epoch(point[0]) if isinstance(point, list) and point and isinstance(point[0], int | float | str) else None
    return None if at is None else at / MICRO
