"""Chapter 3: the poll loop, and the edge behind which it commits nothing any more (``models.group_simulation``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import display

from mqlab.figures import drain
from mqlab.figures.style import ALARM, INCOMING, LAG
from mqlab.models.group_course import Course, Log, Member, Outcome, Pace, Settings, rising
from mqlab.models.group_simulation import simulate
from mqlab.models.polling import poll_seconds
from mqlab.training.course.moving import Step, moving
from mqlab.units import counted, duration, number

RECORDS = (100, 200, 300, 350, 400, 500, 1_000)
CAPTION = (
    "Two members, four partitions, a backlog of 4,000 records, 2 records a second coming in, 0.8 s of work for each "
    "record. Above: how long a full poll takes, against max.poll.interval.ms. Below: the lag over two hours; each "
    "cross is a rebalance."
)
_HOUR = 3_600
_SAMPLES = 60


@dataclass(frozen=True, slots=True)
class Trial:
    """The group for two hours."""

    times: tuple[float, ...]
    lags: tuple[int, ...]
    outcome: Outcome


def course(records: int, each: float = 0.8, interval: float = 300.0, until: float = 2 * _HOUR) -> Course:
    """Two members that poll *records* at most, each of which takes *each* seconds."""
    settings = Settings(records=records, interval=interval)
    logs = tuple(Log(("orders", partition), 0, rising([(0.0, 1_000.0)], 0.5)) for partition in range(4))
    members = tuple(Member(f"worker-{member}", settings) for member in (1, 2))
    return Course(0.0, until, logs, members, Pace(((0.0, each),)))


def trial(planned: Course) -> Trial:
    """What becomes of the group, and its lag at moments on the way."""
    times = tuple(planned.until * sample / _SAMPLES for sample in range(1, _SAMPLES + 1))
    lags = tuple(simulate(replace(planned, until=time)).final_lag for time in times)
    return Trial(times, lags, simulate(planned))


def figure(records: Sequence[int] = RECORDS, each: float = 0.8, interval: float = 300.0) -> go.Figure:
    """Time of a poll and lag of the group, for each max.poll.records."""
    drawn = [(most, trial(course(most, each, interval))) for most in records]
    steps = [
        Step(number(most), _words(most, each, interval, found), _traces(most, each, interval, found))
        for most, found in drawn
    ]
    longest = max(interval, *(poll_seconds(most, each) for most in records)) / 60
    highest = max(max(found.lags) for _, found in drawn)
    axes = {
        "xaxis": {"domain": [0, 1], "anchor": "y", "range": [0, 1.08 * longest], "title": "minutes for one full poll"},
        "yaxis": {"domain": [0.84, 1], "type": "category", "range": [-0.5, 0.5], "showticklabels": False},
        "xaxis2": {"anchor": "y2", "range": [0, 120], "title": "minutes"},
        "yaxis2": {"domain": [0, 0.56], "range": [0, 1.08 * highest], "title": "lag, records"},
        "shapes": [
            {"type": "line", "x0": interval / 60, "x1": interval / 60, "yref": "y domain", "y0": -0.1, "y1": 1.1,
             "line": {"color": ALARM, "width": 3}}
        ],
        "annotations": [
            {"x": interval / 60, "y": 1.0, "yref": "y domain", "yanchor": "bottom", "showarrow": False,
             "text": "max.poll.interval.ms", "font": {"color": ALARM, "size": 11}, "yshift": 4,
             "xanchor": "left" if 2 * interval / 60 < longest else "right"}
        ],
        "showlegend": False,
    }  # fmt: skip
    return moving("max.poll.records", steps, axes, 400)


def _traces(most: int, each: float, interval: float, found: Trial) -> tuple[dict[str, Any], ...]:
    takes = poll_seconds(most, each)
    begun = [one.at for one in found.outcome.rebalances]
    lags = [found.lags[min(_SAMPLES - 1, int(at / found.times[-1] * _SAMPLES))] for at in begun]
    minutes = [time / 60 for time in found.times]
    return (
        {"type": "bar", "orientation": "h", "x": [takes / 60], "y": ["poll"], "width": 0.7,
         "marker": {"color": ALARM if takes >= interval else INCOMING}, "name": "a full poll",
         "hovertemplate": f"a full poll takes {duration(takes)}<extra></extra>"},
        {"type": "scatter", "mode": "lines", "x": minutes, "y": list(found.lags), "xaxis": "x2", "yaxis": "y2",
         "line": {"color": LAG, "width": 3}, "name": "lag",
         "hovertemplate": "minute %{x:.0f}: %{y:,d} records wait<extra></extra>"},
        {"type": "scatter", "mode": "markers", "x": [at / 60 for at in begun], "y": lags, "xaxis": "x2", "yaxis": "y2",
         "marker": {"symbol": "x", "size": 6, "color": ALARM},
         "text": [f"{one.cause}: {one.member}" for one in found.outcome.rebalances], "name": "rebalance",
         "hovertemplate": "minute %{x:.0f}: rebalance, %{text}<extra></extra>"},
    )  # fmt: skip


def _words(most: int, each: float, interval: float, found: Trial) -> str:
    takes, after = poll_seconds(most, each), found.outcome
    a_poll = f"{number(most)} × {each:g} s = {takes:g} s"
    if not after.late_polls:
        return f"{a_poll}, below {interval:g} s: no rebalance, {counted(after.handled, 'record')} done in two hours."
    done = "nothing is committed" if not after.commits else f"{after.commits} of {after.polls} polls are committed"
    return (
        f"{a_poll}, above {interval:g} s: {counted(len(after.rebalances), 'rebalance')}, {done}, the same "
        f"{counted(after.repeated, 'record')} are handed out again and again."
    )


def sliders() -> Any:
    """The same with the time of a record and the interval to choose too."""

    def draw(records: int, each_ms: int, interval: int) -> None:
        display(figure((records,), each_ms / 1000, interval))  # type: ignore[no-untyped-call]

    return drain.sliders(
        draw,
        records=("max.poll.records", widgets.IntSlider(500, min=10, max=1_000, step=10)),
        each_ms=("one record takes, ms", widgets.IntSlider(800, min=50, max=2_000, step=50)),
        interval=("max.poll.interval.ms, s", widgets.IntSlider(300, min=30, max=1_200, step=30)),
    )
