"""What does each way to commit cost, measured and expected, and what does a crash leave behind?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.commits.study import NAMES, Study
from mqlab.figures.style import INCOMING, INK, OUTGOING, RUNS, TEMPLATE, empty, figure, label
from mqlab.models.commits import Loop, Way, after_crash, loop_seconds
from mqlab.words import room

say = room("commit-figures")

_STEPS = 60
_WIDEST = 3.0
"""Longest round trip that is drawn, in times of one poll."""


def costs(study: Study) -> go.Figure:
    """Left the time that each way took, right the records again after a crash; lines are what the model expects."""
    if not study.rows:
        return empty(say("nothing"))
    chart = make_subplots(rows=1, cols=2, horizontal_spacing=0.12)
    chart.update_layout(template=TEMPLATE, height=340, margin={"t": 54}, bargap=0.45)
    loop, ways = study.loop, [run.way for run in study.rows if run.way is not None]
    took = {label(NAMES[run.way]): run.seconds for run in study.rows}
    again = {label(NAMES[run.way]): float(run.again) for run in study.rows}
    takes = {label(NAMES[way]): loop_seconds(loop, way) for way in ways} if loop else {}
    may_repeat = {label(NAMES[way]): after_crash(loop, way).again_most for way in ways} if loop else {}
    _bars(chart, 1, say("took"), took, [say("seconds", seconds=value) for value in took.values()])
    _bars(chart, 2, say("again"), again, [say("records", records=value) for value in again.values()])
    _lines(chart, 1, say("expected"), takes, [say("seconds", seconds=value) for value in takes.values()])
    most = [say("at-most", records=round(value)) for value in may_repeat.values()]
    _lines(chart, 2, say("expected-most"), may_repeat, most)
    chart.update_yaxes(title_text=label(say("seconds-axis")), rangemode="tozero", row=1, col=1)
    return chart.update_yaxes(title_text=label(say("again-axis")), rangemode="tozero", row=1, col=2)


def _bars(chart: go.Figure, col: int, name: str, by_way: Mapping[str, float], words: Sequence[str]) -> None:
    chart.add_bar(
        x=list(by_way), y=list(by_way.values()), text=list(map(label, words)), name=label(name),
        marker={"color": (INCOMING, OUTGOING)[col - 1]}, textposition="auto",
        hovertemplate="%{x}: %{text}<extra></extra>", row=1, col=col,
    )  # fmt: skip


def _lines(chart: go.Figure, col: int, name: str, by_way: Mapping[str, float], words: Sequence[str]) -> None:
    if by_way:
        chart.add_scatter(
            x=list(by_way), y=list(by_way.values()), text=list(map(label, words)), name=label(name), mode="markers",
            marker={"color": INK, "symbol": "line-ew-open", "size": 26, "line": {"width": 2}},
            hovertemplate="%{x}: %{text}<extra></extra>", row=1, col=col,
        )  # fmt: skip


def by_round_trip(loop: Loop) -> go.Figure:
    """Seconds of the whole loop for a round trip of a commit between none and three polls; the mark is the loop."""
    longest = _WIDEST * loop.poll_seconds
    trips = [longest * step / _STEPS for step in range(_STEPS + 1)]
    chart = figure(300)
    for colour, way in zip(RUNS, (Way.SYNC, Way.ASYNC), strict=False):
        name = label(say("sync") if way is Way.SYNC else say("other-ways"))
        ys = [loop_seconds(replace(loop, round_trip=trip), way) for trip in trips]
        chart.add_scatter(
            x=[1000 * trip for trip in trips], y=ys, name=name, mode="lines", line={"color": colour, "width": 2},
            text=[label(say("way", way=name, seconds=y)) for y in ys], hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    here = loop_seconds(loop, Way.SYNC)
    told = label(say("here", round_trip=loop.round_trip, seconds=here))
    chart.add_scatter(
        x=[1000 * loop.round_trip], y=[here], name=told, text=[told], mode="markers",
        marker={"color": INK, "size": 9, "symbol": "diamond"}, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    chart.update_xaxes(title_text=label(say("trip-axis")))
    return chart.update_yaxes(title_text=label(say("loop-axis")), rangemode="tozero")
