"""Why did a receiver get fewer messages than were published? From published down to received, one bar per reason."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.figures.naming import cut
from mqlab.figures.style import ALARM, GRID, INCOMING, MUTED, OUTGOING, empty, figure, label
from mqlab.models.courses import Interval
from mqlab.models.received_count import RESIDUAL
from mqlab.mqtt.explained import Explained
from mqlab.units import number

PUBLISHED, RECEIVED = "published", "received"
_COLOURS = {PUBLISHED: INCOMING, RECEIVED: INCOMING, RESIDUAL: MUTED}


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of the funnel: what came in, what went on, or what was lost in between."""

    name: str
    base: float
    messages: float
    words: str


def message_funnel(one: Explained | None) -> go.Figure:
    """Bars from top to bottom; those between the first and the last begin where the one above ends."""
    bars = funnel_bars(one) if one else ()
    if one is None or not bars:
        return empty("No ledgers in this material tell of an MQTT receiver what was published for it and what it got.")
    chart = figure(120 + 38 * len(bars))
    chart.add_bar(
        y=[label(bar.name) for bar in bars], x=[bar.messages for bar in bars], base=[bar.base for bar in bars],
        orientation="h", text=[label(bar.words) for bar in bars], textposition="outside", cliponaxis=False,
        marker={"color": [_COLOURS.get(bar.name, ALARM) for bar in bars],
                "line": {"color": [OUTGOING if bar.name == RESIDUAL else GRID for bar in bars], "width": 1}},
        hovertemplate="%{y}: %{text}<extra></extra>", showlegend=False,
    )  # fmt: skip
    chart.update_layout(title={"text": label(cut(one.receiver, 80)), "font": {"size": 13}, "x": 0}, margin={"t": 50})
    chart.update_yaxes(autorange="reversed", type="category", tickfont={"size": 12})
    chart.update_xaxes(title_text="messages", range=[0, max(bar.base + bar.messages for bar in bars) * 1.25])
    return chart


def funnel_bars(one: Explained) -> tuple[Bar, ...]:
    """The bars; the residual is left out where it is zero for certain."""
    steps = [step for step in one.steps if step.name != RESIDUAL or step.messages != Interval(0.0, 0.0, 0.0)]
    lost = [Bar(step.name, max(0.0, step.left), step.messages.likely, bounded(step.messages)) for step in steps]
    copies = f", and {number(one.copies)} of them again" if one.copies else ""
    return (
        Bar(PUBLISHED, 0.0, one.published, number(one.published)),
        *lost,
        Bar(RECEIVED, 0.0, one.received, number(one.received) + copies),
    )


def bounded(messages: Interval) -> str:
    """The likely number, and between which ones it lies where that is not certain."""
    likely = number(round(messages.likely))
    if messages.low == messages.high:
        return likely
    return f"{likely} ({number(round(messages.low))} to {number(round(messages.high))})"
