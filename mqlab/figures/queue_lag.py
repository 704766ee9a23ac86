"""What waits, queue by queue? Lag of each, those that nobody reads marked, above what comes in and what is read."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.facts import Facts
from mqlab.figures.naming import cut
from mqlab.figures.style import ALARM, BAND, INCOMING, INK, LAG, MUTED, OUTGOING, TEMPLATE, empty, label, time
from mqlab.figures.thinning import thinned
from mqlab.groups.queue_fates import ALONE, DOUBLED, ORPHAN, UNKNOWN, Fate, Flow, fates, flows, growth
from mqlab.groups.queues import spread
from mqlab.rocketmq.group_view import GroupView
from mqlab.units import clock, digits

_LOOKS = {
    ORPHAN: (ALARM, "solid", 2.0), DOUBLED: (OUTGOING, "dash", 1.6), ALONE: (INCOMING, "dot", 1.6),
    UNKNOWN: (LAG, "solid", 1.4),
}  # fmt: skip
"""Colour, dash and width: each tells the kind alone."""
_MOST_LINES = 16
"""Of each kind, the queues with the highest lag."""


def queue_lag(facts: Facts, view: GroupView) -> go.Figure:
    """Two rows: lag of each queue; messages a second of all of them. Without offsets a sentence."""
    found = fates(facts, view)
    if not found:
        return empty(f"No offsets of {view.group or 'a group of RocketMQ'} in this material, so lag is not known.")
    chart = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.68, 0.32])
    chart.update_layout(
        template=TEMPLATE, height=500, margin={"l": 8, "r": 8, "t": 24, "b": 40},
        legend={"y": -0.16, "yanchor": "top"},
    )  # fmt: skip
    for kind in _LOOKS:
        _draw_kind(chart, [fate for fate in found if fate.kind == kind], kind)
    _draw_growth(chart, view)
    _draw_flows(chart, flows(facts, view))
    _draw_band(chart, view)
    chart.update_yaxes(rangemode="tozero")
    chart.update_yaxes(title_text="messages waiting, each queue", row=1, col=1)
    chart.update_yaxes(title_text="messages/s, all", nticks=4, row=2, col=1)
    chart.update_xaxes(title_text="UTC", row=2, col=1)
    return chart


def kind_name(found: Sequence[Fate], kind: str) -> str:
    """``nobody reads it (8): ORDERS broker-a 8-15``."""
    topics = dict.fromkeys(f.topic for f in found)
    named = "; ".join(f"{topic} {spread(f.queue for f in found if f.topic == topic)}" for topic in topics)
    return f"{kind} ({len(found)}): {cut(named, 64)}"


def _draw_kind(chart: go.Figure, found: Sequence[Fate], kind: str) -> None:
    colour, dash, width = _LOOKS[kind]
    for place, fate in enumerate(found[:_MOST_LINES]):
        points = thinned(fate.points, value=lambda point: point[1])
        chart.add_scatter(
            x=[time(at) for at, _ in points], y=[waiting for _, waiting in points], mode="lines",
            name=label(kind_name(found, kind)) if not place else label(f"{fate.topic} {fate.queue}"),
            legendgroup=kind, showlegend=not place, line={"color": colour, "dash": dash, "width": width},
            text=[label(f"{fate.topic} {fate.queue}: {kind}")] * len(points),
            hovertemplate="%{text}<br>%{x|%H:%M:%S}: %{y:,} messages wait<extra></extra>", row=1, col=1,
        )  # fmt: skip


def _draw_growth(chart: go.Figure, view: GroupView) -> None:
    points = growth(view)
    if points:
        (first, begin), (last, end) = points
        rate = f"{digits((end - begin) / (last - first))}/s"
        chart.add_scatter(
            x=[time(first), time(last)], y=[begin, end], mode="lines", text=[rate, rate],
            name=f"what is produced to one that nobody reads: {rate}", line={"color": INK, "dash": "dot", "width": 2.5},
            hovertemplate="%{x|%H:%M:%S}: %{y:,.0f} messages at %{text}<extra></extra>", row=1, col=1,
        )  # fmt: skip


def _draw_flows(chart: go.Figure, found: Sequence[Flow]) -> None:
    kept = thinned(found, value=lambda flow: flow.consumed)
    for name, colour, dash, values in (
        ("come in", INK, "dash", [flow.produced for flow in kept]),
        ("are read (offsets move)", LAG, "solid", [flow.consumed for flow in kept]),
    ):
        if kept:
            chart.add_scatter(
                x=[time(kept[0].since), *(time(flow.at) for flow in kept)], y=[values[0], *values], name=name,
                text=[f"{digits(value)}/s" for value in (values[0], *values)], mode="lines", line_shape="vh",
                line={"color": colour, "dash": dash, "width": 1.6},
                hovertemplate="%{x|%H:%M:%S} %{text}<extra>" + name + "</extra>", row=2, col=1,
            )  # fmt: skip


def _draw_band(chart: go.Figure, view: GroupView) -> None:
    """The time of the sharing, else of the finding."""
    shared = [stay for stay in view.stays if stay.shared]
    if view.unique is not None and shared:
        begin, end, why = min(s.since for s in shared), max(s.until for s in shared), "the id is shared"
    elif view.finding is not None and view.finding.started_at is not None and view.finding.ended_at is not None:
        begin, end = view.finding.started_at.timestamp(), view.finding.ended_at.timestamp()
        why = view.finding.incident
    else:
        return
    chart.add_vrect(x0=time(begin), x1=time(end), fillcolor=BAND, line_width=0, layer="below")
    chart.add_annotation(
        text=label(f"{clock(begin)} to {clock(end)}: {why}"), x=time(begin), xanchor="left", y=1, yref="y domain",
        yanchor="top", showarrow=False, font={"size": 11, "color": MUTED},
    )  # fmt: skip
