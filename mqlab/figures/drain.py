"""How long will the backlog last? Measured backlog, forecast with its band, the planned ramp, the retention guard.

With sliders in JupyterLab; a report shows the figure as it is without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf
from typing import Any

import plotly.graph_objects as go
from IPython.display import display

from mqlab import words
from mqlab.figures.style import ALARM, BAND, CHANGE, LAG, OUTGOING, empty, figure, label, line, time
from mqlab.languages import said
from mqlab.models.draining import RESERVE_SHARE, Curve
from mqlab.scenarios.drain import DrainAnswer, Request
from mqlab.units import number
from mqlab.views.scenarios import drain_plan

say = words.room("drain-figures")

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
        return empty(say("no-backlog"))
    dated = answer.at is not None
    axis: Callable[[float], str | float] = time if dated else _hours
    chart = figure(360)
    unseen: dict[str, Any] = {"line_width": 0, "line_color": OUTGOING, "hoverinfo": "skip"}
    looks: tuple[tuple[str, Curve, dict[str, Any]], ...] = (
        (say("fastest"), lines.fastest, {"showlegend": False, **unseen}),
        (say("band"), lines.slowest, {"fill": "tonexty", "fillcolor": BAND, **unseen}),
        (say("forecast"), lines.forecast, {"line_dash": "dash", "line_color": OUTGOING}),
        (say("ramp"), lines.ramp, {"line_color": CHANGE, "mode": "lines+markers", "marker_symbol": "diamond"}),
        (say("measured"), lines.measured, {"line_color": LAG, "mode": "lines+markers", "marker_size": 4}),
    )
    for name, curve, look in looks:
        told = [(at, messages, number(round(messages))) for at, messages in curve]
        line(chart, name, told, axis=axis, **{"hovertemplate": label(say("then")), **look})
    if lines.deleted_at is not None:
        chart.add_vline(x=axis(lines.deleted_at), line_color=ALARM, line_dash="dot")
        chart.add_annotation(
            x=axis(lines.deleted_at), y=1, yref="paper", text=label(say("deleted")), showarrow=False,
            xanchor="right", font={"color": ALARM},
        )  # fmt: skip
    chart.update_yaxes(title_text=label(say("waiting", group=answer.group or None)), rangemode="tozero")
    return chart.update_xaxes(title_text="UTC" if dated else label(say("hours")))


def _hours(seconds: float) -> float:
    return seconds / 3600


def drain_lines(answer: DrainAnswer) -> DrainLines:
    """The lines of the figure; what is not known is empty."""
    start, plan, told = answer.at or 0.0, answer.plan, answer.forecast
    relative = (told.curve, told.fastest, told.slowest) if told else ((), (), ())
    forecast, fastest, slowest, ramp = (
        tuple((start + seconds, messages) for seconds, messages in curve)
        for curve in (*relative, plan.curve if plan else ())
    )
    ends = [curve[-1][0] - start for curve in (answer.points, forecast, fastest, slowest, ramp) if curve]
    guard = plan.retention if plan else None
    reached = guard.deletion_reaches_backlog_seconds if guard else inf
    deleted_at = start + reached if ends and reached <= _VIEW * max(ends) else None
    return DrainLines(answer.points, forecast, fastest, slowest, ramp, deleted_at)


NO_WIDGETS = say("no-widgets")
"""What is shown instead of sliders where they cannot be."""
_LEAST_CAPACITY = 1_000
"""Writes a second up to which the slider goes at least."""
_RESPONSE_SECONDS = 0.02
"""What one message takes where nothing tells it."""


def drain_sliders(start: DrainAnswer | None, request: Request, again: Callable[[Request], DrainAnswer | None]) -> Any:
    """Sliders above the figure that *again* answers; a sentence where there is nothing to plan."""
    if start is None:
        return said(say("no-plan"))
    if not has_widgets():
        return said(NO_WIDGETS)
    import ipywidgets as widgets

    def draw(capacity: int, load: int, reserve: float, response_ms: float) -> None:
        asked = replace(request, capacity=capacity, load=load, reserve=reserve, response_time=response_ms / 1000)
        if (found := again(asked)) is not None:
            display(drain(found), drain_plan(found))  # type: ignore[no-untyped-call]

    # What was given or what the clients measured: a plan for any capacity tells it.
    planned = again(replace(request, capacity=request.capacity or 1))
    response = planned.store.response_seconds if planned and planned.store else _RESPONSE_SECONDS
    most = max(_LEAST_CAPACITY, int(2 * (request.capacity or 0)), int(10 * start.inflow_per_second))
    reserve = RESERVE_SHARE if request.reserve is None else request.reserve
    return sliders(
        draw,
        capacity=(say("capacity"), widgets.IntSlider(int(request.capacity or most / 2), 1, most)),
        load=(say("load"), widgets.IntSlider(int(request.load or 0), 0, most)),
        reserve=(say("reserve"), widgets.FloatSlider(reserve, min=0, max=0.95, step=0.05)),
        response_ms=(say("response"), widgets.FloatLogSlider(1000 * response, min=-1, max=4, step=0.05)),
    )  # fmt: skip


def has_widgets() -> bool:
    """Whether what sliders are made of is installed; a notebook can do without."""
    return find_spec("ipywidgets") is not None


def sliders(draw: Callable[..., None], **named: tuple[str, Any]) -> Any:
    """Sliders by the parameter of *draw* that each sets, with their words; below them what it draws."""
    import ipywidgets as widgets

    for what, slider in named.values():
        slider.description, slider.continuous_update = said(what), False
        slider.layout.width, slider.style.description_width = "34em", "15em"
    every = {name: slider for name, (_, slider) in named.items()}
    return widgets.VBox([widgets.VBox(list(every.values())), widgets.interactive_output(draw, every)])
