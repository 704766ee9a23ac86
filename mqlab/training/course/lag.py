"""Chapter 1: a backlog, and how fast a group works it off.

Nobody reads for a while, then the group is back at a pace that the learner sets; the arithmetic is that of
``models.draining``, the age of the oldest unread record and Burrow's verdict that of ``models.lag``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures import drain
from mqlab.figures.style import LAG, OUTGOING
from mqlab.models.draining import course
from mqlab.models.lag import INTERVALS, Commit, partition, time_lag
from mqlab.training.course.moving import Step, moving
from mqlab.units import duration, number

PACES = (500, 800, 1_000, 1_200, 1_500, 2_000, 4_000)
CAPTION = (
    "Records that wait in one partition (above) and the age of the oldest of them (below). Nobody reads for ten "
    "minutes while 1,000 records a second come in; then one consumer reads at the pace of the slider, without a pause."
)
_MINUTE = 60
_LENGTH = 60 * _MINUTE
_GRAIN = 30


@dataclass(frozen=True, slots=True)
class Backlog:
    """What becomes of it, by seconds."""

    times: tuple[int, ...]
    lags: tuple[float, ...]
    ages: tuple[float, ...]
    """Seconds that the oldest record that waits has waited."""
    gone: float
    """Seconds from the return until nothing waits; infinite where that never comes."""
    burrow: str
    """Burrow's word for it at the end."""


def backlog(pace: float, inflow: float = 1_000, away: int = 10 * _MINUTE, until: int = _LENGTH) -> Backlog:
    """The backlog of one partition that nobody reads for *away* seconds."""
    waited = course(0.0, 0.0, [0.0], [inflow])
    back = course(pace, pace, [waited.at(away)], [inflow])
    times = tuple(range(0, until + 1, _GRAIN))
    lags = tuple(waited.at(t) if t <= away else max(0.0, back.at(t - away)) for t in times)
    history = [(float(t), round(inflow * t)) for t in times]
    ages = []
    for t, lag in zip(times, lags, strict=True):
        age = time_lag(history, round(inflow * t - lag), t)
        ages.append(age.likely or 0.0 if age else 0.0)
    commits = [Commit(t, round(inflow * t - lag), round(lag)) for t, lag in zip(times, lags, strict=True) if t > away]
    kept, ends = commits[-INTERVALS:], [end for _, end in history[-INTERVALS:]]
    burrow = str(partition(kept, ends, until).status) if kept else "STOP"
    return Backlog(times, lags, tuple(ages), back.reached(0.0), burrow)


def figure(
    paces: Sequence[float] = PACES, inflow: float = 1_000, away: int = 10 * _MINUTE, until: int = _LENGTH
) -> go.Figure:
    """The backlog over an hour, for each of *paces*."""
    drawn = [(pace, backlog(pace, inflow, away, until)) for pace in paces]
    steps = [Step(number(pace), _words(pace, inflow, one), _traces(one)) for pace, one in drawn]
    most = max(max(one.lags) for _, one in drawn)
    oldest = max(max(one.ages) for _, one in drawn) / _MINUTE
    axes = {
        "xaxis": {"anchor": "y2", "title": "minutes since reading stopped", "range": [0, until / _MINUTE]},
        "yaxis": {"domain": [0.46, 1], "title": "records that wait", "range": [0, 1.08 * most]},
        "yaxis2": {"domain": [0, 0.38], "title": "oldest, minutes", "range": [0, 1.08 * oldest]},
        "showlegend": False,
    }
    return moving("The consumer reads, records a second", steps, axes, 380)


def _words(pace: float, inflow: float, one: Backlog) -> str:
    gap = f"{number(pace)} out − {number(inflow)} in"
    if isinf(one.gone):
        grows = "stays where it is" if pace == inflow else f"grows by {number(inflow - pace)} records every second"
        return f"{gap}: the lag {grows}, for ever. Burrow says {one.burrow}."
    least = f"{gap} = {number(pace - inflow)} a second: the backlog is gone {duration(one.gone)} after the return."
    return f"{least} Burrow says {one.burrow}."


def _traces(one: Backlog) -> tuple[dict[str, Any], ...]:
    minutes = [t / _MINUTE for t in one.times]
    look = {"type": "scatter", "mode": "lines", "x": minutes}
    return (
        {**look, "y": list(one.lags), "line": {"color": LAG, "width": 3}, "fill": "tozeroy", "name": "lag",
         "hovertemplate": "minute %{x}: %{y:,.0f} records wait<extra></extra>"},
        {**look, "y": [age / _MINUTE for age in one.ages], "yaxis": "y2", "line": {"color": OUTGOING, "width": 3},
         "name": "age of the oldest", "hovertemplate": "minute %{x}: the oldest waits %{y:.1f} min<extra></extra>"},
    )  # fmt: skip


def sliders() -> Any:
    """The same with the inflow and the outage to choose too."""

    def draw(pace: int, inflow: int, away: int) -> None:
        display(figure((pace,), inflow, away * _MINUTE, 2 * _LENGTH))  # type: ignore[no-untyped-call]

    return drain.sliders(
        draw,
        pace=("read, records/s", widgets.IntSlider(1_500, min=100, max=5_000, step=100)),
        inflow=("come in, records/s", widgets.IntSlider(1_000, min=100, max=5_000, step=100)),
        away=("nobody reads for, minutes", widgets.IntSlider(10, min=1, max=60)),
    )
