"""Did traffic change, and when? Bytes in and out with the change point and how exactly it is known."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.facts import Facts, Series
from mqlab.figures.rates import Rate, drawn_rates, rates, traffic_of
from mqlab.figures.style import BAND, INCOMING, OUTGOING, empty, figure, label, time
from mqlab.figures.thinning import thinned
from mqlab.findings import Finding
from mqlab.units import clock, factor, size


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change seen between two samples."""

    text: str
    earliest: float
    latest: float


def traffic(facts: Facts, finding: Finding | None = None) -> go.Figure:
    """Rates in and out of the finding's host; each change lies somewhere in its band."""
    both = traffic_of(facts, finding.ledger.host if finding and finding.ledger else None)
    if both is None or both.outgoing is None or len(both.outgoing.points) < 2:
        return empty("No byte counters in this material: traffic cannot be drawn.")
    chart = figure(340)
    for name, series, colour in (("out", both.outgoing, OUTGOING), ("in", both.incoming, INCOMING)):
        _draw(chart, f"{label(both.host)} {name}", drawn_rates(series), colour)
    for point in change_points(both.outgoing, finding):
        chart.add_vrect(
            x0=time(point.earliest), x1=time(point.latest), fillcolor=BAND, line_width=1, line_color=OUTGOING
        )
        chart.add_annotation(x=time(point.latest), y=1, yref="paper", text=point.text, showarrow=False, xanchor="left")
    chart.update_yaxes(title_text="MB per second", rangemode="tozero")
    chart.update_xaxes(title_text="UTC")
    return chart


def change_points(series: Series, finding: Finding | None) -> tuple[ChangePoint, ...]:
    """Start and end of the finding, each between the two samples that enclose it."""
    if finding is None:
        return ()
    edges = (("begins", finding.started_at), ("ends", finding.ended_at))
    times = [at for at, _ in series.points]
    return tuple(
        ChangePoint(
            f"{word} {clock(moment)}",
            max((at for at in times if at <= moment.timestamp()), default=moment.timestamp()),
            min((at for at in times if at >= moment.timestamp()), default=moment.timestamp()),
        )
        for word, moment in edges
        if moment is not None
    )


def ratio_points(facts: Facts, host: str | None) -> tuple[tuple[float, float], ...]:
    """Bytes out per byte in, for each interval in which something came in."""
    both = traffic_of(facts, host)
    if both is None:
        return ()
    came_in = {rate.at: rate.value for rate in rates(both.incoming) if rate.value > 0}
    ratios = [(rate.at, rate.value / came_in[rate.at]) for rate in rates(both.outgoing) if rate.at in came_in]
    return thinned(ratios, value=lambda point: point[1])


def ratio(facts: Facts, finding: Finding | None = None) -> go.Figure:
    """Bytes out per byte in over time, with the level before the incident."""
    points = ratio_points(facts, finding.ledger.host if finding and finding.ledger else None)
    if not points:
        return empty("Bytes in and bytes out of one host are not both known: there is no ratio.")
    chart = figure(240)
    chart.add_scatter(
        x=[time(at) for at, _ in points], y=[value for _, value in points], text=[factor(value) for _, value in points],
        mode="lines+markers", line_shape="vh", line_color=OUTGOING, name="out / in",
        hovertemplate="%{x|%H:%M:%S} %{text}",
    )  # fmt: skip
    if finding and finding.ledger and finding.ledger.factor_before:
        before = finding.ledger.factor_before
        chart.add_hline(y=before, line_dash="dot", line_color=INCOMING, annotation_text=f"before: {factor(before)}")
    chart.update_yaxes(title_text="out / in", type="log")
    chart.update_xaxes(title_text="UTC")
    return chart


def _draw(chart: go.Figure, name: str, points: tuple[Rate, ...], colour: str) -> None:
    if points:
        chart.add_scatter(
            x=[time(points[0].since), *(time(rate.at) for rate in points)],
            y=[rate.value / 1e6 for rate in (points[0], *points)],
            text=[f"{size(rate.value)}/s" for rate in (points[0], *points)],
            mode="lines", line_shape="vh", name=name, line_color=colour, hovertemplate="%{x|%H:%M:%S} %{text}",
        )  # fmt: skip
