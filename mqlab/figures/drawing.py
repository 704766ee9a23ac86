"""A timeline as a few paths, for pages that run no script: the same traces, bands and lanes.

``drawing.html.j2`` makes an inline SVG of some kilobytes of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import plotly.graph_objects as go

from mqlab.figures.style import DARK, cut, thinned
from mqlab.units import number

_WIDTH, _LEFT, _RIGHT, _BELOW = 720, 150, 12, 22
_MOST_POINTS = 300
_APART = 4
"""Pixels between marks of one look: closer ones cover each other."""
_LONGEST = 24
"""Characters of a lane's name that fit beside it."""
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800, 2592000)
_TICKS = 6
_MARKS = {
    "line-ns-open": "M{0} {1}m0-5v10", "x": "M{0} {1}m-4-4l8 8m0-8l-8 8", "x-open": "M{0} {1}m-4-4l8 8m0-8l-8 8",
    "triangle-up": "M{0} {1}m0-5l5 9h-10z", "diamond": "M{0} {1}m0-5l5 5-5 5-5-5z",
    "diamond-open": "M{0} {1}m0-5l5 5-5 5-5-5z",
}  # fmt: skip
_FILLED = ("triangle-up", "diamond")
_DASHES = {"dash": "7 4", "dot": "2 3"}


@dataclass(frozen=True, slots=True)
class Path:
    """What is drawn in one colour."""

    d: str
    colour: str
    dash: str = ""
    filled: bool = False

    @property
    def night(self) -> str:
        """Its colour on a dark screen."""
        return DARK.get(self.colour, self.colour)


@dataclass(frozen=True, slots=True)
class Words:
    """A tick's words: moments are in the middle, all others end where they stand."""

    x: int
    y: int
    text: str
    centred: bool = False


@dataclass(slots=True)
class Drawing:
    """All parts, in pixels."""

    width: int
    height: int
    grid: list[str] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)


def drawing(chart: go.Figure) -> Drawing | None:
    """The chart without scripts; None where it has nothing over time."""
    moments = [_seconds(at) for trace in chart.data for at in trace.x if at is not None]
    if not moments:
        return None
    across = _Across(min(moments), max(max(moments), min(moments) + 1))
    drawn = Drawing(_WIDTH, int(chart.layout.height))
    _draw_moments(drawn, across)
    for name in dict.fromkeys(trace.yaxis for trace in chart.data):
        traces = [trace for trace in chart.data if trace.yaxis == name]
        up = _Up(chart.layout["yaxis" + name[1:]], traces, drawn.height - _BELOW)
        drawn.paths += _bands(chart, name, across, up)
        up.draw_ticks(drawn)
        drawn.paths += (path for trace in traces for path in _trace(trace, across, up))
    return drawn


class _Across:
    """Where a moment lies between the left and the right edge."""

    def __init__(self, since: float, until: float) -> None:
        self.since, self.until = since, until

    def __call__(self, at: float) -> int:
        inner = min(max(at, self.since), self.until) - self.since
        return round(_LEFT + inner / (self.until - self.since) * (_WIDTH - _LEFT - _RIGHT))


class _Up:
    """Where a value lies in its panel: on a line from zero, a logarithmic one, or in a lane."""

    low: float
    high: float

    def __init__(self, axis: Any, traces: Sequence[Any], height: float) -> None:
        self.axis, self.lanes = axis, list(axis.categoryarray or ())
        self.log = axis.type == "log"
        low, high = map(float, axis.domain)
        self.bottom, self.top = round((1 - low) * height), round((1 - high) * height) + 6
        values = [] if self.lanes else [y for trace in traces for y in trace.y if y is not None]
        if self.lanes:
            self.low, self.high = axis.range
        elif self.log:
            positive = [value for value in values if value > 0] or [1]
            self.low, self.high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)) + 1e-9)
        else:
            self.low, self.high = min(0, *values), max(1, *values)

    def __call__(self, value: Any) -> int:
        at: float = self.lanes.index(value) if self.lanes else value
        if self.log:
            at = math.log10(value) if value > 0 else self.low
        return round(self.bottom - (at - self.low) / (self.high - self.low) * (self.bottom - self.top))

    def draw_ticks(self, drawn: Drawing) -> None:
        """Values, or names of lanes, left of the panel."""
        if self.lanes:
            told = [(name, unescape(name.replace("<br>", " "))) for name in self.lanes]
        elif self.log:
            texts = dict(zip(self.axis.tickvals or (), self.axis.ticktext or (), strict=True))
            told = [(value, text) for value, text in texts.items() if self.low <= math.log10(value) <= self.high]
            told = told[:: -(-len(told) // 4) or 1]
        else:
            told = [(value, number(round(value))) for value in (0, self.high)]
        for value, text in told:
            at = self(value)
            drawn.words.append(Words(_LEFT - 8, at + 4, cut(text, _LONGEST)))
            if not self.lanes:
                drawn.grid.append(f"M{_LEFT} {at}H{_WIDTH - _RIGHT}")


def _draw_moments(drawn: Drawing, across: _Across) -> None:
    lasted = across.until - across.since
    step = next((step for step in _STEPS if lasted / step <= _TICKS), math.ceil(lasted / _TICKS / 86400) * 86400)
    pattern = "%H:%M:%S" if step < 60 else "%H:%M" if lasted < 86400 else "%m-%d %H:%M" if step < 86400 else "%Y-%m-%d"
    at = math.ceil(across.since / step) * step
    while at <= across.until:
        words = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)).strftime(pattern)
        drawn.grid.append(f"M{across(at)} 0V{drawn.height - _BELOW}")
        drawn.words.append(Words(across(at), drawn.height - 6, words, centred=True))
        at += step


def _bands(chart: go.Figure, name: str, across: _Across, up: _Up) -> Iterator[Path]:
    for shape in chart.layout.shapes:
        if shape.yref == f"{name} domain":
            left, right = across(_seconds(shape.x0)), across(_seconds(shape.x1))
            d = f"M{left} {up.top}H{max(left + 1, right)}V{up.bottom}H{left}z"
            yield Path(d, shape.fillcolor, filled=True)


def _trace(trace: Any, across: _Across, up: _Up) -> Iterator[Path]:
    points = [(across(_seconds(x)), up(y)) for x, y in zip(trace.x, trace.y, strict=True) if x is not None]
    if not up.lanes:
        kept = thinned(points, value=lambda point: point[1], most=_MOST_POINTS)
        d = "".join(f"{'L' if place else 'M'}{x} {y}" for place, (x, y) in enumerate(kept))
        yield Path(d, trace.line.color, _DASHES.get(trace.line.dash, ""))
        return
    bars = dict.fromkeys((x, y, end) for (x, y), (end, _) in zip(points[::2], points[1::2], strict=True) if end > x)
    marks = "".join(_MARKS[trace.marker.symbol].format(x, y) for x, y in _apart(points))
    lines = "".join(f"M{x} {y}H{end}" for x, y, end in bars)
    yield Path(lines + marks, trace.line.color, filled=trace.marker.symbol in _FILLED)


def _apart(points: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Marks that do not cover each other, from the left."""
    last = -_APART
    for x, y in sorted(points):
        if x - last >= _APART:
            last = x
            yield x, y


def _seconds(at: str) -> float:
    """A moment of the time axis, which stands in UTC."""
    return datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
