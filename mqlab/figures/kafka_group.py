"""Members, rebalances and lag of a Kafka group: lanes of lives, bands of rebalances, what each of them cost."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

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
    lane_axis,
    line,
    merged,
    panels,
    segments,
    time,
)
from mqlab.kafka.rows import Behind, End, Life, Rebalance
from mqlab.shared.queues import Points, lag
from mqlab.units import clock, digits, duration, number
from mqlab.views.groups import waiting_over_time
from mqlab.views.kafka_group import RebalanceView

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
    End.POLL_TIMEOUT: ("left: its application polled too late", ALARM, "x"),
    End.EXPIRED: ("expelled: its heartbeats stopped", OUTGOING, "diamond"),
    End.DROPPED: ("removed: it did not rejoin in time", "#cc79a7", "triangle-down"),
    End.FENCED: ("fenced by another member", INK, "square"),
    End.LEFT: ("left in good order", INCOMING, "line-ns-open"),
    End.OPEN: ("still a member at the end of the material", CHANGE, "triangle-right"),
}
"""Words, colour and symbol of how a life ended."""
_CAUSES = {
    Behind.POLL_TIMEOUT: ALARM, Behind.EXPIRY: OUTGOING, Behind.CRASH: OUTGOING, Behind.START: CHANGE,
    Behind.RESTART: INCOMING, Behind.STOP: INCOMING, Behind.UNKNOWN: MUTED,
}  # fmt: skip
REBALANCES = "rebalances"
_MOST_LANES = 40


def swim_lanes(view: RebalanceView) -> go.Figure:
    """Lanes by member, with the rebalances above and behind them. Without members and rebalances a sentence."""
    bars = lane_bars(view)
    if not bars and not view.history:
        return empty(f"This material does not say who is in {view.group or 'a consumer group of Kafka'}.")
    lanes = [REBALANCES, *dict.fromkeys(bar.lane for bar in bars)]
    chart = figure(170 + 24 * len(lanes))
    chart.update_layout(margin={"b": 78, "t": 54}, legend={"yref": "container", "y": 0.0, "yanchor": "bottom"})
    draw_bands(chart, view.history)
    draw_lanes(chart, bars, {end.value: (words, colour, 10) for end, (words, colour, _) in _ENDS.items()}, lanes)
    chart.update_traces(showlegend=False)
    for end, (words, colour, symbol) in _ENDS.items():
        _draw_marks(chart, words, [bar for bar in bars if bar.kind == end.value], colour, symbol, legendgroup=end.value)
    for behind, colour in _CAUSES.items():
        own = [one for one in view.history if one.behind is behind]
        marks = merged([Bar(REBALANCES, behind.value, one.started, one.started, rebalance_words(one)) for one in own])
        _draw_marks(chart, REBALANCES, marks, colour, "line-ns-open", showlegend=False)
    lane_axis(chart, lanes)
    return chart


def _draw_marks(chart: go.Figure, name: str, bars: Sequence[Bar], colour: str, symbol: str, **look: object) -> None:
    """A mark at the end of each bar."""
    if bars:
        drawn = {axis: values[1::3] for axis, values in segments(bars).items()}
        chart.add_scatter(
            **drawn, name=name, mode="markers", hovertemplate="%{y}<br>%{text}<extra></extra>", **look,
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
    known = life.since is not None and life.until is not None
    lasted = f" ({duration(life.until - life.since)})" if known else ""  # type: ignore[operator]
    since = "before the material begins" if life.since is None else clock(life.since)
    until = "it stays" if life.until is None else clock(life.until)
    why = life.reason or life.because
    return f"{since} to {until}{lasted}, {life.end.text}{f': {why}' if why else ''}"


def rebalance_words(one: Rebalance) -> str:
    """What a rebalance was, for a reader who points at it."""
    generation = "" if one.generation is None else f" generation {one.generation}"
    behind = "" if one.behind.value in (one.trigger.value, Behind.UNKNOWN.value) else f", behind it {one.behind.text}"
    who = f": {one.client_id}" if one.client_id else ""
    inferred = " (inferred)" if one.inferred else ""
    return f"{clock(one.started)}{generation} {one.trigger.text}{behind}{who}{inferred}"


_Costs = list[tuple[Rebalance, float, str]]


def repeats(view: RebalanceView) -> go.Figure:
    """One panel for the standstill and one for records handed out twice, as far as there are any; else a sentence."""
    still: _Costs = [(one, one.standstill, f"{digits(one.standstill)} s") for one in view.history if one.standstill]
    again: _Costs = [(one, one.repeated, number(one.repeated)) for one in view.history if one.repeated]
    costs = [
        ("the group stood still", "stood still, s", OUTGOING, still),
        ("handed out twice", "records again", INCOMING, again),
    ]
    drawn = [cost for cost in costs if cost[3]]
    if not drawn:
        return empty(
            "The cost of the rebalances is not known: nothing says how long they lasted or what was handed out again."
        )
    chart = panels(64 + 128 * len(drawn), *[1] * len(drawn), showlegend=False)
    for row, (name, title, colour, known) in enumerate(drawn, 1):
        # Stems: bars on a time axis are as wide as their gaps.
        chart.add_scatter(
            x=[at for one, _, _ in known for at in (time(one.started), time(one.started), None)],
            y=[y for _, value, _ in known for y in (0, value, None)], name=name, mode="lines", hoverinfo="skip",
            line={"color": colour, "width": 3}, row=row, col=1,
        )  # fmt: skip
        told = [(one.started, value, f"{rebalance_words(one)}: {amount}") for one, value, amount in known]
        line(chart, name, told, row=row, mode="markers", marker={"color": colour, "size": 8}, cliponaxis=False,
             hovertemplate="%{text}<extra></extra>")  # fmt: skip
        chart.update_yaxes(rangemode="tozero", nticks=5, title_text=title, row=row, col=1)
    return chart


_OF_THEIR_OWN = 8
"""Partitions with a colour of their own, those with the highest lag; the next ones are grey."""
_MOST = 40


def partition_lag(view: RebalanceView) -> go.Figure:
    """Above the lag of each partition, below that of all of them. Without positions a sentence."""
    lines = partition_lines(view)
    if not lines:
        return empty(f"No offsets of {view.group or 'a consumer group'} with an end in this material: no lag is known.")
    chart = panels(484, 0.66, 0.34, margin={"t": 54}, legend={"y": -0.16, "yanchor": "top"})
    draw_bands(chart, view.history, rows=(1, 2))
    for place, (name, points) in enumerate(lines):
        own = place < _OF_THEIR_OWN
        colour = (*RUNS, LAG, INK)[place] if own else MUTED
        dash = "dot" if len(RUNS) <= place < _OF_THEIR_OWN else "solid"
        each = [(p.at or 0.0, lag(p), f"{name}: {number(lag(p))} wait, {p.source}:{p.line}") for p in points]
        line(
            chart, name, each, row=1, showlegend=own, line={"color": colour, "width": 1.8 if own else 0.8, "dash": dash}
        )
    waiting = waiting_over_time([points for _, points in lines])
    told = [(at, records, f"{number(round(records))} records wait") for at, records in waiting]
    line(chart, "all partitions", told, row=2, line={"color": INK, "width": 2})
    chart.update_yaxes(rangemode="tozero")
    chart.update_yaxes(title_text="records waiting, each", row=1, col=1)
    return chart.update_yaxes(title_text="all", nticks=4, row=2, col=1)


def partition_lines(view: RebalanceView) -> tuple[tuple[str, Points], ...]:
    """(name, positions) of each partition, the highest peak first."""
    named = [(f"{topic}-{queue}", points) for topic, queues in view.topics.items() for queue, points in queues.items()]
    return tuple(sorted(named, key=lambda one: (-max(map(lag, one[1])), one[0]))[:_MOST])
