"""Events as rows of ticks under a time axis: splits, rebalances, takeovers, exits, changes, further findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts
from mqlab.figures.style import ALARM, CHANGE, INK, MUTED, OUTGOING, label, time
from mqlab.figures.thinning import Mark, merged
from mqlab.findings import Severity
from mqlab.mqtt.broker_lives import resumed
from mqlab.units import clock

_LANES = {
    "batch-split": ("batch splits", "line-ns-open", OUTGOING),
    "produce-retry": ("produce retries", "line-ns-open", OUTGOING),
    "record-too-large": ("record too large", "line-ns-open", MUTED),
    "record-expired": ("record expired", "line-ns-open", MUTED),
    "rebalance-started": ("rebalances", "line-ns-open", INK),
    "member-expired": ("member expired", "line-ns-open", ALARM),
    "consumer-connected": ("members come, go", "triangle-up", CHANGE),
    "consumer-disconnected": ("members come, go", "x", ALARM),
    "client-connected": ("clients come, go", "triangle-up", CHANGE),
    "client-disconnected": ("clients come, go", "x", ALARM),
    "session-takeover": ("takeovers", "line-ns-open", ALARM),
    "session-queue-dropping": ("queues drop", "line-ns-open", OUTGOING),
    "publish-denied": ("refused", "line-ns-open", OUTGOING),
    "subscribe-denied": ("refused", "line-ns-open", OUTGOING),
    "bridge-connecting": ("bridges connect", "triangle-up", CHANGE),
    "broker-stopping": ("broker down, up", "x", ALARM),
    "broker-starting": ("broker down, up", "triangle-up", CHANGE),
    "unclean-election": ("unclean elections", "line-ns-open", ALARM),
    "log-truncated": ("logs cut", "x", OUTGOING),
    "broker-stopped": ("broker down, up", "x", ALARM),
    "broker-started": ("broker down, up", "triangle-up", CHANGE),
    "out-of-memory": ("exits, starts", "diamond-open", ALARM),
    "process-exit": ("exits, starts", "x", ALARM),
    "process-started": ("exits, starts", "triangle-up", CHANGE),
}
_COMING = ("consumer-connected", "consumer-disconnected", "client-connected", "client-disconnected")
"""Of these the address counts too: one client id may come from several."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Marks of one kind in one row; a mark may last."""

    row: str
    symbol: str
    colour: str
    marks: tuple[Mark, ...]


def lanes_of(facts: Facts, diagnosis: Diagnosis) -> tuple[Lane, ...]:
    """The rows to draw, top row first; only rows that hold something."""
    again = resumed(facts)
    events = [_event_lane(kind, [e for e in facts.of_kind(kind) if e not in again]) for kind in _LANES]
    return tuple(lane for lane in (*events, _change_lane(diagnosis), *_finding_lanes(diagnosis)) if lane.marks)


def draw_lanes(figure: go.Figure, lanes: Sequence[Lane], row: int) -> None:
    """Add the lanes to one row of a figure with subplots."""
    for lane in lanes:
        times = [moment for start, end, _ in lane.marks for moment in (time(start), time(end), None)]
        words = [text for _, _, shown in lane.marks for text in (shown, shown, None)]
        edge = {"width": 2, "color": lane.colour}
        figure.add_scatter(
            x=times, y=[None if at is None else lane.row for at in times], text=words, name=lane.row,
            mode="lines+markers", line={"color": lane.colour, "width": 3}, hovertemplate="%{text}<extra></extra>",
            marker={"symbol": lane.symbol, "size": 10, "color": lane.colour, "line": edge},
            showlegend=False, row=row, col=1,
        )  # fmt: skip
    rows = list(dict.fromkeys(lane.row for lane in lanes))
    figure.update_yaxes(
        categoryorder="array", categoryarray=rows[::-1], showgrid=False, dtick=1, tickfont_size=11, row=row, col=1
    )


def _event_lane(kind: str, episodes: Sequence[Episode]) -> Lane:
    row, symbol, colour = _LANES[kind]
    marks = [
        (episode.first_at, episode.last_at if episode.last_at is not None else episode.first_at, _words(episode))
        for episode in episodes
        if episode.first_at is not None
    ]
    return Lane(row, symbol, colour, merged(marks))


def _words(episode: Episode) -> str:
    names = (episode.client_id, episode.peer, episode.node)
    who = " ".join(filter(None, names[:2])) if episode.kind in _COMING else next((name for name in names if name), "")
    where = "-".join(part for part in (episode.topic, episode.queue) if part)
    place = f"{episode.first.source}:{episode.first.line}" if episode.first.line else episode.first.source
    parts = (f"{clock(episode.first_at)} {episode.kind} × {episode.count}", who, where, place)
    return "<br>".join(label(part) for part in parts if part)


def _change_lane(diagnosis: Diagnosis) -> Lane:
    marks = [
        (
            change.at,
            change.at,
            label(f"{clock(change.at)} {change.what}: {change.before or '—'} → {change.after or '—'}"),
        )
        for change in diagnosis.changes
        if change.at is not None
    ]
    return Lane("changes", "diamond", CHANGE, merged(marks))


def _finding_lanes(diagnosis: Diagnosis) -> tuple[Lane, ...]:
    """Every finding after the first; the first is a band over the whole figure."""
    end = diagnosis.material.window[1]
    return tuple(
        Lane(
            label(finding.incident), "line-ns-open", ALARM if finding.severity is Severity.CRITICAL else MUTED,
            ((start, finding.ended_at.timestamp() if finding.ended_at else end or start, label(finding.subject)),),
        )
        for finding in diagnosis.findings[1:6]
        if finding.started_at is not None and finding.severity > Severity.NOTICE
        for start in (finding.started_at.timestamp(),)
    )  # fmt: skip
