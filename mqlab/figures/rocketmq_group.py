"""Members and queues of a RocketMQ group: who was there when, who reads which queue, what waits in each.

Membership has a row per process; ownership a row per process and a column per queue, a panel per time in which nobody
came or went; lag stands above what comes in and what is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab import words
from mqlab.facts import Facts
from mqlab.figures.style import (
    ALARM,
    BAND,
    GRID,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    TEMPLATE,
    Bar,
    cut,
    draw_lanes,
    empty,
    figure,
    label,
    line,
    panels,
    thinned,
    time,
)
from mqlab.rocketmq.eras import Panel, Share, Stay
from mqlab.shared.queues import Member, place, spread
from mqlab.units import clock, rate
from mqlab.views.rocketmq_group import ALONE, DOUBLED, ORPHAN, UNKNOWN, GroupView, QueueLag, flows, growth, queue_lags

say = words.room("rocketmq-figures")

OWN, SHARED = say("own"), say("shared")
_LOOKS: Mapping[str, tuple[str, str, int]] = {OWN: (OWN, INCOMING, 9), SHARED: (SHARED, ALARM, 15)}
"""Words, colour and width: the bar of a shared id is thicker too."""
_MOST_ROWS = 60
_ROOM = 0.12
"""Share of the time axis that the moments before the bars need."""


def membership(view: GroupView) -> go.Figure:
    """Bars by process, with the moment in which it came. Without anybody a sentence."""
    bars = membership_bars(view.stays)
    if not bars:
        return empty(say("no-members", group=view.group or None))
    first = {bar.lane: bar for bar in sorted(bars, key=lambda bar: bar.since, reverse=True)}
    rows = list(dict.fromkeys(bar.lane for bar in bars))
    chart = figure(96 + 24 * len(rows))
    draw_lanes(chart, bars, _LOOKS, rows)
    chart.add_scatter(
        x=[time(first[row].since) for row in rows], y=list(map(label, rows)), mode="text", showlegend=False,
        text=[f"{clock(first[row].since)} " for row in rows], textposition="middle left", textfont={"size": 10},
        name=label(say("came")), hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip
    begin, end = min(bar.since for bar in bars), max(bar.until for bar in bars)
    room = _ROOM * (end - begin)
    return chart.update_xaxes(range=[time(begin - room), time(end + room / 4)])


def membership_bars(stays: Sequence[Stay]) -> tuple[Bar, ...]:
    """The bars, those of one host next to each other; of very many processes those that share an id come first."""
    members: dict[tuple[str, str], Member] = {}
    for stay in stays:
        members.setdefault((stay.member.client_id, stay.member.host), stay.member)
    sharing = {(s.member.client_id, s.member.host) for s in stays if s.shared}
    kept = sorted(members, key=lambda one: one not in sharing)[:_MOST_ROWS]
    names = dict(zip(kept, process_names([members[one] for one in kept]), strict=True))
    return tuple(
        Bar(names[one], SHARED if s.shared else OWN, s.since, s.until,
            say("stay", since=s.since, until=s.until, lasted=s.until - s.since, place=s.member.place))
        for s in stays if (one := (s.member.client_id, s.member.host)) in names
    )  # fmt: skip


def process_names(members: Sequence[Member]) -> tuple[str, ...]:
    """``id  address`` of each, the port where it is needed; an id that holds the address stands alone."""
    short = Counter(_name(m.client_id, m.host) for m in members)
    full = [_name(m.client_id, m.host if short[_name(m.client_id, m.host)] == 1 else m.place) for m in members]
    return tuple(
        f"{name} ({before + 1})" if (before := full[:number].count(name)) else name for number, name in enumerate(full)
    )


def _name(client: str, address: str) -> str:
    """An address ``10.0.0.4`` says nothing beside the id ``10.0.0.4@9``."""
    where = "" if client.startswith(f"{address}@") else address.removeprefix("logs/").removeprefix("clients/")
    return f"{cut(client)}   {cut(where)}".strip()


OWNERS, OFFSET = say("owners"), say("offset")
_MOST_PROCESSES = 40
_ROW = 22
"""Pixels of one row."""
_LOST, _CALM = "#f3d9db", "#eef1f5"
_COLOURS = ("#ffffff", INCOMING, OUTGOING, _LOST, ALARM, _CALM)
_NOTHING, _OWNED, _SHARED, _BESIDE, _ALARM, _QUIET = range(len(_COLOURS))
_LEGEND = ((say("of-one"), _OWNED), (say("of-several"), _SHARED), (say("of-none"), _ALARM))


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


_MOST_COLUMNS = 64
"""Queues with a column each; of more, those that fare alike share one."""


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
        return say("head", topic=self.topic, broker=place(self.queues[0])[0] or None)

    def shares(self, panel: Panel) -> tuple[Share, ...]:
        """What *panel* says of these queues."""
        return tuple(s for s in panel.shares if s.topic == self.topic and s.queue in self.queues)


def columns(panels: Sequence[Panel]) -> tuple[Column, ...]:
    """The queues of the first panel; all panels know the same."""
    queues = [panel.shares for panel in panels]
    each = list(zip(*queues, strict=False))
    if len(each) <= _MOST_COLUMNS:
        return tuple(Column(shares[0].topic, (shares[0].queue,)) for shares in each)
    alike = [list(own) for _, own in groupby(each, key=_fate)]
    return tuple(Column(own[0][0].topic, tuple(shares[0].queue for shares in own)) for own in alike)


def _fate(shares: Sequence[Share]) -> tuple[object, ...]:
    """Topic and broker of a queue, its owners in each panel, and whether its offset stood still."""
    owned = [(s.owners, s.pace is not None and s.pace.frozen) for s in shares]
    return shares[0].topic, place(shares[0].queue)[0], *owned


def ownership(panels: Sequence[Panel]) -> go.Figure:
    """The panels below each other, so that a queue stays in its column; without panels a sentence."""
    drawn = [panel for panel in panels if panel.shares]
    if not drawn:
        return empty(say("no-queues"))
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
    for row, one in enumerate(matrices, start=1):
        _draw(chart, one, across, row)
    _draw_axes(chart, across, len(matrices))
    _draw_legend(chart, {cell.look for one in matrices for row in one.cells for cell in row})
    return chart


def matrix(panel: Panel, across: Sequence[Column]) -> Matrix:
    """The panel as it is drawn: processes that share an id first kept, the rows in the order in which clients sort."""
    members = sorted(panel.era.members, key=lambda m: (m.client_id not in panel.era.shared, m.client_id, m.place))
    kept = sorted(members[:_MOST_PROCESSES], key=lambda m: (m.client_id, m.place))
    rows = [tuple(_cell(member, column.shares(panel)) for column in across) for member in kept]
    owners = tuple(_count(column.shares(panel)) for column in across)
    offsets = tuple(_offset(column.shares(panel)) for column in across)
    names = [label(name) for name in (*process_names(kept), OWNERS, OFFSET)]
    moved = any(cell.sign for cell in offsets)
    return Matrix(
        _title(panel, len(members)),
        tuple(names if moved else names[:-1]),
        (*rows, owners, offsets) if moved else (*rows, owners),
    )


def _title(panel: Panel, members: int) -> str:
    """In bold what the panel is called, else its time; then who was there."""
    head, times = panel.title, say("times", since=panel.era.since, until=panel.era.seen)
    who = say(
        "people",
        times=times if head else "",
        processes=members,
        ids=len(set(panel.era.ids)),
        left=members - _MOST_PROCESSES if members > _MOST_PROCESSES else None,
        spoken=not panel.by_rule,
    )
    return f"<b>{label(head or times)}</b>{'  ' if head else ''}{label(who)}"


def _cell(member: Member, shares: Sequence[Share]) -> Cell:
    one, times = shares[0], shares[0].owners.count(member.client_id)
    said, speaking = one.said.get(member.client_id, 0), one.speaking.get(member.client_id, 0)
    if not times:
        if said:
            return Cell(_NOTHING, "≠", say("only-said"))
        return Cell(_BESIDE if not one.owners else _NOTHING, "", "")
    several, look = None if len(one.owners) == 1 else len(one.owners), _OWNED if len(one.owners) == 1 else _SHARED
    if not speaking:
        return Cell(look, "", say("by-rule", owners=several))
    agrees = said == speaking
    return Cell(look, "✓" if agrees else "≠", say("owned", owners=several, said=None if agrees else said, of=speaking))


def _count(shares: Sequence[Share]) -> Cell:
    times = len(shares[0].owners)
    look = _ALARM if not times else _SHARED if times > 1 else _QUIET
    return Cell(look, str(times), say("owner-count", owners=times) if times else say("no-owner"))


def _offset(shares: Sequence[Share]) -> Cell:
    """What the committed position did; a sign only where messages came in."""
    seen = [s.pace for s in shares if s.pace is not None and s.pace.produced > 0]
    if not seen:
        return Cell(_NOTHING, "", "")
    came, read = sum(p.produced for p in seen), sum(p.consumed for p in seen)
    if all(p.frozen for p in seen):
        return Cell(_ALARM, say("no"), say("frozen", came=came))
    return Cell(_QUIET, say("yes"), say("moved", read=read, came=came))


def _draw(chart: go.Figure, one: Matrix, across: Sequence[Column], row: int) -> None:
    last = len(_COLOURS) - 1
    scale = [(edge / len(_COLOURS), colour) for n, colour in enumerate(_COLOURS) for edge in (n, n + 1)]
    chart.add_heatmap(
        x=[column.name for column in across], y=list(one.rows), z=[[c.look for c in row] for row in one.cells],
        text=[[label(c.sign) for c in row] for row in one.cells],
        hovertext=[[label(c.words) for c in row] for row in one.cells],
        texttemplate="%{text}", textfont={"size": 11}, hovertemplate="%{y}<br>%{x}: %{hovertext}<extra></extra>",
        colorscale=scale, zmin=-0.5, zmax=last + 0.5, showscale=False, xgap=2, ygap=2, name=one.title, row=row, col=1,
    )  # fmt: skip
    chart.update_yaxes(autorange="reversed", showgrid=False, tickfont={"size": 11}, dtick=1, row=row, col=1)
    chart.add_annotation(
        text=one.title, x=0, xref="paper", xanchor="left", y=1, yref=f"y{row if row > 1 else ''} domain",
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
            chart.add_scatter(x=[None], y=[None], mode="markers", name=label(name), marker=square, showlegend=True)


_QUEUE_LOOKS = {
    ORPHAN: (ALARM, "solid", 2.0), DOUBLED: (OUTGOING, "dash", 1.6), ALONE: (INCOMING, "dot", 1.6),
    UNKNOWN: (LAG, "solid", 1.4),
}  # fmt: skip
"""Colour, dash and width: each tells the kind alone."""
_MOST_LINES = 16
"""Of each kind, the queues with the highest lag."""


def queue_lag(facts: Facts, view: GroupView) -> go.Figure:
    """Two panels: lag of each queue; messages a second of all of them. Without offsets a sentence."""
    found = queue_lags(facts, view)
    if not found:
        return empty(say("no-lag", group=view.group or None))
    chart = panels(500, 0.68, 0.32, legend={"y": -0.16, "yanchor": "top"})
    for kind, (colour, dash, width) in _QUEUE_LOOKS.items():
        own = [queue for queue in found if queue.kind == kind]
        for number_, queue in enumerate(own[:_MOST_LINES]):
            name = f"{queue.topic} {queue.queue}"
            points = thinned(queue.points, value=lambda point: point[1])
            told = [(at, lag, say("waits", queue=name, kind=kind, messages=lag)) for at, lag in points]
            line(
                chart, name if number_ else kind_name(own, kind), told, row=1, legendgroup=kind,
                showlegend=not number_, line={"color": colour, "dash": dash, "width": width},
            )  # fmt: skip
    if grown := growth(view):
        (first, begin), (last, end) = grown
        pace = rate((end - begin) / (last - first))
        line(chart, say("produced", rate=pace), [(at, n, pace) for at, n in grown], row=1,
             line={"color": INK, "dash": "dot", "width": 2.5})  # fmt: skip
    _draw_flows(chart, facts, view)
    _draw_band(chart, view)
    chart.update_yaxes(rangemode="tozero")
    chart.update_yaxes(title_text=label(say("each-axis")), row=1, col=1)
    return chart.update_yaxes(title_text=label(say("all-axis")), nticks=4, row=2, col=1)


def kind_name(found: Sequence[QueueLag], kind: str) -> str:
    """``nobody reads it (8): ORDERS broker-a 8-15``."""
    topics = dict.fromkeys(f.topic for f in found)
    named = "; ".join(f"{topic} {spread(f.queue for f in found if f.topic == topic)}" for topic in topics)
    return say("kind", kind=kind, queues=len(found), named=cut(named, 64))


def _draw_flows(chart: go.Figure, facts: Facts, view: GroupView) -> None:
    """Each rate holds from one snapshot to the next."""
    found = flows(facts, view)
    for name, colour, dash, rates in (
        (say("come-in"), INK, "dash", [(f.since, f.at, f.produced) for f in found]),
        (say("are-read"), LAG, "solid", [(f.since, f.at, f.consumed) for f in found]),
    ):
        points = [(since, pace) for since, _, pace in rates[:1]] + [(at, pace) for _, at, pace in rates]
        told = [(at, pace, rate(pace)) for at, pace in points]
        line(chart, name, told, row=2, line_shape="vh", line={"color": colour, "dash": dash, "width": 1.6})


def _draw_band(chart: go.Figure, view: GroupView) -> None:
    """The time of the sharing, else of the finding."""
    shared = [stay for stay in view.stays if stay.shared]
    if view.unique is not None and shared:
        begin, end, why = min(s.since for s in shared), max(s.until for s in shared), None
    elif view.finding is not None and view.finding.started_at is not None and view.finding.ended_at is not None:
        begin, end = view.finding.started_at.timestamp(), view.finding.ended_at.timestamp()
        why = view.finding.incident
    else:
        return
    chart.add_vrect(x0=time(begin), x1=time(end), fillcolor=BAND, line_width=0, layer="below")
    chart.add_annotation(
        text=label(say("band", since=begin, until=end, incident=why)), x=time(begin), xanchor="left", y=1,
        yref="y domain", yanchor="top", showarrow=False, font={"size": 11, "color": MUTED},
    )  # fmt: skip
