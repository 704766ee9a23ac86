"""The table behind a figure: what it draws, as rows that can be read, copied and printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any

_MOST_ROWS = 300


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Rows of (series, x, y, text), at most 300."""

    header: tuple[str, str, str, str]
    rows: tuple[tuple[str, str, str, str], ...]
    left_out: int


def figure_table(figure: Mapping[str, Any]) -> FigureTable:
    """The drawn points of a figure in plotly's JSON form."""
    rows = [row for trace in figure.get("data", ()) for row in _rows(trace)]
    header = ("series", _title(figure, "xaxis", "x"), _title(figure, "yaxis", "y"), "note")
    return FigureTable(header, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS))


def _rows(trace: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    name = unescape(str(trace.get("name", "")))
    xs, ys = _plain(trace.get("x")), _plain(trace.get("y"))
    if trace.get("type") == "heatmap":
        for y, line in zip(ys, _plain(trace.get("hovertext")) or _plain(trace.get("z")), strict=False):
            cells = zip(xs, line, strict=False)
            yield from ((name, _cell(x), _cell(y), _cell(z)) for x, z in cells if z is not None and z != "")
        return
    words = _plain(trace.get("text")) or [""] * len(xs)
    for x, y, text in zip(xs, ys, words, strict=False):
        if x is not None and y is not None:
            yield name, _cell(x), _cell(y), _cell(text)


def _plain(values: object) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else []


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else unescape(str(value)).replace("<br>", ", ").replace("T", " ", _is_time(value))


def _is_time(value: object) -> int:
    """How many letters T to drop: one in ``2026-11-21T12:20:44``."""
    return int(isinstance(value, str) and len(value) >= 19 and value[10] == "T" and value[:4].isdigit())


def _title(figure: Mapping[str, Any], axis: str, default: str) -> str:
    title = figure.get("layout", {}).get(axis, {}).get("title", {})
    return str(title.get("text", default)) if isinstance(title, dict) else default
