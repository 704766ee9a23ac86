"""What waits in each partition, and what did rebalances do to it? Lag of each, with the rebalances behind it."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.figures.rebalance_bands import draw_bands
from mqlab.figures.style import INK, LAG, MUTED, RUNS, TEMPLATE, empty, label, time
from mqlab.figures.thinning import thinned
from mqlab.groups.queue_fates import waiting_over_time
from mqlab.groups.queues import Points, lag
from mqlab.rebalances.view import RebalanceView
from mqlab.units import number

_OF_THEIR_OWN = 8
"""Partitions with a colour of their own, those with the highest lag; the next ones are grey."""
_MOST = 40


def partition_lag(view: RebalanceView) -> go.Figure:
    """Above the lag of each partition, below that of all and the committed records. Without positions a sentence."""
    lines = partition_lines(view)
    if not lines:
        return empty(f"No offsets of {view.group or 'a consumer group'} with an end in this material: no lag is known.")
    chart = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.66, 0.34])
    chart.update_layout(
        template=TEMPLATE, height=484, margin={"l": 8, "r": 8, "t": 54, "b": 40},
        legend={"y": -0.16, "yanchor": "top"},
    )  # fmt: skip
    draw_bands(chart, view.history, rows=(1, 2))
    for place, (name, points) in enumerate(lines):
        _draw_line(chart, name, points, place)
    total = waiting_over_time([points for _, points in lines])
    kept = thinned(total, value=lambda point: point[1])
    chart.add_scatter(
        x=[time(at) for at, _ in kept], y=[waiting for _, waiting in kept], name="all partitions", mode="lines",
        line={"color": INK, "width": 2}, hovertemplate="%{x|%H:%M:%S}: %{y:,.0f} records wait<extra></extra>",
        row=2, col=1,
    )  # fmt: skip
    chart.update_yaxes(rangemode="tozero")
    chart.update_yaxes(title_text="records waiting, each", row=1, col=1)
    chart.update_yaxes(title_text="all", nticks=4, row=2, col=1)
    chart.update_xaxes(title_text="UTC", row=2, col=1)
    return chart


def partition_lines(view: RebalanceView) -> tuple[tuple[str, Points], ...]:
    """(name, positions) of each partition, the highest peak first."""
    named = [(f"{topic}-{queue}", points) for topic, queues in view.topics.items() for queue, points in queues.items()]
    return tuple(sorted(named, key=lambda one: (-max(map(lag, one[1])), one[0]))[:_MOST])


def _draw_line(chart: go.Figure, name: str, points: Points, place: int) -> None:
    own = place < _OF_THEIR_OWN
    kept = thinned(points, value=lag)
    line = {
        "color": ((*RUNS, LAG, INK)[place]) if own else MUTED,
        "width": 1.8 if own else 0.8,
        "dash": ("solid", "dot")[place // len(RUNS)] if own else "solid",
    }
    chart.add_scatter(
        x=[time(p.at or 0.0) for p in kept], y=[lag(p) for p in kept], name=label(name), mode="lines",
        text=[f"{number(lag(p))} wait, {p.source}:{p.line}" for p in kept], line=line, showlegend=own,
        hovertemplate=label(name) + " %{x|%H:%M:%S}: %{text}<extra></extra>", row=1, col=1,
    )  # fmt: skip
