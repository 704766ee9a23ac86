"""How long did polls take, and how long may they? Each poll over time, and records by its length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import floor, log10

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.figures.rebalance_bands import draw_bands
from mqlab.figures.style import ALARM, INCOMING, INK, MUTED, TEMPLATE, empty, label, time
from mqlab.figures.thinning import thinned
from mqlab.rebalances.view import Phase, Poll, RebalanceView
from mqlab.units import clock, counted, digits, duration

IN_TIME, LATE = "in time", "too late"
_LOOKS = {IN_TIME: (INCOMING, "circle", 6), LATE: (ALARM, "x", 8)}
_STEPS = 8
"""Bars of the distribution for each tenfold."""
_NARROW = 1000
"""Highest by lowest poll from which tens alone are ticks enough."""
_LEAST = 0.001
"""Seconds; shorter polls stand there."""


def poll_times(view: RebalanceView) -> go.Figure:
    """Left each poll when it was done, right the records in polls of each length. Without polls a sentence."""
    if not view.polls:
        return empty(
            "No application tells how long its polls took (such as 'processed 500 records in 44.6 s'): "
            "only settings are known."
        )
    chart = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.02, column_widths=[0.76, 0.24])
    chart.update_layout(
        template=TEMPLATE, height=404, margin={"l": 8, "r": 8, "t": 54, "b": 70}, barmode="overlay",
        legend={"y": -0.24, "yanchor": "top"},
    )  # fmt: skip
    draw_bands(chart, view.history)
    for name in _LOOKS:
        own = [poll for poll in view.polls if poll.late == (name == LATE)]
        _draw_polls(chart, own, name)
    _draw_counts(chart, view)
    _draw_limits(chart, view.phases)
    low, high = _range(view)
    chart.update_yaxes(type="log", range=[log10(low), log10(high)], tickvals=list(ticks(low, high)))
    chart.update_yaxes(
        title_text="one poll takes, s", ticktext=[f"{tick:g}" for tick in ticks(low, high)], row=1, col=1
    )
    chart.update_xaxes(title_text="UTC", row=1, col=1)
    chart.update_xaxes(title_text="records in such polls", rangemode="tozero", row=1, col=2)
    return chart


def lengths(view: RebalanceView) -> tuple[tuple[float, int], ...]:
    """(lower end in seconds, records in such polls) of each step of the distribution, those without any too."""
    counts: dict[int, int] = {}
    for poll in view.polls:
        for records, seconds in poll.pairs:
            step = floor(_STEPS * log10(max(seconds, _LEAST)))
            counts[step] = counts.get(step, 0) + records
    if not counts:
        return ()
    steps = range(min(counts), max(counts) + 1)
    return tuple((10 ** (step / _STEPS), counts.get(step, 0)) for step in steps)


def ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers between both: tens, and where there are few of them twos and fives too."""
    factors = (1, 2, 5) if high / low < _NARROW else (1,)
    every = [factor * 10.0**power for power in range(-3, 7) for factor in factors]
    return tuple(tick for tick in every if low <= tick <= high)


def limits(phases: Sequence[Phase]) -> tuple[tuple[float, float, float], ...]:
    """(since, until, seconds) for each interval that was in force, as far as polls show it."""
    found: dict[float, tuple[float, float]] = {}
    for phase in phases:
        if phase.interval is None:
            continue
        since = phase.since
        until = phase.until
        first, last = found.get(phase.interval, (since, until))
        found[phase.interval] = (min(first, since), max(last, until))
    return tuple((since, until, seconds) for seconds, (since, until) in sorted(found.items()))


def _draw_polls(chart: go.Figure, polls: Sequence[Poll], name: str) -> None:
    colour, symbol, size = _LOOKS[name]
    kept = thinned(polls, value=lambda poll: poll.batch.longest_seconds)
    if kept:
        chart.add_scatter(
            x=[time(poll.batch.at) for poll in kept],
            y=[max(poll.batch.longest_seconds, _LEAST) for poll in kept], text=[_words(poll) for poll in kept],
            name=name, mode="markers", hovertemplate="%{text}<extra></extra>",
            marker={"color": colour, "symbol": symbol, "size": size, "opacity": 0.75}, row=1, col=1,
        )  # fmt: skip


def _words(poll: Poll) -> str:
    batch = poll.batch
    what = f"{counted(batch.longest_records, 'record')} in {digits(batch.longest_seconds)} s"
    more = f", the longest of {batch.polls}" if batch.polls > 1 else ""
    return label(f"{clock(batch.at)} {batch.client_id}: {what}{more}, {batch.source}:{batch.line}")


def _draw_counts(chart: go.Figure, view: RebalanceView) -> None:
    steps = lengths(view)
    edges = [*(low for low, _ in steps), steps[-1][0] * 10 ** (1 / _STEPS)]
    xs, ys, words = [0.0], [edges[0]], [""]
    for (_, count), (low, high) in zip(steps, pairwise(edges), strict=True):
        said = f"{counted(count, 'record')} in polls of {digits(low)} to {digits(high)} s"
        xs, ys, words = [*xs, count, count], [*ys, low, high], [*words, said, said]
    chart.add_scatter(
        x=[*xs, 0.0], y=[*ys, edges[-1]], text=[*words, ""], name="records", mode="lines", fill="tozerox",
        line={"color": INCOMING, "width": 1}, showlegend=False, hovertemplate="%{text}<extra></extra>", row=1, col=2,
    )  # fmt: skip


def _draw_limits(chart: go.Figure, phases: Sequence[Phase]) -> None:
    for place, (since, until, seconds) in enumerate(limits(phases)):
        words = f"may pass between two polls: {duration(seconds)}"
        look = {"color": INK, "width": 2, "dash": "dash"}
        chart.add_scatter(
            x=[time(since), time(until)], y=[seconds, seconds], text=[words, words], name=words, mode="lines",
            line=look, legendgroup=f"limit {place}", hovertemplate="%{text}<extra></extra>", row=1, col=1,
        )  # fmt: skip
        chart.add_hline(y=seconds, line=look, row=1, col=2)
    if not limits(phases):
        chart.add_annotation(
            text="what may pass between two polls is not told", x=0, xref="paper", y=1, yref="paper",
            xanchor="left", yanchor="bottom", showarrow=False, font={"color": MUTED, "size": 11},
        )  # fmt: skip


def _range(view: RebalanceView) -> tuple[float, float]:
    """All polls and all limits, with a little room."""
    known = [seconds for poll in view.polls for _, seconds in poll.pairs]
    allowed = [poll.interval for poll in view.polls if poll.interval is not None]
    return max(_LEAST, min(known)) / 1.5, max([*known, *allowed, _LEAST]) * 1.8
