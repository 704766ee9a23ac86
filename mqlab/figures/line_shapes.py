"""Which lines fill the log? Bytes per minute by shape of line, with the moment at which it began to explode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.facts import Facts
from mqlab.figures.style import ALARM, MUTED, RUNS, empty, figure, label, time
from mqlab.findings import Finding
from mqlab.logs import floods
from mqlab.rows import Minute, Volume
from mqlab.units import clock, size

_FEW = 3
_MOST_COLUMNS = 400
_MINUTE = 60
_NAME = 60


@dataclass(frozen=True, slots=True)
class Band:
    """Bytes of one shape, or of all others, per column of so many ``seconds``."""

    name: str
    points: tuple[tuple[float, int], ...]
    seconds: int


def line_shapes(facts: Facts, finding: Finding | None = None) -> go.Figure:
    """Columns of the finding's log, else of the largest one: its three loudest shapes and the rest on top of them."""
    log = log_of(facts, finding)
    if log is None:
        return empty("No log of a megabyte or more whose lines write their moment.")
    bands = line_shape_points(log)
    chart = figure(340)
    for place, band in enumerate(bands):
        rest = place == len(bands) - 1
        chart.add_bar(
            x=[time(at + band.seconds / 2) for at, _ in band.points], y=[count / 1e6 for _, count in band.points],
            text=[size(count) for _, count in band.points], textposition="none", name=label(band.name),
            width=band.seconds * 1000, marker={"color": MUTED if rest else RUNS[place], "line": {"width": 0}},
            hovertemplate="%{x|%H:%M} %{text}",
        )  # fmt: skip
    if finding is not None and finding.started_at is not None:
        onset = finding.started_at.timestamp()
        chart.add_vline(x=time(onset), line={"color": ALARM, "width": 1.5, "dash": "dot"})
        chart.add_annotation(
            x=time(onset), y=1, yref="paper", text=f"since {clock(onset)}", showarrow=False, xanchor="right",
            font={"color": ALARM},
        )  # fmt: skip
    chart.update_layout(barmode="stack", bargap=0, legend={"orientation": "v", "y": -0.22, "yanchor": "top"})
    chart.update_yaxes(title_text=f"MB per {_unit(bands[0].seconds)}", rangemode="tozero")
    chart.update_xaxes(title_text=f"{label(log.source)}, UTC")
    return chart


def log_of(facts: Facts, finding: Finding | None) -> Volume | None:
    """The log that the finding is about, else the largest whose shapes are known."""
    known = [log for files in floods.logs(facts.volumes) if (log := floods.joined(files)).shapes and log.minutes]
    own = [log for log in known if finding is not None and log.source == finding.subject]
    return next(iter(own or sorted(known, key=lambda log: (-log.bytes, log.source))), None)


def line_shape_points(log: Volume) -> tuple[Band, ...]:
    """The loudest shapes, then everything else; columns are minutes, or longer where there would be too many."""
    span = log.minutes[-1].at - log.minutes[0].at
    width = max(1, -(-int(span) // (_MINUTE * _MOST_COLUMNS))) * _MINUTE
    chosen = sorted(log.shapes, key=lambda s: -s.bytes)[:_FEW]
    bands = [Band(s.shape.strip()[:_NAME], _columns(s.minutes, width), width) for s in chosen]
    left = dict(_columns(log.minutes, width))
    for band in bands:
        for at, count in band.points:
            left[at] -= count
    return (*bands, Band("everything else", tuple(left.items()), width))


def _columns(minutes: Sequence[Minute], width: int) -> tuple[tuple[float, int], ...]:
    columns: dict[float, int] = {}
    for minute in minutes:
        column = minute.at // width * width
        columns[column] = columns.get(column, 0) + minute.bytes
    return tuple(columns.items())


def _unit(seconds: int) -> str:
    minutes = seconds // _MINUTE
    return "minute" if minutes == 1 else f"{minutes} minutes"
