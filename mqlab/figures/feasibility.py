"""Is it possible at all? Records of a poll against the time of one record, and the line beyond which polls are late."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

import plotly.graph_objects as go

from mqlab.figures.style import ALARM, BAND, INCOMING, MUTED, empty, figure, label
from mqlab.models.polling import ADVISED_MARGIN
from mqlab.rebalances.view import Phase, RebalanceView
from mqlab.units import clock, counted, duration

_MOST_RECORDS = 10_000


def feasibility(view: RebalanceView) -> go.Figure:
    """A point with its spread for each pair of settings, and a line for each interval. Without polls a sentence."""
    phases = [phase for phase in view.phases if phase.interval is not None and phase.work.record_seconds.p99 > 0]
    if not phases:
        return empty("Whether a poll can be in time is not known: the time of a poll or the interval is not told.")
    chart = figure(400)
    low, high = _range(phases)
    for interval in sorted({phase.interval or 0.0 for phase in phases}):
        _draw_line(chart, interval, most=10 ** high[0], top=10 ** high[1])
    for phase in phases:
        _draw_point(chart, phase, late=not fits(phase))
    chart.update_xaxes(type="log", range=[low[0], high[0]], title_text="records of one poll (max.poll.records)")
    ticks = [factor * 10.0**power for power in range(-7, 5) for factor in (1, 2, 5)]
    chart.update_yaxes(
        type="log", range=[low[1], high[1]], title_text="time of one record", tickvals=ticks,
        ticktext=[_short(tick) for tick in ticks],
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
    words = [f"{counted(round(x), 'record')} of {_short(y)}: {duration(interval)} in all" for x, y in each]
    chart.add_scatter(
        x=[*xs, xs[-1], xs[0]], y=[*ys, top, top], fill="toself", fillcolor=BAND, mode="none",
        name=f"too late for {duration(interval)}", hoverinfo="skip", text=[""] * 4,
    )  # fmt: skip
    chart.add_scatter(
        x=xs, y=ys, text=words, name=f"takes {duration(interval)}: all that may pass", mode="lines",
        line={"color": ALARM, "width": 2}, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    chart.add_scatter(
        x=xs, y=[y * (1 - ADVISED_MARGIN) for y in ys], name="half of it stays free", mode="lines",
        text=words, line={"color": MUTED, "width": 1.5, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip


def _draw_point(chart: go.Figure, phase: Phase, *, late: bool) -> None:
    each, (half, most) = phase.work.record_seconds, _spread(phase)
    allowed = f"{counted(phase.records, 'record')}, {duration(phase.interval or 0.0)}"
    name = f"{clock(phase.since)} to {clock(phase.until)}: {allowed}"
    words = label(
        f"{counted(phase.records, 'record')}, half take {_short(each.p50)}, 99 % at most {_short(each.p99)}; "
        f"{counted(phase.work.polls, 'poll')}"
    )
    colour = ALARM if late else INCOMING
    chart.add_scatter(
        x=[phase.records, phase.records], y=[half, most], text=[words, words], name=label(name),
        mode="lines+markers", line={"color": colour, "width": 4}, hovertemplate="%{text}<extra></extra>",
        marker={"size": [13, 8], "symbol": ["x" if late else "circle", "line-ew-open"], "color": colour,
                "line": {"width": 2, "color": colour}},
    )  # fmt: skip


def _spread(phase: Phase) -> tuple[float, float]:
    """Time of the middle record and of the slowest in a hundred; a log that writes 0.0 s may mean a hundredth of it."""
    each = phase.work.record_seconds
    return max(each.p50, each.p99 / 100), each.p99


def _short(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{float(f'{seconds * factor:.3g}'):g} {unit}"
    return f"{seconds * 1e6:.2g} µs"
