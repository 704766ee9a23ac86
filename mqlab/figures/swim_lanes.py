"""Who was in the group when, and which rebalances stopped it? Lanes of lives, bands of rebalances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.figures.naming import cut
from mqlab.figures.rebalance_bands import draw_bands
from mqlab.figures.style import ALARM, CHANGE, INCOMING, INK, MUTED, OUTGOING, empty, figure, label, time
from mqlab.figures.thinning import merged
from mqlab.rebalances.rows import Behind, End, Life, Rebalance
from mqlab.rebalances.view import RebalanceView
from mqlab.units import clock, duration

_LOOKS = {
    End.POLL_TIMEOUT: ("left: its application did not poll in time", ALARM, "x"),
    End.EXPIRED: ("expelled: no heartbeat came", OUTGOING, "diamond"),
    End.DROPPED: ("dropped: it did not come again in time", "#cc79a7", "triangle-down"),
    End.FENCED: ("fenced by another member", INK, "square"),
    End.LEFT: ("left in good order", INCOMING, "line-ns-open"),
    End.OPEN: ("stays to the end of the material", CHANGE, "triangle-right"),
}
"""Words, colour and symbol of how a life ended."""
_CAUSES = {
    Behind.POLL_TIMEOUT: ALARM, Behind.EXPIRY: OUTGOING, Behind.CRASH: OUTGOING, Behind.START: CHANGE,
    Behind.RESTART: INCOMING, Behind.STOP: INCOMING, Behind.UNKNOWN: MUTED,
}  # fmt: skip
REBALANCES = "rebalances"
_MOST_LANES = 40
_ROW = 24
"""Pixels of one lane."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One life of one member."""

    lane: str
    end: End
    since: float
    until: float
    words: str


def swim_lanes(view: RebalanceView) -> go.Figure:
    """Lanes by member, with the rebalances above and behind them. Without members and rebalances a sentence."""
    bars = lane_bars(view)
    if not bars and not view.history:
        return empty(f"Nothing in this material tells who is in {view.group or 'a consumer group of Kafka'}.")
    lanes = [REBALANCES, *dict.fromkeys(bar.lane for bar in bars)]
    chart = figure(170 + _ROW * len(lanes))
    chart.update_layout(
        margin={"b": 78, "t": 54}, legend={"yref": "container", "y": 0.0, "yanchor": "bottom"},
    )  # fmt: skip
    draw_bands(chart, view.history)
    for end in _LOOKS:
        _draw_bars(chart, [bar for bar in bars if bar.end is end], end)
    _draw_marks(chart, view.history)
    chart.update_yaxes(
        type="category", categoryorder="array", categoryarray=lanes[::-1], range=[-0.6, len(lanes) - 0.4], dtick=1,
        tickfont={"size": 11},
    )  # fmt: skip
    chart.update_xaxes(title_text="UTC")
    return chart


def lane_bars(view: RebalanceView) -> tuple[Bar, ...]:
    """The bars, those of one member together; of very many members those whose lives ended badly come first."""
    first, last = view.window or (0.0, 0.0)
    named = [(_lane(view, life), life) for life in view.lives]
    bad = {lane for lane, life in named if life.end not in (End.LEFT, End.OPEN)}
    lanes = sorted({lane for lane, _ in named}, key=lambda lane: (lane not in bad, lane))[:_MOST_LANES]
    chosen = sorted(named, key=lambda one: (one[0], one[1].since or 0.0, one[1].member_id))
    return tuple(
        Bar(lane, life.end, *_times(life, first, last), _words(life)) for lane, life in chosen if lane in lanes
    )


def _lane(view: RebalanceView, life: Life) -> str:
    return label(f"{cut(life.client_id, 32)}   {view.host(life)}".strip())


def _times(life: Life, first: float, last: float) -> tuple[float, float]:
    return (first if life.since is None else life.since, last if life.until is None else life.until)


def _words(life: Life) -> str:
    lasted = ""
    if life.since is not None and life.until is not None:
        lasted = f" ({duration(life.until - life.since)})"
    since = "before the material begins" if life.since is None else clock(life.since)
    until = "it stays" if life.until is None else clock(life.until)
    why = life.reason or life.because
    reason = f": {why}" if why else ""
    return label(f"{since} to {until}{lasted}, {life.end.value}{reason}")


def _draw_bars(chart: go.Figure, bars: Sequence[Bar], end: End) -> None:
    name, colour, symbol = _LOOKS[end]
    if not bars:
        return
    chart.add_scatter(
        x=[at for bar in bars for at in (time(bar.since), time(bar.until), None)],
        y=[at and bar.lane for bar in bars for at in (True, True, None)],
        text=[at and bar.words for bar in bars for at in (True, True, None)],
        name=name, mode="lines", line={"color": colour, "width": 10}, legendgroup=name,
        hovertemplate="%{y}<br>%{text}<extra></extra>", showlegend=False,
    )  # fmt: skip
    chart.add_scatter(
        x=[time(bar.until) for bar in bars], y=[bar.lane for bar in bars], text=[bar.words for bar in bars],
        name=name, mode="markers", legendgroup=name, hovertemplate="%{y}<br>%{text}<extra></extra>",
        marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2, "color": colour}},
    )  # fmt: skip


def _draw_marks(chart: go.Figure, history: Sequence[Rebalance]) -> None:
    """A mark for each rebalance in a lane of their own, with what it was when one points at it."""
    for behind, colour in _CAUSES.items():
        own = [one for one in history if one.behind is behind]
        marks = merged([(one.started, one.started, mark_words(one)) for one in own])
        if marks:
            chart.add_scatter(
                x=[time(at) for at, _, _ in marks], y=[REBALANCES] * len(marks), text=[text for _, _, text in marks],
                name=REBALANCES, mode="markers", showlegend=False, hovertemplate="%{text}<extra></extra>",
                marker={"symbol": "line-ns-open", "size": 13, "color": colour, "line": {"width": 2, "color": colour}},
            )  # fmt: skip


def mark_words(one: Rebalance) -> str:
    """What a rebalance was, for a reader who points at it."""
    generation = "" if one.generation is None else f" generation {one.generation}"
    behind = "" if one.behind.value in (one.trigger.value, Behind.UNKNOWN.value) else f", behind it {one.behind.value}"
    who = f": {one.client_id}" if one.client_id else ""
    inferred = " (inferred)" if one.inferred else ""
    return label(f"{clock(one.started)}{generation} {one.trigger.value}{behind}{who}{inferred}")
