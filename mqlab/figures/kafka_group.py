"""Members, rebalances and lag of a Kafka group: lanes of lives, bands of rebalances, what each of them cost."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from mqlab import words
from mqlab.figures.style import (
    ALARM,
    CHANGE,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    RUNS,
    Bar,
    cut,
    draw_lanes,
    empty,
    figure,
    label,
    lane_axis,
    line,
    merged,
    panels,
    segments,
    thinned,
    time,
)
from mqlab.kafka.rows import Behind, End, Life, Rebalance
from mqlab.shared.queues import Points, lag
from mqlab.views.groups import waiting_over_time
from mqlab.views.kafka_group import RebalanceView

say = words.room("kafka-figures")

_LABELLED = 24
"""Generations that still stand beside each other."""
_MOST_BANDS = 250


def draw_bands(chart: go.Figure, history: Sequence[Rebalance], rows: Sequence[int] = (1,)) -> None:
    """Add the bands to these panels; generations above the first, as long as there is room."""
    shown = history[:: -(-len(history) // _MOST_BANDS)] if history else ()
    axes = [("" if row == 1 else str(row)) for row in rows]
    chart.update_layout(shapes=[*chart.layout.shapes, *(
        {
            "type": "rect", "x0": time(one.started), "x1": time(one.stabilised or one.started), "xref": f"x{axis}",
            "y0": 0, "y1": 1, "yref": f"y{axis} domain", "layer": "below", "fillcolor": OUTGOING, "opacity": 0.22,
            "line": {"color": OUTGOING, "width": 1},
        } for one in shown for axis in axes
    )])  # fmt: skip
    # Neighbours stand at different heights, so that their numbers do not cover each other.
    numbers = [
        {
            "text": str(one.generation), "x": time(one.started), "xref": "x", "y": 1, "yref": "y domain",
            "yshift": 4 + 11 * (place % 2), "yanchor": "bottom", "showarrow": False,
            "font": {"size": 9, "color": MUTED},
        } for place, one in enumerate(shown) if one.generation is not None
    ]  # fmt: skip
    if len(history) <= _LABELLED:
        chart.update_layout(annotations=[*chart.layout.annotations, *numbers])


_ENDS = {
    End.POLL_TIMEOUT: (ALARM, "x"),
    End.EXPIRED: (OUTGOING, "diamond"),
    End.DROPPED: ("#cc79a7", "triangle-down"),
    End.FENCED: (INK, "square"),
    End.LEFT: (INCOMING, "line-ns-open"),
    End.OPEN: (CHANGE, "triangle-right"),
}
"""Colour and symbol of how a life ended."""
_CAUSES = {
    Behind.POLL_TIMEOUT: ALARM, Behind.EXPIRY: OUTGOING, Behind.CRASH: OUTGOING, Behind.START: CHANGE,
    Behind.RESTART: INCOMING, Behind.STOP: INCOMING, Behind.UNKNOWN: MUTED,
}  # fmt: skip
REBALANCES = say("rebalances")
_MOST_LANES = 40


def swim_lanes(view: RebalanceView) -> go.Figure:
    """Lanes by member, with the rebalances above and behind them. Without members and rebalances a sentence."""
    bars = lane_bars(view)
    if not bars and not view.history:
        return empty(say("no-members", group=view.group or None))
    lanes = [REBALANCES, *dict.fromkeys(bar.lane for bar in bars)]
    chart = figure(170 + 24 * len(lanes))
    chart.update_layout(margin={"b": 78, "t": 54}, legend={"yref": "container", "y": 0.0, "yanchor": "bottom"})
    draw_bands(chart, view.history)
    draw_lanes(chart, bars, {end.value: (say("end", end=end), colour, 10) for end, (colour, _) in _ENDS.items()}, lanes)
    chart.update_traces(showlegend=False)
    for end, (colour, symbol) in _ENDS.items():
        own = [bar for bar in bars if bar.kind == end.value]
        _draw_marks(chart, say("end", end=end), own, colour, symbol, legendgroup=end.value)
    for behind, colour in _CAUSES.items():
        those = [one for one in view.history if one.behind is behind]
        marks = merged([Bar(REBALANCES, behind.value, one.started, one.started, rebalance_words(one)) for one in those])
        _draw_marks(chart, REBALANCES, marks, colour, "line-ns-open", showlegend=False)
    lane_axis(chart, lanes)
    return chart


def _draw_marks(chart: go.Figure, name: str, bars: Sequence[Bar], colour: str, symbol: str, **look: object) -> None:
    """A mark at the end of each bar."""
    if bars:
        drawn = {axis: values[1::3] for axis, values in segments(bars).items()}
        chart.add_scatter(
            **drawn, name=label(name), mode="markers", hovertemplate="%{y}<br>%{text}<extra></extra>", **look,
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2, "color": colour}},
        )  # fmt: skip


def lane_bars(view: RebalanceView) -> tuple[Bar, ...]:
    """The bars, those of one member together; of very many members those whose lives ended badly come first."""
    first, last = view.window or (0.0, 0.0)
    bars = [
        Bar(
            f"{cut(life.client_id, 32)}   {view.host(life)}".strip(), life.end.value,
            first if life.since is None else life.since, last if life.until is None else life.until, _words(life),
        )
        for life in sorted(view.lives, key=lambda life: (life.since or 0.0, life.member_id))
    ]  # fmt: skip
    bad = {bar.lane for bar in bars if bar.kind not in (End.LEFT.value, End.OPEN.value)}
    lanes = sorted({bar.lane for bar in bars}, key=lambda lane: (lane not in bad, lane))[:_MOST_LANES]
    return tuple(bar for lane in sorted(lanes) for bar in bars if bar.lane == lane)


def _words(life: Life) -> str:
    lasted = None if life.since is None or life.until is None else life.until - life.since
    why, times = life.reason or life.because or None, {"since": life.since, "until": life.until}
    return say("life", lasted=lasted, end=life.end.text, why=why, **times)


def rebalance_words(one: Rebalance) -> str:
    """What a rebalance was, for a reader who points at it."""
    generation = None if one.generation is None else str(one.generation)
    who = {"client": one.client_id or None, "inferred": one.inferred}
    return say("rebalance", at=one.started, generation=generation, what=one.what, **who)


_Costs = list[tuple[Rebalance, float]]


def repeats(view: RebalanceView) -> go.Figure:
    """One panel for the standstill and one for records handed out twice, as far as there are any; else a sentence."""
    still: _Costs = [(one, one.standstill) for one in view.history if one.standstill]
    again: _Costs = [(one, one.repeated) for one in view.history if one.repeated]
    costs = (
        ("still", "still-axis", "still-cost", OUTGOING, still),
        ("again", "again-axis", "again-cost", INCOMING, again),
    )
    drawn = [cost for cost in costs if cost[-1]]
    if not drawn:
        return empty(say("no-costs"))
    chart = panels(64 + 128 * len(drawn), *[1] * len(drawn), showlegend=False)
    for row, (name, title, cost, colour, known) in enumerate(drawn, 1):
        # Stems: bars on a time axis are as wide as their gaps.
        chart.add_scatter(
            x=[at for one, _ in known for at in (time(one.started), time(one.started), None)],
            y=[y for _, value in known for y in (0, value, None)], name=label(say(name)), mode="lines",
            hoverinfo="skip", line={"color": colour, "width": 3}, row=row, col=1,
        )  # fmt: skip
        told = [(one.started, value, say(cost, rebalance=rebalance_words(one), cost=value)) for one, value in known]
        line(chart, say(name), told, row=row, mode="markers", marker={"color": colour, "size": 8}, cliponaxis=False,
             hovertemplate="%{text}<extra></extra>")  # fmt: skip
        chart.update_yaxes(rangemode="tozero", nticks=5, title_text=label(say(title)), row=row, col=1)
    return chart


_OF_THEIR_OWN = 8
"""Partitions with a colour of their own, those with the highest lag; the next ones are grey."""
_MOST = 40


def partition_lag(view: RebalanceView) -> go.Figure:
    """Above the lag of each partition, below that of all of them. Without positions a sentence."""
    lines = partition_lines(view)
    if not lines:
        return empty(say("no-lag", group=view.group or None))
    chart = panels(484, 0.66, 0.34, margin={"t": 54}, legend={"y": -0.16, "yanchor": "top"})
    draw_bands(chart, view.history, rows=(1, 2))
    for place, (name, points) in enumerate(lines):
        own = place < _OF_THEIR_OWN
        colour = (*RUNS, LAG, INK)[place] if own else MUTED
        dash = "dot" if len(RUNS) <= place < _OF_THEIR_OWN else "solid"
        look = {"color": colour, "width": 1.8 if own else 0.8, "dash": dash}
        each = [
            (p.at or 0.0, lag(p), say("waits", partition=name, records=lag(p), place=f"{p.source}:{p.line}"))
            for p in thinned(points, value=lag)
        ]
        line(chart, name, each, row=1, showlegend=own, line=look)
    waiting = thinned(waiting_over_time([points for _, points in lines]), value=lambda point: point[1])
    told = [(at, records, say("wait", records=round(records))) for at, records in waiting]
    line(chart, say("all-partitions"), told, row=2, line={"color": INK, "width": 2})
    chart.update_yaxes(rangemode="tozero")
    chart.update_yaxes(title_text=label(say("each-axis")), row=1, col=1)
    return chart.update_yaxes(title_text=label(say("all-axis")), nticks=4, row=2, col=1)


def partition_lines(view: RebalanceView) -> tuple[tuple[str, Points], ...]:
    """(name, positions) of each partition, the highest peak first."""
    named = [(f"{topic}-{queue}", points) for topic, queues in view.topics.items() for queue, points in queues.items()]
    return tuple(sorted(named, key=lambda one: (-max(map(lag, one[1])), one[0]))[:_MOST])
