"""What happened to the offsets of one partition as its leader changed? Offsets by time, and the part that was lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from mqlab.delivery.view import CUT, FOLLOWER, LEADER, Acked, AuditView, Level, Offsets, Reign
from mqlab.figures.style import ALARM, INCOMING, INK, LAG, MUTED, OUTGOING, RUNS, empty, figure, label, time
from mqlab.figures.thinning import thinned
from mqlab.units import clock, number

_SYMBOLS = {LEADER: ("triangle-up", INK), FOLLOWER: ("circle-open", INK), CUT: ("x", OUTGOING)}
_NAMES = {LEADER: "log end of the new leader", FOLLOWER: "log end of a follower that begins", CUT: "log cut to"}
_BESIDE = {LEADER: "bottom right", FOLLOWER: "top right", CUT: "bottom right"}
_ROOM = 0.35
"""Share of the lost part's time and height that is shown around it."""
_LEAST_ROOM = 20.0
"""Seconds."""


def failover(view: AuditView, queue: str | None = None) -> go.Figure:
    """Offsets of *queue*, by default of the partition that lost most. Without offsets a sentence."""
    shown = chosen(view, queue)
    if shown is None:
        return empty(f"Nothing in this material tells offsets of {view.topic} by time.")
    chart = figure(440)
    chart.update_layout(legend={"y": -0.2, "yanchor": "top"}, margin={"t": 36, "b": 90})
    _draw_acked(chart, "acknowledged, kept", INCOMING, [one for one in shown.acked if not one.lost])
    _draw_acked(chart, "acknowledged, lost", ALARM, [one for one in shown.acked if one.lost])
    _draw_steps(chart, "log end as seen", MUTED, shown.ends)
    _draw_steps(chart, "log start", OUTGOING, shown.starts)
    for place, (group, points) in enumerate(sorted(shown.committed.items())):
        _draw_steps(chart, f"committed by {group}", (RUNS[2], RUNS[3], RUNS[5])[place % 3], points)
    reigns = [one for one in view.reigns if one.queue == shown.queue]
    _draw_watermarks(chart, reigns)
    for what in _SYMBOLS:
        _draw_levels(chart, what, [one for one in view.levels if one.queue == shown.queue and one.what == what])
    _draw_elections(chart, reigns)
    _draw_window(chart, shown, view)
    chart.update_yaxes(title_text=f"offset in partition {label(shown.queue)}", tickformat=",d")
    chart.update_xaxes(title_text="UTC")
    return chart


def chosen(view: AuditView, queue: str | None = None) -> Offsets | None:
    """The partition that is asked for, else the one that lost most, else the one with most changes of its leader."""
    if queue is not None:
        return next((one for one in view.offsets if one.queue == queue), None)
    return max(view.offsets, key=lambda one: _trouble(view, one), default=None)


def _trouble(view: AuditView, one: Offsets) -> tuple[int, int]:
    lost = sum(part.messages for part in one.acked if part.lost)
    return lost, sum(reign.queue == one.queue for reign in view.reigns)


def _draw_acked(chart: go.Figure, name: str, colour: str, parts: Sequence[Acked]) -> None:
    if not parts:
        return
    chart.add_scatter(
        x=[at for one in parts for at in (time(one.since), time(one.until), None)],
        y=[offset for one in parts for offset in (one.first_offset, one.last_offset, None)],
        text=[words for one in parts for words in (_words(one), _words(one), None)],
        name=name, mode="lines+markers", line={"color": colour, "width": 4 if colour == ALARM else 2.5},
        marker={"size": 5 if colour == ALARM else 3}, hovertemplate="%{text}<extra>" + name + "</extra>",
    )  # fmt: skip


def _words(one: Acked) -> str:
    return label(
        f"{number(one.messages)} at offsets {number(one.first_offset)} to {number(one.last_offset)}, "
        f"{clock(one.since)} to {clock(one.until)}, {one.place}"
    )


def _draw_steps(chart: go.Figure, name: str, colour: str, points: Sequence[tuple[float, int]]) -> None:
    """What snapshots saw; between two of them nothing is known, so the line is faint."""
    if points:
        kept = thinned(points, value=lambda point: point[1])
        chart.add_scatter(
            x=[time(at) for at, _ in kept], y=[offset for _, offset in kept], name=label(name), mode="lines+markers",
            line={"color": colour, "width": 0.8, "dash": "dot", "shape": "hv"}, marker={"size": 6, "color": colour},
            hovertemplate="%{x|%H:%M:%S}: %{y:,d}<extra>" + label(name) + "</extra>",
        )  # fmt: skip


def _draw_watermarks(chart: go.Figure, reigns: Sequence[Reign]) -> None:
    known = [(one.since, one.high_watermark, one) for one in reigns if one.high_watermark is not None]
    if known:
        chart.add_scatter(
            x=[time(at) for at, _, _ in known], y=[high for _, high, _ in known], name="high watermark then",
            mode="markers", text=[label(f"broker {one.broker}, {one.place}") for _, _, one in known],
            hovertemplate="high watermark %{y:,d}, %{text}<extra></extra>",
            marker={"symbol": "line-ew-open", "size": 18, "color": LAG, "line": {"width": 3, "color": LAG}},
        )  # fmt: skip


def _draw_levels(chart: go.Figure, what: str, levels: Sequence[Level]) -> None:
    symbol, colour = _SYMBOLS[what]
    if levels:
        chart.add_scatter(
            x=[time(one.at) for one in levels], y=[one.offset for one in levels], name=_NAMES[what],
            mode="markers+text", text=[f" {number(one.offset)} · {label(one.broker)}" for one in levels],
            textposition=_BESIDE[what], textfont={"size": 10, "color": colour},
            customdata=[label(f"broker {one.broker} {one.what}, {one.place}") for one in levels],
            hovertemplate="%{x|%H:%M:%S} %{customdata}: %{y:,d}<extra></extra>",
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 2, "color": colour}},
        )  # fmt: skip


def _draw_elections(chart: go.Figure, reigns: Sequence[Reign]) -> None:
    """A line for each election but the first, with the new leader above it."""
    for place, one in enumerate(sorted(reigns, key=lambda one: one.since)):
        before = [other.broker for other in reigns if other.since < one.since]
        if place and before[-1] != one.broker:
            colour = ALARM if one.unclean else MUTED
            chart.add_vline(x=time(one.since), line={"color": colour, "width": 1, "dash": "dash"})
            words = f"broker {one.broker} leads" + (" (unclean)" if one.unclean else "")
            chart.add_annotation(
                x=time(one.since), y=1, yref="y domain", yanchor="bottom", yshift=11 * (place % 2), text=label(words),
                showarrow=False, font={"size": 10, "color": colour}, xanchor="left",
            )  # fmt: skip


def _draw_window(chart: go.Figure, shown: Offsets, view: AuditView) -> None:
    """Begin with the lost part and the elections around it; all the rest is a double click away."""
    lost = [one for one in shown.acked if one.lost]
    if not lost:
        return
    first, last = min(one.first_offset for one in lost), max(one.last_offset for one in lost)
    chart.add_hrect(
        y0=first, y1=last, fillcolor=ALARM, opacity=0.08, line_width=0, layer="below",
        annotation={"text": f"lost: {number(first)} to {number(last)}", "font": {"size": 10, "color": ALARM}},
        annotation_position="top left",
    )  # fmt: skip
    since, until = _moments(lost, shown, view)
    beside, above = max(_LEAST_ROOM, _ROOM * (until - since)), max(10.0, _ROOM * (last - first))
    levels = [one.offset for one in view.levels if one.queue == shown.queue and since <= one.at <= until]
    chart.update_xaxes(range=[time(since - beside), time(until + beside)])
    highest = max([last, *levels]) + 2 * above
    chart.update_yaxes(range=[max(min([first, *levels]) - above, -0.05 * highest), highest])


def _moments(lost: Sequence[Acked], shown: Offsets, view: AuditView) -> tuple[float, float]:
    """From the first lost message to the last return of a replica; else to when a group had gone past it."""
    since, until = min(one.since for one in lost), max(one.until for one in lost)
    behind = max(one.last_offset for one in lost)
    passed = [next((at for at, offset in points if offset > behind), since) for points in shown.committed.values()]
    return since, max([until, *(list(_returns(shown.queue, view, since)) or passed)])


def _returns(queue: str, view: AuditView, since: float) -> Iterator[float]:
    yield from (one.at for one in view.levels if one.queue == queue and one.what == CUT and one.at >= since)
    yield from (one.since for one in view.reigns if one.queue == queue and one.since >= since)
