"""Messages of a topic: how far they got, who led each partition, and what happened to its offsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import plotly.graph_objects as go

from mqlab import words
from mqlab.delivery.path import UNEXPLAINED, PathRow, bounded, by_number, groups, mechanism, path, total
from mqlab.delivery.rows import Audit, Loss, Side
from mqlab.figures.style import (
    ALARM,
    GRID,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    RUNS,
    Bar,
    draw_lanes,
    empty,
    figure,
    label,
    line,
    time,
)
from mqlab.units import number, percent
from mqlab.views.delivery import CUT, FOLLOWER, LEADER, Acked, AuditView, InSync, Level, Offsets, Reign

say = words.room("delivery-figures")

ARRIVED, PENDING, UNKNOWN = say("arrived"), say("pending"), say("not-known")
UNANSWERED, FAILED, SKIPPED = say("unanswered"), say("failed"), say("skipped")
_LOSSES = (ALARM, OUTGOING, LAG, "#cc79a7", "#e69f00")
_LOOKS: Mapping[str, tuple[str, str]] = {
    ARRIVED: (INCOMING, ""),
    FAILED: ("#e69f00", "/"),
    UNANSWERED: (GRID, "x"),
    SKIPPED: (GRID, "."),
    PENDING: (GRID, ""),
    UNKNOWN: ("#ffffff", "/"),
}
"""Colour and pattern of what is no loss of log or group."""
_LONG = 50
"""Characters that stand beside a bar on one line."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of one bar: messages that arrived at a stage, or what became of those that did not."""

    stage: str
    kind: str
    """One of the above, or the mechanism that lost them."""
    messages: int
    words: str


def delivery_funnel(audit: Audit | None) -> go.Figure:
    """Stages from top to bottom, numbers of messages to the right. Where nothing was counted a sentence."""
    pieces = funnel_pieces(audit) if audit else ()
    if audit is None or not pieces:
        return empty(say("no-counts", topic=audit.topic if audit else None))
    stages = list(dict.fromkeys(piece.stage for piece in pieces))
    chart = figure(110 + 46 * len(stages))
    lost = [kind for kind in dict.fromkeys(piece.kind for piece in pieces) if kind not in _LOOKS]
    for kind in (*_LOOKS, *lost):
        _draw(chart, kind, [piece for piece in pieces if piece.kind == kind], lost)
    widest = max(sum(piece.messages for piece in pieces if piece.stage == stage) for stage in stages)
    for stage in stages:
        _annotate(chart, stage, [piece for piece in pieces if piece.stage == stage], widest)
    chart.update_layout(barmode="stack", bargap=0.4, margin={"t": 40}, legend={"traceorder": "normal"})
    chart.update_yaxes(autorange="reversed", type="category", tickfont={"size": 12})
    chart.update_xaxes(title_text=label(say("messages")), range=[0, widest * 1.4], tickformat=",d")
    return chart


def funnel_pieces(audit: Audit) -> tuple[Piece, ...]:
    """The parts of each bar; a stage of which nothing is told has none."""
    ways = {group: total(path(audit, group)) for group in groups(audit)}
    log = next(iter(ways.values()))
    pieces = [*_to_log(log), *_kept(audit, log)]
    for group, way in ways.items():
        pieces += _to_group(audit, group, way) if group else ()
    return tuple(piece for piece in pieces if piece.messages > 0)


def _to_log(log: PathRow) -> Iterator[Piece]:
    if log.sent is not None:
        yield _arrived(say("sent"), log, "sent", log.sent)
    if log.acked is not None:
        stage = say("acknowledged")
        yield _arrived(stage, log, "acked", log.acked)
        yield _piece(stage, FAILED, log.failed or 0)
        yield _piece(stage, UNANSWERED, log.unanswered or 0)


def _kept(audit: Audit, log: PathRow) -> Iterator[Piece]:
    """What the log still has of what was acknowledged; else of what it is known to have held."""
    held = log.stored if log.acked is None else log.acked
    own = [one for one in audit.losses if one.side is Side.LOG]
    stage = say("kept")
    if held is not None:
        yield _piece(stage, ARRIVED, max(0, held - sum(one.records for one in own)))
    yield from _lost(stage, own)


def _to_group(audit: Audit, group: str, way: PathRow) -> Iterator[Piece]:
    stage = say("handled", group=group)
    if way.handled is not None:
        yield _arrived(stage, way, "handled", way.handled)
    yield from _lost(stage, [one for one in audit.losses if one.side is Side.GROUP and one.group == group])
    yield _piece(stage, SKIPPED, way.skipped)
    yield _piece(stage, PENDING, way.pending or 0)
    yield _piece(stage, UNKNOWN, way.unknown)


def _lost(stage: str, losses: Sequence[Loss]) -> Iterator[Piece]:
    for incident in sorted({mechanism(one) for one in losses}, key=lambda name: name or "~"):
        own = [one for one in losses if mechanism(one) == incident]
        least, most = sum(one.least for one in own), sum(one.most for one in own)
        records = sum(one.records for one in own)
        yield Piece(stage, say("lost", by=incident or UNEXPLAINED), records, bounded(records, least, most))


def _arrived(stage: str, way: PathRow, column: str, messages: int) -> Piece:
    return Piece(stage, ARRIVED, messages, f"{'≥ ' if column in way.partly else ''}{number(messages)}")


def _piece(stage: str, kind: str, messages: int) -> Piece:
    return Piece(stage, kind, messages, number(messages))


def _draw(chart: go.Figure, kind: str, pieces: Sequence[Piece], lost: Sequence[str]) -> None:
    colour, pattern = _LOOKS.get(kind) or (_LOSSES[lost.index(kind) % len(_LOSSES)], "")
    if pieces:
        chart.add_bar(
            y=[label(piece.stage) for piece in pieces], x=[piece.messages for piece in pieces], orientation="h",
            name=label(kind), text=[_told(piece) for piece in pieces], textposition="none",
            hovertemplate="%{y}: %{text}<extra></extra>",
            marker={"color": colour, "line": {"color": MUTED if colour in (GRID, "#ffffff") else colour, "width": 1},
                    "pattern": {"shape": pattern, "fgcolor": INK, "size": 5}},
        )  # fmt: skip


def _told(piece: Piece) -> str:
    return label(say("piece", messages=piece.words, kind=piece.kind))


def _annotate(chart: go.Figure, stage: str, pieces: Sequence[Piece], widest: int) -> None:
    """What arrived and what was lost, to the right of the bar: a short piece cannot be seen."""
    whole = sum(piece.messages for piece in pieces)
    told = [f"<b>{label(piece.words)}</b>" for piece in pieces if piece.kind == ARRIVED]
    told += [_told(piece) for piece in pieces if piece.kind != ARRIVED]
    long = sum(map(len, told)) > _LONG
    chart.add_annotation(
        y=label(stage), x=whole, text=("<br>" if long else " · ").join(told), showarrow=False, align="left",
        xanchor="left", xshift=6, font={"size": 10 if long else 11}, hovertext=percent(whole / widest),
    )  # fmt: skip


_LEVELS = {
    LEADER: (say("end-of-leader"), "triangle-up", INK, "bottom right"),
    FOLLOWER: (say("end-of-follower"), "circle-open", INK, "top right"),
    CUT: (say("cut"), "x", OUTGOING, "bottom right"),
}
"""Name, symbol, colour and place of the number of a log end."""
_ROOM = 0.35
"""Share of the lost part's time and height that is shown around it."""
_LEAST_ROOM = 20.0
"""Seconds."""


def failover(view: AuditView, queue: str | None = None) -> go.Figure:
    """Offsets of *queue*, by default of the partition that lost most. Without offsets a sentence."""
    shown = chosen(view, queue)
    if shown is None:
        return empty(say("no-offsets", topic=view.topic))
    chart = figure(440)
    chart.update_layout(legend={"y": -0.2, "yanchor": "top"}, margin={"t": 36, "b": 90})
    _draw_acked(chart, say("acked-kept"), INCOMING, [one for one in shown.acked if not one.lost])
    _draw_acked(chart, say("acked-lost"), ALARM, [one for one in shown.acked if one.lost])
    _draw_steps(chart, say("end-seen"), MUTED, shown.ends)
    _draw_steps(chart, say("start"), OUTGOING, shown.starts)
    for place, (group, points) in enumerate(sorted(shown.committed.items())):
        _draw_steps(chart, say("committed", group=group), (RUNS[2], RUNS[3], RUNS[5])[place % 3], points)
    reigns = sorted((one for one in view.reigns if one.queue == shown.queue), key=lambda one: one.since)
    high = [
        (r.since, r.high_watermark, say("of-broker", broker=r.broker, place=r.place))
        for r in reigns
        if r.high_watermark is not None
    ]
    line(
        chart, say("high-watermark"), high, mode="markers",
        hovertemplate=label(say("high-watermark-then")) + "<extra></extra>",
        marker={"symbol": "line-ew-open", "size": 18, "color": LAG, "line": {"width": 3, "color": LAG}},
    )  # fmt: skip
    own = [one for one in view.levels if one.queue == shown.queue]
    _draw_levels(chart, [(level, level.offset, f" {number(level.offset)} · {level.broker}") for level in own])
    _draw_elections(chart, reigns)
    _draw_window(chart, shown, view)
    chart.update_yaxes(title_text=label(say("offsets", partition=shown.queue)), tickformat=",d")
    return chart.update_xaxes(title_text="UTC")


def chosen(view: AuditView, queue: str | None = None) -> Offsets | None:
    """The partition that is asked for, else the one that lost most, else the one with most changes of its leader."""
    if queue is not None:
        return next((one for one in view.offsets if one.queue == queue), None)
    led = Counter(reign.queue for reign in view.reigns)
    return max(
        view.offsets, key=lambda one: (sum(p.messages for p in one.acked if p.lost), led[one.queue]), default=None
    )


def _draw_acked(chart: go.Figure, name: str, colour: str, parts: Sequence[Acked]) -> None:
    if not parts:
        return
    told = [
        label(
            say(
                "range",
                messages=one.messages,
                first=one.first_offset,
                last=one.last_offset,
                since=one.since,
                until=one.until,
                place=one.place,
            )
        )
        for one in parts
    ]
    chart.add_scatter(
        x=[at for one in parts for at in (time(one.since), time(one.until), None)],
        y=[offset for one in parts for offset in (one.first_offset, one.last_offset, None)],
        text=[text for one in told for text in (one, one, None)],
        name=label(name), mode="lines+markers", line={"color": colour, "width": 4 if colour == ALARM else 2.5},
        marker={"size": 5 if colour == ALARM else 3}, hovertemplate="%{text}<extra>" + label(name) + "</extra>",
    )  # fmt: skip


def _draw_steps(chart: go.Figure, name: str, colour: str, points: Sequence[tuple[float, int]]) -> None:
    """What snapshots saw; between two of them nothing is known, so the line is faint."""
    look = {"color": colour, "width": 0.8, "dash": "dot", "shape": "hv"}
    told = [(at, offset, number(offset)) for at, offset in points]
    line(chart, name, told, mode="lines+markers", line=look, marker={"size": 6, "color": colour})


def _draw_levels(chart: go.Figure, levels: Sequence[tuple[Level, str | int, str]], *, numbered: bool = True) -> None:
    """Ends of logs as (level, where it stands, its number)."""
    for what, (name, symbol, colour, beside) in _LEVELS.items():
        if own := [one for one in levels if one[0].what == what]:
            told = [label(_level(one)) for one, _, _ in own]
            chart.add_scatter(
                x=[time(one.at) for one, _, _ in own], y=[y for _, y, _ in own], name=label(name),
                text=[label(number) for _, _, number in own], mode="markers+text" if numbered else "markers",
                textposition=beside, textfont={"size": 10, "color": colour}, customdata=told,
                hovertemplate="%{customdata}<extra></extra>", cliponaxis=False,
                marker={"symbol": symbol, "size": 10, "color": colour, "line": {"width": 2, "color": colour}},
            )  # fmt: skip


def _level(one: Level) -> str:
    return say("level", at=one.at, broker=one.broker, what=one.what, offset=one.offset, place=one.place)


def _draw_elections(chart: go.Figure, reigns: Sequence[Reign]) -> None:
    """A line for each election but the first, with the new leader above it."""
    for place, (before, one) in enumerate(pairwise(reigns), start=1):
        if before.broker != one.broker:
            colour = ALARM if one.unclean else MUTED
            chart.add_vline(x=time(one.since), line={"color": colour, "width": 1, "dash": "dash"})
            leads = say("leads", broker=one.broker, unclean=one.unclean)
            chart.add_annotation(
                x=time(one.since), y=1, yref="y domain", yanchor="bottom", yshift=11 * (place % 2), text=label(leads),
                showarrow=False, font={"size": 10, "color": colour}, xanchor="left",
            )  # fmt: skip


def _draw_window(chart: go.Figure, shown: Offsets, view: AuditView) -> None:
    """Begin with the lost part and the elections around it; all the rest is a double click away."""
    lost = [one for one in shown.acked if one.lost]
    if not lost:
        return
    first, last = min(one.first_offset for one in lost), max(one.last_offset for one in lost)
    chart.add_hrect(
        y0=first, y1=last, fillcolor=ALARM, opacity=0.08, line_width=0, layer="below",
        annotation={"text": label(say("lost-range", first=first, last=last)), "font": {"size": 10, "color": ALARM}},
        annotation_position="top left",
    )  # fmt: skip
    # From the first lost message to the last return of a replica; else to when a group had gone past it.
    since = min(one.since for one in lost)
    passed = [next((at for at, offset in points if offset > last), since) for points in shown.committed.values()]
    back = [one.at for one in view.levels if one.queue == shown.queue and one.what == CUT and one.at >= since]
    back += [one.since for one in view.reigns if one.queue == shown.queue and one.since >= since]
    until = max([*(one.until for one in lost), *(back or passed)])
    beside, above = max(_LEAST_ROOM, _ROOM * (until - since)), max(10.0, _ROOM * (last - first))
    levels = [one.offset for one in view.levels if one.queue == shown.queue and since <= one.at <= until]
    chart.update_xaxes(range=[time(since - beside), time(until + beside)])
    highest = max([last, *levels]) + 2 * above
    chart.update_yaxes(range=[max(min([first, *levels]) - above, -0.05 * highest), highest])


LED, LED_UNCLEAN, IN_SYNC = say("led"), say("led-unclean"), say("in-sync")
_WIDTHS: Mapping[str, tuple[str, str, int]] = {
    IN_SYNC: (IN_SYNC, RUNS[4], 5), LED: (LED, INCOMING, 12), LED_UNCLEAN: (LED_UNCLEAN, ALARM, 12),
}  # fmt: skip
"""Words, colour and width: the bar of a leader is thicker too."""
_MOST_LANES = 30
_LABELLED = 40
"""Log ends that still have room for their number."""


def replicas(view: AuditView) -> go.Figure:
    """Lanes by partition and broker, those with most changes first. Without leaders a sentence."""
    lanes = lanes_of(view)
    if not lanes:
        return empty(say("no-leaders", topic=view.topic))
    chart = figure(150 + 26 * len(lanes)).update_layout(margin={"t": 60})
    bars = [
        *(Bar(lane(one), IN_SYNC, one.since, one.until, say("synced", since=one.since, until=one.until))
          for one in view.in_sync),
        *(Bar(lane(one), LED_UNCLEAN if one.unclean else LED, one.since, one.until, _words(one))
          for one in view.reigns),
    ]  # fmt: skip
    draw_lanes(chart, bars, _WIDTHS, lanes)
    levels = [(one, label(lane(one)), number(one.offset)) for one in view.levels if lane(one) in lanes]
    _draw_levels(chart, levels, numbered=len(levels) <= _LABELLED)
    return chart


def lanes_of(view: AuditView) -> tuple[str, ...]:
    """Names of the lanes; of very many those whose leader changed most often."""
    rows: tuple[Reign | InSync | Level, ...] = (*view.reigns, *view.in_sync, *view.levels)
    places = sorted({(by_number(one.queue), by_number(one.broker), one.queue, lane(one)) for one in rows})
    changes = Counter(one.queue for one in view.reigns)
    kept = sorted(places, key=lambda place: -changes[place[2]])[:_MOST_LANES]
    return tuple(name for *_, name in sorted(kept))


def lane(one: Reign | InSync | Level) -> str:
    """The name of its lane."""
    return say("lane", partition=one.queue, broker=one.broker)


def _words(reign: Reign) -> str:
    return say(
        "reign",
        epoch=None if reign.epoch is None else str(reign.epoch),
        unclean=reign.unclean,
        since=reign.since,
        until=reign.until,
        high_watermark=reign.high_watermark,
        isr=tuple(reign.isr) or None,
        place=reign.place,
    )
