"""Members, rebalances and lag of a Kafka group: lanes of lives, bands of rebalances, what each of them cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.figures.style import (
    ALARM,
    CHANGE,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    RUNS,
    TEMPLATE,
    cut,
    empty,
    figure,
    label,
    merged,
    thinned,
    time,
)
from mqlab.kafka.rows import Behind, End, Life, Rebalance
from mqlab.shared.queues import Points, lag
from mqlab.units import clock, digits, duration, number
from mqlab.views.kafka_group import RebalanceView
from mqlab.views.queue_lags import waiting_over_time

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
