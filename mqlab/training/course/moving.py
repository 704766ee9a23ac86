"""A figure that moves: one parameter goes from step to step, and the title says in words what it brings about.

It moves without a kernel: the steps are plotly's frames, with a slider and a button that plays them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from mqlab.figures.style import GRID, MUTED, figure

_WIDTH = 44
"""Characters of the title that a telephone has room for in one line."""
_LINE, _ABOVE, _BELOW = 19, 36, 124
"""Pixels of a line of the title or the legend, of what stands between and around them, and of slider and buttons."""
_SECONDS = 1.4
"""A step lasts while it plays: long enough to read its title."""


@dataclass(frozen=True, slots=True)
class Step:
    """One value of the parameter."""

    value: str
    """As the slider shows it."""
    words: str
    """The consequence, as the title says it."""
    traces: tuple[Mapping[str, Any], ...]
    """What is drawn; each step has the same traces with other values."""


def moving(parameter: str, steps: Sequence[Step], axes: Mapping[str, Any], height: int = 320) -> go.Figure:
    """The figure of *steps*, at the first of them; with a single one it stands still.

    *axes* are plotly's settings of them, with ranges that hold all steps, so that only what is drawn moves.
    """
    named = sum(trace.get("showlegend", axes.get("showlegend", True)) for trace in steps[0].traces)
    top = _ABOVE + _LINE * (named + max(len(wrap(step.words, _WIDTH)) for step in steps))
    chart = figure(height + top)
    chart.add_traces([dict(trace) for trace in steps[0].traces])
    chart.update_layout(**axes, title=_title(steps[0]), margin={"t": top, "b": 60, "r": 32})
    if len(steps) > 1:
        chart.frames = [
            go.Frame(name=step.value, data=[dict(trace) for trace in step.traces], layout={"title": _title(step)})
            for step in steps
        ]
        chart.update_layout(
            height=height + top + _BELOW,
            margin={"b": 60 + _BELOW},
            sliders=[_slider(parameter, steps)],
            updatemenus=[_buttons()],
        )
    return chart


def words(chart: go.Figure) -> tuple[tuple[str, str], ...]:
    """What each step says, by the value of the parameter."""
    return tuple((frame.name, frame.layout.title.text.replace("<br>", " ")) for frame in chart.frames)


def _title(step: Step) -> dict[str, Any]:
    text = "<br>".join(wrap(step.words, _WIDTH))
    place = {"x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top"}
    return {"text": text, **place, "pad": {"l": 8, "t": 22}, "font": {"size": 14}, "automargin": False}


def _slider(parameter: str, steps: Sequence[Step]) -> dict[str, Any]:
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {
        "steps": [
            {"label": step.value, "method": "animate", "args": [[step.value], at_once]} for step in steps
        ],
        "currentvalue": {"prefix": f"{parameter}: ", "font": {"size": 13}},
        "x": 0, "len": 1, "pad": {"t": 58}, "bgcolor": GRID, "bordercolor": MUTED, "tickcolor": MUTED,
        "activebgcolor": MUTED, "font": {"size": 11},
    }  # fmt: skip


def _buttons() -> dict[str, Any]:
    playing = {"frame": {"duration": 1000 * _SECONDS, "redraw": True}, "transition": {"duration": 0}}
    paused = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    return {
        "type": "buttons", "direction": "right", "showactive": False, "x": 0, "y": 0, "xanchor": "left",
        "yanchor": "top", "pad": {"t": 144}, "bgcolor": GRID, "bordercolor": MUTED,
        "buttons": [
            {"label": "▶ play", "method": "animate", "args": [None, {"fromcurrent": True, **playing}]},
            {"label": "❚❚ pause", "method": "animate", "args": [[None], paused]},
        ],
    }  # fmt: skip
