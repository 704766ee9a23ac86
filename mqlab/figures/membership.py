"""Who was there when? One row per process, and a bar for as long as it was in the group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.figures.naming import process_names
from mqlab.figures.style import ALARM, INCOMING, empty, figure, label, time
from mqlab.rocketmq.group_view import GroupView
from mqlab.rocketmq.memberships import Stay
from mqlab.units import clock, duration

OWN, SHARED = "its id is its own", "its id is shared"
_LOOKS = {OWN: (INCOMING, 9), SHARED: (ALARM, 15)}
"""Colour and width: the bar of a shared id is thicker too."""
_MOST_ROWS = 60
_ROOM = 0.12
"""Share of the time axis that the moments before the bars need."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One stay of one process."""

    row: str
    kind: str
    since: float
    until: float
    words: str


def membership(view: GroupView) -> go.Figure:
    """Bars by process, with the moment in which it came. Without anybody a sentence."""
    bars = membership_bars(view.stays)
    if not bars:
        return empty(f"Nothing in this material tells who is in {view.group or 'a group of RocketMQ'}.")
    rows = list(dict.fromkeys(bar.row for bar in bars))
    chart = figure(96 + 24 * len(rows))
    for kind, (colour, width) in _LOOKS.items():
        own = [bar for bar in bars if bar.kind == kind]
        if own:
            chart.add_scatter(
                x=[at for bar in own for at in (time(bar.since), time(bar.until), None)],
                y=[at and bar.row for bar in own for at in (True, True, None)],
                text=[at and bar.words for bar in own for at in (True, True, None)],
                name=kind, mode="lines", line={"color": colour, "width": width},
                hovertemplate="%{y}<br>%{text}<extra></extra>",
            )  # fmt: skip
    _draw_comings(chart, bars)
    chart.update_yaxes(
        type="category", categoryorder="array", categoryarray=rows[::-1], range=[-0.6, len(rows) - 0.4], dtick=1,
        tickfont={"size": 11},
    )  # fmt: skip
    first, last = min(bar.since for bar in bars), max(bar.until for bar in bars)
    room = _ROOM * (last - first)
    chart.update_xaxes(title_text="UTC", range=[time(first - room), time(last + room / 4)])
    return chart


def membership_bars(stays: Sequence[Stay]) -> tuple[Bar, ...]:
    """The bars, those of one host next to each other; of very many processes those that share an id come first."""
    members = list(dict.fromkeys((s.member.client_id, s.member.host) for s in stays))
    sharing = {(s.member.client_id, s.member.host) for s in stays if s.shared}
    kept = set(sorted(members, key=lambda one: one not in sharing)[:_MOST_ROWS])
    chosen = [s for s in stays if (s.member.client_id, s.member.host) in kept]
    first = {(s.member.client_id, s.member.host): s.member for s in reversed(chosen)}
    names = dict(zip(first, process_names(list(first.values())), strict=True))
    return tuple(
        Bar(label(names[s.member.client_id, s.member.host]), SHARED if s.shared else OWN, s.since, s.until, _words(s))
        for s in chosen
    )


def _words(stay: Stay) -> str:
    lasted = duration(stay.until - stay.since)
    return label(f"{clock(stay.since)} to {clock(stay.until)} ({lasted}), {stay.member.place}")


def _draw_comings(chart: go.Figure, bars: Sequence[Bar]) -> None:
    """The moment in which each process came."""
    first: dict[str, Bar] = {}
    for bar in sorted(bars, key=lambda b: b.since):
        first.setdefault(bar.row, bar)
    chart.add_scatter(
        x=[time(bar.since) for bar in first.values()], y=list(first), mode="text", showlegend=False, name="came",
        text=[f"{clock(bar.since)} " for bar in first.values()], textposition="middle left",
        textfont={"size": 10}, hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip
