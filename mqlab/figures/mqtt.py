"""MQTT clients: how long connections lasted, who used an id when, what waits in sessions, why messages are missing.

Constant lengths of connections point to a timer, others to a network; bars that take turns are two devices with one id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import floor, log10

import plotly.graph_objects as go

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
from mqlab.models.draining import bounded
from mqlab.models.mqtt import RESIDUAL
from mqlab.mqtt.connections import Connection
from mqlab.mqtt.explained import Explained
from mqlab.mqtt.sessions import Offline
from mqlab.units import Interval, clock, duration, number

_OTHER, _UNTOLD = "something else", "not known"
_LOOKS = {
    "normal": ("disconnected by the client", INCOMING), "taken-over": ("taken over by another connection", ALARM),
    "keep-alive": ("nothing received for 1.5 × keep-alive", OUTGOING), "closed": ("closed by the other side", LAG),
    "broker-stopped": ("the broker stopped", CHANGE), _OTHER: (_OTHER, INK), _UNTOLD: (_UNTOLD, MUTED),
}  # fmt: skip
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
        return empty("No connection of an MQTT client both begins and ends in this material.")
    chart = figure(300)
    bins = sorted({place for _, place in counts})
    for kind, (words, colour) in _LOOKS.items():
        own = [(place, counts[kind, place]) for place in bins if counts[kind, place]]
        if own:
            chart.add_bar(
                x=[(_edge(place) + _edge(place + 1)) / 2 for place, _ in own],
                y=[count for _, count in own], name=label(words),
                width=[_edge(place + 1) - _edge(place) for place, _ in own], marker={"color": colour},
                text=[f"{duration(_edge(place))} to {duration(_edge(place + 1))}: {number(count)}"
                      for place, count in own],
                textposition="none", hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
    chart.update_layout(barmode="stack", bargap=0)
    reach = [min(0.0, bins[0] / _STEPS) - 0.1, max(log10(3600), (bins[-1] + 1) / _STEPS) + 0.1]
    chart.update_xaxes(
        title_text="length of the connection", type="log", tickvals=[*_TICKS], ticktext=[*_TICKS.values()], range=reach
    )
    chart.update_yaxes(title_text="connections", rangemode="tozero")
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
    "taken-over": ("taken over by another connection", ALARM, 11),
    "keep-alive": ("nothing received for 1.5 × keep-alive", OUTGOING, 11),
    "ended": ("ended otherwise", INCOMING, 11),
    "open": ("no end known", MUTED, 11),
}
_MOST_ROWS = 24
_MOST_BARS = 500
_SHORTEST = 0.3
"""Seconds that the shortest bar is given, so that it can be seen."""


def ping_pong(client_id: str | None, connections: Sequence[Connection]) -> go.Figure:
    """Bars of the connections of *client_id* by address, by port where there is only one address."""
    bars = bars_of(client_id, connections)
    if client_id is None or not bars:
        return empty("This material shows no connections of an MQTT client.")
    shown = bars[:_MOST_BARS]
    rows = list(dict.fromkeys(bar.lane for bar in shown))[:_MOST_ROWS]
    chart = figure(120 + 26 * len(rows))
    draw_lanes(chart, shown, _TURNS, rows)
    more = f": the first {len(shown)} of {number(len(bars))} connections" if len(bars) > len(shown) else ""
    title = {"text": label(cut(client_id, 60) + more), "font": {"size": 13}, "x": 0}
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
    lasted = "" if connection.seconds is None else f" ({duration(connection.seconds)})"
    ended = connection.ended or ("no end known" if connection.until is None else "no reason known")
    words = f"{clock(since)} to {clock(until)}{lasted}, {connection.peer or 'no address'}: {ended}"
    return Bar(cut(lane or "address unknown", 40), kind or "ended", since, max(until, since + _SHORTEST), words)


_STORE = (
    ("messages kept", 1.0, {
        "mqtt.stored_messages": ("kept in all", LAG), "mqtt.retained_messages": ("retained ones among them", MUTED)}),
    ("messages dropped", 1.0, {
        "mqtt.publish_dropped": ("dropped", ALARM), "mqtt.queue_full_dropped": ("dropped: queue full", OUTGOING)}),
    ("memory, MB", 1e-6, {
        "process.resident_bytes": ("resident memory", INCOMING), "mqtt.heap_bytes": ("heap of the broker", ALARM)}),
)  # fmt: skip
"""Panels: what they show, what a value is multiplied by, and the words and the colour of each series."""
_MOST = 8
"""Moments of sessions that are drawn."""


def session_store(facts: Facts, away: Sequence[Offline]) -> go.Figure:
    """One panel for each quantity that was sampled; *away* are sessions whose clients stay away."""
    moving = [(*panel, own) for panel in _STORE if (own := [
        s for s in facts.named(*panel[2]) if any(value for _, value in s.points)])]  # fmt: skip
    if not moving:
        return empty("No samples of the broker's store, drops or memory in this material.")
    chart = panels(70 + 150 * len(moving), *[1] * len(moving))
    for row, (title, factor, looks, own) in enumerate(moving, 1):
        for series in own:
            words, colour = looks[series.name]
            name = words + (f", {series.labels['node']}" if "node" in series.labels else "")
            told = [(at, value * factor, f"{number(round(value * factor, 3))}") for at, value in series.points]
            line(chart, name, told, row=row, line={"color": colour, "width": 2, "shape": "hv"})
        chart.update_yaxes(title_text=title, rangemode="tozero", row=row, col=1)
    for session in away[:_MOST]:
        words = label(f"{clock(session.since)} {session.client_id} leaves its session behind")
        chart.add_vline(x=time(session.since), line={"color": ALARM, "dash": "dot", "width": 1.5})
        chart.add_scatter(
            x=[time(session.since)], y=[0], mode="markers", showlegend=False, hovertext=[words], hoverinfo="text",
            marker={"color": ALARM, "symbol": "triangle-up", "size": 10}, row=1, col=1,
        )  # fmt: skip
    return chart


PUBLISHED, RECEIVED = "published", "received"
_FUNNEL = {PUBLISHED: INCOMING, RECEIVED: INCOMING, RESIDUAL: MUTED}


def message_funnel(one: Explained | None) -> go.Figure:
    """Bars from top to bottom; those between the first and the last begin where the one above ends."""
    if one is None:
        return empty("No ledgers in this material say what was published for an MQTT receiver and what it got.")
    names, bases, messages, words = zip(*funnel_bars(one), strict=True)
    chart = figure(120 + 38 * len(names))
    chart.add_bar(
        y=list(map(label, names)), x=messages, base=bases, orientation="h", text=list(map(label, words)),
        textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text}<extra></extra>", showlegend=False,
        marker={"color": [_FUNNEL.get(name, ALARM) for name in names],
                "line": {"color": [OUTGOING if name == RESIDUAL else GRID for name in names], "width": 1}},
    )  # fmt: skip
    chart.update_layout(title={"text": label(cut(one.receiver, 80)), "font": {"size": 13}, "x": 0}, margin={"t": 50})
    chart.update_yaxes(autorange="reversed", type="category", tickfont={"size": 12})
    widest = max(base + count for base, count in zip(bases, messages, strict=True))
    return chart.update_xaxes(title_text="messages", range=[0, widest * 1.25])


def funnel_bars(one: Explained) -> list[tuple[str, float, float, str]]:
    """(name, where the bar begins, messages, words); the residual is left out where it is zero for certain."""
    steps = [step for step in one.steps if step.name != RESIDUAL or step.messages != Interval(0.0, 0.0, 0.0)]
    lost = [(step.name, max(0.0, step.left), step.messages.likely, bounded(step.messages)) for step in steps]
    copies = f", and {number(one.copies)} of them again" if one.copies else ""
    return [
        (PUBLISHED, 0.0, one.published, number(one.published)),
        *lost,
        (RECEIVED, 0.0, one.received, number(one.received) + copies),
    ]
