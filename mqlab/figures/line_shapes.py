"""Which lines fill the log? Bytes per minute by shape of line, with the moment at which it began to explode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from mqlab.facts import Facts
from mqlab.figures.style import ALARM, MUTED, RUNS, empty, figure, label, time
from mqlab.findings import Finding
from mqlab.logs import floods
from mqlab.rows import Minute, Volume
from mqlab.units import size
from mqlab.words import room

say = room("log-figures")

_FEW = 3
_MOST_COLUMNS = 400
"""Columns that a screen can show."""
_NAME = 60


def line_shapes(facts: Facts, findings: Sequence[Finding] = ()) -> go.Figure:
    """Columns of a log that a finding is about, else of the largest: its three loudest shapes, the rest on top."""
    log = log_of(facts, findings)
    if log is None:
        return empty(say("no-log"))
    finding = next((one for one in findings if one.subject == log.source), None)
    seconds, bands = line_shape_points(log)
    chart = figure(340)
    for (name, columns), colour in zip(bands.items(), [*RUNS[: len(bands) - 1], MUTED], strict=True):
        chart.add_bar(
            x=[time(at + seconds / 2) for at in columns], y=[count / 1e6 for count in columns.values()],
            text=[size(count) for count in columns.values()], textposition="none", name=label(name),
            width=seconds * 1000, marker={"color": colour, "line": {"width": 0}}, hovertemplate="%{x|%H:%M} %{text}",
        )  # fmt: skip
    if finding is not None and finding.started_at is not None:
        onset = time(finding.started_at.timestamp())
        chart.add_vline(x=onset, line={"color": ALARM, "width": 1.5, "dash": "dot"})
        chart.add_annotation(
            x=onset, y=1, yref="paper", text=label(say("since", at=finding.started_at)), showarrow=False,
            xanchor="right", font={"color": ALARM},
        )  # fmt: skip
    chart.update_layout(barmode="stack", bargap=0, legend={"orientation": "v", "y": -0.22, "yanchor": "top"})
    chart.update_yaxes(title_text=label(say("rate", minutes=None if seconds == 60 else seconds // 60)))
    chart.update_yaxes(rangemode="tozero")
    return chart.update_xaxes(title_text=label(say("log", log=log.source)))


def log_of(facts: Facts, findings: Sequence[Finding]) -> Volume | None:
    """The first log that a finding is about, else the largest whose shapes are known."""
    known = [log for files in floods.logs(facts.volumes) if (log := floods.joined(files)).shapes and log.minutes]
    own = [log for one in findings for log in known if log.source == one.subject]
    return next(iter(own or sorted(known, key=lambda log: (-log.bytes, log.source))), None)


def line_shape_points(log: Volume) -> tuple[int, Mapping[str, Counter[float]]]:
    """Seconds of a column, minutes as few as fit; bytes by column of the loudest shapes, then of everything else."""
    span = log.minutes[-1].at - log.minutes[0].at
    width = max(1, -(-int(span) // (60 * _MOST_COLUMNS))) * 60
    chosen = sorted(log.shapes, key=lambda s: -s.bytes)[:_FEW]
    bands: dict[str, Counter[float]] = {}
    for one in chosen:
        bands.setdefault(one.shape.strip()[:_NAME], Counter()).update(_columns(one.minutes, width))
    left = _columns(log.minutes, width)
    for band in bands.values():
        left.subtract(band)
    return width, bands | {say("rest"): left}


def _columns(minutes: Sequence[Minute], width: int) -> Counter[float]:
    columns: Counter[float] = Counter()
    for minute in minutes:
        columns[minute.at // width * width] += minute.bytes
    return columns
