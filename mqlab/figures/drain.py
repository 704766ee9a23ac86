"""How long will the backlog last? Measured backlog, forecast with its band, the planned ramp, the retention guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import plotly.graph_objects as go

from mqlab.draining.answer import Answer
from mqlab.figures.style import ALARM, BAND, CHANGE, LAG, OUTGOING, empty, figure, label, time
from mqlab.figures.thinning import thinned
from mqlab.models.courses import Curve
from mqlab.units import number

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


def drain(answer: Answer) -> go.Figure:
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


def drain_lines(answer: Answer) -> DrainLines:
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
