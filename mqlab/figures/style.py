"""One look for all figures: colours that the colour-blind can tell apart, UTC on the time axis, escaped labels."""

from __future__ import annotations

import plotly.graph_objects as go

from mqlab.units import iso

INCOMING = "#0072b2"
OUTGOING = "#d55e00"
LAG = "#6a51a3"
INK = "#1f2a37"
MUTED = "#5b6675"
GRID = "#e6e9ee"
BAND = "rgba(213, 94, 0, 0.10)"
GAP = "rgba(91, 102, 117, 0.22)"
ALARM = "#a3161f"
CHANGE = "#00695c"
RUNS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")

TEMPLATE = go.layout.Template(
    layout=go.Layout(
        font={"family": "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif", "size": 12, "color": INK},
        colorway=list(RUNS),
        paper_bgcolor="#ffffff",
        plot_bgcolor="#ffffff",
        margin={"l": 64, "r": 16, "t": 28, "b": 36},
        hovermode="closest",
        hoverlabel={"bgcolor": "#ffffff", "bordercolor": MUTED, "font": {"color": INK}, "align": "left"},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 11}},
        xaxis={"gridcolor": GRID, "linecolor": MUTED, "zeroline": False, "ticks": "outside", "tickcolor": GRID,
               "automargin": True, "title": {"standoff": 4}},
        yaxis={"gridcolor": GRID, "zeroline": False, "automargin": True, "title": {"standoff": 8}},
    )
)  # fmt: skip


def figure(height: int = 320) -> go.Figure:
    """A blank figure in the common look."""
    return go.Figure(layout={"template": TEMPLATE, "height": height})


def empty(sentence: str, height: int = 120) -> go.Figure:
    """A figure that says why it shows nothing."""
    blank = figure(height)
    blank.update_xaxes(visible=False).update_yaxes(visible=False)
    blank.add_annotation(text=label(sentence), showarrow=False, font={"color": MUTED, "size": 13})
    return blank


def label(text: str) -> str:
    """Text from the material for a label: plotly reads some HTML there, so mark-up is shown, not followed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def time(at: float) -> str:
    """A moment for the time axis; plotly shows it as it stands, so it stands in UTC."""
    return (iso(at) or "").removesuffix("Z")
