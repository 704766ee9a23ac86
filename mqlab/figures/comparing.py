"""Two captures on one time axis that counts from their onsets, and the incidents of a team over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.figures.style import (
    ALARM,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    Bar,
    empty,
    label,
    lane_axis,
    line,
    panels,
    time,
)
from mqlab.figures.timeline import Waiting, event_lanes, kept_points, lag_points
from mqlab.shared import counters, flows
from mqlab.units import number, rate, size
from mqlab.words import listed, room

say = room("comparing-figures")

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Strand:
    """One of the captures: its name, what it tells, and the moment from which it is counted."""

    name: str
    facts: Facts
    diagnosis: Diagnosis
    origin: float

    def minutes(self, at: float) -> float:
        """Minutes after its onset."""
        return round((at - self.origin) / 60, 4)


_LOOKS = ((INCOMING, "solid"), (OUTGOING, "dash"))
"""Colour and dash of each of the two."""
_RATES = ("mqtt.publish_received", "mqtt.messages_received", "producer.record_sends")


def aligned(strands: Sequence[Strand]) -> go.Figure:
    """What came in, what waited, and a row of marks for each kind of event and capture, counted from the onset."""
    rates = _rates(strands)
    waiting = [_waiting(strand.facts) for strand in strands]
    lanes = _lanes(strands)
    weights = {
        "rate": 1.6 if any(rates.values()) else 0.0,
        "waiting": 1.4 if any(waiting) else 0.0,
        "lanes": 0.3 * len(lanes) if lanes else 0.0,
    }
    drawn = [name for name, weight in weights.items() if weight]
    if not drawn:
        return empty(say("undated"))
    height = 60 + 150 * ("rate" in drawn) + 130 * ("waiting" in drawn) + 24 * len(lanes)
    chart = panels(height, *(weights[name] for name in drawn), margin={"l": 8, "r": 8, "t": 30, "b": 36})
    for number_, (strand, (colour, dash)) in enumerate(zip(strands, _LOOKS, strict=True)):
        look: dict[str, Any] = {"line": {"color": colour, "dash": dash}, "hovertemplate": _hover()}
        if points := rates[strand.name]:
            line(chart, say("came-in", capture=strand.name), points, row=1, axis=strand.minutes, **look)
        if own := waiting[number_]:
            told = [(at, round(behind), number(round(behind))) for at, behind in own[1]]
            row = drawn.index("waiting") + 1
            name = say("of-capture", capture=strand.name, what=own[0])
            line(chart, name, told, row=row, axis=strand.minutes, **look)
    for title, panel in ((say("rate-axis"), "rate"), (say("waiting-axis"), "waiting")):
        if panel in drawn:
            row = drawn.index(panel) + 1
            chart.update_yaxes(rangemode="tozero", title_text=label(title), nticks=4, row=row, col=1)
    if lanes:
        _draw_lanes(chart, lanes, drawn.index("lanes") + 1)
    chart.add_vline(x=0, line={"color": ALARM, "width": 1.2, "dash": "dot"})
    return chart.update_xaxes(title_text=label(say("minutes")), row=len(drawn), col=1)


def _hover() -> str:
    return label(say("then")) + "<extra></extra>"


def _rates(strands: Sequence[Strand]) -> Mapping[str, Sequence[tuple[float, float, str]]]:
    """What came in a second, by the first way to count it that all strands have."""
    pieces = {s.name: [(p.since, p.until, p.came_in or 0.0) for p in flows.flows(s.facts)] for s in strands}
    counts = [{s.name: counters.summed(s.facts.named(name)) for s in strands} for name in _RATES]
    told = next((own for own in (pieces, *counts) if all(own.values())), dict.fromkeys(pieces, ()))
    words: Callable[[float], str] = _bytes if told is pieces else rate
    return {name: [(b, v / (b - a), words(v / (b - a))) for a, b, v in own if b > a] for name, own in told.items()}


def _bytes(per_second: float) -> str:
    return f"{size(per_second)}/s"


def _waiting(facts: Facts) -> tuple[str, Points] | None:
    """What waited most, for a group or as kept by a broker."""
    lag: Waiting = {say("lag", group=group): points for group, points in lag_points(facts).items()}
    return next(iter((lag or kept_points(facts)).items()), None)


_Lanes = Mapping[str, Sequence[tuple[str, str, Strand, Sequence[Bar]]]]
"""By lane: symbol, colour, whose it is, and its marks."""


def _lanes(strands: Sequence[Strand]) -> _Lanes:
    """Rows of marks, those of one kind below each other."""
    found: dict[str, dict[str, list[tuple[str, str, Strand, Sequence[Bar]]]]] = defaultdict(lambda: defaultdict(list))
    for strand, (colour, _) in zip(strands, _LOOKS, strict=True):
        for (lane, symbol, _), bars in event_lanes(strand.facts, strand.diagnosis).items():
            found[lane][strand.name].append((symbol, colour, strand, bars))
    return {say("lane", lane=lane, capture=name): marks for lane, own in found.items() for name, marks in own.items()}


def _draw_lanes(chart: go.Figure, lanes: _Lanes, row: int) -> None:
    for lane, marks in lanes.items():
        for symbol, colour, strand, bars in marks:
            chart.add_scatter(
                x=[x for bar in bars for x in (strand.minutes(bar.since), strand.minutes(bar.until), None)],
                y=[y for _ in bars for y in (label(lane), label(lane), None)],
                text=[text for bar in bars for text in (label(bar.words), label(bar.words), None)],
                name=label(lane), mode="lines+markers", line={"color": colour, "width": 3}, showlegend=False,
                marker={"symbol": symbol, "size": 9, "color": colour, "line": {"width": 2, "color": colour}},
                hovertemplate=_hover(), row=row, col=1,
            )  # fmt: skip
    order = [label(lane) for lane in lanes]
    chart.update_yaxes(
        categoryorder="array", categoryarray=order[::-1], showgrid=False, dtick=1, tickfont_size=11, row=row, col=1
    )


# -- incidents of a team ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mark:
    """One incident: when, of which class, how it is drawn, and how long until people had it in hand."""

    at: float
    incident: str
    severity: str
    words: str
    seconds: tuple[tuple[str, float], ...] = ()
    """(``detect``, ``mitigate`` or ``resolve``, how long after the onset)."""


_SEVERITIES = {"critical": (ALARM, "circle"), "warning": (OUTGOING, "diamond"), "": (MUTED, "circle-open")}
_TIMES = {"detect": ("triangle-up", INCOMING), "mitigate": ("circle", LAG), "resolve": ("square", INK)}


def history(marks: Sequence[Mark], repeats: Sequence[Sequence[Mark]] = ()) -> go.Figure:
    """Classes over time, the most frequent on top; repeats of one cause are joined; below, how long people took."""
    if not marks:
        return empty(say("no-dates"))
    often = Counter((mark.incident, bool(mark.severity)) for mark in marks)
    lanes = [name for name, _ in sorted(often, key=lambda lane: (not lane[1], -often[lane], lane))]
    lanes = list(dict.fromkeys(lanes))
    timed = any(mark.seconds for mark in marks)
    high = 46 + 24 * len(lanes)
    weights = (high, 150) if timed else (high,)
    chart = panels(sum(weights) + 60, *weights, margin={"l": 8, "r": 8, "t": 34, "b": 36})
    for series in repeats:
        chart.add_scatter(
            x=[time(mark.at) for mark in series], y=[label(mark.incident) for mark in series], mode="lines",
            line={"color": MUTED, "width": 2}, name=label(say("repeated", times=len(series))), hoverinfo="skip",
            showlegend=False, row=1, col=1,
        )  # fmt: skip
    for severity, (colour, symbol) in _SEVERITIES.items():
        own = [mark for mark in marks if mark.severity == severity]
        name = severity or say("no-incident")
        _scatter(chart, 1, name, colour, symbol, [(m.at, label(m.incident), m.words) for m in own])
    lane_axis(chart, lanes)
    chart.update_xaxes(title_text=None)
    if timed:
        for step, (symbol, colour) in _TIMES.items():
            told = [
                (mark.at, seconds / 60, listed((mark.words, say("took", step=step, seconds=seconds)), "\n"))
                for mark in marks
                for what, seconds in mark.seconds
                if what == step
            ]
            _scatter(chart, 2, say("time-to", step=step), colour, symbol, told)
        chart.update_yaxes(
            type="log", title_text=label(say("minutes")), categoryorder=None, categoryarray=None, dtick=1,
            autorange=True, range=None, row=2, col=1,
        )  # fmt: skip
    return chart.update_xaxes(title_text="UTC", row=len(weights), col=1)


def _scatter(
    chart: go.Figure, row: int, name: str, colour: str, symbol: str, told: Sequence[tuple[float, str | float, str]]
) -> None:
    if told:
        chart.add_scatter(
            x=[time(at) for at, _, _ in told], y=[y for _, y, _ in told], text=[label(words) for _, _, words in told],
            name=label(name), mode="markers", hovertemplate="%{text}<extra></extra>",
            marker={"symbol": symbol, "size": 11, "color": colour, "line": {"width": 1.5, "color": colour}},
            row=row, col=1,
        )  # fmt: skip
