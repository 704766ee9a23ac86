"""Rebalances behind a figure: a band from the start until the members had their partitions again."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from mqlab.figures.style import MUTED, OUTGOING, time
from mqlab.rebalances.rows import Rebalance

_LABELLED = 24
"""Generations that still stand beside each other."""
_MOST_BANDS = 250


def draw_bands(chart: go.Figure, history: Sequence[Rebalance], rows: Sequence[int] = (1,)) -> None:
    """Add the bands to these rows of the figure; generations above the first, as long as there is room."""
    shown = history[:: -(-len(history) // _MOST_BANDS)] if history else ()
    shapes = [_shape(one, row) for one in shown for row in rows]
    chart.update_layout(shapes=[*chart.layout.shapes, *shapes])
    if len(history) <= _LABELLED:
        words = [_number(one, y) for one, y in zip(shown, _levels(shown), strict=True) if one.generation is not None]
        chart.update_layout(annotations=[*chart.layout.annotations, *words])


def _shape(one: Rebalance, row: int) -> dict[str, object]:
    axis = "" if row == 1 else str(row)
    return {
        "type": "rect", "x0": time(one.started), "x1": time(one.stabilised or one.started), "xref": f"x{axis}",
        "y0": 0, "y1": 1, "yref": f"y{axis} domain", "layer": "below", "fillcolor": OUTGOING, "opacity": 0.22,
        "line": {"color": OUTGOING, "width": 1},
    }  # fmt: skip


def _levels(shown: Sequence[Rebalance]) -> list[int]:
    """Neighbours stand at different heights, so that their numbers do not cover each other."""
    return [4 + 11 * (place % 2) for place, _ in enumerate(shown)]


def _number(one: Rebalance, shift: int) -> dict[str, object]:
    return {
        "text": str(one.generation), "x": time(one.started), "xref": "x", "y": 1, "yref": "y domain", "yshift": shift,
        "yanchor": "bottom", "showarrow": False, "font": {"size": 9, "color": MUTED},
    }  # fmt: skip
