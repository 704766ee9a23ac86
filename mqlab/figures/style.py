"""What all figures are drawn with: one look, lines and bars over time, and the table that stands behind a figure.

Colours can be told apart by the colour-blind, the time axis is in UTC, names from the material are shown and not
followed, and of very many points the extremes stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import unescape
from typing import Any, TypeVar

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from mqlab.languages import said
from mqlab.units import is_dateless, iso
from mqlab.words import listed, room

say = room("figures")

INCOMING = "#0072b2"
OUTGOING = "#d55e00"
LAG = "#6a51a3"
INK = "#1f2a37"
MUTED = "#5b6675"
GRID = "#e6e9ee"
BAND = "rgba(213, 94, 0, 0.10)"
GAP = "rgba(91, 102, 117, 0.22)"
ALARM = "#a3161f"
CHANGE = "#00695c"
DARK = {
    INK: "#e4e9f0", MUTED: "#a3adba", GRID: "#333d4a", "#ffffff": "#151a21", INCOMING: "#56a9e8", OUTGOING: "#f0803c",
    LAG: "#b39ddb", ALARM: "#ff8a80", CHANGE: "#5cc8b6", BAND: "rgba(240, 128, 60, 0.18)",
    GAP: "rgba(163, 173, 186, 0.22)",
}  # fmt: skip
"""What a figure's colours become where the reader's screen is dark."""
RUNS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")

_FONTS = (
    "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', "
    "sans-serif"
)
"""Those of a page; the last three have Chinese characters."""
TEMPLATE = go.layout.Template(
    layout=go.Layout(
        font={"family": _FONTS, "size": 12, "color": INK},
        colorway=list(RUNS),
        paper_bgcolor="#ffffff",
        plot_bgcolor="#ffffff",
        margin={"l": 64, "r": 16, "t": 28, "b": 36},
        hovermode="closest",
        hoverlabel={"bgcolor": "#ffffff", "bordercolor": MUTED, "font": {"color": INK}, "align": "left"},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 11}},
        xaxis={"gridcolor": GRID, "linecolor": MUTED, "zeroline": False, "ticks": "outside", "tickcolor": GRID,
               "automargin": True, "title": {"standoff": 4}},
        yaxis={"gridcolor": GRID, "zeroline": False, "automargin": True, "title": {"standoff": 8}},
    )
)  # fmt: skip


def figure(height: int = 320) -> go.Figure:
    """A blank figure in the common look."""
    return go.Figure(layout={"template": TEMPLATE, "height": height})


def panels(height: int, *weights: float, **layout: object) -> go.Figure:
    """Blank panels of these heights, from the top, above one time axis."""
    chart = make_subplots(
        rows=len(weights), cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=list(weights)
    )
    chart.update_layout(template=TEMPLATE, height=height, **layout)
    return chart.update_xaxes(title_text="UTC", row=len(weights), col=1)


def empty(sentence: str, height: int = 120) -> go.Figure:
    """A figure that says why it shows nothing."""
    blank = figure(height)
    blank.update_xaxes(visible=False).update_yaxes(visible=False)
    blank.add_annotation(text=label(sentence), showarrow=False, font={"color": MUTED, "size": 13})
    return blank


def label(text: str) -> str:
    """A text in the language that is spoken; plotly reads some HTML in labels, so mark-up is shown, not followed."""
    return said(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")


def time(at: float) -> str:
    """A moment for the time axis; plotly shows it as it stands, so it stands in UTC."""
    return (iso(at) or "").removesuffix("Z")


def cut(text: str, longest: int = 46) -> str:
    """*text*, its middle left out where it is long: the ends of ids tell them apart."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


_Point = TypeVar("_Point")

MOST_POINTS = 1000
"""About as many as a figure has pixels across."""
MOST_MARKS = 300


def line(
    chart: go.Figure,
    name: str,
    points: Iterable[tuple[float, float, str]],
    *,
    row: int | None = None,
    axis: Callable[[float], str | float] = time,
    **look: object,
) -> None:
    """Draw (moment, value, words), the moment as *axis* has it; nothing where there are none."""
    kept = thinned(list(points), value=lambda point: point[1])
    if kept:
        looks = {"mode": "lines", "hovertemplate": "%{x|%H:%M:%S} %{text}<extra></extra>"} | look
        chart.add_scatter(
            x=[axis(at) for at, _, _ in kept], y=[value for _, value, _ in kept], text=[label(t) for _, _, t in kept],
            name=label(name), row=row, col=row and 1, **looks,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that lasts, in its lane: a connection, a life of a member, the time of a leader."""

    lane: str
    kind: str
    since: float
    until: float
    words: str


def segments(bars: Sequence[Bar]) -> Mapping[str, list[str | None]]:
    """Bars as one trace, with a gap after each."""
    return {
        "x": [at for bar in bars for at in (time(bar.since), time(bar.until), None)],
        "y": [at for bar in bars for at in (label(bar.lane), label(bar.lane), None)],
        "text": [at for bar in bars for at in (label(bar.words), label(bar.words), None)],
    }


def draw_lanes(
    chart: go.Figure, bars: Sequence[Bar], looks: Mapping[str, tuple[str, str, int]], order: Sequence[str]
) -> None:
    """Bars in lanes of this *order*, from the top; *looks* are the words, the colour and the width of each kind."""
    for kind, (words, colour, width) in looks.items():
        if own := [bar for bar in bars if bar.kind == kind and bar.lane in order]:
            chart.add_scatter(
                **segments(own), name=label(words), legendgroup=kind, mode="lines",
                line={"color": colour, "width": width}, hovertemplate="%{y}<br>%{text}<extra></extra>",
            )  # fmt: skip
    lane_axis(chart, order)


def lane_axis(chart: go.Figure, lanes: Sequence[str]) -> None:
    """Lanes from the top."""
    chart.update_yaxes(
        type="category", categoryorder="array", categoryarray=[label(lane) for lane in reversed(lanes)],
        range=[-0.6, len(lanes) - 0.4], dtick=1, tickfont={"size": 11},
    ).update_xaxes(title_text="UTC")  # fmt: skip


def thinned(points: Sequence[_Point], value: Callable[[_Point], float], most: int = MOST_POINTS) -> tuple[_Point, ...]:
    """At most so many points, first and last among them; of each stretch its lowest and highest stay."""
    if len(points) <= most:
        return tuple(points)
    stretches = max(1, most // 2 - 1)
    kept = {0, len(points) - 1}
    for stretch in range(stretches):
        places = range(stretch * len(points) // stretches, (stretch + 1) * len(points) // stretches)
        kept |= {
            min(places, key=lambda place: value(points[place])),
            max(places, key=lambda place: value(points[place])),
        }
    return tuple(points[place] for place in sorted(kept))


def merged(bars: Sequence[Bar], most: int = MOST_MARKS) -> tuple[Bar, ...]:
    """Bars of one lane by time; of too many, neighbours become one that lasts and says how many it stands for."""
    ordered = sorted(bars, key=lambda bar: (bar.since, bar.until, bar.words))
    if len(ordered) <= most:
        return tuple(ordered)
    reach = (max(bar.until for bar in ordered) - ordered[0].since) / most
    groups: list[list[Bar]] = []
    for bar in ordered:
        if groups and bar.since - groups[-1][0].since < reach:
            groups[-1].append(bar)
        else:
            groups.append([bar])
    return tuple(
        replace(first, until=max(bar.until for bar in (first, *more)),
                words=say("merged", first=first.words, more=len(more)) if more else first.words)
        for first, *more in groups
    )  # fmt: skip


_MOST_ROWS = 300
_BOLD = re.compile("</?b>")
_CLOCK = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Rows of (series, x, y, text), at most 300, one for each point or bar; in the language of the figure."""

    header: tuple[str, str, str, str]
    rows: tuple[tuple[str, str, str, str], ...]
    left_out: int


_Row = tuple[str, str, str, str]


def _every(figure: Mapping[str, Any]) -> list[_Row]:
    return [row for trace in figure.get("data", ()) if trace.get("mode") != "none" for row in _rows(trace)]


def figure_table(figure: Mapping[str, Any]) -> FigureTable:
    """The drawn points and bars of a figure in plotly's JSON form."""
    rows = _every(figure)
    header = (say("series"), _title(figure, "xaxis", "x"), _title(figure, "yaxis", "y"), say("note"))
    return FigureTable(header, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS))


_MOST_SPOKEN = 5


def spoken(figure: Mapping[str, Any]) -> str:
    """What a figure shows, as one sentence for each series: how many points, from when to when, and the highest."""
    series: dict[str, list[_Row]] = {}
    for row in _every(figure):
        series.setdefault(row[0] or _title(figure, "yaxis", "y"), []).append(row)
    told = [_series(name, rows) for name, rows in list(series.items())[:_MOST_SPOKEN]]
    more = [say("more-series", more=len(series) - _MOST_SPOKEN)] if len(series) > _MOST_SPOKEN else []
    return said(listed((*told, *more), " "))


def _series(name: str, rows: Sequence[_Row]) -> str:
    counted = [(float(y), x, text) for _, x, y, text in rows if _NUMBER.fullmatch(y)]
    if not counted and all(_NUMBER.fullmatch(x) for _, x, _, _ in rows):
        return say("bars", series=name, bars=[f"{y} {text or x}" for _, x, y, text in rows])
    since, until = _span(rows)
    if not counted:
        # A bar and the mark at its end are one.
        marks = len({(x.rpartition(_TO)[2], y, text) for _, x, y, text in rows})
        return say("marks", series=name, marks=marks, since=since, until=until)
    highest, at, text = max(counted, key=lambda point: point[0])
    return say("line", series=name, since=since, until=until, highest=text or f"{highest:g}", at=at)


_TO = " – "
"""Between the begin and the end of a bar."""


def _span(rows: Sequence[_Row]) -> tuple[str, str | None]:
    """The first and the last x, by time or number where they have one; None for the last where both are the same."""
    begins, ends = [x.partition(_TO)[0] for _, x, _, _ in rows], [x.rpartition(_TO)[2] for _, x, _, _ in rows]
    first, last = begins[0], ends[-1]
    if all(map(_NUMBER.fullmatch, begins)):
        first, last = min(begins, key=float), max(ends, key=float)
    elif all(map(_CLOCK.match, begins)):
        first, last = min(begins), max(ends)
    return first, last if last != first else None


def _rows(trace: Mapping[str, Any]) -> Iterator[_Row]:
    name = unescape(_BOLD.sub("", str(trace.get("name", ""))))
    xs, ys = _plain(trace.get("x")), _plain(trace.get("y"))
    if trace.get("type") == "heatmap":
        for y, line in zip(ys, _plain(trace.get("hovertext")) or _plain(trace.get("z")), strict=False):
            cells = zip(xs, line, strict=False)
            yield from ((name, _cell(x), _cell(y), _cell(z)) for x, z in cells if z is not None and z != "")
        return
    texts = _plain(trace.get("text")) or [""] * len(xs)
    if xs and ys[::3] == ys[1::3] and not len(xs) % 3 and set(xs[2::3]) == {None}:
        for since, until, y, text in zip(xs[::3], xs[1::3], ys[::3], texts[::3], strict=True):
            yield name, _TO.join(dict.fromkeys((_cell(since), _cell(until)))), _cell(y), _cell(text)
        return
    for x, y, text in zip(xs, ys, texts, strict=False):
        if x is not None and y is not None:
            yield name, _cell(x), _cell(y), _cell(text)


def _plain(values: object) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else []


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if _is_time(value) and is_dateless(datetime.fromisoformat(f"{value}Z").timestamp()):
        return str(value).partition("T")[2]
    return "" if value is None else unescape(str(value)).replace("<br>", ", ").replace("T", " ", _is_time(value))


def _is_time(value: object) -> int:
    """How many letters T to drop: one in ``2026-11-21T12:20:44``."""
    return int(isinstance(value, str) and len(value) >= 19 and value[10] == "T" and value[:4].isdigit())


def _title(figure: Mapping[str, Any], axis: str, default: str) -> str:
    title = figure.get("layout", {}).get(axis, {}).get("title", {})
    return str(title.get("text", default)) if isinstance(title, dict) else default


def plotly_script() -> str:
    """The whole library, minified; the Python package brings no smaller bundle."""
    return str(get_plotlyjs())
