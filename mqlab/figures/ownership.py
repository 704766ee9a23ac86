"""Who reads which queue? One row per process, one column per queue, one panel per time in which nobody came or went."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.figures.columns import Column, columns
from mqlab.figures.naming import process_names
from mqlab.figures.style import ALARM, GRID, INCOMING, INK, MUTED, OUTGOING, TEMPLATE, empty, label
from mqlab.rocketmq.holdings import Panel, Share
from mqlab.rocketmq.members import Member
from mqlab.units import clock

OWNERS, OFFSET = "owners", "offset moves"
_MOST_ROWS = 40
_ROW = 22
"""Pixels of one row."""
_LOST, _CALM = "#f3d9db", "#eef1f5"
_COLOURS = ("#ffffff", INCOMING, OUTGOING, _LOST, ALARM, _CALM)
_NOTHING, _OWNED, _SHARED, _BESIDE, _ALARM, _QUIET = range(len(_COLOURS))
_LEGEND = (
    ("owned by one process", _OWNED),
    ("the same queue in several processes", _SHARED),
    ("owned by nobody", _ALARM),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of the matrix."""

    look: int
    sign: str
    words: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """One panel as rows of cells; the last rows tell how many owners a queue has, and whether its offset moves."""

    title: str
    rows: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]


def ownership(panels: Sequence[Panel]) -> go.Figure:
    """The panels below each other, so that a queue stays in its column; without panels a sentence."""
    drawn = [panel for panel in panels if panel.shares]
    if not drawn:
        return empty("Nothing in this material tells which queues there are and who is in the group.")
    across = columns(drawn)
    matrices = [matrix(panel, across) for panel in drawn]
    heights = [len(m.rows) * _ROW for m in matrices]
    gap, whole = 54, sum(heights) + 54 * (len(heights) - 1)
    chart = make_subplots(
        rows=len(matrices), cols=1, shared_xaxes=True, vertical_spacing=gap / whole if len(matrices) > 1 else 0,
        row_heights=heights,
    )  # fmt: skip
    chart.update_layout(
        template=TEMPLATE, height=whole + 130, margin={"l": 8, "r": 8, "t": 78, "b": 52}, plot_bgcolor=GRID,
        legend={"x": 0, "xref": "container", "y": 0.995, "yanchor": "top", "yref": "container", "itemclick": False,
                "itemdoubleclick": False},
    )  # fmt: skip
    for place, one in enumerate(matrices, start=1):
        _draw(chart, one, across, place)
    _draw_axes(chart, across, len(matrices))
    _draw_legend(chart, {cell.look for one in matrices for row in one.cells for cell in row})
    return chart


def matrix(panel: Panel, across: Sequence[Column]) -> Matrix:
    """The panel as it is drawn: processes that share an id first kept, the rows in the order in which clients sort."""
    members = sorted(panel.era.members, key=lambda m: (m.client_id not in panel.era.shared, m.client_id, m.place))
    kept = sorted(members[:_MOST_ROWS], key=lambda m: (m.client_id, m.place))
    rows = [tuple(_cell(member, column.shares(panel)) for column in across) for member in kept]
    owners = tuple(_count(column.shares(panel)) for column in across)
    offsets = tuple(_offset(column.shares(panel)) for column in across)
    names = [label(name) for name in process_names(kept)]
    if any(cell.sign for cell in offsets):
        return Matrix(_title(panel, len(members)), (*names, OWNERS, OFFSET), (*rows, owners, offsets))
    return Matrix(_title(panel, len(members)), (*names, OWNERS), (*rows, owners))


def _title(panel: Panel, members: int) -> str:
    ids = len(set(panel.era.ids))
    people = f"{members} process{'es' if members != 1 else ''}, {ids} id{'s' if ids != 1 else ''}"
    left = f", {members - _MOST_ROWS} of them not drawn" if members > _MOST_ROWS else ""
    times = f"{clock(panel.era.since)} to {clock(panel.era.seen)}"
    said = "" if panel.by_rule else "; as the processes say themselves, no rule tells it"
    head = f"<b>{label(panel.title)}</b>  {times}" if panel.title else f"<b>{times}</b>"
    return f"{head}: {people}{left}{said}"


def _cell(member: Member, shares: Sequence[Share]) -> Cell:
    one, times = shares[0], shares[0].owners.count(member.client_id)
    said, speaking = one.said.get(member.client_id, 0), one.speaking.get(member.client_id, 0)
    if not times:
        if said:
            return Cell(_NOTHING, "≠", "not by the rule, but the process says it has it")
        return Cell(_BESIDE if not one.owners else _NOTHING, "", "")
    words = "owned" if len(one.owners) == 1 else f"one of {len(one.owners)} owners"
    if not speaking:
        return Cell(_OWNED if len(one.owners) == 1 else _SHARED, "", f"{words}, by the rule")
    agrees = said == speaking
    spoken = "says so itself" if agrees else f"{said} of {speaking} say so"
    return Cell(_OWNED if len(one.owners) == 1 else _SHARED, "✓" if agrees else "≠", f"{words}, {spoken}")


def _count(shares: Sequence[Share]) -> Cell:
    times = len(shares[0].owners)
    look = _ALARM if not times else _SHARED if times > 1 else _QUIET
    return Cell(look, str(times), "nobody owns it" if not times else f"{times} owner{'s' if times > 1 else ''}")


def _offset(shares: Sequence[Share]) -> Cell:
    """What the committed position did; a sign only where messages came in."""
    seen = [s.pace for s in shares if s.pace is not None and s.pace.produced > 0]
    if not seen:
        return Cell(_NOTHING, "", "")
    came, read = sum(p.produced for p in seen), sum(p.consumed for p in seen)
    if all(p.frozen for p in seen):
        return Cell(_ALARM, "no", f"stands still while {came:,} messages come in")
    return Cell(_QUIET, "yes", f"moved by {read:,} while {came:,} messages came in")


def _draw(chart: go.Figure, one: Matrix, across: Sequence[Column], place: int) -> None:
    last = len(_COLOURS) - 1
    scale = [(edge / len(_COLOURS), colour) for n, colour in enumerate(_COLOURS) for edge in (n, n + 1)]
    chart.add_heatmap(
        x=[column.name for column in across], y=list(one.rows), z=[[c.look for c in row] for row in one.cells],
        text=[[c.sign for c in row] for row in one.cells], hovertext=[[c.words for c in row] for row in one.cells],
        texttemplate="%{text}", textfont={"size": 11}, hovertemplate="%{y}<br>%{x}: %{hovertext}<extra></extra>",
        colorscale=scale, zmin=-0.5, zmax=last + 0.5, showscale=False, xgap=2, ygap=2, name=one.title, row=place, col=1,
    )  # fmt: skip
    chart.update_yaxes(autorange="reversed", showgrid=False, tickfont={"size": 11}, dtick=1, row=place, col=1)
    chart.add_annotation(
        text=one.title, x=0, xref="paper", xanchor="left", y=1, yref=f"y{place if place > 1 else ''} domain",
        yanchor="bottom", yshift=3, showarrow=False, font={"size": 12, "color": INK},
    )  # fmt: skip


def _draw_axes(chart: go.Figure, across: Sequence[Column], last: int) -> None:
    chart.update_xaxes(showgrid=False, type="category", ticks="")
    chart.update_xaxes(
        tickmode="array", tickvals=[c.name for c in across], ticktext=[label(c.short) for c in across],
        tickfont={"size": 11}, row=last, col=1,
    )  # fmt: skip
    heads = [c.head for c in across]
    for head in dict.fromkeys(heads):
        first, end = heads.index(head), len(heads) - 1 - heads[::-1].index(head)
        chart.add_annotation(
            text=label(head), x=(first + end) / 2, xref=f"x{last if last > 1 else ''}", y=0,
            yref=f"y{last if last > 1 else ''} domain", yshift=-22, yanchor="top", showarrow=False,
            font={"size": 11, "color": MUTED},
        )  # fmt: skip
        if first:
            chart.add_vline(x=first - 0.5, line_color=INK, line_width=1)


def _draw_legend(chart: go.Figure, looks: Collection[int]) -> None:
    for name, look in _LEGEND:
        if look in looks:
            square = {"symbol": "square", "size": 12, "color": _COLOURS[look]}
            chart.add_scatter(x=[None], y=[None], mode="markers", name=name, marker=square, showlegend=True)
