"""What did each rebalance cost? Seconds of standstill, and records that were handed out a second time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.figures.style import INCOMING, OUTGOING, TEMPLATE, empty, time
from mqlab.figures.swim_lanes import mark_words
from mqlab.rebalances.rows import Rebalance
from mqlab.rebalances.view import RebalanceView
from mqlab.units import digits, number

_Cost = Callable[[Rebalance], float | None]


def repeats(view: RebalanceView) -> go.Figure:
    """One row for the standstill and one for records handed out twice, as far as there are any; else a sentence."""
    costs = [
        ("the group stood still", "stood still, s", OUTGOING, _known(view.history, lambda one: one.standstill)),
        ("handed out twice", "records again", INCOMING, _known(view.history, lambda one: one.repeated)),
    ]
    drawn = [one for one in costs if one[3]]
    if not drawn:
        return empty("What the rebalances cost is not told: nothing says how long they lasted or what came twice.")
    chart = make_subplots(rows=len(drawn), cols=1, shared_xaxes=True, vertical_spacing=0.08)
    chart.update_layout(template=TEMPLATE, margin={"l": 8, "r": 8, "t": 24, "b": 40}, showlegend=False)
    chart.update_layout(height=64 + 128 * len(drawn))
    for row, (name, title, colour, known) in enumerate(drawn, 1):
        _draw(chart, known, name, colour, row)
        chart.update_yaxes(rangemode="tozero", nticks=5, title_text=title, row=row, col=1)
    chart.update_xaxes(title_text="UTC", row=len(drawn), col=1)
    return chart


def _known(history: Sequence[Rebalance], cost: _Cost) -> list[tuple[Rebalance, float]]:
    return [(one, value) for one in history if (value := cost(one))]


def _draw(chart: go.Figure, costs: Sequence[tuple[Rebalance, float]], name: str, colour: str, row: int) -> None:
    """Stems: bars on a time axis are as wide as their gaps."""
    amounts = [digits(value) + " s" if colour == OUTGOING else number(value) for _, value in costs]
    words = [f"{mark_words(one)}: {amount}" for (one, _), amount in zip(costs, amounts, strict=True)]
    chart.add_scatter(
        x=[at for one, _ in costs for at in (time(one.started), time(one.started), None)],
        y=[y for _, value in costs for y in (0, value, None)], name=name, mode="lines", hoverinfo="skip",
        line={"color": colour, "width": 3}, row=row, col=1,
    )  # fmt: skip
    chart.add_scatter(
        x=[time(one.started) for one, _ in costs], y=[value for _, value in costs], text=words, name=name,
        mode="markers", marker={"color": colour, "size": 8}, cliponaxis=False,
        hovertemplate="%{text}<extra></extra>", row=row, col=1,
    )  # fmt: skip
