"""A timeline as an inline SVG of a few kilobytes, for pages that run no script: the same traces, bands and lanes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from html import escape, unescape
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


def drawing(chart: go.Figure) -> str:
    """The chart as SVG without scripts; empty where it has nothing over time."""
    moments = [_seconds(at) for trace in chart.data for at in trace.x if at is not None]
    if not moments:
        return ""
    since, until = min(moments), max(max(moments), min(moments) + 1)
    across = _Across(since, until)
    height = chart.layout.height
    parts = [*_moments(across, height)]
    for name in dict.fromkeys(trace.yaxis for trace in chart.data):
        traces = [trace for trace in chart.data if trace.yaxis == name]
        axis = chart.layout["yaxis" + name[1:]]
        up = _Up(axis, traces, height - _BELOW)
        parts += _bands(chart, name, across, up)
        parts += up.ticks()
        parts += (part for trace in traces for part in _trace(trace, across, up))
    return f'<svg class="drawing" viewBox="0 0 {_WIDTH} {height}" aria-hidden="true">{"".join(parts)}</svg>'


class _Across:
    """Where a moment lies between the left and the right edge."""

    def __init__(self, since: float, until: float) -> None:
        self.since, self.until = since, until

    def __call__(self, at: float) -> int:
        inner = min(max(at, self.since), self.until) - self.since
        return round(_LEFT + inner / (self.until - self.since) * (_WIDTH - _LEFT - _RIGHT))


class _Up:
    """Where a value lies in its panel: on a line from zero, a logarithmic one, or in a lane."""

    def __init__(self, axis: Any, traces: Sequence[Any], height: float) -> None:
        self.axis, self.lanes = axis, list(axis.categoryarray or ())
        self.log = axis.type == "log"
        low, high = axis.domain
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
        at = self.lanes.index(value) if self.lanes else value
        if self.log:
            at = math.log10(value) if value > 0 else self.low
        return round(self.bottom - (at - self.low) / (self.high - self.low) * (self.bottom - self.top))

    def ticks(self) -> Iterator[str]:
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
            if not self.lanes:
                yield f'<path class="grid" d="M{_LEFT} {at}H{_WIDTH - _RIGHT}"/>'
            yield f'<text x="{_LEFT - 8}" y="{at + 4}" text-anchor="end">{escape(cut(text, _LONGEST))}</text>'


def _moments(across: _Across, height: int) -> Iterator[str]:
    lasted = across.until - across.since
    step = next((step for step in _STEPS if lasted / step <= _TICKS), math.ceil(lasted / _TICKS / 86400) * 86400)
    pattern = "%H:%M:%S" if step < 60 else "%H:%M" if lasted < 86400 else "%m-%d %H:%M" if step < 86400 else "%Y-%m-%d"
    at = math.ceil(across.since / step) * step
    while at <= across.until:
        words = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)).strftime(pattern)
        yield f'<path class="grid" d="M{across(at)} 0V{height - _BELOW}"/>'
        yield f'<text x="{across(at)}" y="{height - 6}" text-anchor="middle">{words}</text>'
        at += step


def _bands(chart: go.Figure, name: str, across: _Across, up: _Up) -> Iterator[str]:
    for shape in chart.layout.shapes:
        if shape.yref == f"{name} domain":
            left, right = across(_seconds(shape.x0)), across(_seconds(shape.x1))
            size = f'x="{left}" y="{up.top}" width="{max(1, right - left)}" height="{up.bottom - up.top}"'
            yield f'<rect class="fill" {size} {_shade(shape.fillcolor)}/>'


def _trace(trace: Any, across: _Across, up: _Up) -> Iterator[str]:
    points = [(across(_seconds(x)), up(y)) for x, y in zip(trace.x, trace.y, strict=True) if x is not None]
    colour = _shade(trace.line.color)
    if not up.lanes:
        kept = thinned(points, value=lambda point: point[1], most=_MOST_POINTS)
        path = "".join(f"{'L' if place else 'M'}{x} {y}" for place, (x, y) in enumerate(kept))
        dash = f' stroke-dasharray="{_DASHES[trace.line.dash]}"' if trace.line.dash in _DASHES else ""
        yield f'<path d="{path}" {colour}{dash}/>'
        return
    bars = dict.fromkeys((x, y, end) for (x, y), (end, _) in zip(points[::2], points[1::2], strict=True) if end > x)
    marks = "".join(_MARKS[trace.marker.symbol].format(x, y) for x, y in _apart(points))
    yield f'<path d="{"".join(f"M{x} {y}H{end}" for x, y, end in bars)}{marks}" {colour}'
    yield ' class="fill"/>' if trace.marker.symbol in _FILLED else "/>"


def _apart(points: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Marks that do not cover each other, from the left."""
    last = -_APART
    for x, y in sorted(points):
        if x - last >= _APART:
            last = x
            yield x, y


def _shade(colour: str) -> str:
    """A colour by day and by night."""
    return f'style="--day:{colour};--night:{DARK.get(colour, colour)}"'


def _seconds(at: str) -> float:
    """A moment of the time axis, which stands in UTC."""
    return datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
