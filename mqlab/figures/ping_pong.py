"""Who used a client id when? One row per address; bars that take turns are two devices with one id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.figures.naming import cut
from mqlab.figures.style import ALARM, INCOMING, MUTED, OUTGOING, empty, figure, label, time
from mqlab.mqtt.connection import Connection
from mqlab.units import clock, duration, number

_LOOKS = {
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
    for kind, (words, colour) in _LOOKS.items():
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
