"""Where did the bytes come from? The ledger's stages, their intervals, and what is left unexplained."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.figures.style import GRID, INCOMING, INK, MUTED, OUTGOING, empty, figure, label
from mqlab.findings import Stage, TrafficLedger
from mqlab.units import percent, size

UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Step:
    """One bar: where it starts, how far it goes, how wrong it may be; megabytes."""

    label: str
    base: float
    length: float
    below: float
    above: float
    text: str
    unexplained: bool


def waterfall(ledger: TrafficLedger | None) -> go.Figure:
    """One bar per stage from zero to all bytes out; the unexplained rest is hatched."""
    if ledger is None or not ledger.stages:
        return empty("No ledger: bytes in and out of one host are not both known.")
    steps = waterfall_points(ledger)
    chart = figure(90 + 44 * (len(steps) + 1))
    chart.add_bar(
        y=[step.label for step in steps], x=[step.length for step in steps], base=[step.base for step in steps],
        orientation="h", hovertext=[step.text for step in steps], hovertemplate="%{y}: %{hovertext}<extra></extra>",
        name="stages", text=[step.text for step in steps], textposition="none",
        error_x={"type": "data", "symmetric": False, "array": [step.above for step in steps],
                 "arrayminus": [step.below for step in steps], "color": MUTED, "thickness": 1.2},
        marker={"color": [GRID if step.unexplained else OUTGOING for step in steps],
                "pattern": {"shape": ["/" if step.unexplained else "" for step in steps], "fgcolor": INK, "size": 5},
                "line": {"color": [INK if step.unexplained else OUTGOING for step in steps], "width": 1}},
    )  # fmt: skip
    for step in steps:
        chart.add_annotation(
            y=step.label,
            x=step.base + max(step.length, 0) + step.above,
            text=step.text,
            showarrow=False,
            xanchor="left",
            xshift=6,
        )
    total = f"{size(ledger.bytes_out)} out"
    chart.add_bar(
        y=["all bytes out"],
        x=[ledger.bytes_out / 1e6],
        orientation="h",
        text=[total],
        marker_color=INCOMING,
        name="sum",
    )
    chart.update_layout(showlegend=False, bargap=0.35)
    chart.update_yaxes(autorange="reversed")
    chart.update_xaxes(
        title_text="MB", range=[min(0.0, *(s.base + s.length for s in steps)), ledger.bytes_out / 1e6 * 1.3]
    )
    return chart


def waterfall_points(ledger: TrafficLedger) -> tuple[Step, ...]:
    """The bars, each beginning where the one before ended."""
    steps, reached = [], 0
    for stage in ledger.stages:
        steps.append(_step(stage, reached, ledger.bytes_out))
        reached += stage.bytes
    return tuple(steps)


def _words(stage: Stage) -> str:
    told = stage.name != UNEXPLAINED or UNEXPLAINED in stage.label.lower()
    return stage.label if told else f"{UNEXPLAINED}: {stage.label}"


def _step(stage: Stage, reached: int, whole: int) -> Step:
    share = percent(stage.bytes / whole) if whole else "—"
    return Step(
        label(_words(stage)),
        reached / 1e6,
        stage.bytes / 1e6,
        max(0, stage.bytes - stage.low) / 1e6,
        max(0, stage.high - stage.bytes) / 1e6,
        f"{size(stage.bytes)} · {share}",
        stage.name == UNEXPLAINED,
    )
