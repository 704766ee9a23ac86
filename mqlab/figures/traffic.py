"""Bytes: rates in and out with their change, the ledger of stages, who split when, and what splits cost in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import plotly.graph_objects as go

from mqlab.facts import Episode, Facts, Series
from mqlab.figures.style import (
    ALARM,
    BAND,
    GRID,
    INCOMING,
    INK,
    MUTED,
    OUTGOING,
    RUNS,
    empty,
    figure,
    label,
    thinned,
    time,
)
from mqlab.findings import Finding, Stage, TrafficLedger
from mqlab.units import clock, digits, factor, percent, size

_PAIRS = (
    ("host.receive_bytes", "host.transmit_bytes"),
    ("broker.bytes_in", "broker.bytes_out"),
    ("consumer.incoming_bytes", "producer.outgoing_bytes"),
    ("mqtt.bytes_received", "mqtt.bytes_sent"),
)
"""Network card first, since it sees everything that leaves; then brokers, then clients, then brokers of MQTT."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Bytes per second between two samples."""

    since: float
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went into and out of one host."""

    host: str
    incoming: Series | None
    outgoing: Series | None


def traffic_of(facts: Facts, host: str | None) -> Traffic | None:
    """The counters of this host, or else of the host that sent most."""
    for incoming, outgoing in _PAIRS:
        senders = [s for s in facts.named(outgoing) if s.host == host] or list(facts.named(outgoing))
        chosen = max(senders, key=_preference, default=None)
        if chosen is not None:
            receivers = [s for s in facts.named(incoming) if s.host == chosen.host and _device(s) == _device(chosen)]
            return Traffic(chosen.host or chosen.source, max(receivers, key=_preference, default=None), chosen)
    return None


def rates(series: Series | None) -> tuple[Rate, ...]:
    """Increase per second between samples; a counter that fell began again at zero."""
    if series is None:
        return ()
    return tuple(
        Rate(t0, t1, (v1 - v0 if v1 >= v0 else v1) / (t1 - t0))
        for (t0, v0), (t1, v1) in pairwise(series.points)
        if t1 > t0
    )


def drawn_rates(series: Series | None) -> tuple[Rate, ...]:
    """The rates, thinned for drawing; peaks stay."""
    return thinned(rates(series), value=lambda rate: rate.value)


def gaps(series: Iterable[Series | None]) -> tuple[tuple[float, float], ...]:
    """Stretches without samples, where a series usually has some; overlapping ones joined."""
    found = sorted(gap for one in series if one is not None for gap in _gaps(one))
    joined: list[tuple[float, float]] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _gaps(series: Series) -> list[tuple[float, float]]:
    steps = [later - earlier for (earlier, _), (later, _) in pairwise(series.points)]
    usual = median(steps) if steps else 0
    missing = [(a, b) for (a, _), (b, _) in pairwise(series.points) if b - a > 1.9 * usual]
    down = [(at - usual, at) for at, value in series.points if series.name == "up" and value == 0]
    return missing + down


def _device(series: Series) -> str | None:
    return series.labels.get("device")


def _preference(series: Series) -> tuple[bool, bool, float, str]:
    """Totals before single topics, network cards before the loopback, busy before idle."""
    moved = sum(rate.value * (rate.at - rate.since) for rate in rates(series))
    return ("topic" not in series.labels, _device(series) != "lo", moved, str(sorted(series.labels.items())))


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change seen between two samples."""

    text: str
    earliest: float
    latest: float


def traffic(facts: Facts, finding: Finding | None = None) -> go.Figure:
    """Rates in and out of the finding's host; each change lies somewhere in its band."""
    both = traffic_of(facts, finding.ledger.host if finding and finding.ledger else None)
    if both is None or both.outgoing is None or len(both.outgoing.points) < 2:
        return empty("No byte counters in this material: traffic cannot be drawn.")
    chart = figure(340)
    for name, series, colour in (("out", both.outgoing, OUTGOING), ("in", both.incoming, INCOMING)):
        _draw(chart, f"{label(both.host)} {name}", drawn_rates(series), colour)
    for point in change_points(both.outgoing, finding):
        chart.add_vrect(
            x0=time(point.earliest), x1=time(point.latest), fillcolor=BAND, line_width=1, line_color=OUTGOING
        )
        chart.add_annotation(x=time(point.latest), y=1, yref="paper", text=point.text, showarrow=False, xanchor="left")
    chart.update_yaxes(title_text="MB per second", rangemode="tozero")
    chart.update_xaxes(title_text="UTC")
    return chart


def change_points(series: Series, finding: Finding | None) -> tuple[ChangePoint, ...]:
    """Start and end of the finding, each between the two samples that enclose it."""
    if finding is None:
        return ()
    edges = (("begins", finding.started_at), ("ends", finding.ended_at))
    times = [at for at, _ in series.points]
    return tuple(
        ChangePoint(
            f"{word} {clock(moment)}",
            max((at for at in times if at <= moment.timestamp()), default=moment.timestamp()),
            min((at for at in times if at >= moment.timestamp()), default=moment.timestamp()),
        )
        for word, moment in edges
        if moment is not None
    )


def ratio_points(facts: Facts, host: str | None) -> tuple[tuple[float, float], ...]:
    """Bytes out per byte in, for each interval in which something came in."""
    both = traffic_of(facts, host)
    if both is None:
        return ()
    came_in = {rate.at: rate.value for rate in rates(both.incoming) if rate.value > 0}
    ratios = [(rate.at, rate.value / came_in[rate.at]) for rate in rates(both.outgoing) if rate.at in came_in]
    return thinned(ratios, value=lambda point: point[1])


def ratio(facts: Facts, finding: Finding | None = None) -> go.Figure:
    """Bytes out per byte in over time, with the level before the incident."""
    points = ratio_points(facts, finding.ledger.host if finding and finding.ledger else None)
    if not points:
        return empty("Bytes in and bytes out of one host are not both known: there is no ratio.")
    chart = figure(240)
    chart.add_scatter(
        x=[time(at) for at, _ in points], y=[value for _, value in points], text=[factor(value) for _, value in points],
        mode="lines+markers", line_shape="vh", line_color=OUTGOING, name="out / in",
        hovertemplate="%{x|%H:%M:%S} %{text}",
    )  # fmt: skip
    if finding and finding.ledger and finding.ledger.factor_before:
        before = finding.ledger.factor_before
        chart.add_hline(y=before, line_dash="dot", line_color=INCOMING, annotation_text=f"before: {factor(before)}")
    chart.update_yaxes(title_text="out / in", type="log")
    chart.update_xaxes(title_text="UTC")
    return chart


def _draw(chart: go.Figure, name: str, points: tuple[Rate, ...], colour: str) -> None:
    if points:
        chart.add_scatter(
            x=[time(points[0].since), *(time(rate.at) for rate in points)],
            y=[rate.value / 1e6 for rate in (points[0], *points)],
            text=[f"{size(rate.value)}/s" for rate in (points[0], *points)],
            mode="lines", line_shape="vh", name=name, line_color=colour, hovertemplate="%{x|%H:%M:%S} %{text}",
        )  # fmt: skip


UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Step:
    """One bar: where it starts, how far it goes, how wrong it may be; megabytes."""

    label: str
    base: float
    length: float
    below: float
    above: float
    text: str
    unexplained: bool


def waterfall(ledger: TrafficLedger | None) -> go.Figure:
    """One bar per stage from zero to all bytes out; the unexplained rest is hatched."""
    if ledger is None or not ledger.stages:
        return empty("No ledger: bytes in and out of one host are not both known.")
    steps = waterfall_points(ledger)
    chart = figure(90 + 44 * (len(steps) + 1))
    chart.add_bar(
        y=[step.label for step in steps], x=[step.length for step in steps], base=[step.base for step in steps],
        orientation="h", hovertext=[step.text for step in steps], hovertemplate="%{y}: %{hovertext}<extra></extra>",
        name="stages", text=[step.text for step in steps], textposition="none",
        error_x={"type": "data", "symmetric": False, "array": [step.above for step in steps],
                 "arrayminus": [step.below for step in steps], "color": MUTED, "thickness": 1.2},
        marker={"color": [GRID if step.unexplained else OUTGOING for step in steps],
                "pattern": {"shape": ["/" if step.unexplained else "" for step in steps], "fgcolor": INK, "size": 5},
                "line": {"color": [INK if step.unexplained else OUTGOING for step in steps], "width": 1}},
    )  # fmt: skip
    for step in steps:
        chart.add_annotation(
            y=step.label,
            x=step.base + max(step.length, 0) + step.above,
            text=step.text,
            showarrow=False,
            xanchor="left",
            xshift=6,
        )
    total = f"{size(ledger.bytes_out)} out"
    chart.add_bar(
        y=["all bytes out"],
        x=[ledger.bytes_out / 1e6],
        orientation="h",
        text=[total],
        marker_color=INCOMING,
        name="sum",
    )
    chart.update_layout(showlegend=False, bargap=0.35)
    chart.update_yaxes(autorange="reversed")
    chart.update_xaxes(
        title_text="MB", range=[min(0.0, *(s.base + s.length for s in steps)), ledger.bytes_out / 1e6 * 1.3]
    )
    return chart


def waterfall_points(ledger: TrafficLedger) -> tuple[Step, ...]:
    """The bars, each beginning where the one before ended."""
    steps, reached = [], 0
    for stage in ledger.stages:
        steps.append(_step(stage, reached, ledger.bytes_out))
        reached += stage.bytes
    return tuple(steps)


def _words(stage: Stage) -> str:
    told = stage.name != UNEXPLAINED or UNEXPLAINED in stage.label.lower()
    return stage.label if told else f"{UNEXPLAINED}: {stage.label}"


def _step(stage: Stage, reached: int, whole: int) -> Step:
    share = percent(stage.bytes / whole) if whole else "—"
    return Step(
        label(_words(stage)),
        reached / 1e6,
        stage.bytes / 1e6,
        max(0, stage.bytes - stage.low) / 1e6,
        max(0, stage.high - stage.bytes) / 1e6,
        f"{size(stage.bytes)} · {share}",
        stage.name == UNEXPLAINED,
    )


_MOST_ROWS = 40
_MOST_COLUMNS = 400
"""Columns that a screen can show."""
_NARROWEST = 10


@dataclass(frozen=True, slots=True)
class Grid:
    """Counts by row (who) and column (when); a cell without events is None."""

    rows: tuple[str, ...]
    columns: tuple[float, ...]
    counts: tuple[tuple[int | None, ...], ...]


def heatmap(facts: Facts, *kinds: str) -> go.Figure:
    """Events of these kinds: one row per client and topic-partition, one column per ten seconds or longer."""
    grid = heatmap_points(facts.of_kind(*kinds))
    if not grid.rows:
        return empty(f"No dated event of kind {', '.join(kinds)} in this material.")
    chart = figure(110 + 26 * len(grid.rows))
    chart.add_heatmap(
        x=[time(at) for at in grid.columns], y=[label(row) for row in grid.rows], z=[list(row) for row in grid.counts],
        colorscale="Cividis", reversescale=True, xgap=1, ygap=1, colorbar={"title": "events", "thickness": 12},
        hovertemplate="%{y}<br>%{x|%H:%M:%S}: %{z} events<extra></extra>", name="events",
    )  # fmt: skip
    chart.update_layout(plot_bgcolor=GRID)
    chart.update_yaxes(autorange="reversed", showgrid=False)
    chart.update_xaxes(title_text="UTC", showgrid=False)
    return chart


def heatmap_points(episodes: Iterable[Episode]) -> Grid:
    """Counts per row and column, busiest row first."""
    dated = [(e.first_at, e) for e in episodes if e.first_at is not None]
    if not dated:
        return Grid((), (), ())
    times = [at for at, _ in dated]
    width = _width(max(times) - min(times))
    cells: Counter[tuple[str, int]] = Counter()
    totals: Counter[str] = Counter()
    for at, episode in dated:
        cells[_row(episode), int(at // width)] += episode.count
        totals[_row(episode)] += episode.count
    rows = sorted(totals, key=lambda row: (-totals[row], row))[:_MOST_ROWS]
    columns = range(int(min(times) // width), int(max(times) // width) + 1)
    counts = tuple(tuple(cells.get((row, column)) for column in columns) for row in rows)
    return Grid(tuple(rows), tuple(float(column * width) for column in columns), counts)


def _width(seconds: float) -> int:
    """Ten seconds, or as many as keep the columns few."""
    return max(_NARROWEST, int(seconds / _MOST_COLUMNS) // _NARROWEST * _NARROWEST)


def _row(episode: Episode) -> str:
    who = next((name for name in (episode.client_id, episode.node, episode.peer) if name), episode.source)
    where = "-".join(part for part in (episode.topic or episode.group, episode.queue) if part)
    return f"{who} {where}".strip()


_FEWEST = 3
"""Points that a slope needs: two always fit a line."""


@dataclass(frozen=True, slots=True)
class Run:
    """One life of a process: heap in use after so many splits, as (splits, bytes, at)."""

    started_at: float | None
    exited_at: float | None
    points: tuple[tuple[float, float, float], ...]

    @property
    def bytes_per_split(self) -> float | None:
        """Slope of the least-squares line; None where there are too few points with splits."""
        used = [(x, y) for x, y, _ in self.points if x > 0]
        if len(used) < _FEWEST:
            return None
        mean_x, mean_y = sum(x for x, _ in used) / len(used), sum(y for _, y in used) / len(used)
        spread = sum((x - mean_x) ** 2 for x, _ in used)
        return sum((x - mean_x) * (y - mean_y) for x, y in used) / spread if spread else None


def memory(facts: Facts, host: str | None = None) -> go.Figure:
    """One line per life of the process; a cross marks the exit."""
    runs = [run for run in memory_points(facts, host) if run.points[-1][0] > 0]
    if not runs:
        return empty("Heap samples and dated splits of one process are not both known.")
    chart = figure(340)
    for place, run in enumerate(runs):
        colour = RUNS[place % len(RUNS)]
        splits, heap = [x for x, _, _ in run.points], [y / 1e6 for _, y, _ in run.points]
        chart.add_scatter(
            x=splits, y=heap, mode="lines+markers", line_color=colour, name=_name(run),
            text=[f"{clock(at)} {size(y)}" for _, y, at in run.points], hovertemplate="%{x:.0f} splits: %{text}",
        )  # fmt: skip
        if run.exited_at is not None:
            chart.add_scatter(
                x=splits[-1:], y=heap[-1:], mode="markers+text", text=[f"exit {clock(run.exited_at)}"], name="exit",
                marker={"symbol": "x", "size": 12, "color": ALARM},
                textposition="bottom left" if place % 2 else "top left", showlegend=False,
            )  # fmt: skip
    chart.update_xaxes(title_text="splits since the process started")
    chart.update_yaxes(title_text="heap in use, MB", rangemode="tozero")
    return chart


def memory_points(facts: Facts, host: str | None = None) -> tuple[Run, ...]:
    """Heap samples of one process, cut where it was started anew and set against its splits.

    The cut is the start, not the exit: a sample stamped between the two still shows the process that died.
    """
    heap = _heap(facts, host)
    if heap is None:
        return ()
    exits, starts = (_times(facts, kind, heap.host) for kind in ("process-exit", "process-started"))
    cuts = (starts or exits)[1 if starts and starts[0] <= heap.points[0][0] else 0 :]
    runs = [
        _run(facts, heap, start, end, [at for at in exits if (start or 0) < at <= (end or at)])
        for start, end in pairwise([None, *cuts, None])
    ]
    return tuple(run for run in runs if run.points)


def _times(facts: Facts, kind: str, host: str | None) -> list[float]:
    """When this host's processes did it; of all hosts where the names do not match."""
    known = [e for e in facts.of_kind(kind) if e.last_at is not None]
    own = [e for e in known if host and e.node and (host.startswith(e.node) or e.node.startswith(host))]
    return sorted(e.last_at for e in own or known if e.last_at is not None)


def _heap(facts: Facts, host: str | None) -> Series | None:
    """The heap of this host, else the one that grew most."""
    known = facts.named("jvm.heap_used")
    candidates = [s for s in known if s.host == host and s.points] or [s for s in known if s.points]
    return max(candidates, key=lambda s: max((v for _, v in s.points), default=0.0), default=None)


def _run(facts: Facts, heap: Series, start: float | None, end: float | None, exits: list[float]) -> Run:
    samples = [(at, v) for at, v in heap.points if (start is None or at > start) and (end is None or at <= end)]
    drawn = thinned(samples, value=lambda sample: sample[1])
    points = tuple((_splits(facts, start, at), used, at) for at, used in drawn)
    return Run(start, exits[-1] if exits else None, points)


def _splits(facts: Facts, since: float | None, until: float) -> float:
    """Splits between two moments; within an episode they are taken as evenly spread."""
    total = 0.0
    for episode in facts.of_kind("batch-split"):
        first, last = episode.first_at, episode.last_at
        if first is None or last is None or first > until or (since is not None and first <= since):
            continue
        total += episode.count * (min(1.0, (until - first) / (last - first)) if last > first else 1.0)
    return total


def _name(run: Run) -> str:
    slope = run.bytes_per_split
    cost = f", {digits(slope / 1e6)} MB per split" if slope else ""
    return label(f"from {clock(run.started_at) if run.started_at else 'the start'}{cost}")
