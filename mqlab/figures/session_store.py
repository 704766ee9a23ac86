"""What does the broker keep for sessions? Messages that wait and that were dropped, and the memory that they take."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.facts import Facts, Series
from mqlab.figures.style import ALARM, INCOMING, LAG, MUTED, TEMPLATE, empty, label, time
from mqlab.figures.thinning import thinned
from mqlab.mqtt.offline import Offline
from mqlab.units import clock

_ROWS = (
    (("mqtt.stored_messages", "mqtt.retained_messages"), "messages kept", 1.0),
    (("mqtt.publish_dropped", "mqtt.queue_full_dropped"), "messages dropped", 1.0),
    (("process.resident_bytes", "mqtt.heap_bytes"), "memory, MB", 1e-6),
)
"""Names of series, what they show, and what a value is multiplied by."""
_COLOURS = {"mqtt.stored_messages": LAG, "mqtt.retained_messages": MUTED, "process.resident_bytes": INCOMING}
_WORDS = {
    "mqtt.stored_messages": "kept in all", "mqtt.retained_messages": "retained ones among them",
    "mqtt.publish_dropped": "dropped", "mqtt.queue_full_dropped": "dropped: queue full",
    "process.resident_bytes": "resident memory", "mqtt.heap_bytes": "heap of the broker",
}  # fmt: skip
_MOST = 8
"""Moments of sessions that are drawn."""


def session_store(facts: Facts, away: Sequence[Offline]) -> go.Figure:
    """One panel for each quantity that was sampled; *away* are sessions whose clients stay away."""
    panels = [(own, title, factor) for names, title, factor in _ROWS if (own := _moving(facts.named(*names)))]
    if not panels:
        return empty("No samples of the broker's store, drops or memory are in this material.")
    chart = make_subplots(len(panels), 1, shared_xaxes=True, vertical_spacing=0.06)
    chart.update_layout(template=TEMPLATE, height=70 + 150 * len(panels))
    for row, (own, title, factor) in enumerate(panels, 1):
        for series in own:
            _draw(chart, series, row, factor)
        chart.update_yaxes(title_text=title, rangemode="tozero", row=row, col=1)
    for session in away[:_MOST]:
        words = label(f"{clock(session.since)} {session.client_id} leaves its session behind")
        chart.add_vline(x=time(session.since), line={"color": ALARM, "dash": "dot", "width": 1.5})
        chart.add_scatter(
            x=[time(session.since)], y=[0], mode="markers", showlegend=False, hovertext=[words], hoverinfo="text",
            marker={"color": ALARM, "symbol": "triangle-up", "size": 10}, row=1, col=1,
        )  # fmt: skip
    chart.update_xaxes(title_text="UTC", row=len(panels), col=1)
    return chart


def _moving(series: Sequence[Series]) -> list[Series]:
    """Series with samples, of which at least one is not zero."""
    return [s for s in series if any(value for _, value in s.points)]


def _draw(chart: go.Figure, series: Series, row: int, factor: float) -> None:
    points = thinned(series.points, lambda point: point[1])
    name = _WORDS[series.name] + (f", {series.labels['node']}" if "node" in series.labels else "")
    chart.add_scatter(
        x=[time(at) for at, _ in points], y=[value * factor for _, value in points], name=label(name), mode="lines",
        line={"color": _COLOURS.get(series.name, ALARM), "width": 2, "shape": "hv"}, row=row, col=1,
    )  # fmt: skip
