"""How far did the messages of a topic get? One bar per stage; beside what arrived, what was lost before it, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.delivery.path import PathRow, groups, path, total
from mqlab.delivery.rows import Audit, Loss, Side
from mqlab.delivery.words import UNEXPLAINED, bounded
from mqlab.figures.style import ALARM, GRID, INCOMING, INK, LAG, MUTED, OUTGOING, empty, figure, label
from mqlab.units import number, percent

ARRIVED, PENDING, UNKNOWN, UNANSWERED, FAILED = "arrived", "pending", "not told", "unanswered", "refused or given up"
_LOSSES = (ALARM, OUTGOING, LAG, "#cc79a7", "#e69f00")
_LOOKS = {
    ARRIVED: (INCOMING, ""),
    FAILED: ("#e69f00", "/"),
    UNANSWERED: (GRID, "x"),
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
        about = audit.topic if audit else "any topic"
        return empty(f"Nothing in this material counts messages of {about}: neither sent, acknowledged nor handled.")
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
    chart.update_xaxes(title_text="messages", range=[0, widest * 1.4], tickformat=",d")
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
        yield _arrived("sent", log, "sent", log.sent)
    if log.acked is not None:
        yield _arrived("acknowledged", log, "acked", log.acked)
        yield _piece("acknowledged", FAILED, log.failed or 0)
        yield _piece("acknowledged", UNANSWERED, log.unanswered or 0)


def _kept(audit: Audit, log: PathRow) -> Iterator[Piece]:
    """What the log still has of what was acknowledged; else of what it is known to have held."""
    held = log.stored if log.acked is None else log.acked
    own = [one for one in audit.losses if one.side is Side.LOG]
    stage = "kept by the log"
    if held is not None:
        yield _piece(stage, ARRIVED, max(0, held - sum(one.records for one in own)))
    yield from _lost(stage, own)


def _to_group(audit: Audit, group: str, way: PathRow) -> Iterator[Piece]:
    stage = f"handled by {group}"
    if way.handled is not None:
        yield _arrived(stage, way, "handled", way.handled)
    yield from _lost(stage, [one for one in audit.losses if one.side is Side.GROUP and one.group == group])
    yield _piece(stage, PENDING, way.pending or 0)
    yield _piece(stage, UNKNOWN, way.unknown)


def _lost(stage: str, losses: Sequence[Loss]) -> Iterator[Piece]:
    for incident in dict.fromkeys(one.incident for one in sorted(losses, key=lambda one: one.incident or "~")):
        own = [one for one in losses if one.incident == incident]
        least, most = sum(one.least for one in own), sum(one.most for one in own)
        records = sum(one.records for one in own)
        yield Piece(stage, f"lost: {incident or UNEXPLAINED}", records, bounded(records, least, most))


def _arrived(stage: str, way: PathRow, column: str, messages: int) -> Piece:
    return Piece(stage, ARRIVED, messages, f"{'≥ ' if column in way.partly else ''}{number(messages)}")


def _piece(stage: str, kind: str, messages: int) -> Piece:
    return Piece(stage, kind, messages, number(messages))


def _draw(chart: go.Figure, kind: str, pieces: Sequence[Piece], lost: Sequence[str]) -> None:
    colour, pattern = _LOOKS.get(kind) or (_LOSSES[lost.index(kind) % len(_LOSSES)], "")
    if pieces:
        chart.add_bar(
            y=[label(piece.stage) for piece in pieces], x=[piece.messages for piece in pieces], orientation="h",
            name=label(kind), text=[f"{piece.words} {label(kind)}" for piece in pieces], textposition="none",
            hovertemplate="%{y}: %{text}<extra></extra>",
            marker={"color": colour, "line": {"color": MUTED if colour in (GRID, "#ffffff") else colour, "width": 1},
                    "pattern": {"shape": pattern, "fgcolor": INK, "size": 5}},
        )  # fmt: skip


def _annotate(chart: go.Figure, stage: str, pieces: Sequence[Piece], widest: int) -> None:
    """What arrived and what was lost, to the right of the bar: a short piece cannot be seen."""
    whole = sum(piece.messages for piece in pieces)
    told = [f"<b>{piece.words}</b>" for piece in pieces if piece.kind == ARRIVED]
    told += [f"{piece.words} {label(piece.kind)}" for piece in pieces if piece.kind != ARRIVED]
    long = sum(map(len, told)) > _LONG
    chart.add_annotation(
        y=label(stage), x=whole, text=("<br>" if long else " · ").join(told), showarrow=False, align="left",
        xanchor="left", xshift=6, font={"size": 10 if long else 11}, hovertext=percent(whole / widest),
    )  # fmt: skip
