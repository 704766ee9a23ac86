"""How long will the backlog last? Measured backlog, forecast with its band, the planned ramp, the retention guard.

With sliders in JupyterLab; a report shows the figure as it is without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures.style import ALARM, BAND, CHANGE, LAG, OUTGOING, empty, figure, label, thinned, time
from mqlab.models.draining import RESERVE_SHARE, Curve
from mqlab.scenarios.drain import DrainAnswer, Request
from mqlab.units import number
from mqlab.views.drain_tables import drain_plan

_VIEW = 1.25
"""A guard further away than this share of what is drawn is left out."""


@dataclass(frozen=True, slots=True)
class DrainLines:
    """What is drawn: epoch seconds, or seconds from now where the moment is not known, and messages."""

    measured: Curve
    forecast: Curve
    fastest: Curve
    slowest: Curve
    ramp: Curve
    """Ends of the steps, begin first."""
    deleted_at: float | None
    """When the oldest message that waits would be deleted, if that is near enough to be drawn."""


def drain(answer: DrainAnswer) -> go.Figure:
    """Backlog over time: what was measured, what is to be expected, what is planned."""
    lines = drain_lines(answer)
    if not (lines.measured or lines.forecast or lines.ramp):
        return empty("Nothing tells the backlog: a drain cannot be drawn.")
    chart = figure(360)
    dated = answer.at is not None
    _line(chart, "fastest", lines.fastest, dated, line_width=0, line_color=OUTGOING, showlegend=False, hoverinfo="skip")
    _line(chart, "forecast may lie here", lines.slowest, dated, line_width=0, line_color=OUTGOING, fill="tonexty",
          fillcolor=BAND, hoverinfo="skip")  # fmt: skip
    _line(chart, "forecast", lines.forecast, dated, line_dash="dash", line_color=OUTGOING)
    _line(chart, "planned ramp", lines.ramp, dated, line_color=CHANGE, mode="lines+markers", marker_symbol="diamond")
    measured = thinned(lines.measured, value=lambda point: point[1])
    _line(chart, "measured", measured, dated, line_color=LAG, mode="lines+markers", marker_size=4)
    if lines.deleted_at is not None:
        chart.add_vline(x=_x(lines.deleted_at, dated), line_color=ALARM, line_dash="dot")
        chart.add_annotation(
            x=_x(lines.deleted_at, dated), y=1, yref="paper", text="retention reaches the backlog", showarrow=False,
            xanchor="right", font={"color": ALARM},
        )  # fmt: skip
    chart.update_yaxes(title_text=label(f"messages that wait for {answer.group or 'the group'}"), rangemode="tozero")
    chart.update_xaxes(title_text="UTC" if dated else "hours from the complete rebalance")
    return chart


def drain_lines(answer: DrainAnswer) -> DrainLines:
    """The lines of the figure; what is not known is empty."""
    start, plan, told = answer.at or 0.0, answer.plan, answer.forecast
    curves = (
        _from(start, told.curve if told else ()),
        _from(start, told.fastest if told else ()),
        _from(start, told.slowest if told else ()),
        _from(start, plan.curve if plan else ()),
    )
    ends = [line[-1][0] - start for line in (answer.points, *curves) if line]
    guard = plan.retention if plan else None
    reached = guard.deletion_reaches_backlog_seconds if guard else inf
    deleted_at = start + reached if ends and reached <= _VIEW * max(ends) else None
    return DrainLines(answer.points, *curves, deleted_at)


def _from(start: float, curve: Curve) -> Curve:
    return tuple((start + seconds, messages) for seconds, messages in curve)


def _line(chart: go.Figure, name: str, points: Sequence[tuple[float, float]], dated: bool, **look: object) -> None:
    if points:
        chart.add_scatter(
            x=[_x(at, dated) for at, _ in points], y=[messages for _, messages in points], name=name,
            text=[number(round(messages)) for _, messages in points],
            **{"mode": "lines", "hovertemplate": "%{x} %{text} messages", **look},
        )  # fmt: skip


def _x(at: float, dated: bool) -> str | float:
    return time(at) if dated else at / 3600


_LEAST_CAPACITY = 1_000
"""Writes a second up to which the slider goes at least."""
_RESPONSE_SECONDS = 0.02
"""What one message takes where nothing tells it."""


def drain_sliders(start: DrainAnswer | None, request: Request, again: Callable[[Request], DrainAnswer | None]) -> Any:
    """Sliders above the figure that *again* answers; a sentence where there is nothing to plan."""
    if start is None:
        return "What waits, or how long a message takes, is not known here: nothing to plan."
    sliders = _sliders(start, request, _response_seconds(request, again))
    shown = widgets.interactive_output(_drawing(request, again), sliders)
    return widgets.VBox([widgets.VBox(list(sliders.values())), shown])


def _drawing(request: Request, again: Callable[[Request], DrainAnswer | None]) -> Callable[..., None]:
    def draw(capacity: int, load: int, reserve: float, response_ms: float) -> None:
        asked = replace(request, capacity=capacity, load=load, reserve=reserve, response_time=response_ms / 1000)
        found = again(asked)
        if found is not None:
            display(drain(found), drain_plan(found))  # type: ignore[no-untyped-call]

    return draw


def _response_seconds(request: Request, again: Callable[[Request], DrainAnswer | None]) -> float:
    """What was given or what the clients measured; a plan for any capacity tells it."""
    found = again(replace(request, capacity=request.capacity or 1))
    return found.store.response_seconds if found and found.store else _RESPONSE_SECONDS


def _sliders(start: DrainAnswer, request: Request, response_seconds: float) -> dict[str, Any]:
    """Ranges around what is known: the capacity at least ten times what comes in."""
    most = max(_LEAST_CAPACITY, int(2 * (request.capacity or 0)), int(10 * start.inflow_per_second))
    wide = {"layout": widgets.Layout(width="34em"), "style": {"description_width": "15em"}, "continuous_update": False}
    return {
        "capacity": widgets.IntSlider(
            int(request.capacity or most / 2), 1, most, description="store takes, writes/s", **wide
        ),
        "load": widgets.IntSlider(int(request.load or 0), 0, most, description="its normal load, writes/s", **wide),
        "reserve": widgets.FloatSlider(
            RESERVE_SHARE if request.reserve is None else request.reserve, min=0, max=0.95, step=0.05,
            description="share that stays free", **wide,
        ),
        "response_ms": widgets.FloatLogSlider(
            1000 * response_seconds, min=-1, max=4, step=0.05, description="one message takes, ms", **wide
        ),
    }  # fmt: skip
