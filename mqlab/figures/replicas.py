"""Who led each partition, who was in sync, and where did each replica's log end? One lane per replica."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from mqlab.delivery.path import by_number
from mqlab.delivery.view import CUT, FOLLOWER, LEADER, AuditView, InSync, Level, Reign
from mqlab.figures.style import ALARM, INCOMING, INK, OUTGOING, RUNS, empty, figure, label, time
from mqlab.units import clock, number

LED, LED_UNCLEAN, IN_SYNC = "leads", "leads after an unclean election", "in sync"
_WIDTHS = {IN_SYNC: (RUNS[4], 5), LED: (INCOMING, 12), LED_UNCLEAN: (ALARM, 12)}
"""Colour and width: the bar of a leader is thicker too."""
_SYMBOLS = {LEADER: ("triangle-up", INK), FOLLOWER: ("circle-open", INK), CUT: ("x", OUTGOING)}
_NAMES = {LEADER: "log end as it became leader", FOLLOWER: "log end as it became follower", CUT: "log cut to"}
_MOST_LANES = 30
_LABELLED = 40
"""Log ends that still have room for their number."""


def replicas(view: AuditView) -> go.Figure:
    """Lanes by partition and broker, those with most changes first. Without leaders a sentence."""
    lanes = lanes_of(view)
    if not lanes:
        return empty(f"No line in this material tells who led {view.topic} and where replicas began.")
    names = [lane(queue, broker) for queue, broker in lanes]
    chart = figure(120 + 26 * len(lanes))
    _draw_bars(chart, IN_SYNC, [one for one in view.in_sync if (one.queue, one.broker) in lanes])
    for name, unclean in ((LED, False), (LED_UNCLEAN, True)):
        own = [one for one in view.reigns if one.unclean is unclean and (one.queue, one.broker) in lanes]
        _draw_bars(chart, name, own)
    levels = [one for one in view.levels if (one.queue, one.broker) in lanes]
    for what in _SYMBOLS:
        _draw_levels(chart, what, [one for one in levels if one.what == what], len(levels) <= _LABELLED)
    chart.update_yaxes(
        type="category", categoryorder="array", categoryarray=names[::-1], range=[-0.6, len(names) - 0.4], dtick=1,
        tickfont={"size": 11},
    )  # fmt: skip
    chart.update_xaxes(title_text="UTC")
    return chart


def lanes_of(view: AuditView) -> tuple[tuple[str, str], ...]:
    """(partition, broker) of each lane; of very many those whose leader changed most often."""
    rows: tuple[Reign | InSync | Level, ...] = (*view.reigns, *view.in_sync, *view.levels)
    told = {(one.queue, one.broker) for one in rows}
    changes = {queue: sum(one.queue == queue for one in view.reigns) for queue, _ in told}
    kept = sorted(told, key=lambda one: (-changes[one[0]], by_number(one[0]), by_number(one[1])))[:_MOST_LANES]
    return tuple(sorted(kept, key=lambda one: (by_number(one[0]), by_number(one[1]))))


def lane(queue: str, broker: str) -> str:
    """The name of a lane."""
    return label(f"partition {queue} · broker {broker}")


def _draw_bars(chart: go.Figure, name: str, bars: Sequence[Reign | InSync]) -> None:
    colour, width = _WIDTHS[name]
    if not bars:
        return
    chart.add_scatter(
        x=[at for bar in bars for at in (time(bar.since), time(bar.until), None)],
        y=[at and lane(bar.queue, bar.broker) for bar in bars for at in (True, True, None)],
        text=[at and _words(bar) for bar in bars for at in (True, True, None)],
        name=name, mode="lines", line={"color": colour, "width": width},
        hovertemplate="%{y}<br>%{text}<extra></extra>",
    )  # fmt: skip


def _words(bar: Reign | InSync) -> str:
    times = f"{clock(bar.since)} to {clock(bar.until)}"
    if isinstance(bar, InSync):
        return f"in sync {times}"
    epoch = "" if bar.epoch is None else f" epoch {bar.epoch}"
    high = "" if bar.high_watermark is None else f", high watermark {number(bar.high_watermark)}"
    isr = f", in sync: {', '.join(bar.isr)}" if bar.isr else ""
    how = " after an unclean election" if bar.unclean else ""
    return label(f"leads{epoch}{how} {times}{high}{isr}, {bar.place}")


def _draw_levels(chart: go.Figure, what: str, levels: Sequence[Level], numbered: bool) -> None:
    symbol, colour = _SYMBOLS[what]
    if not levels:
        return
    found = sorted(levels, key=lambda one: (one.at, by_number(one.queue), by_number(one.broker)))
    chart.add_scatter(
        x=[time(one.at) for one in found], y=[lane(one.queue, one.broker) for one in found],
        text=[number(one.offset) for one in found], name=_NAMES[what], mode="markers+text" if numbered else "markers",
        textposition="top right" if what == CUT else "bottom right", textfont={"size": 10, "color": colour},
        customdata=[label(f"{clock(one.at)} {one.what} at {number(one.offset)}, {one.place}") for one in found],
        hovertemplate="%{y}<br>%{customdata}<extra></extra>", cliponaxis=False,
        marker={"symbol": symbol, "size": 9, "color": colour, "line": {"width": 2, "color": colour}},
    )  # fmt: skip
