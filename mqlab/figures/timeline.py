"""What happened when: traffic of the guilty host, lag, events, changes and findings on one time axis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts, Series
from mqlab.figures.style import (
    ALARM,
    BAND,
    CHANGE,
    GAP,
    INCOMING,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    TEMPLATE,
    Mark,
    empty,
    label,
    merged,
    thinned,
    time,
)
from mqlab.figures.traffic import Rate, Traffic, drawn_rates, gaps, traffic_of
from mqlab.findings import Finding, Severity
from mqlab.mqtt.connections import resumed
from mqlab.shared.queues import Points, of_groups
from mqlab.units import clock, size
from mqlab.views.queue_lags import waiting_over_time

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


_FLOOR = 100.0
"""Bytes per second under which a logarithmic axis shows no difference."""
_MOST_GROUPS = 3
_DEAD = "%DLQ%"
"""How the names of topics for dead letters begin."""


def timeline(facts: Facts, diagnosis: Diagnosis, *, log: bool = True, height: int = 330) -> go.Figure:
    """Rates in and out, lag where known, and a row of ticks per kind of event; gaps in the metrics are grey."""
    traffic, lanes = guilty_traffic(facts, diagnosis), lanes_of(facts, diagnosis)
    behind = {f"lag {group}": points for group, points in lag_points(facts).items()}
    lag = behind or kept_points(facts)
    weights = {
        "rate": 3.0 if traffic else 0,
        "lag": 1.2 if lag else 0,
        "lanes": 0.25 + 0.38 * _rows(lanes) if lanes else 0,
    }
    rows = [name for name, weight in weights.items() if weight]
    if not rows:
        return empty("Nothing in this material has a time: no metrics, no positions, no dated events.", height // 2)
    figure = make_subplots(
        rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.04, row_heights=[weights[name] for name in rows]
    )
    own_height = min(height, 90 + 36 * _rows(lanes)) if rows == ["lanes"] else height + 8 * max(0, _rows(lanes) - 5)
    figure.update_layout(template=TEMPLATE, height=own_height, margin={"l": 8, "r": 8, "t": 24, "b": 24})
    if traffic:
        _draw_traffic(figure, traffic, log=log)
    if lag:
        _draw_lag(figure, lag, rows.index("lag") + 1)
    if lanes:
        draw_lanes(figure, lanes, rows.index("lanes") + 1)
    _draw_bands(figure, facts, diagnosis, traffic)
    figure.add_annotation(
        text="UTC", x=0, y=0, xref="paper", yref="paper", xanchor="right", xshift=-8, yshift=-20, showarrow=False
    )
    return figure


def guilty_traffic(facts: Facts, diagnosis: Diagnosis) -> Traffic | None:
    """Counters of the host in the first ledger, else of the busiest."""
    hosts = [finding.ledger.host for finding in diagnosis.findings if finding.ledger]
    return traffic_of(facts, hosts[0] if hosts else None)


def lag_points(facts: Facts) -> dict[str, list[tuple[float, float]]]:
    """Lag of each group over time, the groups with the highest peak first; dead letters wait for nobody."""
    queues: dict[str, list[Points]] = defaultdict(list)
    for (group, topic), found in of_groups(facts).items():
        if not topic.startswith(_DEAD):
            queues[group] += found.values()
    totals = {group: waiting_over_time(found) for group, found in queues.items()}
    order = sorted(totals, key=lambda group: (-max(behind for _, behind in totals[group]), group))
    return {group: list(thinned(totals[group], value=lambda point: point[1])) for group in order[:_MOST_GROUPS]}


def kept_points(facts: Facts) -> dict[str, list[tuple[float, float]]]:
    """Messages that brokers of MQTT keep for sessions and as retained ones, the fullest first."""
    stores = sorted(facts.named("mqtt.stored_messages"), key=lambda s: (-max(value for _, value in s.points), s.source))
    return {
        f"kept by {store.labels.get('node') or store.source}": list(thinned(store.points, value=lambda point: point[1]))
        for store in stores[:_MOST_GROUPS]
    }


def _rows(lanes: tuple[Lane, ...]) -> int:
    return len({lane.row for lane in lanes})


def _draw_traffic(figure: go.Figure, traffic: Traffic, *, log: bool) -> None:
    for name, points, colour in (
        ("out", drawn_rates(traffic.outgoing), OUTGOING),
        ("in", drawn_rates(traffic.incoming), INCOMING),
    ):
        if points:
            figure.add_scatter(**_steps(points), name=f"{label(traffic.host)} {name}", line_color=colour, row=1, col=1)
    ticks = [10.0**power for power in range(2, 13)]
    figure.update_yaxes(
        type="log" if log else "linear", rangemode="tozero", tickvals=ticks if log else None,
        ticktext=[f"{size(tick).replace('.00', '').replace('.0', '')}/s" for tick in ticks] if log else None,
        ticksuffix="" if log else "B/s", row=1, col=1,
    )  # fmt: skip


def _steps(points: tuple[Rate, ...]) -> dict[str, object]:
    """Each rate holds from one sample to the next."""
    start = points[0]
    return {
        "x": [time(start.since), *(time(rate.at) for rate in points)],
        "y": [max(rate.value, _FLOOR) for rate in (start, *points)],
        "text": [f"{size(rate.value)}/s" for rate in (start, *points)],
        "hovertemplate": "%{x|%H:%M:%S} %{text}",
        "mode": "lines",
        "line_shape": "vh",
    }


def _draw_lag(figure: go.Figure, lag: dict[str, list[tuple[float, float]]], row: int) -> None:
    for place, (name, points) in enumerate(lag.items()):
        figure.add_scatter(
            x=[time(at) for at, _ in points], y=[round(behind) for _, behind in points], name=label(name),
            mode="lines+markers", line={"color": LAG, "dash": ("solid", "dash", "dot")[place]}, marker_size=4,
            row=row, col=1,
        )  # fmt: skip
    figure.update_yaxes(rangemode="tozero", title_text="waiting", nticks=3, row=row, col=1)


def _draw_bands(figure: go.Figure, facts: Facts, diagnosis: Diagnosis, traffic: Traffic | None) -> None:
    first = diagnosis.findings[0] if diagnosis.findings else None
    if first is not None and first.started_at is not None:
        figure.add_vrect(
            x0=time(first.started_at.timestamp()), x1=time(_end(first, diagnosis)), fillcolor=BAND, line_width=0
        )
    for start, end in gaps((traffic.incoming, traffic.outgoing, *_scrapes(facts, traffic)) if traffic else ()):
        figure.add_vrect(x0=time(start), x1=time(end), fillcolor=GAP, line_width=0)


def _scrapes(facts: Facts, traffic: Traffic) -> tuple[Series, ...]:
    """Whether the drawn counters' own target answered; other exporters of the host say nothing about them."""
    drawn = {one.labels.get("instance") for one in (traffic.incoming, traffic.outgoing) if one is not None}
    return tuple(series for series in facts.named("up") if series.labels.get("instance") in drawn)


def _end(finding: Finding, diagnosis: Diagnosis) -> float:
    if finding.ended_at is not None:
        return finding.ended_at.timestamp()
    return diagnosis.material.window[1] or (finding.started_at.timestamp() if finding.started_at else 0.0)
