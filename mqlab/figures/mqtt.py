"""MQTT clients: how long connections lasted, who used an id when, what waits in sessions, why messages are missing.

Constant lengths of connections point to a timer, others to a network; bars that take turns are two devices with one id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.facts import Facts, Series
from mqlab.figures.style import (
    ALARM,
    CHANGE,
    GRID,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    TEMPLATE,
    cut,
    empty,
    figure,
    label,
    thinned,
    time,
)
from mqlab.models.draining import Interval, bounded
from mqlab.models.mqtt import RESIDUAL
from mqlab.mqtt.connections import Connection
from mqlab.mqtt.explained import Explained
from mqlab.mqtt.sessions import Offline
from mqlab.units import clock, duration, number

_OTHER, _UNTOLD = "something else", "not told"
_LOOKS = {
    "normal": ("the client said good-bye", INCOMING), "taken-over": ("another connection took the id", ALARM),
    "keep-alive": ("nothing came for 1.5 × keep-alive", OUTGOING), "closed": ("the other side closed it", LAG),
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
                x=[_middle(place) for place, _ in own], y=[count for _, count in own], name=label(words),
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
    lasted = [(c.ended, c.seconds, c.count) for c in connections if c.seconds is not None]
    counts: Counter[tuple[str, int]] = Counter()
    for ended, seconds, count in lasted:
        kind = _UNTOLD if ended is None else ended if ended in _LOOKS else _OTHER
        counts[kind, floor(log10(max(seconds, _LEAST)) * _STEPS + 1e-9)] += count
    return counts


def _edge(place: int) -> float:
    return float(10 ** (place / _STEPS))


def _middle(place: int) -> float:
    return (_edge(place) + _edge(place + 1)) / 2


_TURN_LOOKS = {
    "taken over": ("another connection took the id", ALARM),
    "unanswered": ("nothing came for 1.5 × keep-alive", OUTGOING),
    "ended": ("ended otherwise", INCOMING),
    "open": ("no end is told", MUTED),
}
_MOST_ROWS = 24
_MOST_BARS = 500
_SHORTEST = 0.3
"""Seconds that the shortest bar is given, so that it can be seen."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One connection of the client id."""

    row: str
    kind: str
    since: float
    until: float
    words: str


def ping_pong(client_id: str | None, connections: Sequence[Connection]) -> go.Figure:
    """Bars of the connections of *client_id* by address, by port where there is only one address."""
    bars = bars_of(client_id, connections)
    if client_id is None or not bars:
        return empty("Nothing in this material tells of connections of an MQTT client.")
    shown = bars[:_MOST_BARS]
    rows = list(dict.fromkeys(bar.row for bar in shown))[:_MOST_ROWS]
    chart = figure(120 + 26 * len(rows))
    for kind, (words, colour) in _TURN_LOOKS.items():
        own = [bar for bar in shown if bar.kind == kind and bar.row in rows]
        if own:
            chart.add_scatter(
                x=[at for bar in own for at in (time(bar.since), time(bar.until), None)],
                y=[at and bar.row for bar in own for at in (True, True, None)],
                text=[at and bar.words for bar in own for at in (True, True, None)],
                name=label(words), mode="lines", line={"color": colour, "width": 11},
                hovertemplate="%{y}<br>%{text}<extra></extra>",
            )  # fmt: skip
    more = f": the first {len(shown)} of {number(len(bars))} connections" if len(bars) > len(shown) else ""
    chart.update_layout(
        title={"text": label(cut(client_id, 60) + more), "font": {"size": 13}, "x": 0}, margin={"t": 56}
    )
    chart.update_yaxes(
        type="category", categoryorder="array", categoryarray=rows[::-1], dtick=1, tickfont={"size": 11},
        range=[-0.6, len(rows) - 0.4],
    )  # fmt: skip
    chart.update_xaxes(title_text="UTC")
    return chart


def bars_of(client_id: str | None, connections: Sequence[Connection]) -> tuple[Bar, ...]:
    """The bars of one client id, by begin."""
    own = [c for c in connections if c.client_id == client_id and (c.since is not None or c.until is not None)]
    if not own:
        return ()
    last = max(at for c in own for at in (c.since, c.until) if at is not None)
    addresses = {c.address for c in own}
    return tuple(_bar(c, len(addresses) == 1, last) for c in own)


def _bar(connection: Connection, by_port: bool, last: float) -> Bar:
    since = connection.since if connection.since is not None else connection.until or last
    until = connection.until if connection.until is not None else last
    row = connection.peer if by_port else connection.address
    lasted = "" if connection.seconds is None else f" ({duration(connection.seconds)})"
    ended = connection.ended or ("no end is told" if connection.until is None else "no reason is told")
    words = f"{clock(since)} to {clock(until)}{lasted}, {connection.peer or 'no address'}: {ended}"
    return Bar(
        label(cut(row or "address not told", 40)), _kind(connection), since, max(until, since + _SHORTEST), label(words)
    )


def _kind(connection: Connection) -> str:
    if connection.until is None:
        return "open"
    return {"taken-over": "taken over", "keep-alive": "unanswered"}.get(connection.ended or "", "ended")


_ROWS = (
    (("mqtt.stored_messages", "mqtt.retained_messages"), "messages kept", 1.0),
    (("mqtt.publish_dropped", "mqtt.queue_full_dropped"), "messages dropped", 1.0),
    (("process.resident_bytes", "mqtt.heap_bytes"), "memory, MB", 1e-6),
)
"""Names of series, what they show, and what a value is multiplied by."""
_COLOURS = {"mqtt.stored_messages": LAG, "mqtt.retained_messages": MUTED, "process.resident_bytes": INCOMING}
_WORDS = {
    "mqtt.stored_messages": "kept in all", "mqtt.retained_messages": "retained ones among them",
    "mqtt.publish_dropped": "dropped", "mqtt.queue_full_dropped": "dropped: queue full",
    "process.resident_bytes": "resident memory", "mqtt.heap_bytes": "heap of the broker",
}  # fmt: skip
_MOST = 8
"""Moments of sessions that are drawn."""


def session_store(facts: Facts, away: Sequence[Offline]) -> go.Figure:
    """One panel for each quantity that was sampled; *away* are sessions whose clients stay away."""
    panels = [(own, title, factor) for names, title, factor in _ROWS if (own := _moving(facts.named(*names)))]
    if not panels:
        return empty("No samples of the broker's store, drops or memory are in this material.")
    chart = make_subplots(len(panels), 1, shared_xaxes=True, vertical_spacing=0.06)
    chart.update_layout(template=TEMPLATE, height=70 + 150 * len(panels))
    for row, (own, title, factor) in enumerate(panels, 1):
        for series in own:
            _draw(chart, series, row, factor)
        chart.update_yaxes(title_text=title, rangemode="tozero", row=row, col=1)
    for session in away[:_MOST]:
        words = label(f"{clock(session.since)} {session.client_id} leaves its session behind")
        chart.add_vline(x=time(session.since), line={"color": ALARM, "dash": "dot", "width": 1.5})
        chart.add_scatter(
            x=[time(session.since)], y=[0], mode="markers", showlegend=False, hovertext=[words], hoverinfo="text",
            marker={"color": ALARM, "symbol": "triangle-up", "size": 10}, row=1, col=1,
        )  # fmt: skip
    chart.update_xaxes(title_text="UTC", row=len(panels), col=1)
    return chart


def _moving(series: Sequence[Series]) -> list[Series]:
    """Series with samples, of which at least one is not zero."""
    return [s for s in series if any(value for _, value in s.points)]


def _draw(chart: go.Figure, series: Series, row: int, factor: float) -> None:
    points = thinned(series.points, lambda point: point[1])
    name = _WORDS[series.name] + (f", {series.labels['node']}" if "node" in series.labels else "")
    chart.add_scatter(
        x=[time(at) for at, _ in points], y=[value * factor for _, value in points], name=label(name), mode="lines",
        line={"color": _COLOURS.get(series.name, ALARM), "width": 2, "shape": "hv"}, row=row, col=1,
    )  # fmt: skip


PUBLISHED, RECEIVED = "published", "received"
_LOSS_COLOURS = {PUBLISHED: INCOMING, RECEIVED: INCOMING, RESIDUAL: MUTED}


@dataclass(frozen=True, slots=True)
class FunnelBar:
    """One row of the funnel: what came in, what went on, or what was lost in between."""

    name: str
    base: float
    messages: float
    words: str


def message_funnel(one: Explained | None) -> go.Figure:
    """Bars from top to bottom; those between the first and the last begin where the one above ends."""
    bars = funnel_bars(one) if one else ()
    if one is None or not bars:
        return empty("No ledgers in this material tell of an MQTT receiver what was published for it and what it got.")
    chart = figure(120 + 38 * len(bars))
    chart.add_bar(
        y=[label(bar.name) for bar in bars], x=[bar.messages for bar in bars], base=[bar.base for bar in bars],
        orientation="h", text=[label(bar.words) for bar in bars], textposition="outside", cliponaxis=False,
        marker={"color": [_LOSS_COLOURS.get(bar.name, ALARM) for bar in bars],
                "line": {"color": [OUTGOING if bar.name == RESIDUAL else GRID for bar in bars], "width": 1}},
        hovertemplate="%{y}: %{text}<extra></extra>", showlegend=False,
    )  # fmt: skip
    chart.update_layout(title={"text": label(cut(one.receiver, 80)), "font": {"size": 13}, "x": 0}, margin={"t": 50})
    chart.update_yaxes(autorange="reversed", type="category", tickfont={"size": 12})
    chart.update_xaxes(title_text="messages", range=[0, max(bar.base + bar.messages for bar in bars) * 1.25])
    return chart


def funnel_bars(one: Explained) -> tuple[FunnelBar, ...]:
    """The bars; the residual is left out where it is zero for certain."""
    steps = [step for step in one.steps if step.name != RESIDUAL or step.messages != Interval(0.0, 0.0, 0.0)]
    lost = [FunnelBar(step.name, max(0.0, step.left), step.messages.likely, bounded(step.messages)) for step in steps]
    copies = f", and {number(one.copies)} of them again" if one.copies else ""
    return (
        FunnelBar(PUBLISHED, 0.0, one.published, number(one.published)),
        *lost,
        FunnelBar(RECEIVED, 0.0, one.received, number(one.received) + copies),
    )
