"""Bytes: rates in and out with their change, the ledger of stages, who split when, and what splits cost in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import linear_regression

import pandas as pd
import plotly.graph_objects as go

from mqlab import words
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
    line,
    panels,
    thinned,
    time,
)
from mqlab.findings import Finding, Stage, TrafficLedger
from mqlab.shared.counters import scrape, summed
from mqlab.units import clock, factor, size

say = words.room("traffic-figures")

_PAIRS = (
    ("host.receive_bytes", "host.transmit_bytes"),
    ("broker.bytes_in", "broker.bytes_out"),
    ("consumer.incoming_bytes", "producer.outgoing_bytes"),
    ("mqtt.bytes_received", "mqtt.bytes_sent"),
)
"""Network card first, since it sees everything that leaves; then brokers, then clients, then brokers of MQTT."""
_FLOOR = 100.0
"""Bytes per second under which a logarithmic axis shows no difference."""
_NARROW = 30.0
"""Rates that lie within this factor need marks between the powers of ten."""
_MISSED = 1.9
"""Usual intervals between two samples from which a scrape is missing: two, but for the jitter of scrapes."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went into and out of one host."""

    host: str
    incoming: Series | None
    outgoing: Series


def traffic_of(facts: Facts, host: str | None) -> Traffic | None:
    """The counters of this host, or else of the host that sent most."""
    for incoming, outgoing in _PAIRS:
        senders = [s for s in facts.named(outgoing) if s.host == host] or list(facts.named(outgoing))
        chosen = max(senders, key=_preference, default=None)
        if chosen is not None:
            device = chosen.labels.get("device")
            receivers = [s for s in facts.named(incoming) if s.host == chosen.host and s.labels.get("device") == device]
            return Traffic(chosen.host or chosen.source, max(receivers, key=_preference, default=None), chosen)
    return None


def _preference(series: Series) -> tuple[bool, bool, float, str]:
    """Totals before single topics, network cards before the loopback, busy before idle."""
    moved = sum(step for _, _, step in summed([series]))
    labels = series.labels
    return "topic" not in labels, labels.get("device") != "lo", moved, str(sorted(labels.items()))


def rates(series: Series | None) -> list[tuple[float, float, float]]:
    """(from, to, bytes per second) between samples."""
    return [(a, b, step / (b - a)) for a, b, step in summed([series] if series else []) if b > a]


def draw_rates(chart: go.Figure, traffic: Traffic, *, log: bool) -> None:
    """Both rates in the first panel; each holds from one sample to the next."""
    drawn: list[float] = []
    for way, series, colour in (("out", traffic.outgoing, OUTGOING), ("in", traffic.incoming, INCOMING)):
        found = rates(series)
        drawn += [max(value, _FLOOR) for _, _, value in found]
        points = [(since, value) for since, _, value in found[:1]] + [(at, value) for _, at, value in found]
        told = [(at, max(value, _FLOOR * log), f"{size(value)}/s") for at, value in points]
        line(chart, say(way, host=traffic.host), told, row=1, line_shape="vh", line_color=colour)
    steps = (1, 2, 5) if drawn and max(drawn) < _NARROW * min(drawn) else (1,)
    ticks = [step * 10.0**power for power in range(2, 13) for step in steps]
    chart.update_yaxes(
        type="log" if log else "linear", rangemode="tozero", tickvals=ticks if log else None,
        ticktext=[f"{size(tick).replace('.00', '').replace('.0', '')}/s" for tick in ticks] if log else None,
        ticksuffix="" if log else "B/s", row=1, col=1,
    )  # fmt: skip


def gaps(series: Iterable[Series | None]) -> tuple[tuple[float, float], ...]:
    """Stretches without samples, where a series usually has some; overlapping ones joined."""
    joined: list[tuple[float, float]] = []
    for start, end in sorted(gap for one in series if one is not None for gap in _gaps(one)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _gaps(series: Series) -> list[tuple[float, float]]:
    usual = scrape([series]) or 0.0
    missing = [(a, b) for (a, _), (b, _) in pairwise(series.points) if b - a > _MISSED * usual]
    return missing + [(at - usual, at) for at, value in series.points if series.name == "up" and value == 0]


def traffic(facts: Facts, finding: Finding | None = None) -> go.Figure:
    """Rates of the finding's host, and below them bytes out per byte in; each change lies somewhere in its band."""
    ledger = finding.ledger if finding else None
    both = traffic_of(facts, ledger.host if ledger else None)
    if both is None or len(both.outgoing.points) < 2:
        return empty(say("no-counters"))
    ratios = ratio_points(both)
    chart = panels(480, 0.6, 0.4) if ratios else panels(320, 1)
    draw_rates(chart, both, log=False)
    chart.update_yaxes(title_text=label(say("rate")), row=1, col=1)
    if ratios:
        told = [(at, value, factor(value)) for at, value in ratios]
        line(chart, say("ratio"), told, row=2, mode="lines+markers", marker_size=4, line_shape="vh", line_color=INK)
        chart.update_yaxes(title_text=label(say("ratio")), type="log", row=2, col=1)
    if ratios and ledger and ledger.factor_before:
        before = label(say("before", factor=ledger.factor_before))
        chart.add_hline(y=ledger.factor_before, line_dash="dot", line_color=INCOMING, annotation_text=before, row=2,
                        col=1)  # fmt: skip
    for change, earliest, latest in change_points(both.outgoing, finding):
        chart.add_vrect(x0=time(earliest), x1=time(latest), fillcolor=BAND, line_width=1, line_color=OUTGOING)
        chart.add_annotation(x=time(latest), y=1, yref="paper", text=label(change), showarrow=False, xanchor="left")
    return chart


def change_points(series: Series, finding: Finding | None) -> list[tuple[str, float, float]]:
    """Begin and end of the finding in words, each with the two samples that enclose it."""
    edges = (("begins", finding.started_at), ("ends", finding.ended_at)) if finding else ()
    times = [at for at, _ in series.points]
    return [
        (
            say(edge, at=moment),
            max((at for at in times if at <= moment.timestamp()), default=moment.timestamp()),
            min((at for at in times if at >= moment.timestamp()), default=moment.timestamp()),
        )
        for edge, moment in edges
        if moment is not None
    ]


def ratio_points(traffic: Traffic) -> list[tuple[float, float]]:
    """Bytes out per byte in, for each interval in which something came in."""
    came_in = {at: value for _, at, value in rates(traffic.incoming) if value > 0}
    return [(at, value / came_in[at]) for _, at, value in rates(traffic.outgoing) if at in came_in]


UNEXPLAINED = "unexplained"


def stage_name(stage: Stage) -> str:
    """The words of a stage; those of the rest say that it is unexplained."""
    told = stage.name != UNEXPLAINED or UNEXPLAINED in stage.label.lower()
    return stage.label if told else say("unexplained", stage=stage.label)


def waterfall(ledger: TrafficLedger | None) -> go.Figure:
    """One bar per stage from zero to all bytes out; the unexplained rest is hatched."""
    if ledger is None or not ledger.stages:
        return empty(say("no-ledger"))
    steps, whole = waterfall_points(ledger), ledger.bytes_out / 1e6
    rest = steps["rest"].tolist()
    chart = figure(90 + 44 * (len(steps) + 1))
    chart.add_bar(
        y=steps["stage"].tolist(), x=steps["MB"].tolist(), base=steps["begins"].tolist(), orientation="h",
        hovertext=steps["words"].tolist(), hovertemplate="%{y}: %{hovertext}<extra></extra>", name=label(say("stages")),
        text=steps["words"].tolist(), textposition="none",
        error_x={"type": "data", "symmetric": False, "array": steps["above"].tolist(),
                 "arrayminus": steps["below"].tolist(), "color": MUTED, "thickness": 1.2},
        marker={"color": [GRID if one else OUTGOING for one in rest],
                "pattern": {"shape": ["/" if one else "" for one in rest], "fgcolor": INK, "size": 5},
                "line": {"color": [INK if one else OUTGOING for one in rest], "width": 1}},
    )  # fmt: skip
    ends = steps["begins"] + steps["MB"].clip(lower=0) + steps["above"]
    for stage, end, amount in zip(steps["stage"], ends, steps["words"], strict=True):
        chart.add_annotation(y=stage, x=end, text=amount, showarrow=False, xanchor="left", xshift=6)
    chart.add_bar(
        y=[label(say("all"))], x=[whole], orientation="h", text=[label(say("sent", bytes=ledger.bytes_out))],
        marker_color=INCOMING, name=label(say("sum")),
    )  # fmt: skip
    lowest = (steps["begins"] + steps["MB"]).min()
    chart.update_layout(showlegend=False, bargap=0.35).update_yaxes(autorange="reversed")
    return chart.update_xaxes(title_text="MB", range=[min(0.0, lowest), whole * 1.3])


def waterfall_points(ledger: TrafficLedger) -> pd.DataFrame:
    """A row per stage, each beginning where the one before ended; megabytes."""
    begins = accumulate((stage.bytes for stage in ledger.stages), initial=0)
    whole = ledger.bytes_out
    return pd.DataFrame([
        {
            "stage": label(stage_name(stage)), "begins": begin / 1e6, "MB": stage.bytes / 1e6,
            "below": max(0, stage.bytes - stage.low) / 1e6, "above": max(0, stage.high - stage.bytes) / 1e6,
            "words": label(say("amount", bytes=stage.bytes, share=stage.bytes / whole if whole else None)),
            "rest": stage.name == UNEXPLAINED,
        }
        for stage, begin in zip(ledger.stages, begins, strict=False)
    ])  # fmt: skip


_MOST_ROWS = 40
_MOST_COLUMNS = 400
"""Columns that a screen can show."""
_NARROWEST = 10
"""Seconds: events are thinned to as many."""


def heatmap(facts: Facts, *kinds: str) -> go.Figure:
    """Events of these kinds: one row per client and topic-partition, one column per ten seconds or longer."""
    grid = heatmap_points(facts.of_kind(*kinds))
    if grid.empty:
        return empty(say("no-events", kinds=kinds))
    chart = figure(110 + 26 * len(grid))
    chart.add_heatmap(
        x=[time(at) for at in map(float, grid.columns)], y=[label(row) for row in grid.index],
        z=grid.astype(object).where(grid.notna(), None).values.tolist(),
        colorscale="Cividis", reversescale=True, xgap=1, ygap=1, name=label(say("events")),
        colorbar={"title": label(say("events")), "thickness": 12},
        hovertemplate="%{y}<br>" + label(say("events-then")) + "<extra></extra>",
    )  # fmt: skip
    chart.update_layout(plot_bgcolor=GRID).update_yaxes(autorange="reversed", showgrid=False)
    return chart.update_xaxes(title_text="UTC", showgrid=False)


def heatmap_points(episodes: Iterable[Episode]) -> pd.DataFrame:
    """Events by who (busiest first) and moment, ten seconds or as many as keep the columns few."""
    dated = [(_who(e), e.first_at, e.count) for e in episodes if e.first_at is not None]
    if not dated:
        return pd.DataFrame()
    first, last = min(at for _, at, _ in dated), max(at for _, at, _ in dated)
    width = max(_NARROWEST, int((last - first) / _MOST_COLUMNS) // _NARROWEST * _NARROWEST)
    told = pd.DataFrame([(who, at // width * width, count) for who, at, count in dated], columns=["who", "at", "n"])
    grid = told.pivot_table(index="who", columns="at", values="n", aggfunc="sum")
    busiest = grid.sum(axis=1).sort_values(ascending=False, kind="stable").index[:_MOST_ROWS]
    return grid.loc[busiest, :].reindex(columns=[float(at) for at in range(*_edges(first, last, width))])


def _edges(first: float, last: float, width: int) -> tuple[int, int, int]:
    return int(first // width * width), int(last) + 1, width


def _who(episode: Episode) -> str:
    who = next((name for name in (episode.client_id, episode.node, episode.peer) if name), episode.source)
    where = "-".join(part for part in (episode.topic or episode.group, episode.queue) if part)
    return f"{who} {where}".strip()


@dataclass(frozen=True, slots=True)
class Run:
    """One life of a process: heap in use after so many splits, as (splits, bytes, at)."""

    started_at: float | None
    exited_at: float | None
    points: tuple[tuple[float, float, float], ...]

    @property
    def bytes_per_split(self) -> float | None:
        """Slope of the least-squares line; None where there are too few points with splits: two always fit."""
        used = [(x, y) for x, y, _ in self.points if x > 0]
        if len(used) < 3 or len({x for x, _ in used}) == 1:
            return None
        return linear_regression([x for x, _ in used], [y for _, y in used]).slope


def memory(facts: Facts, host: str | None = None) -> go.Figure:
    """One line per life of the process; a cross marks the exit."""
    runs = [run for run in memory_points(facts, host) if run.points[-1][0] > 0]
    if not runs:
        return empty(say("no-heap"))
    chart = figure(340)
    for place, run in enumerate(runs):
        slope = run.bytes_per_split
        splits, heap = [x for x, _, _ in run.points], [y / 1e6 for _, y, _ in run.points]
        chart.add_scatter(
            x=splits, y=heap, mode="lines+markers", line_color=RUNS[place % len(RUNS)],
            name=label(say("run", since=run.started_at or None, megabytes=slope / 1e6 if slope else None)),
            text=[f"{clock(at)} {size(y)}" for _, y, at in run.points], hovertemplate=label(say("splits-then")),
        )  # fmt: skip
        if run.exited_at is not None:
            chart.add_scatter(
                x=splits[-1:], y=heap[-1:], mode="markers+text", text=[label(say("exit-at", at=run.exited_at))],
                name=label(say("exit")),
                marker={"symbol": "x", "size": 12, "color": ALARM},
                textposition="bottom left" if place % 2 else "top left", showlegend=False,
            )  # fmt: skip
    chart.update_xaxes(title_text=label(say("splits")))
    return chart.update_yaxes(title_text=label(say("heap")), rangemode="tozero")


def memory_points(facts: Facts, host: str | None = None) -> tuple[Run, ...]:
    """Heap samples of one process, cut where it was started anew and set against its splits.

    The cut is the start, not the exit: a sample stamped between the two still shows the process that died.
    """
    known = [s for s in facts.named("jvm.heap_used") if s.points]
    own = [s for s in known if s.host == host] or known
    heap = max(own, key=lambda s: max(value for _, value in s.points), default=None)
    if heap is None:
        return ()
    exits, starts = (_times(facts, kind, heap.host) for kind in ("process-exit", "process-started"))
    cuts = (starts or exits)[1 if starts and starts[0] <= heap.points[0][0] else 0 :]
    runs = [_run(facts, heap, start, end, exits) for start, end in pairwise([None, *cuts, None])]
    return tuple(run for run in runs if run.points)


def _times(facts: Facts, kind: str, host: str | None) -> list[float]:
    """When this host's processes did it; of all hosts where the names do not match."""
    known = [e for e in facts.of_kind(kind) if e.last_at is not None]
    own = [e for e in known if host and e.node and (host.startswith(e.node) or e.node.startswith(host))]
    return sorted(e.last_at for e in own or known if e.last_at is not None)


def _run(facts: Facts, heap: Series, start: float | None, end: float | None, exits: Sequence[float]) -> Run:
    begin, until = (float("-inf") if start is None else start), (float("inf") if end is None else end)
    drawn = thinned([(at, v) for at, v in heap.points if begin < at <= until], value=lambda sample: sample[1])
    own = [at for at in exits if begin < at <= until]
    return Run(start, own[-1] if own else None, tuple((_splits(facts, begin, at), used, at) for at, used in drawn))


def _splits(facts: Facts, since: float, until: float) -> float:
    """Splits between two moments; within an episode they are taken as evenly spread."""
    total = 0.0
    for episode in facts.of_kind("batch-split"):
        first, last = episode.first_at, episode.last_at
        if first is not None and last is not None and since < first <= until:
            total += episode.count * (min(1.0, (until - first) / (last - first)) if last > first else 1.0)
    return total
