"""MQTT clients: how long connections lasted, who used an id when, what waits in sessions, why messages are missing.

Constant lengths of connections point to a timer, others to a network; bars that take turns are two devices with one id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import floor, log10

import plotly.graph_objects as go

from mqlab import words
from mqlab.facts import Facts
from mqlab.figures.style import (
    ALARM,
    CHANGE,
    GRID,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    Bar,
    cut,
    draw_lanes,
    empty,
    figure,
    label,
    line,
    panels,
    time,
)
from mqlab.models.mqtt import RESIDUAL
from mqlab.mqtt.connections import Connection
from mqlab.mqtt.explained import Explained
from mqlab.mqtt.sessions import Offline
from mqlab.units import Interval, clock, number

say = words.room("mqtt-figures")

_OTHER, _UNTOLD = "other", "not-known"
_LOOKS = {
    "normal": INCOMING, "taken-over": ALARM, "keep-alive": OUTGOING, "closed": LAG, "broker-stopped": CHANGE,
    _OTHER: INK, _UNTOLD: MUTED,
}  # fmt: skip
"""Colours of how connections ended."""
_STEPS = 6
"""Bars for each power of ten."""
_TICKS = {
    0.1: "0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36_000: "10 h", 360_000: "100 h",
}  # fmt: skip
_LEAST = 0.1
"""Seconds below which lengths are not told apart: many brokers print whole ones."""


def connection_lengths(connections: Sequence[Connection]) -> go.Figure:
    """Bars by length in seconds on a logarithmic axis, stacked by how the connections ended.

    Connections of which no end is told have no length; without any other a sentence.
    """
    counts = length_counts(connections)
    if not counts:
        return empty(say("no-lengths"))
    chart = figure(300)
    bins = sorted({place for _, place in counts})
    for kind, colour in _LOOKS.items():
        own = [(place, counts[kind, place]) for place in bins if counts[kind, place]]
        if own:
            chart.add_bar(
                x=[(_edge(place) + _edge(place + 1)) / 2 for place, _ in own],
                y=[count for _, count in own], name=label(say("ended", kind=kind)),
                width=[_edge(place + 1) - _edge(place) for place, _ in own], marker={"color": colour},
                text=[label(say("lengths", least=_edge(place), most=_edge(place + 1), connections=count))
                      for place, count in own],
                textposition="none", hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
    chart.update_layout(barmode="stack", bargap=0)
    reach = [min(0.0, bins[0] / _STEPS) - 0.1, max(log10(3600), (bins[-1] + 1) / _STEPS) + 0.1]
    chart.update_xaxes(
        title_text=label(say("length-axis")), type="log", tickvals=[*_TICKS],
        ticktext=list(map(label, _TICKS.values())), range=reach,
    )  # fmt: skip
    chart.update_yaxes(title_text=label(say("connections")), rangemode="tozero")
    return chart


def length_counts(connections: Sequence[Connection]) -> Counter[tuple[str, int]]:
    """How many connections ended in which way, by the number of their bar."""
    counts: Counter[tuple[str, int]] = Counter()
    for one in connections:
        if one.seconds is not None:
            kind = _UNTOLD if one.ended is None else one.ended if one.ended in _LOOKS else _OTHER
            counts[kind, floor(log10(max(one.seconds, _LEAST)) * _STEPS + 1e-9)] += one.count
    return counts


def _edge(place: int) -> float:
    return float(10 ** (place / _STEPS))


_TURNS = {
    kind: (say("ended", kind=kind), colour, 11)
    for kind, colour in (("taken-over", ALARM), ("keep-alive", OUTGOING), ("ended", INCOMING), ("open", MUTED))
}
_MOST_ROWS = 24
_MOST_BARS = 500
_SHORTEST = 0.3
"""Seconds that the shortest bar is given, so that it can be seen."""


def ping_pong(client_id: str | None, connections: Sequence[Connection]) -> go.Figure:
    """Bars of the connections of *client_id* by address, by port where there is only one address."""
    bars = bars_of(client_id, connections)
    if client_id is None or not bars:
        return empty(say("no-connections"))
    shown = bars[:_MOST_BARS]
    rows = list(dict.fromkeys(bar.lane for bar in shown))[:_MOST_ROWS]
    chart = figure(120 + 26 * len(rows))
    draw_lanes(chart, shown, _TURNS, rows)
    whole = len(bars) if len(bars) > len(shown) else None
    told = say("client", client=cut(client_id, 60), shown=len(shown), whole=whole)
    title = {"text": label(told), "font": {"size": 13}, "x": 0}
    return chart.update_layout(title=title, margin={"t": 56})


def bars_of(client_id: str | None, connections: Sequence[Connection]) -> tuple[Bar, ...]:
    """The bars of one client id, by begin."""
    own = [c for c in connections if c.client_id == client_id and (c.since is not None or c.until is not None)]
    last = max((at for c in own for at in (c.since, c.until) if at is not None), default=0.0)
    by_port = len({c.address for c in own}) == 1
    return tuple(_bar(c, c.peer if by_port else c.address, last) for c in own)


def _bar(connection: Connection, lane: str | None, last: float) -> Bar:
    until = connection.until if connection.until is not None else last
    since = connection.since if connection.since is not None else until
    kind = "open" if connection.until is None else connection.ended if connection.ended in _TURNS else "ended"
    told = say(
        "connection",
        since=since,
        until=until if clock(until) != clock(since) else None,
        lasted=connection.seconds,
        peer=connection.peer or None,
        ended=connection.ended or None,
        open=connection.until is None,
    )
    place = cut(lane, 40) if lane else say("no-address")
    return Bar(place, kind or "ended", since, max(until, since + _SHORTEST), told)


_STORE = (
    (say("kept"), 1.0, {"mqtt.stored_messages": LAG, "mqtt.retained_messages": MUTED}),
    (say("dropped"), 1.0, {"mqtt.publish_dropped": ALARM, "mqtt.queue_full_dropped": OUTGOING}),
    (say("memory"), 1e-6, {"process.resident_bytes": INCOMING, "mqtt.heap_bytes": ALARM}),
)
"""Panels: what they show, what a value is multiplied by, and the colour of each series."""
_MOST = 8
"""Moments of sessions that are drawn."""


def session_store(facts: Facts, away: Sequence[Offline]) -> go.Figure:
    """One panel for each quantity that was sampled; *away* are sessions whose clients stay away."""
    moving = [(*panel, own) for panel in _STORE if (own := [
        s for s in facts.named(*panel[2]) if any(value for _, value in s.points)])]  # fmt: skip
    if not moving:
        return empty(say("no-samples"))
    chart = panels(70 + 150 * len(moving), *[1] * len(moving))
    for row, (title, factor, looks, own) in enumerate(moving, 1):
        for series in own:
            name = say("series", series=series.name, broker=series.labels.get("node"))
            told = [(at, value * factor, f"{number(round(value * factor, 3))}") for at, value in series.points]
            line(chart, name, told, row=row, line={"color": looks[series.name], "width": 2, "shape": "hv"})
        chart.update_yaxes(title_text=label(title), rangemode="tozero", row=row, col=1)
    for session in away[:_MOST]:
        left = label(say("left", at=session.since, client=session.client_id))
        chart.add_vline(x=time(session.since), line={"color": ALARM, "dash": "dot", "width": 1.5})
        chart.add_scatter(
            x=[time(session.since)], y=[0], mode="markers", showlegend=False, hovertext=[left], hoverinfo="text",
            marker={"color": ALARM, "symbol": "triangle-up", "size": 10}, row=1, col=1,
        )  # fmt: skip
    return chart


PUBLISHED, RECEIVED = say("published"), say("received")
_FUNNEL = {PUBLISHED: INCOMING, RECEIVED: INCOMING, RESIDUAL: MUTED}


def message_funnel(one: Explained | None) -> go.Figure:
    """Bars from top to bottom; those between the first and the last begin where the one above ends."""
    if one is None:
        return empty(say("no-ledgers"))
    names, bases, messages, told = zip(*funnel_bars(one), strict=True)
    chart = figure(120 + 38 * len(names))
    chart.add_bar(
        y=list(map(label, names)), x=messages, base=bases, orientation="h", text=list(map(label, told)),
        textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text}<extra></extra>", showlegend=False,
        name=label(say("messages")),
        marker={"color": [_FUNNEL.get(name, ALARM) for name in names],
                "line": {"color": [OUTGOING if name == RESIDUAL else GRID for name in names], "width": 1}},
    )  # fmt: skip
    chart.update_layout(title={"text": label(cut(one.receiver, 80)), "font": {"size": 13}, "x": 0}, margin={"t": 50})
    chart.update_yaxes(autorange="reversed", type="category", tickfont={"size": 12})
    widest = max(base + count for base, count in zip(bases, messages, strict=True))
    return chart.update_xaxes(title_text=label(say("messages")), range=[0, widest * 1.25])


def _whole(messages: Interval) -> str:
    """How many, with bounds, in whole messages."""
    low, likely, high = (round(value) for value in (messages.low, messages.likely, messages.high))
    return say("lost", messages=Interval(low, likely, high))


def funnel_bars(one: Explained) -> list[tuple[str, float, float, str]]:
    """(name, where the bar begins, messages, words); the residual is left out where it is zero for certain."""
    steps = [step for step in one.steps if step.name != RESIDUAL or step.messages != Interval(0.0, 0.0, 0.0)]
    lost = [(step.name, max(0.0, step.left), step.messages.likely, _whole(step.messages)) for step in steps]
    return [
        (PUBLISHED, 0.0, one.published, number(one.published)),
        *lost,
        (RECEIVED, 0.0, one.received, say("got", messages=one.received, copies=one.copies or None)),
    ]
