"""What does a way to commit cost, and what does a crash leave? Each way beside the others, measured and expected."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.commits.study import NAMES, Study
from mqlab.figures.style import INCOMING, INK, OUTGOING, RUNS, TEMPLATE, empty, figure
from mqlab.models.commits import Loop, Way, after_crash, loop_seconds
from mqlab.units import brief, digits, number

_STEPS = 60
_WIDEST = 3.0
"""Longest round trip that is drawn, in times of one poll."""


def costs(study: Study) -> go.Figure:
    """Left the time that each way took, right the records again after a crash; lines are what the model expects."""
    if not study.rows:
        return empty("Nothing was measured.")
    chart = make_subplots(rows=1, cols=2, horizontal_spacing=0.12)
    chart.update_layout(template=TEMPLATE, height=340, margin={"l": 8, "r": 8, "t": 54, "b": 40}, bargap=0.45)
    names = [NAMES[run.way] for run in study.rows]
    seconds = [run.seconds for run in study.rows]
    again = [run.again for run in study.rows]
    _bars(chart, 1, (names, seconds), "took", [f"{digits(s)} s" for s in seconds])
    _bars(chart, 2, (names, again), "handed out again", [number(n) for n in again])
    loop = study.loop
    if loop is not None:
        ways = [run.way for run in study.rows if run.way is not None]
        _expected(chart, 1, ways, [loop_seconds(loop, way) for way in ways])
        _expected(chart, 2, ways, [after_crash(loop, way).again_most for way in ways])
    chart.update_yaxes(title_text="seconds until all is worked off", rangemode="tozero", row=1, col=1)
    chart.update_yaxes(title_text="records again after a crash", rangemode="tozero", row=1, col=2)
    return chart


def by_round_trip(loop: Loop) -> go.Figure:
    """Seconds of the whole loop for a round trip of a commit between none and three polls; the mark is the loop."""
    longest = _WIDEST * loop.poll_seconds
    trips = [longest * step / _STEPS for step in range(_STEPS + 1)]
    chart = figure(300)
    for colour, way in zip(RUNS, (Way.SYNC, Way.ASYNC), strict=False):
        name = "sync" if way is Way.SYNC else "async, mixed, automatic"
        ys = [loop_seconds(_with(loop, trip), way) for trip in trips]
        chart.add_scatter(
            x=[1000 * trip for trip in trips], y=ys, name=name, mode="lines", line={"color": colour, "width": 2},
            text=[f"{name}: {digits(y)} s" for y in ys], hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    here = loop_seconds(loop, Way.SYNC)
    words = f"here: {brief(loop.round_trip)}, sync {digits(here)} s"
    chart.add_scatter(
        x=[1000 * loop.round_trip], y=[here], name=words, text=[words], mode="markers",
        marker={"color": INK, "size": 9, "symbol": "diamond"}, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    chart.update_xaxes(title_text="round trip of one commit, ms").update_yaxes(title_text="s", rangemode="tozero")
    return chart


def _with(loop: Loop, trip: float) -> Loop:
    return Loop(loop.records, loop.poll_records, loop.poll_seconds, trip, loop.interval)


def _bars(
    chart: go.Figure, place: int, points: tuple[Sequence[str], Sequence[float]], name: str, told: list[str]
) -> None:
    colour = INCOMING if place == 1 else OUTGOING
    chart.add_bar(
        x=list(points[0]), y=list(points[1]), text=told, name=name, marker={"color": colour}, textposition="auto",
        hovertemplate="%{x}: %{text}<extra></extra>", row=1, col=place,
    )  # fmt: skip


def _expected(chart: go.Figure, place: int, ways: Sequence[Way], ys: Sequence[float]) -> None:
    name = "expected" if place == 1 else "with mean answers, at most"
    told = [f"{digits(y)} s" if place == 1 else f"at most {number(round(y))}" for y in ys]
    chart.add_scatter(
        x=[NAMES[way] for way in ways], y=list(ys), text=told, name=name, mode="markers",
        marker={"color": INK, "symbol": "line-ew-open", "size": 26, "line": {"width": 2}},
        hovertemplate="%{x}: %{text}<extra></extra>", row=1, col=place,
    )  # fmt: skip
