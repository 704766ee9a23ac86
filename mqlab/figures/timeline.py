"""What happened when: traffic of the guilty host, lag, events, changes and findings on one time axis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape

import plotly.graph_objects as go

from mqlab import words
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Episode, Facts, Series
from mqlab.figures.style import (
    ALARM,
    BAND,
    CHANGE,
    DARK,
    GAP,
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
from mqlab.known_errors import of_class
from mqlab.mqtt.connections import resumed
from mqlab.shared.queues import Points, of_groups
from mqlab.symptoms import deaths
from mqlab.units import clock, number
from mqlab.views.groups import waiting_over_time

say = words.room("timeline")

_MEMBERS, _CLIENTS, _REFUSED = say("members"), say("clients"), say("refused")
_BROKERS, _PROCESSES = say("brokers"), say("processes")
_LANES = {
    "batch-split": (say("splits"), "line-ns-open", OUTGOING),
    "produce-retry": (say("retries"), "line-ns-open", OUTGOING),
    "record-too-large": (say("too-large"), "line-ns-open", MUTED),
    "record-expired": (say("expired"), "line-ns-open", MUTED),
    "rebalance-started": (say("rebalances"), "line-ns-open", LAG),
    "member-expired": (say("expelled"), "line-ns-open", ALARM),
    "static-member-fenced": (say("fenced"), "line-ns-open", ALARM),
    "poll-timeout": (say("polls-late"), "line-ns-open", ALARM),
    "record-failed": (say("records-fail"), "line-ns-open", OUTGOING),
    "offset-reset": (say("offsets-refused"), "line-ns-open", OUTGOING),
    "ping-unanswered": (say("pings"), "line-ns-open", ALARM),
    "consumer-connected": (_MEMBERS, "triangle-up", CHANGE),
    "consumer-disconnected": (_MEMBERS, "x", ALARM),
    "client-connected": (_CLIENTS, "triangle-up", CHANGE),
    "client-disconnected": (_CLIENTS, "x", ALARM),
    "session-takeover": (say("takeovers"), "line-ns-open", ALARM),
    "session-queue-dropping": (say("queues-drop"), "line-ns-open", OUTGOING),
    "publish-denied": (_REFUSED, "line-ns-open", OUTGOING),
    "subscribe-denied": (_REFUSED, "line-ns-open", OUTGOING),
    "bridge-connecting": (say("bridges"), "triangle-up", CHANGE),
    "broker-stopping": (_BROKERS, "x", ALARM),
    "broker-starting": (_BROKERS, "triangle-up", CHANGE),
    "unclean-election": (say("unclean"), "line-ns-open", ALARM),
    "log-truncated": (say("logs-cut"), "line-ns-open", OUTGOING),
    "broker-stopped": (_BROKERS, "x", ALARM),
    "broker-started": (_BROKERS, "triangle-up", CHANGE),
    "out-of-memory": (_PROCESSES, "diamond-open", ALARM),
    "process-exit": (_PROCESSES, "x", ALARM),
    "process-started": (_PROCESSES, "triangle-up", CHANGE),
}
"""By kind of event: its lane, its symbol and its colour."""
_CHANGED = (say("changes"), "diamond", CHANGE)
_INFERRED = "x-open"
_DIED = (say("died"), _INFERRED, ALARM)
_OWN_LANES = 4
"""So many that died have lanes of their own."""
_SIGNS = {
    "line-ns-open": ("|", say("events")), "x": ("✖", say("ends")), _INFERRED: ("✕", say("silent")),
    "triangle-up": ("▲", say("starts")), "diamond": ("◆", say("changed")), "diamond-open": ("◇", say("memory")),
}  # fmt: skip
"""What a mark looks like in a line of text, and what it says."""
_BANDS = {BAND: say("incident"), GAP: say("gap")}
_COMING = ("consumer-connected", "consumer-disconnected", "client-connected", "client-disconnected")
"""Of these the address counts too: one client id may come from several."""
_Look = tuple[str, str, str]


_LANE = 19
"""Pixels of a lane: a mark and the words beside it."""
_SHARES = {"rate": 3.0, "lag": 1.6}
"""How the height above the lanes is shared."""
_ALONE = 0.7
"""How much of that height one of them has alone."""


_TICKS = 4
"""Moments at the axis that have room on a phone."""
_DAY = 86400.0
_CLOCK = [{"dtickrange": [None, 59_999], "value": "%H:%M:%S"}, {"dtickrange": [60_000, None], "value": "%H:%M"}]
"""Within a day the axis has no dates; the page tells the day."""


def timeline(
    facts: Facts, diagnosis: Diagnosis, *, log: bool = True, height: int = 200, legend: bool = True
) -> go.Figure:
    """Rates in and out, lag where known, and a row of marks per kind of event; gaps in the metrics are grey.

    *height* is that of rates and lag, in pixels; each lane of events adds its own. Without a *legend* ``keys`` tells
    what is drawn.
    """
    hosts = [finding.ledger.host for finding in diagnosis.findings if finding.ledger]
    traffic, lanes = traffic_of(facts, hosts[0] if hosts else None), event_lanes(facts, diagnosis)
    waiting: Waiting = {say("lag", group=group): points for group, points in lag_points(facts).items()}
    waiting = waiting or kept_points(facts)
    rows = len({lane for lane, _, _ in lanes})
    drawn = [name for name, there in (("rate", traffic), ("lag", waiting), ("lanes", lanes)) if there]
    if not drawn:
        return empty(say("empty"), 60)
    above = [_SHARES[name] for name in drawn if name in _SHARES]
    upper = height * (1 if len(above) > 1 else _ALONE)
    heights = [upper * share / sum(above) for share in above] + ([_LANE * (rows + 0.5)] if rows else [])
    margin = {"l": 8, "r": 8, "t": 24 if legend else 6, "b": 24}
    chart = panels(round(sum(heights) + 60), *heights, margin=margin, showlegend=legend)
    if traffic:
        draw_rates(chart, traffic, log=log)
    if waiting:
        _draw_waiting(chart, waiting, drawn.index("lag") + 1)
    if lanes:
        _draw_events(chart, lanes, drawn.index("lanes") + 1)
    _draw_bands(chart, facts, diagnosis, traffic)
    chart.update_xaxes(title_text=None, row=len(drawn), col=1)
    return _for_notebooks(chart) if legend else _for_pages(chart, diagnosis)


def _for_notebooks(chart: go.Figure) -> go.Figure:
    """With the zone at the axis, and bands in the legend."""
    for colour, band in _BANDS.items():
        for shape in [one for one in chart.layout.shapes if one.fillcolor == colour][:1]:
            shape.update(name=label(band), showlegend=True)
    look = {"xref": "paper", "yref": "paper", "xanchor": "right", "showarrow": False}
    return chart.add_annotation(text="UTC", x=0, y=0, xshift=-8, yshift=-20, **look)


def _for_pages(chart: go.Figure, diagnosis: Diagnosis) -> go.Figure:
    """With few moments at the axis, which have room on a phone; without dates where the material has none."""
    since, until = diagnosis.material.window
    within = since is None or until is None or until - since < _DAY
    return chart.update_xaxes(tickangle=0, nticks=_TICKS, tickformatstops=_CLOCK if within else None)


def event_lanes(facts: Facts, diagnosis: Diagnosis) -> Mapping[_Look, tuple[Bar, ...]]:
    """Marks by lane, symbol and colour, lane by lane: events, what died, changes, every finding but the first."""
    found: dict[_Look, list[Bar]] = {look: [] for look in (*_LANES.values(), _DIED, _CHANGED)}
    for look, bar in (*_happened(facts), *_said(facts, diagnosis), *_found(diagnosis)):
        found.setdefault(look, []).append(bar)
    kept = {look: merged(bars) for look, bars in found.items() if bars}
    lanes = list(dict.fromkeys(look[0] for look in kept))
    return dict(sorted(kept.items(), key=lambda entry: lanes.index(entry[0][0])))


def _happened(facts: Facts) -> Iterator[tuple[_Look, Bar]]:
    again = resumed(facts)
    for kind, look in _LANES.items():
        for one in facts.of_kind(kind):
            if one.first_at is not None and one not in again:
                end = one.first_at if one.last_at is None else one.last_at
                yield look, Bar(look[0], kind, one.first_at, end, _words(one))
    every = deaths.deaths(facts)
    own = len({dead.who for dead in every}) <= _OWN_LANES
    for dead in every:
        lane = dead.who if own else _DIED[0]
        told = words.listed((dead.who, dead.how), "\n")
        yield (lane, *_DIED[1:]), Bar(lane, "death", dead.since, dead.until, told)


def _said(facts: Facts, diagnosis: Diagnosis) -> Iterator[tuple[_Look, Bar]]:
    """Known errors of the class that leads, or that is most likely."""
    likely = [one.incident for one in diagnosis.verdict.hypotheses[:1]]
    for incident in (diagnosis.verdict.incident, *likely):
        lane = incident
        for one in facts.of_kind(*(kind for kind in of_class(incident) if kind not in _LANES)):
            if one.first_at is not None:
                bar = Bar(lane, "said", one.first_at, one.last_at or one.first_at, _words(one))
                yield (lane, "line-ns-open", OUTGOING), bar


def _found(diagnosis: Diagnosis) -> Iterator[tuple[_Look, Bar]]:
    """Values that changed, and findings; starts, exits and joins have lanes of their own."""
    for change in diagnosis.changes:
        if change.at is not None and change.before is not None:
            values = {"before": change.before or "—", "after": change.after or "—"}
            told = say("change", at=change.at, what=change.what, **values)
            yield _CHANGED, Bar(_CHANGED[0], "change", change.at, change.at, told)
    for finding in diagnosis.findings[1:6]:
        if finding.started_at is not None and finding.severity > Severity.NOTICE:
            colour = ALARM if finding.severity is Severity.CRITICAL else MUTED
            lane, since = finding.incident, finding.started_at.timestamp()
            yield (lane, "line-ns-open", colour), Bar(lane, "finding", since, _end(finding, diagnosis), finding.subject)


def _words(episode: Episode) -> str:
    names = (episode.client_id, episode.peer, episode.node)
    who = " ".join(filter(None, names[:2])) if episode.kind in _COMING else next((name for name in names if name), "")
    where = "-".join(part for part in (episode.topic, episode.queue) if part)
    place = f"{episode.first.source}:{episode.first.line}" if episode.first.line else episode.first.source
    return "\n".join(filter(None, (f"{clock(episode.first_at)} {episode.kind} × {episode.count}", who, where, place)))


def _draw_events(chart: go.Figure, lanes: Mapping[_Look, tuple[Bar, ...]], row: int) -> None:
    for (lane, symbol, colour), bars in lanes.items():
        chart.add_scatter(
            **segments(bars), name=label(lane), mode="lines+markers", showlegend=False, row=row, col=1,
            line={"color": colour} | ({"width": 1.5, "dash": "dot"} if symbol == _INFERRED else {"width": 3}),
            hovertemplate="%{text}<extra></extra>",
            marker={"symbol": symbol, "size": 10, "color": colour, "line": {"width": 1.5, "color": colour}},
        )  # fmt: skip
    order = [*dict.fromkeys(label(lane) for lane, _, _ in lanes)]
    chart.update_yaxes(
        categoryorder="array", categoryarray=order[::-1], showgrid=False, dtick=1, tickfont_size=11,
        range=[-0.6, len(order) - 0.4], row=row, col=1,
    )  # fmt: skip


_MOST_GROUPS = 3
_MOST_TOLD = 4
"""Deaths that the text names one by one."""
_DEAD = "%DLQ%"
"""How the names of topics for dead letters begin."""


Waiting = dict[str, tuple[tuple[float, float], ...]]
"""What waited over time, by its name."""


def lag_points(facts: Facts) -> Waiting:
    """Lag of each group over time, the groups with the highest peak first; dead letters wait for nobody."""
    queues: dict[str, list[Points]] = defaultdict(list)
    for (group, topic), found in of_groups(facts).items():
        if not topic.startswith(_DEAD):
            queues[group] += found.values()
    totals = {group: waiting_over_time(found) for group, found in queues.items()}
    order = sorted(totals, key=lambda group: (-max(behind for _, behind in totals[group]), group))
    return {group: totals[group] for group in order[:_MOST_GROUPS]}


def kept_points(facts: Facts) -> Waiting:
    """Messages that brokers of MQTT keep for sessions and as retained ones, the fullest first."""
    stores = sorted(facts.named("mqtt.stored_messages"), key=lambda s: (-max(value for _, value in s.points), s.source))
    return {say("kept", broker=s.labels.get("node") or s.source): tuple(s.points) for s in stores[:_MOST_GROUPS]}


def _draw_waiting(chart: go.Figure, waiting: Waiting, row: int) -> None:
    for (name, points), dash in zip(waiting.items(), ("solid", "dash", "dot"), strict=False):
        told = [(at, round(behind), number(round(behind))) for at, behind in points]
        line(chart, name, told, row=row, mode="lines+markers", marker_size=4, line={"color": LAG, "dash": dash})
    chart.update_yaxes(rangemode="tozero", nticks=3, row=row, col=1)


def _draw_bands(chart: go.Figure, facts: Facts, diagnosis: Diagnosis, traffic: Traffic | None) -> None:
    first = _lead(diagnosis)
    if first is not None and first.started_at is not None:
        begin, end = time(first.started_at.timestamp()), time(_end(first, diagnosis))
        chart.add_vrect(x0=begin, x1=end, fillcolor=BAND, line={"color": BAND, "width": 1})
    drawn = (traffic.incoming, traffic.outgoing, *_scrapes(facts, traffic)) if traffic else ()
    for start, stop in gaps(drawn):
        chart.add_vrect(x0=time(start), x1=time(stop), fillcolor=GAP, line_width=0)


def _lead(diagnosis: Diagnosis) -> Finding | None:
    """The finding that gave the verdict its name."""
    return next((one for one in diagnosis.findings if one.incident == diagnosis.verdict.incident), None)


def _scrapes(facts: Facts, traffic: Traffic) -> tuple[Series, ...]:
    """Whether the drawn counters' own target answered; other exporters of the host say nothing about them."""
    drawn = {one.labels.get("instance") for one in (traffic.incoming, traffic.outgoing) if one is not None}
    return tuple(series for series in facts.named("up") if series.labels.get("instance") in drawn)


def _end(finding: Finding, diagnosis: Diagnosis) -> float:
    """Its end, else that of the material."""
    if finding.ended_at is not None:
        return finding.ended_at.timestamp()
    return diagnosis.material.window[1] or (finding.started_at.timestamp() if finding.started_at else 0.0)


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend."""

    sign: str
    """A mark; empty for a line or a band."""
    words: str
    colour: str
    style: str = ""
    """How a line is drawn (``solid``, ``dash``, ``dot``), or ``band``."""

    @property
    def night(self) -> str:
        """Its colour on a dark screen."""
        return DARK.get(self.colour, self.colour)


def keys(chart: go.Figure) -> tuple[Key, ...]:
    """What is drawn in this timeline and how: lines, marks and bands, each once."""
    marks = [one for one in chart.data if one.showlegend is False]
    lines = [
        Key("", unescape(one.name), one.line.color, one.line.dash or "solid") for one in chart.data if one not in marks
    ]
    signs = [Key(*_SIGNS[one.marker.symbol], one.marker.color) for one in marks]
    bands = [Key("", _BANDS[one.fillcolor], one.fillcolor, "band") for one in chart.layout.shapes]
    first = {(one.sign, one.words): one for one in reversed([*lines, *signs, *bands])}
    return tuple(reversed(first.values()))


def told(facts: Facts, diagnosis: Diagnosis) -> str:
    """The timeline in a few sentences, for those who do not see it."""
    since, until = diagnosis.material.window
    sentences = [say("whole", since=clock(since), until=clock(until))]
    first = _lead(diagnosis)
    if first is not None and first.started_at is not None:
        end = None if first.ongoing else _end(first, diagnosis)
        sentences.append(say("begins", begin=first.started_at, end=end))
    for name, points in lag_points(facts).items():
        at, most = max(points, key=lambda point: point[1])
        sentences.append(say("waiting", messages=round(most), group=name, at=at))
    sentences += [say("death", who=one.who, how=one.how) for one in deaths.deaths(facts)[:_MOST_TOLD]]
    lanes = Counter[str]()
    for (lane, _, _), bars in event_lanes(facts, diagnosis).items():
        lanes[lane] += len(bars)
    if lanes:
        sentences.append(say("marks", lanes=[say("marked", lane=lane, marks=count) for lane, count in lanes.items()]))
    return words.listed(sentences, " ")
