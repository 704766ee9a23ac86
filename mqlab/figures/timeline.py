"""What happened when: traffic of the guilty host, lag, events, changes and findings on one time axis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import plotly.graph_objects as go

from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts, Series
from mqlab.figures.style import (
    ALARM,
    BAND,
    CHANGE,
    GAP,
    INK,
    LAG,
    MUTED,
    OUTGOING,
    Bar,
    empty,
    label,
    line,
    merged,
    panels,
    segments,
    time,
)
from mqlab.figures.traffic import Traffic, draw_rates, gaps, traffic_of
from mqlab.findings import Finding, Severity
from mqlab.mqtt.connections import resumed
from mqlab.shared.queues import Points, of_groups
from mqlab.units import clock, number
from mqlab.views.groups import waiting_over_time

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
"""By kind of event: its lane, its symbol and its colour."""
_CHANGED = ("changes", "diamond", CHANGE)
_COMING = ("consumer-connected", "consumer-disconnected", "client-connected", "client-disconnected")
"""Of these the address counts too: one client id may come from several."""
_Look = tuple[str, str, str]


def timeline(facts: Facts, diagnosis: Diagnosis, *, log: bool = True, height: int = 330) -> go.Figure:
    """Rates in and out, lag where known, and a row of ticks per kind of event; gaps in the metrics are grey."""
    hosts = [finding.ledger.host for finding in diagnosis.findings if finding.ledger]
    traffic, lanes = traffic_of(facts, hosts[0] if hosts else None), event_lanes(facts, diagnosis)
    waiting = {f"lag {group}": points for group, points in lag_points(facts).items()} or kept_points(facts)
    rows = len({lane for lane, _, _ in lanes})
    weights = {"rate": 3.0 if traffic else 0, "lag": 1.2 if waiting else 0, "lanes": 0.25 + 0.38 * rows if rows else 0}
    drawn = [name for name, weight in weights.items() if weight]
    if not drawn:
        return empty(
            "Nothing in this material has a timestamp: no metrics, no positions, no dated events.", height // 2
        )
    own_height = min(height, 90 + 36 * rows) if drawn == ["lanes"] else height + 8 * max(0, rows - 5)
    chart = panels(own_height, *filter(None, weights.values()), margin={"l": 8, "r": 8, "t": 24, "b": 24})
    if traffic:
        draw_rates(chart, traffic, log=log)
    if waiting:
        _draw_waiting(chart, waiting, drawn.index("lag") + 1)
    if lanes:
        _draw_events(chart, lanes, drawn.index("lanes") + 1)
    _draw_bands(chart, facts, diagnosis, traffic)
    return chart.update_xaxes(title_text=None, row=len(drawn), col=1).add_annotation(
        text="UTC", x=0, y=0, xref="paper", yref="paper", xanchor="right", xshift=-8, yshift=-20, showarrow=False
    )


def event_lanes(facts: Facts, diagnosis: Diagnosis) -> Mapping[_Look, tuple[Bar, ...]]:
    """Marks by lane, symbol and colour, top lane first: events, changes, every finding but the first, a band."""
    again = resumed(facts)
    found: dict[_Look, list[Bar]] = {look: [] for look in (*_LANES.values(), _CHANGED)}
    for kind, look in _LANES.items():
        for one in facts.of_kind(kind):
            if one.first_at is not None and one not in again:
                end = one.first_at if one.last_at is None else one.last_at
                found[look].append(Bar(look[0], kind, one.first_at, end, _words(one)))
    for change in diagnosis.changes:
        if change.at is not None:
            told = f"{clock(change.at)} {change.what}: {change.before or '—'} → {change.after or '—'}"
            found[_CHANGED].append(Bar("changes", "change", change.at, change.at, told))
    for finding in diagnosis.findings[1:6]:
        if finding.started_at is not None and finding.severity > Severity.NOTICE:
            colour = ALARM if finding.severity is Severity.CRITICAL else MUTED
            span = finding.started_at.timestamp(), _end(finding, diagnosis)
            bar = Bar(finding.incident, "finding", *span, finding.subject)
            found.setdefault((finding.incident, "line-ns-open", colour), []).append(bar)
    return {look: merged(bars) for look, bars in found.items() if bars}


def _words(episode: Episode) -> str:
    names = (episode.client_id, episode.peer, episode.node)
    who = " ".join(filter(None, names[:2])) if episode.kind in _COMING else next((name for name in names if name), "")
    where = "-".join(part for part in (episode.topic, episode.queue) if part)
    place = f"{episode.first.source}:{episode.first.line}" if episode.first.line else episode.first.source
    return "\n".join(filter(None, (f"{clock(episode.first_at)} {episode.kind} × {episode.count}", who, where, place)))


def _draw_events(chart: go.Figure, lanes: Mapping[_Look, tuple[Bar, ...]], row: int) -> None:
    for (lane, symbol, colour), bars in lanes.items():
        chart.add_scatter(
            **segments(bars), name=label(lane), mode="lines+markers", line={"color": colour, "width": 3},
            hovertemplate="%{text}<extra></extra>", showlegend=False, row=row, col=1,
            marker={"symbol": symbol, "size": 10, "color": colour, "line": {"width": 2, "color": colour}},
        )  # fmt: skip
    order = [*dict.fromkeys(label(lane) for lane, _, _ in lanes)]
    chart.update_yaxes(
        categoryorder="array", categoryarray=order[::-1], showgrid=False, dtick=1, tickfont_size=11, row=row, col=1
    )


_MOST_GROUPS = 3
_DEAD = "%DLQ%"
"""How the names of topics for dead letters begin."""


def lag_points(facts: Facts) -> dict[str, tuple[tuple[float, float], ...]]:
    """Lag of each group over time, the groups with the highest peak first; dead letters wait for nobody."""
    queues: dict[str, list[Points]] = defaultdict(list)
    for (group, topic), found in of_groups(facts).items():
        if not topic.startswith(_DEAD):
            queues[group] += found.values()
    totals = {group: waiting_over_time(found) for group, found in queues.items()}
    order = sorted(totals, key=lambda group: (-max(behind for _, behind in totals[group]), group))
    return {group: totals[group] for group in order[:_MOST_GROUPS]}


def kept_points(facts: Facts) -> dict[str, tuple[tuple[float, float], ...]]:
    """Messages that brokers of MQTT keep for sessions and as retained ones, the fullest first."""
    stores = sorted(facts.named("mqtt.stored_messages"), key=lambda s: (-max(value for _, value in s.points), s.source))
    return {f"kept by {s.labels.get('node') or s.source}": tuple(s.points) for s in stores[:_MOST_GROUPS]}


def _draw_waiting(chart: go.Figure, waiting: Mapping[str, tuple[tuple[float, float], ...]], row: int) -> None:
    for (name, points), dash in zip(waiting.items(), ("solid", "dash", "dot"), strict=False):
        told = [(at, round(behind), number(round(behind))) for at, behind in points]
        line(chart, name, told, row=row, mode="lines+markers", marker_size=4, line={"color": LAG, "dash": dash})
    chart.update_yaxes(rangemode="tozero", title_text="waiting", nticks=3, row=row, col=1)


def _draw_bands(chart: go.Figure, facts: Facts, diagnosis: Diagnosis, traffic: Traffic | None) -> None:
    first = diagnosis.findings[0] if diagnosis.findings else None
    if first is not None and first.started_at is not None:
        begin, end = time(first.started_at.timestamp()), time(_end(first, diagnosis))
        chart.add_vrect(x0=begin, x1=end, fillcolor=BAND, line_width=0)
    drawn = (traffic.incoming, traffic.outgoing, *_scrapes(facts, traffic)) if traffic else ()
    for start, stop in gaps(drawn):
        chart.add_vrect(x0=time(start), x1=time(stop), fillcolor=GAP, line_width=0)


def _scrapes(facts: Facts, traffic: Traffic) -> tuple[Series, ...]:
    """Whether the drawn counters' own target answered; other exporters of the host say nothing about them."""
    drawn = {one.labels.get("instance") for one in (traffic.incoming, traffic.outgoing) if one is not None}
    return tuple(series for series in facts.named("up") if series.labels.get("instance") in drawn)


def _end(finding: Finding, diagnosis: Diagnosis) -> float:
    """Its end, else that of the material."""
    if finding.ended_at is not None:
        return finding.ended_at.timestamp()
    return diagnosis.material.window[1] or (finding.started_at.timestamp() if finding.started_at else 0.0)
