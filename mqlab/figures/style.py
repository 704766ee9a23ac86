"""One look for all figures: colours that the colour-blind can tell apart, UTC on the time axis, escaped labels.

Here is, too, what keeps a figure small (``thinned``, ``merged``) and readable without it (``figure_table``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import groupby
from typing import Any, TypeVar

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from mqlab.rocketmq.eras import Panel, Share
from mqlab.shared.queues import Member, place, spread
from mqlab.units import iso

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
RUNS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")

TEMPLATE = go.layout.Template(
    layout=go.Layout(
        font={"family": "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif", "size": 12, "color": INK},
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


def empty(sentence: str, height: int = 120) -> go.Figure:
    """A figure that says why it shows nothing."""
    blank = figure(height)
    blank.update_xaxes(visible=False).update_yaxes(visible=False)
    blank.add_annotation(text=label(sentence), showarrow=False, font={"color": MUTED, "size": 13})
    return blank


def label(text: str) -> str:
    """Text from the material for a label: plotly reads some HTML there, so mark-up is shown, not followed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def time(at: float) -> str:
    """A moment for the time axis; plotly shows it as it stands, so it stands in UTC."""
    return (iso(at) or "").removesuffix("Z")


_MOST = 64


@dataclass(frozen=True, slots=True)
class Column:
    """Queues that have the same owners in every panel."""

    topic: str
    queues: tuple[str, ...]

    @property
    def name(self) -> str:
        """Unique: ``ORDERS broker-a 0-3``."""
        return f"{self.topic} {spread(self.queues)}"

    @property
    def short(self) -> str:
        """Without topic and broker: ``0-3``."""
        return spread(f"/{place(queue)[1]}" for queue in self.queues)

    @property
    def head(self) -> str:
        """What stands below columns of one topic and broker."""
        return f"{self.topic} on {place(self.queues[0])[0] or 'its broker'}"

    def shares(self, panel: Panel) -> tuple[Share, ...]:
        """What *panel* says of these queues."""
        return tuple(s for s in panel.shares if s.topic == self.topic and s.queue in self.queues)


def columns(panels: Sequence[Panel]) -> tuple[Column, ...]:
    """The queues of the first panel; all panels know the same."""
    keys = [(s.topic, s.queue) for s in panels[0].shares]
    if len(keys) <= _MOST:
        return tuple(Column(topic, (queue,)) for topic, queue in keys)
    numbered = list(enumerate(keys))
    alike = groupby(numbered, key=lambda one: (one[1][0], place(one[1][1])[0], _fate(panels, one[0])))
    return tuple(Column(told[0], tuple(queue for _, (_, queue) in found)) for told, found in alike)


def _fate(panels: Sequence[Panel], number: int) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """Owners of the queue in each panel, and whether its offset stood still."""
    shares = [panel.shares[number] for panel in panels]
    return tuple((s.owners, s.pace is not None and s.pace.frozen) for s in shares)


_LONGEST = 46


def process_names(members: Sequence[Member]) -> tuple[str, ...]:
    """``id  address`` of each, the port where it is needed; an id that holds the address stands alone."""
    names = [_name(m.client_id, m.host) for m in members]
    times = Counter(names)
    full = [_name(m.client_id, m.place) if times[n] > 1 else n for m, n in zip(members, names, strict=True)]
    return tuple(f"{name} ({number})" if (number := full[:place].count(name) + 1) > 1 else name
                 for place, name in enumerate(full))  # fmt: skip


def _name(client: str, place: str) -> str:
    """An address ``10.0.0.4`` says nothing beside the id ``10.0.0.4@9``."""
    where = "" if client.startswith(f"{place}@") else place.removeprefix("logs/").removeprefix("clients/")
    return f"{cut(client)}   {cut(where)}".strip()


def cut(text: str, longest: int = _LONGEST) -> str:
    """*text*, its middle left out where it is long: the ends of ids tell them apart."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


_Point = TypeVar("_Point")

MOST_POINTS = 1000
MOST_MARKS = 300

Mark = tuple[float, float, str]
"""(from, to, what the reader sees when pointing at it)."""


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


def merged(marks: Sequence[Mark], most: int = MOST_MARKS) -> tuple[Mark, ...]:
    """Marks by time; where there are too many, neighbours become one that lasts and says how many it stands for."""
    ordered = sorted(marks)
    if len(ordered) <= most:
        return tuple(ordered)
    reach = (max(end for _, end, _ in ordered) - ordered[0][0]) / most
    groups: list[list[Mark]] = []
    for mark in ordered:
        if groups and mark[0] - groups[-1][0][0] < reach:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return tuple(_joined(group) for group in groups)


def _joined(group: Sequence[Mark]) -> Mark:
    start, _, words = group[0]
    more = f"<br>and {len(group) - 1} more marks" if len(group) > 1 else ""
    return (start, max(end for _, end, _ in group), words + more)


_MOST_ROWS = 300


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Rows of (series, x, y, text), at most 300."""

    header: tuple[str, str, str, str]
    rows: tuple[tuple[str, str, str, str], ...]
    left_out: int


def figure_table(figure: Mapping[str, Any]) -> FigureTable:
    """The drawn points of a figure in plotly's JSON form."""
    rows = [row for trace in figure.get("data", ()) for row in _rows(trace)]
    header = ("series", _title(figure, "xaxis", "x"), _title(figure, "yaxis", "y"), "note")
    return FigureTable(header, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS))


def _rows(trace: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    name = unescape(str(trace.get("name", "")))
    xs, ys = _plain(trace.get("x")), _plain(trace.get("y"))
    if trace.get("type") == "heatmap":
        for y, line in zip(ys, _plain(trace.get("hovertext")) or _plain(trace.get("z")), strict=False):
            cells = zip(xs, line, strict=False)
            yield from ((name, _cell(x), _cell(y), _cell(z)) for x, z in cells if z is not None and z != "")
        return
    words = _plain(trace.get("text")) or [""] * len(xs)
    for x, y, text in zip(xs, ys, words, strict=False):
        if x is not None and y is not None:
            yield name, _cell(x), _cell(y), _cell(text)


def _plain(values: object) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else []


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
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
