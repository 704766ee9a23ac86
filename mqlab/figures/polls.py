"""Polls of a Kafka group: how long they took, how long they may, whether that is possible, sliders to replay it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import floor, log10
from typing import Any

import plotly.graph_objects as go
from IPython.display import display
from plotly.subplots import make_subplots

from mqlab import words
from mqlab.figures.drain import NO_WIDGETS, has_widgets, sliders
from mqlab.figures.kafka_group import draw_bands
from mqlab.figures.style import ALARM, BAND, INCOMING, INK, MUTED, TEMPLATE, empty, figure, label, line, thinned
from mqlab.languages import said
from mqlab.models.polling import ADVISED_MARGIN
from mqlab.scenarios.replay import ReplayAnswer
from mqlab.units import brief
from mqlab.views.kafka_group import Phase, Poll, RebalanceView
from mqlab.views.scenarios import trial

say = words.room("poll-figures")

_MOST_RECORDS = 10_000


def feasibility(view: RebalanceView) -> go.Figure:
    """A point with its spread for each pair of settings, and a line for each interval. Without polls a sentence."""
    phases = [phase for phase in view.phases if phase.interval is not None and phase.work.record_seconds.p99 > 0]
    if not phases:
        return empty(say("not-known"))
    chart = figure(400)
    low, high = _range(phases)
    for interval in sorted({phase.interval or 0.0 for phase in phases}):
        _draw_line(chart, interval, most=10 ** high[0], top=10 ** high[1])
    for phase in phases:
        _draw_point(chart, phase, late=not fits(phase))
    chart.update_xaxes(type="log", range=[low[0], high[0]], title_text=label(say("records-axis")))
    ticks = [factor * 10.0**power for power in range(-7, 5) for factor in (1, 2, 5)]
    chart.update_yaxes(
        type="log", range=[low[1], high[1]], title_text=label(say("record-axis")), tickvals=ticks,
        ticktext=[label(brief(tick)) for tick in ticks],
    )  # fmt: skip
    chart.update_layout(legend={"y": -0.2, "yanchor": "top"})
    return chart


def fits(phase: Phase) -> bool:
    """Whether a full poll of records as slow as the slowest in a hundred is in time."""
    return phase.records * phase.work.record_seconds.p99 < (phase.interval or 0.0)


def _range(phases: Sequence[Phase]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Lower and upper ends of both axes, as powers of ten."""
    records = [phase.records for phase in phases]
    times = [t for phase in phases for t in _spread(phase)]
    edges = [(phase.interval or 0.0) / phase.records for phase in phases]
    right = max(log10(max(records)) + 0.5, log10(min(_MOST_RECORDS, 20 * max(records))))
    bottom = log10(min(times + edges)) - 0.6
    return (0.0, bottom), (right, log10(max(times + edges)) + 0.6)


def _draw_line(chart: go.Figure, interval: float, most: float, top: float) -> None:
    xs = [1.0, most]
    ys = [interval / x for x in xs]
    each = zip(xs, ys, strict=True)
    told = [label(say("full", records=round(x), each=y, interval=interval)) for x, y in each]
    chart.add_scatter(
        x=[*xs, xs[-1], xs[0]], y=[*ys, top, top], fill="toself", fillcolor=BAND, mode="none",
        name=label(say("late-for", interval=interval)), hoverinfo="skip", text=[""] * 4,
    )  # fmt: skip
    chart.add_scatter(
        x=xs, y=ys, text=told, name=label(say("takes", interval=interval)), mode="lines",
        line={"color": ALARM, "width": 2}, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    chart.add_scatter(
        x=xs, y=[y * (1 - ADVISED_MARGIN) for y in ys], name=label(say("half-free")), mode="lines",
        text=told, line={"color": MUTED, "width": 1.5, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip


def _draw_point(chart: go.Figure, phase: Phase, *, late: bool) -> None:
    each, (half, most) = phase.work.record_seconds, _spread(phase)
    name = say("phase", since=phase.since, until=phase.until, records=phase.records, interval=phase.interval or 0.0)
    told = label(say("spread", records=phase.records, half=each.p50, most=each.p99, polls=phase.work.polls))
    colour = ALARM if late else INCOMING
    chart.add_scatter(
        x=[phase.records, phase.records], y=[half, most], text=[told, told], name=label(name),
        mode="lines+markers", line={"color": colour, "width": 4}, hovertemplate="%{text}<extra></extra>",
        marker={"size": [13, 8], "symbol": ["x" if late else "circle", "line-ew-open"], "color": colour,
                "line": {"width": 2, "color": colour}},
    )  # fmt: skip


def _spread(phase: Phase) -> tuple[float, float]:
    """Time of the middle record and of the slowest in a hundred; a log that writes 0.0 s may mean a hundredth of it."""
    each = phase.work.record_seconds
    return max(each.p50, each.p99 / 100), each.p99


IN_TIME, LATE = say("in-time"), say("late")
_LOOKS = {
    IN_TIME: {"color": INCOMING, "symbol": "circle", "size": 6, "opacity": 0.75},
    LATE: {"color": ALARM, "symbol": "x", "size": 8, "opacity": 0.75},
}
_STEPS = 8
"""Bars of the distribution for each tenfold."""
_NARROW = 1000
"""Highest by lowest poll from which tens alone are ticks enough."""
_LEAST = 0.001
"""Seconds; shorter polls stand there."""


def poll_times(view: RebalanceView) -> go.Figure:
    """Left each poll when it was done, right the records in polls of each length. Without polls a sentence."""
    if not view.polls:
        return empty(say("no-polls"))
    chart = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.02, column_widths=[0.76, 0.24])
    chart.update_layout(
        template=TEMPLATE,
        height=404,
        margin={"t": 54, "b": 70},
        barmode="overlay",
        legend={"y": -0.24, "yanchor": "top"},
    )
    draw_bands(chart, view.history)
    for name, look in _LOOKS.items():
        own = thinned([poll for poll in view.polls if poll.late == (name == LATE)], value=_seconds)
        told = [(poll.batch.at, _seconds(poll), _words(poll)) for poll in own]
        line(chart, name, told, row=1, mode="markers", marker=look, hovertemplate="%{text}<extra></extra>")
    _draw_counts(chart, view)
    _draw_limits(chart, view.phases)
    low, high = _time_range(view)
    chart.update_yaxes(type="log", range=[log10(low), log10(high)], tickvals=list(ticks(low, high)))
    chart.update_yaxes(
        title_text=label(say("poll-axis")), ticktext=[f"{tick:g}" for tick in ticks(low, high)], row=1, col=1
    )
    chart.update_xaxes(title_text="UTC", row=1, col=1)
    chart.update_xaxes(title_text=label(say("counts-axis")), rangemode="tozero", row=1, col=2)
    return chart


def lengths(view: RebalanceView) -> tuple[tuple[float, int], ...]:
    """(lower end in seconds, records in such polls) of each step of the distribution, those without any too."""
    counts: Counter[int] = Counter()
    for records, seconds in (pair for poll in view.polls for pair in poll.pairs):
        counts[floor(_STEPS * log10(max(seconds, _LEAST)))] += records
    steps = range(min(counts), max(counts) + 1) if counts else ()
    return tuple((10 ** (step / _STEPS), counts[step]) for step in steps)


def ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers between both: tens, and where there are few of them twos and fives too."""
    factors = (1, 2, 5) if high / low < _NARROW else (1,)
    every = [factor * 10.0**power for power in range(-3, 7) for factor in factors]
    return tuple(tick for tick in every if low <= tick <= high)


def limits(phases: Sequence[Phase]) -> list[tuple[float, float, float]]:
    """(since, until, seconds) for each interval that was in force, as far as polls show it."""
    known = sorted({phase.interval for phase in phases if phase.interval is not None})
    own = [(seconds, [phase for phase in phases if phase.interval == seconds]) for seconds in known]
    return [(min(p.since for p in same), max(p.until for p in same), seconds) for seconds, same in own]


def _seconds(poll: Poll) -> float:
    return max(poll.batch.longest_seconds, _LEAST)


def _words(poll: Poll) -> str:
    batch = poll.batch
    return say(
        "poll",
        at=batch.at,
        client=batch.client_id,
        records=batch.longest_records,
        seconds=batch.longest_seconds,
        polls=batch.polls if batch.polls > 1 else None,
        place=f"{batch.source}:{batch.line}",
    )


def _draw_counts(chart: go.Figure, view: RebalanceView) -> None:
    steps = lengths(view)
    edges = [*(low for low, _ in steps), steps[-1][0] * 10 ** (1 / _STEPS)]
    told = [
        (count, edge, label(say("count", records=count, low=low, high=high)))
        for (_, count), (low, high) in zip(steps, pairwise(edges), strict=True)
        for edge in (low, high)
    ]
    xs, ys, texts = zip((0, edges[0], ""), *told, (0, edges[-1], ""), strict=True)
    chart.add_scatter(
        x=xs, y=ys, text=texts, name=label(say("records")), mode="lines", fill="tozerox",
        line={"color": INCOMING, "width": 1}, showlegend=False, hovertemplate="%{text}<extra></extra>", row=1, col=2,
    )  # fmt: skip


def _draw_limits(chart: go.Figure, phases: Sequence[Phase]) -> None:
    for since, until, seconds in limits(phases):
        limit = say("limit", interval=seconds)
        look = {"color": INK, "width": 2, "dash": "dash"}
        line(chart, limit, [(since, seconds, limit), (until, seconds, limit)], row=1, line=look)
        chart.add_hline(y=seconds, line=look, row=1, col=2)
    if not limits(phases):
        chart.add_annotation(
            text=label(say("no-limit")), x=0, xref="paper", y=1, yref="paper",
            xanchor="left", yanchor="bottom", showarrow=False, font={"color": MUTED, "size": 11},
        )  # fmt: skip


def _time_range(view: RebalanceView) -> tuple[float, float]:
    """All polls and all limits, with a little room."""
    known = [seconds for poll in view.polls for _, seconds in poll.pairs]
    allowed = [poll.interval for poll in view.polls if poll.interval is not None]
    return max(_LEAST, min(known)) / 1.5, max([*known, *allowed, _LEAST]) * 1.8


_MOST_THREADS = 32
_ROOM = 10
"""By how much sliders reach beyond what was."""


def poll_sliders(start: ReplayAnswer | None, again: Callable[[Sequence[str]], ReplayAnswer | None]) -> Any:
    """Sliders, from what was, above the table that *again* answers; a sentence where there is nothing to replay."""
    if start is None:
        return said(say("no-replay"))
    if not has_widgets():
        return said(NO_WIDGETS)
    import ipywidgets as widgets

    was = start.fit_before
    longest = _ROOM * max(was.interval_seconds, was.poll_seconds)

    def draw(records: int, interval: float, threads: int) -> None:
        pairs = (f"max.poll.records={records}", f"max.poll.interval.ms={round(1000 * interval)}", f"threads={threads}")
        display(trial(again(pairs)))  # type: ignore[no-untyped-call]

    return sliders(
        draw,
        records=("max.poll.records", widgets.IntSlider(was.records, 1, _ROOM * was.records)),
        interval=(say("interval"), widgets.FloatSlider(was.interval_seconds, min=1, max=longest, step=0.5)),
        threads=(say("threads"), widgets.IntSlider(was.threads, 1, _MOST_THREADS)),
    )
